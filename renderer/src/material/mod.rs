//! Materials: compiled shaders with their parameters. The only module that knows of the compiler.
//!
//! A material reports which globals its shader reads, is run on blocks of up to 16 hits with just those
//! filled in, and gives each hit's lobes and emission.

mod globals;
mod spaces;
mod values;

use crate::bsdf::{ClosureKind, Lobes, Place, WeightedLobe, closures};
use crate::geometry::surface::Asked;
use crate::geometry::{Geometry, Hit, Partials, Surface, Wanted};
use glam::Vec3;
use globals::{Fill, HitGlobals};
use smallvec::SmallVec;
pub use spaces::{Space, Spaces};
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::modules::Modules;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::parameters::ParameterError;
use ssl_compiler::runtime::{
    Block, BlockStatus, ClosureId, ClosureRegistry, ClosureType, GlobalField, GlobalsLayout, HostServices, LANES,
    LaneError, Layer, Orders, OutputDesc, ParameterBlock, ParameterValue, Row, ShaderInterface, read3,
};
use ssl_compiler::source::SourceMap;
use ssl_compiler::types::{Scalar, Type};
use ssl_compiler::{BackendKind, CompileOptions, Roots, Shader, Target};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
pub use values::{GlobalValue, HitValues, LobeValues};

/// How a scene's shaders are compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Making {
    pub target: Target,
    pub passes: Options,
}

impl From<Target> for Making {
    fn from(target: Target) -> Making {
        Making { target, ..Making::default() }
    }
}

impl From<BackendKind> for Making {
    fn from(backend: BackendKind) -> Making {
        Target::from(backend).into()
    }
}

/// A hit as a shader sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShadingPoint {
    pub hit: Hit,
    pub surface: Surface,
    pub partials: Partials,
    /// From the eye to the surface, unit length.
    pub incident: Vec3,
    pub time: f32,
    /// 0 for what the camera sees.
    pub ray_depth: u32,
}

/// What all hits of a scene have in common.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub spaces: &'a Spaces,
    pub geometry: &'a Geometry,
}

/// A variable of the scene that a shader reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableRead {
    pub name: String,
    /// Numbers that it is to have; `None` for a type that no variable can have.
    pub numbers: Option<usize>,
}

/// What a scene's shaders may use: the globals and the closure types.
pub struct ShadingLanguage {
    globals: GlobalsLayout,
    /// What a scene adds to the globals: variables of its shapes, as many numbers each.
    variables: Vec<(String, usize)>,
    closures: ClosureRegistry,
    /// What each of those means, by its id.
    kinds: Vec<ClosureKind>,
}

impl ShadingLanguage {
    pub fn new() -> ShadingLanguage {
        let mut language = ShadingLanguage {
            globals: HitGlobals::layout(),
            variables: Vec::new(),
            closures: ClosureRegistry::new(),
            kinds: Vec::new(),
        };
        closures().into_iter().for_each(|kind| language.add(kind));
        language
    }

    /// With closure types of the host's own beside those of the renderer; one of the same name is replaced.
    pub fn with_closures(more: &[ClosureKind]) -> ShadingLanguage {
        let mut language = ShadingLanguage::new();
        more.iter().for_each(|kind| language.add(*kind));
        language
    }

    fn add(&mut self, kind: ClosureKind) {
        let ClosureId(id) = self.closures.register((kind.closure_type)());
        match self.kinds.get_mut(id as usize) {
            Some(replaced) => *replaced = kind,
            None => self.kinds.push(kind),
        }
    }

    /// With the variables of a scene: names, and of how many numbers they are. Those that are named like something that
    /// every hit has cannot be read.
    pub fn with_variables(self, variables: Vec<(String, usize)>) -> ShadingLanguage {
        ShadingLanguage { variables, ..self }
    }

    pub fn globals(&self) -> &GlobalsLayout {
        &self.globals
    }

    pub fn closures(&self) -> &ClosureRegistry {
        &self.closures
    }

