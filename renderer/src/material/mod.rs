//! Materials: compiled shaders with their parameters. The only module that compiles and runs shaders.
//!
//! A material reports which globals its shader reads, runs on blocks of up to 16 hits with just those filled in, and
//! gives the lobes and the emission of each hit.

mod adjoint;
mod cotangents;
mod entries;
mod globals;
mod lane_errors;
mod language;
mod lobe_adjoint;
mod lobe_code;
mod lobe_functions;
mod posed;
mod shading;
mod shading_point;
mod shipped;
mod shipped_lobe;
mod spaces;
mod table;
mod values;

use crate::bsdf::{Place, Places, SslLobes, WeightedLobe};
use crate::geometry::surface::Asked;
use crate::geometry::{Geometry, Surface, Wanted};
pub use adjoint::{By, GradientBy, MaterialAdjoint, Refused};
pub use cotangents::{Entries, Part, TableCotangents};
pub use entries::Entry;
use glam::Vec3;
use globals::Fill;
use lane_errors::LaneErrors;
pub use language::{Compiled, Making, ShadingLanguage, Source};
use lobe_code::SslLobeCodes;
pub use shading_point::{ShadingPoint, Surroundings};
pub use shipped::LIBRARY;
pub use shipped_lobe::ShippedLobe;
use smallvec::SmallVec;
pub use spaces::{Space, Spaces};
use ssl_compiler::runtime::parameters::ParameterError;
use ssl_compiler::runtime::{
    Disallowed, GlobalField, LANES, LaneError, OutputDesc, ParameterBlock, ParameterDesc, ParameterValue, Row,
    ShaderInterface,
};
use ssl_compiler::types::{Scalar, Type};
use ssl_compiler::{NoTextures, Shader};
use std::ops::Range;
use std::sync::Arc;
use table::{LobeSlot, SlotKind};
pub use values::{GlobalValue, HitValues, LobeValues};

/// A variable of the scene that a shader reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableRead {
    pub name: String,
    /// The number of its components; `None` for a type that no variable can have.
    pub numbers: Option<usize>,
}

/// A compiled shader with the values of one material.
pub struct Material {
    pub name: String,
    shader: Arc<Shader>,
    parameters: ParameterBlock,
    fills: Vec<Fill>,
    variables: Vec<VariableRead>,
    wanted: Wanted,
    asked: Asked,
    lobes: Vec<LobeSlot>,
    /// Whether some of them have code in Rust.
    has_rust: bool,
    rows: usize,
    errors: LaneErrors,
    /// The code of closures that are structs of SSL.
    ssl: SslLobeCodes,
    /// Where its shader comes from, if more may be compiled of it.
    source: Option<Source>,
    /// What takes cotangents back to its parameters, if a gradient by them is asked for.
    adjoint: Option<Box<MaterialAdjoint>>,
    /// The variant for its emission alone.
    emission: Option<Box<Material>>,
    /// The variant for light that passes straight through it.
    passage: Option<Box<Material>>,
}

/// Memory for running shaders. Each thread has one and reuses it.
#[derive(Default)]
pub struct Scratch {
    globals: Vec<Row>,
    outputs: Vec<Row>,
    /// Of one point, where a part of a shader is asked.
    lobes: Vec<WeightedLobe>,
    ssl: SslLobes,
    /// Of the block, for lobes whose code is a struct of a file: by the entry of the table the slot.
    slots: Vec<usize>,
}

/// A value for each point of a block.
pub type PerLane = SmallVec<[Vec3; LANES]>;

/// The result of a shader at one hit. Its lobes are a range of the list that [`Material::shade`] filled.
#[derive(Clone, Debug, Default)]
pub struct Shaded {
    pub emission: Vec3,
    pub lobes: Range<usize>,
    /// Likewise of those whose code is a struct of a file; empty where nobody asks for them one by one.
    pub ssl: Range<usize>,
    /// No weight and no parameter of a lobe was NaN or infinite. Those that were count as 0, normals as the surface's.
    pub finite: bool,
}

