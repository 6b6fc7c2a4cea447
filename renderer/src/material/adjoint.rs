//! The gradient of a material: from cotangents of the lobe table that its shader leaves to its parameters, by the code that
//! the compiler made of the shader in reverse mode.

use super::cotangents::{Part, TableCotangents};
use super::globals::{self, Fill};
use super::table::{LobeSlot, SlotKind};
use super::{Material, Scratch, ShadingPoint, Source, Surroundings};
use crate::math::lanes::first_lanes;
use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::runtime::parameters::ParameterError;
use ssl_compiler::runtime::{Block, HostServices, Order, ParameterBlock, ParameterDesc, ParameterValue, Row};
use ssl_compiler::source::SourceMap;
use ssl_compiler::types::Scalar;
use ssl_compiler::{CompileError, GradientRequest, Shader, ShaderRequest};
use std::fmt;
use std::sync::Arc;

/// Why there is no gradient of a shader.
#[derive(Debug)]
pub struct Refused {
    pub diagnostics: Diagnostics,
    /// The files that they point into.
    pub sources: SourceMap,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render::text(&self.diagnostics, &self.sources, false))
    }
}

impl std::error::Error for Refused {}

impl From<CompileError> for Refused {
    fn from(error: CompileError) -> Refused {
        Refused { sources: error.sources().clone(), diagnostics: error.into_diagnostics() }
    }
}

/// By what the gradient of a material is taken.
#[derive(Clone, Debug, Default)]
pub struct GradientBy {
    /// Names of parameters, each with the number of its first component among all that the gradient is taken by.
    pub parameters: Vec<(String, u32)>,
    /// Names of texture slots.
    pub textures: Vec<String>,
    /// Names of variables of the scene that the shader reads.
    pub variables: Vec<String>,
}

impl GradientBy {
    fn is_empty(&self) -> bool {
        self.parameters.is_empty() && self.textures.is_empty() && self.variables.is_empty()
    }
}

/// What a row of a gradient is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// One among all numbers that the gradient is taken by.
    Number(u32),
    /// A component of a variable of the scene, or of one of its partials. Each hit has its number from where it finds the variable.
    Variable { variable: u32, component: usize, order: Order },
}

/// The shader of a material, and its parts for emission and for what lets light pass, each with its gradient.
pub struct MaterialAdjoint {
    whole: Pullback,
    emission: Option<Pullback>,
    passage: Option<Pullback>,
}

struct Pullback {
    shader: Arc<Shader>,
    parameters: ParameterBlock,
    fills: Vec<Fill>,
    /// Rows of globals and cotangents.
    rows: usize,
    /// By output row, the row of its cotangent.
    cotangents: Vec<Option<usize>>,
    /// Rows of the gradient with the number of what each is by.
    gradients: Vec<(usize, By)>,
}

impl Pullback {
    /// None where nothing that is asked is in it.
    fn compile(
        source: &Source,
        of: &Material,
        asked: &GradientBy,
        variables: &[String],
    ) -> Result<Option<Pullback>, CompileError> {
        let plain = of.shader.interface();
        let closures = plain.closures.iter().map(|c| c.name.as_str());
        let names = asked.parameters.iter().map(|(name, _)| name.as_str());
        let known: Vec<&str> = names.filter(|name| plain.parameters.iter().any(|p| p.name == *name)).collect();
        let slots = asked.textures.iter().filter(|name| plain.textures.iter().any(|t| t.name == **name));
        let slots: Vec<&str> = slots.map(String::as_str).collect();
        let reads =
            |name: &&String| plain.globals_read.iter().any(|read| plain.globals.field(read.field).name == **name);
        let given: Vec<&String> = asked.variables.iter().filter(reads).collect();
        if known.is_empty() && slots.is_empty() && given.is_empty() {
            return Ok(None);
        }
        let gradient = GradientRequest::of(closures).by_parameters(known).by_textures(slots);
        let gradient = gradient.by_globals(given.iter().map(|name| name.as_str()));
        let mut request = ShaderRequest { gradient: Some(gradient), ..ShaderRequest::from(source.entry.as_deref()) };
        if of.source.is_none() {
            // A part of the shader has its kinds of closures only.
            request.lobes = Some(plain.lobes.iter().map(|l| l.closure).collect());
        }
        let shader = source.program.compile(request)?;
        let interface = shader.interface();
        let number = |name: &str| variables.iter().position(|n| n == name).map(|i| i as u32);
        let reads = interface.globals_read.iter();
        let fills = reads.filter_map(|r| Fill::of(interface.globals.field(r.field), r, number)).collect();
        let made = interface.gradient.as_ref();
        let mut gradients = Vec::new();
        for (name, first) in &asked.parameters {
            let rows = made.and_then(|g| g.by_parameter(name)).map_or(&[][..], |d| &d.rows);
            let numbered = rows.iter().enumerate().filter_map(|(i, row)| Some(((*row)?, By::Number(first + i as u32))));
            gradients.extend(numbered);
        }
        for name in given {
            let Some(variable) = number(name) else { continue };
            for order in [Order::Value, Order::Ddx, Order::Ddy] {
                let rows = made.and_then(|g| g.by_global(name, order)).map_or(&[][..], |d| &d.rows);
                let by = |component| By::Variable { variable, component, order };
                gradients.extend(rows.iter().enumerate().filter_map(|(i, row)| Some(((*row)?, by(i)))));
            }
        }
        // What is bound to the whole is bound here, too: words lie where they lie there.
        let mut parameters = ParameterBlock::new(interface);
        let words = of.parameters.words.len();
        parameters.words[..words].copy_from_slice(&of.parameters.words);
        Ok(Some(Pullback {
            parameters,
            fills,
            rows: interface.globals.rows(),
            cotangents: made.map(|g| g.cotangents.clone()).unwrap_or_default(),
            gradients,
            shader,
        }))
    }
}