    /// The globals, and those variables of the scene that the files do not declare themselves: they may mean another
    /// type by them.
    fn globals_for(&self, modules: &Modules) -> GlobalsLayout {
        let mut globals = self.globals.clone();
        let declared = modules.declared_globals();
        for (name, components) in self.variables.iter().filter(|(name, _)| !declared.contains(name.as_str())) {
            // A name that is taken stays what it was.
            let _ = globals.add(name, globals::type_of(*components), Orders::First);
        }
        globals
    }

    /// Compiles one shader of a file that was loaded; what loading had to say is passed on. Warnings come
    /// back beside the shader.
    pub fn compile(
        &self,
        sources: &SourceMap,
        loaded: (&Modules, Diagnostics),
        entry: Option<&str>,
        making: Making,
    ) -> Result<(Compiled, Diagnostics), Diagnostics> {
        let Making { target, passes } = making;
        let (modules, found) = loaded;
        let globals = self.globals_for(modules);
        let options = CompileOptions { target, passes, ..CompileOptions::new(&globals, &self.closures) };
        let (whole, warnings) = ssl_compiler::compile_loaded(sources, (modules, found), entry, &options)?;
        let emitting = |id: &ClosureId| self.kinds.get(id.0 as usize).is_some_and(|kind| kind.emits);
        let wanted: Vec<ClosureId> = whole.interface().lobes.iter().map(|l| l.closure).filter(emitting).collect();
        let emission = match wanted.is_empty() {
            true => None,
            false => {
                let options = CompileOptions { roots: Roots::Lobes(&wanted), ..options };
                // The whole has been compiled, and its warnings say all that there is to say.
                let part = ssl_compiler::compile_loaded(sources, (modules, Diagnostics::new()), entry, &options);
                part.ok().map(|(shader, _)| Arc::new(shader))
            }
        };
        Ok((Compiled { whole: Arc::new(whole), emission }, warnings))
    }
}

impl Default for ShadingLanguage {
    fn default() -> Self {
        ShadingLanguage::new()
    }
}

/// What a shader is compiled to.
#[derive(Clone)]
pub struct Compiled {
    pub whole: Arc<Shader>,
    /// What of it makes light of the surface's own, where it may have some.
    pub emission: Option<Arc<Shader>>,
}

/// One entry of the lobe table.
#[derive(Clone)]
struct LobeSlot {
    kind: ClosureKind,
    layer: Option<Layer>,
    weight_row: usize,
    parameter_row: usize,
    closure: ClosureType,
    /// Of the parameters, the rows that hold floats.
    floats: Vec<usize>,
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
    rows: usize,
    error: OnceLock<LaneError>,
    /// The same for its emission alone.
    emission: Option<Box<Material>>,
}

/// Memory that running a shader needs; one a thread, used over and over.
#[derive(Default)]
pub struct Scratch {
    globals: Vec<Row>,
    outputs: Vec<Row>,
    /// Of layers above what emits, which nobody reads.
    lobes: Vec<WeightedLobe>,
}

/// What a shader said of one hit. Its lobes are a range of the list that [`Material::shade`] filled.
#[derive(Clone, Debug, Default)]
pub struct Shaded {
    pub emission: Vec3,
    pub lobes: Range<usize>,
    /// No weight and no parameter of a lobe was NaN or infinite. Those that were count as 0, normals as the surface's.
    pub numbers: bool,
}

impl Material {
    pub fn new(name: &str, compiled: Compiled, language: &ShadingLanguage) -> Material {
        let Compiled { whole: shader, emission } = compiled;
        let emission = emission.map(|whole| Material::new(name, Compiled { whole, emission: None }, language));
        let interface = shader.interface();
        let slot = |l: &ssl_compiler::runtime::LobeDesc| {
            let closure = language.closures.get(l.closure).clone();
            let (floats, weight_row) = (float_rows(&closure, l.parameter_row), l.weight_row);
            let (kind, layer) = (language.kinds[l.closure.0 as usize], l.layer);
            LobeSlot { kind, layer, weight_row, parameter_row: l.parameter_row, closure, floats }
        };
        let number = |name: &str| language.variables.iter().position(|(n, _)| n == name).map(|i| i as u32);
        let reads = interface.globals_read.iter();
        let fills: Vec<Fill> = reads.filter_map(|r| Fill::of(interface.globals.field(r.field), r, number)).collect();
        Material {
            name: name.to_owned(),
            parameters: ParameterBlock::new(interface),
            wanted: globals::wanted(&fills),
            asked: globals::asked(&fills),
            fills,
            variables: variables_read(interface, language),
            lobes: interface.lobes.iter().map(slot).collect(),
            rows: interface.globals.rows(),
            error: OnceLock::new(),
            emission: emission.map(Box::new),
            shader,
        }
    }