impl Material {
    pub fn new(name: &str, compiled: Compiled, language: &ShadingLanguage) -> Material {
        let Compiled { whole: shader, emission, passage, ssl, source } = compiled;
        let part = |whole| {
            let compiled = Compiled { whole, emission: None, passage: None, ssl: ssl.clone(), source: None };
            Box::new(Material::new(name, compiled, language))
        };
        let interface = shader.interface();
        let number = |name: &str| language.variables.iter().position(|(n, _)| n == name).map(|i| i as u32);
        let reads = interface.globals_read.iter();
        let fills: Vec<Fill> = reads.filter_map(|r| Fill::of(interface.globals.field(r.field), r, number)).collect();
        let lobes = table::slots(interface, language, &ssl);
        Material {
            name: name.to_owned(),
            parameters: ParameterBlock::new(interface),
            wanted: globals::wanted(&fills),
            asked: globals::asked(&fills),
            fills,
            variables: variables_read(interface, language),
            has_rust: lobes.iter().any(|slot| matches!(slot.kind, SlotKind::Rust(_))),
            lobes,
            rows: interface.globals.rows(),
            errors: LaneErrors::default(),
            emission: emission.map(part),
            passage: passage.map(part),
            ssl,
            source,
            adjoint: None,
            shader,
        }
    }

    /// Whether light may pass straight through it: its shader says how much, and not that it is nothing everywhere.
    pub fn is_see_through(&self) -> bool {
        let Some(passage) = &self.passage else { return false };
        let passes_on = |backfacing| {
            let surface = Surface { backfacing, ..Surface::default() };
            let point = ShadingPoint { surface, incident: Vec3::NEG_Z, ..ShadingPoint::default() };
            let (spaces, geometry) = (Spaces { objects: Vec::new(), camera: Space::WORLD }, Geometry::default());
            let around = Surroundings { spaces: &spaces, geometry: &geometry };
            passage.passed(&[point], around, &NoTextures, &mut Scratch::default())[0] != Vec3::ZERO
        };
        !passage.is_even() || passes_on(false) || passes_on(true)
    }

    /// Sets a parameter, or binds a texture slot.
    pub fn bind(&mut self, name: &str, value: &ParameterValue) -> Result<(), ParameterError> {
        for part in [&mut self.emission, &mut self.passage].into_iter().flatten() {
            part.bind(name, value)?;
        }
        if let Some(adjoint) = &mut self.adjoint {
            adjoint.bind(name, value)?;
        }
        self.parameters.set(self.shader.interface(), name, value)
    }

    /// Of what its shader makes the light of the surface's own, where it may make some.
    pub fn emission(&self) -> Option<&Material> {
        self.emission.as_deref()
    }

    /// Lets no light pass straight on, for who knows that none would.
    pub fn forget_passage(&mut self) {
        self.passage = None;
    }

    /// What of it lets light pass straight on; `None` where none does.
    pub fn passage(&self) -> Option<&Material> {
        self.passage.as_deref()
    }

    /// Whether its shader gives the same result wherever it runs.
    pub fn is_even(&self) -> bool {
        let interface = self.shader.interface();
        // What passes a layer depends on the direction.
        interface.globals_read.is_empty()
            && interface.textures.iter().all(|t| !t.used)
            && self.lobes.iter().all(|l| l.layer.is_none())
    }

    /// Gives a parameter that is an `int` the number of something that the scene has. Elsewhere a number would be taken for
    /// a value.
    pub fn bind_number(&mut self, name: &str, number: i32) -> Result<(), ParameterError> {
        match self.shader.interface().parameters.iter().find(|p| p.name == name) {
            Some(p) if p.ty != Type::Int => Err(ParameterError::Type(p.type_name.clone())),
            _ => self.bind(name, &ParameterValue::Int(number)),
        }
    }

    /// Texture slots that the shader reads and that have no texture.
    pub fn unbound_textures(&self) -> Vec<String> {
        let slots = self.shader.interface().textures.iter();
        let unbound = |word: usize| self.parameters.words[word] == ssl_compiler::runtime::TextureRequest::UNBOUND;
        slots.filter(|t| t.used && unbound(t.word)).map(|t| t.name.clone()).collect()
    }

