//! Points from which shapes send out light, drawn by how much that is in all: where their photons begin.

use super::area::{Emitter, Point};
use super::{LightName, MaterialEmission, SceneLights};
use crate::geometry::{Geometry, Primitive};
use crate::math::Distribution;
use glam::{Vec2, Vec3};

/// The shapes that emit, by their powers.
pub struct EmissionSampler {
    emitters: Vec<Emitter>,
    /// The luminance that each sends straight to the front, times its area; of a ball, the area that a direction sees.
    intensities: Vec<f32>,
    choice: Distribution,
}

/// Where light leaves a shape.
pub struct Left {
    pub position: Vec3,
    /// Unit length, to the side to which it is sent.
    pub normal: Vec3,
    /// The area that the point stands for.
    pub area: f32,
    /// The radiance that is sent out there, the same in all directions.
    pub radiance: Vec3,
    pub light_name: LightName,
}

impl EmissionSampler {
    /// None where no shape emits. Shapes whose shaders say what they send out are drawn from only with `varying`, as if they sent out
    /// the same, and white, everywhere.
    pub fn new(geometry: &Geometry, lights: &SceneLights, varying: bool) -> Option<EmissionSampler> {
        let counts = |emitter: &Emitter| varying || sends_photons(geometry, lights, emitter.primitive);
        let (emitters, intensities): (Vec<Emitter>, Vec<f32>) =
            lights.by_intensity().filter(|(emitter, _)| counts(emitter)).unzip();
        let any = intensities.iter().any(|intensity| *intensity > 0.0);
        any.then(|| EmissionSampler { choice: Distribution::new(intensities.iter().copied()), emitters, intensities })
    }

    /// A point for `u` and a `side` in [0, 1).
    pub fn draw(&self, geometry: &Geometry, lights: &SceneLights, u: Vec2, side: f32) -> Option<Left> {
        let (number, p, stretched) = self.choice.sample(u.x);
        let (shape, Point { position, normal, area }) =
            self.emitters[number].spot(geometry, Vec2::new(stretched, u.y))?;
        let shape = geometry.shape(shape);
        let of_material = lights.material_emission(shape.material);
        let (front, sides) = match of_material {
            MaterialEmission::None => (true, 1.0),
            _ => (side >= 0.5, 2.0),
        };
        let of_shape = if front { shape.emission } else { Vec3::ZERO };
        let radiance = match of_material {
            MaterialEmission::None => of_shape,
            MaterialEmission::Constant(radiance) => of_shape + radiance,
            // All of a ball sends light, of which its intensity counts what one direction sees.
            MaterialEmission::Varying => {
                Vec3::splat(self.intensities[number] * whole(geometry, &self.emitters[number]) / area)
            }
        };
        let normal = if front { normal } else { -normal };
        (p > 0.0).then(|| Left { position, normal, area: sides * area / p, radiance, light_name: shape.light_name })
    }
}

/// Whether photons carry the light of a primitive as it is: it sends out the same everywhere, and points are drawn on it.
pub fn sends_photons(geometry: &Geometry, lights: &SceneLights, primitive: u32) -> bool {
    let material = geometry.shape(geometry.shape_of(primitive)).material;
    lights.material_emission(material) != MaterialEmission::Varying && Emitter::is_drawn(geometry, primitive)
}

/// Its area over that which one direction sees.
fn whole(geometry: &Geometry, emitter: &Emitter) -> f32 {
    if matches!(geometry.primitive(emitter.primitive), Primitive::Sphere(_)) { 4.0 } else { 1.0 }
}
