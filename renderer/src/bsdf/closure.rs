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

/// A [`SurfaceClosure`] as a list of them holds it.
#[derive(Clone, Copy)]
pub struct ClosureKind {
    /// The file of the library whose struct of this name is its code; else `scatter` and `beneath` are.
    pub code: Option<&'static str>,
    pub emits: bool,
    pub passes: bool,
    pub closure_type: fn() -> ClosureType,
    /// Of the parameters of one lane.
    pub scatter: fn(&[Row], usize, &Place, &mut Lobes<'_>),
    pub beneath: fn(&[Row], usize, &Place, usize) -> Vec3,
}

impl ClosureKind {
    pub fn of<C: SurfaceClosure>() -> ClosureKind {
        ClosureKind {
            code: None,
            emits: C::EMITS,
            passes: C::PASSES,
            closure_type: C::closure_type,
            scatter: |rows, lane, place, lobes| C::read(rows, lane).scatter(place, lobes),
            beneath: |rows, lane, place, parameter| C::read(rows, lane).beneath(place, parameter),
        }
    }

    /// With code in SSL.
    fn in_file(self, file: &'static str) -> ClosureKind {
        ClosureKind { code: Some(file), ..self }
    }
}

/// All closure types of the renderer.
pub fn closures() -> Vec<ClosureKind> {
    vec![
        ClosureKind::of::<super::AnisotropicConductor>().in_file("bsdfs/anisotropic_conductor.ssl"),
        ClosureKind::of::<super::AshikhminShirley>().in_file("bsdfs/ashikhmin_shirley.ssl"),
        ClosureKind::of::<super::Cloth>().in_file("bsdfs/cloth.ssl"),
        ClosureKind::of::<super::Coat>().in_file("bsdfs/coat.ssl"),
        ClosureKind::of::<super::Conductor>().in_file("bsdfs/conductor.ssl"),
        ClosureKind::of::<super::Dielectric>().in_file("bsdfs/dielectric.ssl"),
        ClosureKind::of::<super::DoubleSided>(),
        ClosureKind::of::<super::Emission>(),
        ClosureKind::of::<super::Glossy>().in_file("bsdfs/glossy.ssl"),
        ClosureKind::of::<super::Lambert>().in_file("bsdfs/lambert.ssl"),
        ClosureKind::of::<super::Measured>(),
        ClosureKind::of::<super::Mirror>().in_file("bsdfs/mirror.ssl"),
        ClosureKind::of::<super::OpenPbr>().in_file("bsdfs/openpbr.ssl"),
        ClosureKind::of::<super::OrenNayar>().in_file("bsdfs/oren_nayar.ssl"),
        ClosureKind::of::<super::Phong>().in_file("bsdfs/phong.ssl"),
        ClosureKind::of::<super::Principled>().in_file("bsdfs/principled.ssl"),
        ClosureKind::of::<super::RoughDielectric>().in_file("bsdfs/rough_dielectric.ssl"),
        ClosureKind::of::<super::Schlick>().in_file("bsdfs/schlick.ssl"),
        ClosureKind::of::<super::Sheen>().in_file("bsdfs/sheen.ssl"),
        ClosureKind::of::<super::Translucent>().in_file("bsdfs/translucent.ssl"),
        ClosureKind::of::<super::Transparent>(),
    ]
}
