//! What a closure type of the shading language means to the renderer.

use super::{Scatter, WeightedLobe};
use glam::Vec3;
use ssl_compiler::runtime::{Closure, ClosureDefault, ClosureType, Row};

/// The default for normals of closures: the shading normal.
pub const SHADING_NORMAL: ClosureDefault = ClosureDefault::Global("normal");

/// The default for tangents of closures.
pub const SHADING_TANGENT: ClosureDefault = ClosureDefault::Global("tangent");

/// The surface at a hit and the viewer, as far as lobes need to know them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Towards the viewer, unit length, world space.
    pub wo: Vec3,
    /// The geometric normal on the side of `wo`, unit length.
    pub gnormal: Vec3,
    /// Whether `wo` is behind the surface: inside of a closed mesh.
    pub inside: bool,
}

/// A closure type with the lobes that it stands for. At each hit, a shader's `make_closure<Name>(…)` becomes one value of
/// it.
pub trait SurfaceClosure: Closure {
    /// Whether it may emit light, which light sampling then looks for: see [`Lobes::emit`]. At the last vertices of paths nobody
    /// asks a surface whose closures do not.
    const EMITS: bool = false;

    /// Whether some of its lobes may let light pass straight through: see [`Scatter::is_straight`]. Others end shadow rays, and
    /// paths at their last vertex.
    const PASSES: bool = false;

    /// Adds its lobes, each with its share of the closure's weight; parameters may be anything, NaN included.
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>);

    /// For a layer: the share of the light from the base in its `parameter`th parameter that passes the layer towards the
    /// viewer.
    fn beneath(&self, _place: &Place, _parameter: usize) -> Vec3 {
        Vec3::ONE
    }
}

/// Collects the lobes and the emission of the closures of one hit.
pub struct Lobes<'a> {
    list: &'a mut Vec<WeightedLobe>,
    /// Radiance that the surface emits towards the viewer.
    pub emission: Vec3,
    weight: Vec3,
}

impl<'a> Lobes<'a> {
    /// Appends lobes to `list`.
    pub fn new(list: &'a mut Vec<WeightedLobe>) -> Lobes<'a> {
        Lobes { list, emission: Vec3::ZERO, weight: Vec3::ONE }
    }

    /// How many lobes the list holds.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Of the closure whose lobes come next.
    pub fn set_weight(&mut self, weight: Vec3) {
        self.weight = weight;
    }

    /// Adds a lobe with its share of the closure; a lobe without a share is left out.
    #[inline(always)]
    pub fn add(&mut self, share: Vec3, lobe: impl Scatter + Copy + Send + Sync + 'static) {
        let weight = self.weight * share;
        if weight != Vec3::ZERO {
            self.list.push(WeightedLobe::new(lobe, weight));
        }
    }

    /// Adds a share of everything that another closure stands for.
    pub fn add_closure(&mut self, share: Vec3, closure: &impl SurfaceClosure, place: &Place) {
        let whole = self.weight;
        self.weight = whole * share;
        if self.weight != Vec3::ZERO {
            closure.scatter(place, self);
        }
        self.weight = whole;
    }

    pub fn emit(&mut self, radiance: Vec3) {
        self.emission += self.weight * radiance;
    }
}

/// A closure type and what it stands for.
#[derive(Clone, Copy)]
pub struct ClosureKind {
    pub closure_type: fn() -> ClosureType,
    pub code: ClosureCode,
}

/// Where it is said how a closure scatters light.
#[derive(Clone, Copy)]
pub enum ClosureCode {
    /// In the struct of its name in this file of the renderer's library.
    Ssl(&'static str),
    Rust(RustCode),
}

/// A [`SurfaceClosure`] as a list of them holds it.
#[derive(Clone, Copy)]
pub struct RustCode {
    pub emits: bool,
    pub passes: bool,
    /// Of the parameters of one lane.
    pub scatter: fn(&[Row], usize, &Place, &mut Lobes<'_>),
    pub beneath: fn(&[Row], usize, &Place, usize) -> Vec3,
}

impl ClosureKind {
    pub fn of<C: SurfaceClosure>() -> ClosureKind {
        let code = RustCode {
            emits: C::EMITS,
            passes: C::PASSES,
            scatter: |rows, lane, place, lobes| C::read(rows, lane).scatter(place, lobes),
            beneath: |rows, lane, place, parameter| C::read(rows, lane).beneath(place, parameter),
        };
        ClosureKind { closure_type: C::closure_type, code: ClosureCode::Rust(code) }
    }

    /// With code in a file of the renderer's library.
    fn in_file<C: Closure>(file: &'static str) -> ClosureKind {
        ClosureKind { closure_type: C::closure_type, code: ClosureCode::Ssl(file) }
    }

    /// Its code in Rust, if it has such.
    pub fn rust(&self) -> Option<RustCode> {
        match self.code {
            ClosureCode::Rust(code) => Some(code),
            ClosureCode::Ssl(_) => None,
        }
    }

    /// The file with its code, if that is SSL.
    pub fn file(&self) -> Option<&'static str> {
        match self.code {
            ClosureCode::Ssl(file) => Some(file),
            ClosureCode::Rust(_) => None,
        }
    }
}

/// All closure types of the renderer.
pub fn closures() -> Vec<ClosureKind> {
    vec![
        ClosureKind::in_file::<super::AnisotropicConductor>("bsdfs/anisotropic_conductor.ssl"),
        ClosureKind::in_file::<super::AshikhminShirley>("bsdfs/ashikhmin_shirley.ssl"),
        ClosureKind::in_file::<super::Cloth>("bsdfs/cloth.ssl"),
        ClosureKind::in_file::<super::Coat>("bsdfs/coat.ssl"),
        ClosureKind::in_file::<super::Conductor>("bsdfs/conductor.ssl"),
        ClosureKind::in_file::<super::Dielectric>("bsdfs/dielectric.ssl"),
        ClosureKind::of::<super::DoubleSided>(),
        ClosureKind::of::<super::Emission>(),
        ClosureKind::in_file::<super::Glossy>("bsdfs/glossy.ssl"),
        ClosureKind::in_file::<super::Lambert>("bsdfs/lambert.ssl"),
        ClosureKind::of::<super::Measured>(),
        ClosureKind::in_file::<super::Mirror>("bsdfs/mirror.ssl"),
        ClosureKind::in_file::<super::OpenPbr>("bsdfs/openpbr.ssl"),
        ClosureKind::in_file::<super::OrenNayar>("bsdfs/oren_nayar.ssl"),
        ClosureKind::in_file::<super::Phong>("bsdfs/phong.ssl"),
        ClosureKind::in_file::<super::Principled>("bsdfs/principled.ssl"),
        ClosureKind::in_file::<super::RoughDielectric>("bsdfs/rough_dielectric.ssl"),
        ClosureKind::in_file::<super::Schlick>("bsdfs/schlick.ssl"),
        ClosureKind::in_file::<super::Sheen>("bsdfs/sheen.ssl"),
        ClosureKind::in_file::<super::Translucent>("bsdfs/translucent.ssl"),
        ClosureKind::of::<super::Transparent>(),
    ]
}