impl MaterialAdjoint {
    pub(super) fn bind(&mut self, name: &str, value: &ParameterValue) -> Result<(), ParameterError> {
        for part in [Some(&mut self.whole), self.emission.as_mut(), self.passage.as_mut()].into_iter().flatten() {
            part.parameters.set(part.shader.interface(), name, value)?;
        }
        Ok(())
    }
}

/// Whether a gradient can be taken by a parameter: floats and what consists of them.
fn is_differentiable(parameter: &ParameterDesc) -> bool {
    !parameter.scalars.is_empty() && parameter.scalars.iter().all(|s| *s == Scalar::Float)
}

impl Material {
    /// The parameters of the shader, without textures.
    pub fn described_parameters(&self) -> impl Iterator<Item = &ParameterDesc> {
        self.shader.interface().parameters.iter()
    }

    /// The parameters by which a gradient can be taken.
    pub fn differentiable_parameters(&self) -> impl Iterator<Item = &ParameterDesc> {
        self.shader.interface().parameters.iter().filter(|p| is_differentiable(p))
    }

    /// The numbers that a parameter has now.
    pub fn numbers(&self, parameter: &ParameterDesc) -> Vec<f32> {
        let words = &self.parameters.words[parameter.first_word..][..parameter.scalars.len()];
        words.iter().map(|word| f32::from_bits(*word)).collect()
    }

    /// From now on [`Material::pull_back`] takes cotangents back to what is asked, or to nothing. `variables` are the names of
    /// the scene's variables.
    ///
    /// # Errors
    /// The shader has no gradient, or was loaded without what it takes to compile one.
    pub fn differentiate(&mut self, asked: &GradientBy, variables: &[String]) -> Result<(), Refused> {
        self.adjoint = None;
        if asked.is_empty() {
            return Ok(());
        }
        let Some(source) = self.source.clone() else { return Ok(()) };
        for (closure, code) in &self.ssl {
            code.differentiate(&source.program, *closure)?;
        }
        let Some(whole) = Pullback::compile(&source, self, asked, variables)? else { return Ok(()) };
        let part = |part: &Option<Box<Material>>| match part.as_deref() {
            Some(part) => Pullback::compile(&source, part, asked, variables),
            None => Ok(None),
        };
        let (emission, passage) = (part(&self.emission)?, part(&self.passage)?);
        self.adjoint = Some(Box::new(MaterialAdjoint { whole, emission, passage }));
        Ok(())
    }

    /// The closures whose parameters count as constants for a gradient, since their code is in Rust.
    pub fn closures_without_adjoint(&self) -> impl Iterator<Item = &str> {
        let lost = |slot: &&LobeSlot| match &slot.kind {
            SlotKind::Rust(kind) => !kind.emits && !kind.passes && slot.has_floats(),
            SlotKind::Ssl { .. } => false,
        };
        self.lobes.iter().filter(lost).map(|slot| &*slot.closure.name)
    }

    /// What of it a cotangent of a part belongs to.
    pub fn part(&self, part: Part) -> Option<&Material> {
        match part {
            Part::Whole => Some(self),
            Part::Emission => self.emission(),
            Part::Passage => self.passage(),
        }
    }

    /// Whether cotangents can be taken back to something.
    pub fn has_adjoint(&self) -> bool {
        self.adjoint.is_some()
    }

    /// Takes cotangents of the lobe table at up to 16 points back to the parameters, and by the host's service to texels. Calls
    /// `add` with what a row is the gradient by.
    pub fn pull_back(
        &self,
        part: Part,
        points: &[ShadingPoint],
        (around, host): (Surroundings<'_>, &dyn HostServices),
        cotangents: &TableCotangents,
        scratch: &mut Scratch,
        mut add: impl FnMut(By, &Row),
    ) {
        let Some(adjoint) = &self.adjoint else { return };
        let Some(pullback) = (match part {
            Part::Whole => Some(&adjoint.whole),
            Part::Emission => adjoint.emission.as_ref(),
            Part::Passage => adjoint.passage.as_ref(),
        }) else {
            return;
        };
        scratch.globals.resize(pullback.rows.max(scratch.globals.len()), Row::ZERO);
        let block = &mut scratch.globals[..pullback.rows];
        globals::fill(&pullback.fills, points, around, block);
        for (row, cotangent) in pullback.cotangents.iter().zip(cotangents.rows()) {
            if let Some(row) = row {
                block[*row] = *cotangent;
            }
        }
        let output_rows = pullback.shader.interface().output_rows;
        scratch.outputs.resize(output_rows.max(scratch.outputs.len()), Row::ZERO);
        let mask = first_lanes(points.len());
        // A lane that ends early leaves zeros, and was told of when the primal ended there.
        pullback.shader.run(&mut Block {
            host,
            mask,
            ..Block::new(block, &pullback.parameters, &mut scratch.outputs[..output_rows])
        });
        for (row, by) in &pullback.gradients {
            add(*by, &scratch.outputs[*row]);
        }
    }

    /// The rows that [`Material::shade`] has just left.
    pub fn table_rows<'a>(&self, scratch: &'a Scratch) -> &'a [Row] {
        &scratch.outputs[..self.shader.interface().output_rows]
    }
}