    /// Gives a parameter its value, or a texture slot its texture.
    pub fn bind(&mut self, name: &str, value: &ParameterValue) -> Result<(), ParameterError> {
        if let Some(emission) = &mut self.emission {
            emission.bind(name, value)?;
        }
        self.parameters.set(self.shader.interface(), name, value)
    }

    /// Of what its shader makes the light of the surface's own, where it may make some.
    pub fn emission(&self) -> Option<&Material> {
        self.emission.as_deref()
    }

    /// Whether its shader gives the same wherever it runs.
    pub fn is_even(&self) -> bool {
        let interface = self.shader.interface();
        // What passes a layer depends on the direction.
        interface.globals_read.is_empty()
            && interface.textures.iter().all(|t| !t.used)
            && self.lobes.iter().all(|l| l.layer.is_none())
    }

    /// Texture slots that the shader reads and that nothing is bound to.
    pub fn unbound_textures(&self) -> Vec<String> {
        let slots = self.shader.interface().textures.iter();
        let unbound = |word: usize| self.parameters.words[word] == ssl_compiler::runtime::TextureRequest::UNBOUND;
        slots.filter(|t| t.used && unbound(t.word)).map(|t| t.name.clone()).collect()
    }

    /// Names of the texture slots, for messages.
    pub fn texture_slots(&self) -> Vec<String> {
        self.shader.interface().textures.iter().map(|t| t.name.clone()).collect()
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

    /// Whether its shader may say something.
    pub fn prints(&self) -> bool {
        self.shader.prints()
    }

    pub fn parameters(&self) -> &ParameterBlock {
        &self.parameters
    }

    /// The `out` parameters of its shader that are no closures.
    pub fn outputs(&self) -> &[OutputDesc] {
        &self.shader.interface().outputs
    }

    /// The first four components of an `out` parameter, filled up with 0, as [`Material::shade`] has just left them for a
    /// lane; 0 where the shader has no such.
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

    /// The first error that ended a lane early since the material was made.
    pub fn error(&self) -> Option<LaneError> {
        self.error.get().copied()
    }

    /// Shades at most 16 points: appends an entry for each to `shaded`, and its lobes to `lobes`. A lane
    /// that the shader ended early is black.
    pub fn shade(
        &self,
        points: &[ShadingPoint],
        around: Surroundings<'_>,
        host: &dyn HostServices,
        scratch: &mut Scratch,
        lobes: &mut Vec<WeightedLobe>,
        shaded: &mut Vec<Shaded>,
    ) {
        let status = self.run(points, around, host, scratch);
        if let Some(error) = status.first_error() {
            // Only the first is kept; which one that is does not reach the image.
            let _ = self.error.set(error);
        }
        for (lane, point) in points.iter().enumerate() {
            let start = lobes.len();
            let ended = status.errors[lane].is_some();
            let (emission, numbers) =
                if ended { (Vec3::ZERO, true) } else { self.read(point, &scratch.outputs, lane, lobes) };
            shaded.push(Shaded { emission, lobes: start..lobes.len(), numbers });
        }
    }

    /// What the surface sends out of itself at at most 16 points, as [`Material::shade`] would say.
    pub fn emitted(
        &self,
        points: &[ShadingPoint],
        around: Surroundings<'_>,
        host: &dyn HostServices,
        scratch: &mut Scratch,
    ) -> SmallVec<[Vec3; 1]> {
        let status = self.run(points, around, host, scratch);
        let mut lobes = std::mem::take(&mut scratch.lobes);
        let mut of = |(lane, point): (usize, &ShadingPoint)| match status.errors[lane] {
            Some(_) => Vec3::ZERO,
            None => self.read(point, &scratch.outputs, lane, &mut lobes).0,
        };
        let emitted = points.iter().enumerate().map(&mut of).collect();
        lobes.clear();
        scratch.lobes = lobes;
        emitted
    }

    fn run(
        &self,
        points: &[ShadingPoint],
        around: Surroundings<'_>,
        host: &dyn HostServices,
        scratch: &mut Scratch,
    ) -> BlockStatus {
        debug_assert!(points.len() <= LANES);
        scratch.globals.resize(self.rows, Row::ZERO);
        let output_rows = self.shader.interface().output_rows;
        if scratch.outputs.len() < output_rows {
            scratch.outputs.resize(output_rows, Row::ZERO);
        }
        globals::fill(&self.fills, points, around, &mut scratch.globals);
        let mask = ((1_u64 << points.len()) - 1) as u32;
        self.shader.run(&mut Block {
            globals: &scratch.globals,
            parameters: &self.parameters,
            host,
            outputs: &mut scratch.outputs[..output_rows],
            mask,
            fuel: DEFAULT_FUEL,
        })
    }

    /// One lane of the lobe table: its emission, and whether it holds numbers only; its lobes appended.
    fn read(&self, point: &ShadingPoint, outputs: &[Row], lane: usize, lobes: &mut Vec<WeightedLobe>) -> (Vec3, bool) {
        let inside = point.surface.backfacing;
        let place = Place { wo: -point.incident, gnormal: point.surface.gnormal_seen(), inside };
        let (mut lobes, mut numbers) = (Lobes::new(lobes), true);
        for slot in &self.lobes {
            let weight = Vec3::from(read3(outputs, slot.weight_row, lane));
            if weight == Vec3::ZERO {
                continue;
            }
            numbers &= weight.is_finite() && slot.floats.iter().all(|&row| outputs[row].0[lane].is_finite());
            if !weight.is_finite() {
                continue;
            }
            let weight = weight * self.passing(slot, outputs, lane, &place);
            if weight == Vec3::ZERO {
                continue;
            }
            lobes.set_weight(weight);
            (slot.kind.scatter)(&outputs[slot.parameter_row..], lane, &place, &mut lobes);
        }
        (lobes.emission, numbers)
    }

    /// The share of an entry's light that passes the layers above it.
    fn passing(&self, slot: &LobeSlot, outputs: &[Row], lane: usize, place: &Place) -> Vec3 {
        let Some(Layer { lobe, parameter }) = slot.layer else { return Vec3::ONE };
        let above = &self.lobes[lobe];
        let share = (above.kind.beneath)(&outputs[above.parameter_row..], lane, place, parameter);
        share * self.passing(above, outputs, lane, place)
    }
}

/// Of a lobe whose parameters begin at row `first`, the rows that hold floats.
fn float_rows(closure: &ClosureType, first: usize) -> Vec<usize> {
    let mut rows = Vec::new();
    let mut at = first;
    for parameter in &closure.parameters {
        let scalars = match &parameter.ty {
            Type::Float => 1,
            Type::Vector(kind) => kind.len(),
            Type::Matrix => 16,
            // Closures have no rows, the others one, which is no float.
            Type::Closure => continue,
            _ => {
                at += 1;
                continue;
            }
        };
        rows.extend(at..at + scalars);
        at += scalars;
    }
    rows
}

/// What is read beyond the globals that every hit has.
fn variables_read(interface: &ShaderInterface, language: &ShadingLanguage) -> Vec<VariableRead> {
    let mut fields: Vec<usize> = interface.globals_read.iter().map(|r| r.field).collect();
    fields.dedup();
    let beyond = fields.into_iter().filter(|field| *field >= language.globals.fields().len());
    let read = |field: &GlobalField| VariableRead { name: field.name.clone(), numbers: globals::numbers_of(&field.ty) };
    beyond.map(|field| read(interface.globals.field(field))).collect()
}