    /// What is wrong with a value by the metadata of its parameter, which takes it all the same.
    pub fn disallowed(&self, name: &str, value: &ParameterValue) -> Option<Disallowed> {
        self.shader.interface().parameters.iter().find(|p| p.name == name)?.disallowed(value)
    }

    /// Names of the parameters without a default, which are 0 unless they are set.
    pub fn parameters_without_default(&self) -> impl Iterator<Item = &String> {
        self.shader.interface().parameters.iter().filter(|p| !p.has_default).map(|p| &p.name)
    }

    /// Whether its shader makes any.
    pub fn makes_closures(&self) -> bool {
        !self.lobes.is_empty()
    }

    /// Names of the slots through which its shader reads a texture.
    pub fn slots_of(&self, texture: u32) -> impl Iterator<Item = &str> {
        let slots = self.shader.interface().textures.iter();
        slots.filter(move |t| t.used && self.parameters.words[t.word] == texture).map(|t| t.name.as_str())
    }

    /// Which values of the surface the shader reads.
    pub fn asked(&self) -> Asked {
        self.asked
    }

    /// Which partials of the surface the shader reads.
    pub fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// The variables of the scene that the shader reads.
    pub fn variables(&self) -> &[VariableRead] {
        &self.variables
    }

    /// Whether its shader may print something.
    pub fn prints(&self) -> bool {
        self.shader.prints()
    }

    /// The parameters of its shader, without textures.
    pub fn parameter_list(&self) -> &[ParameterDesc] {
        &self.shader.interface().parameters
    }

    pub fn parameters(&self) -> &ParameterBlock {
        &self.parameters
    }

    /// The `out` parameters of its shader that are no closures.
    pub fn outputs(&self) -> &[OutputDesc] {
        &self.shader.interface().outputs
    }

    /// The first four components of an `out` parameter, padded with 0, as [`Material::shade`] has just left them for a
    /// lane. They are 0 if the shader has no such parameter.
    pub fn output(&self, name: &str, scratch: &Scratch, lane: usize) -> [f32; 4] {
        let mut components = [0.0; 4];
        if let Some(output) = self.outputs().iter().find(|o| o.name == name) {
            for (i, (component, scalar)) in components.iter_mut().zip(&output.scalars).enumerate() {
                let row = &scratch.outputs[output.first_row + i];
                *component = match scalar {
                    Scalar::Float => row.0[lane],
                    Scalar::Int | Scalar::Bool => row.int(lane) as f32,
                };
            }
        }
        components
    }

    /// An error that ended lanes early since the material was made, also where its emission or what passes it was asked alone.
    pub fn error(&self) -> Option<LaneError> {
        let parts = [&self.emission, &self.passage].into_iter().flatten().filter_map(|part| part.error());
        let ssl = self.ssl.iter().filter_map(|(_, code)| code.error());
        parts.chain(ssl).chain(self.errors.first()).min()
    }
}

/// What is read beyond the globals that every hit has.
fn variables_read(interface: &ShaderInterface, language: &ShadingLanguage) -> Vec<VariableRead> {
    let mut fields: Vec<usize> = interface.globals_read.iter().map(|r| r.field).collect();
    fields.dedup();
    let beyond = fields.into_iter().filter(|field| *field >= language.globals.fields().len());
    let read = |field: &GlobalField| VariableRead { name: field.name.clone(), numbers: globals::numbers_of(&field.ty) };
    beyond.map(|field| read(interface.globals.field(field))).collect()
}

/// The surface and the viewer, as lobes know them.
fn place(point: &ShadingPoint) -> Place {
    Place { wo: -point.incident, gnormal: point.surface.gnormal_seen(), inside: point.surface.backfacing }
}

/// Those of a block, as the code of lobes knows them.
fn places(points: &[ShadingPoint]) -> Places {
    Places::new(points.iter().map(|point| (place(point), point.surface.normal_seen())))
        .regularized(points.iter().map(|point| point.least_roughness))
}
