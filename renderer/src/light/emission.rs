//! What the materials of shapes emit: nothing, the same everywhere, or what their shaders give at each point.

use super::area::Emitter;
use crate::geometry::{Geometry, Hit, surface};
use crate::material::{Material, Scratch, ShadingPoint, Surroundings};
use crate::math::luminance;
use crate::ray::{Ray, RayDifferential};
use crate::texture::TextureSystem;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;

/// What a material sends out to both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaterialEmission {
    None,
    /// This radiance, whatever the point and the direction.
    Constant(Vec3),
    /// What its shader says.
    Varying,
}

/// What is needed to ask shaders.
#[derive(Clone, Copy)]
pub struct EmissionContext<'a> {
    pub around: Surroundings<'a>,
    pub materials: &'a [Material],
    pub textures: &'a TextureSystem,
}

impl EmissionContext<'_> {
    /// Of each material.
    pub fn material_emissions(&self) -> Vec<MaterialEmission> {
        self.materials.iter().map(|material| self.material_emission(material)).collect()
    }

    fn material_emission(&self, material: &Material) -> MaterialEmission {
        let Some(emission) = material.emission() else { return MaterialEmission::None };
        if !emission.is_even() {
            return MaterialEmission::Varying;
        }
        let point = ShadingPoint { incident: Vec3::NEG_Z, ..ShadingPoint::default() };
        match emission.emitted(&[point], self.around, self.textures, &mut Scratch::default())[0] {
            Vec3::ZERO => MaterialEmission::None,
            radiance => MaterialEmission::Constant(radiance),
        }
    }

    /// The mean luminance of the front and of the back of each of a shape's primitives, from `first` on, where an instance
    /// places them; `None` where all that was asked is dark.
    ///
    /// Points are spread evenly over each, and look-ups cover what is between them, so that no texture is missed.
    pub fn luminances(&self, first: u32, count: u32, place: u64) -> Option<Vec<[f32; 2]>> {
        let geometry = self.around.geometry;
        let shape = geometry.shape(geometry.shape_of(first));
        let emission = self.materials.get(shape.material as usize)?.emission()?;
        let mut scratch = Scratch::default();
        let mut mean = |primitive: u32, points: usize| {
            let points = (0..points).map(|i| (i, points));
            let points: Vec<ShadingPoint> = points
                .flat_map(|at| both_sides(geometry, Emitter { instance: place, primitive }, at, emission))
                .collect();
            let mut sums = [0.0_f32; 2];
            for block in points.chunks(LANES) {
                let emitted = emission.emitted(block, self.around, self.textures, &mut scratch);
                emitted.iter().enumerate().for_each(|(lane, &light)| sums[lane % 2] += luminance(light));
            }
            sums.map(|sum| sum / (points.len() / 2).max(1) as f32)
        };
        // Of very many, some tell whether it is worth the while to ask all.
        let step = count.div_ceil(SCOUTS);
        if step > 1 && (first..first + count).step_by(step as usize).all(|p| mean(p, 1) == [0.0; 2]) {
            return None;
        }
        let points = (POINTS / count as usize).clamp(2, POINTS);
        let luminances: Vec<[f32; 2]> = (first..first + count).map(|p| mean(p, points)).collect();
        self.textures.cache().release();
        luminances.iter().any(|l| *l != [0.0; 2]).then_some(luminances)
    }
}

/// Points that a shape is asked at, but for those of more primitives.
const POINTS: usize = 256;
/// Primitives of a shape that are asked before all are.
const SCOUTS: u32 = 1024;

/// One of so many points of a primitive, seen from the front and from behind, each from straight above.
fn both_sides(
    geometry: &Geometry,
    emitter: Emitter,
    (i, of): (usize, usize),
    emission: &Material,
) -> Vec<ShadingPoint> {
    // A lattice (Roberts' R2 sequence), begun elsewhere for each primitive.
    let at = (i as f32 + (emitter.primitive % 1024) as f32) * Vec2::new(0.754_877_7, 0.569_840_3);
    let Some((hit, position, normal, area)) = emitter.point(geometry, at.fract()) else { return Vec::new() };
    let (reach, apart) = (area.sqrt().max(1e-6), (area / of as f32).sqrt());
    let side = |normal: Vec3| {
        let ray = Ray::new(position + normal * reach, -normal, 0.0);
        let hit = Hit { t: reach, ..hit };
        let surface = surface::at(geometry, &ray, &hit);
        let origin = [surface.tangent * apart, surface.bitangent * apart];
        let differential = RayDifferential { origin, direction: [Vec3::ZERO; 2] };
        let partials = surface::partials_at(geometry, &ray, &differential, &hit, emission.wanted());
        ShadingPoint { hit, surface, partials, incident: ray.direction, ray_depth: 1, ..ShadingPoint::default() }
    };
    vec![side(normal), side(-normal)]
}
