//! What focuses light: balls round the shapes whose materials have narrow lobes. Photons of a guide are sent there more often than
//! elsewhere, those of a photon map there alone.

use crate::bsdf::{Bsdf, BsdfSample, LobeLists, SslLobe, SslLobes};
use crate::geometry::{Body, Geometry, Surface};
use crate::material::{Scratch, ShadingPoint};
use crate::math::Distribution;
use crate::math::ball::Ball;
use crate::scene::Scene;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;

/// Lobes that send a photon with at least this density, per steradian, focus light as mirrors do. A Lambertian lobe has 1/π at
/// most.
const NARROW: f32 = 1.0;

/// More than these share one ball.
const MOST: usize = 64;

/// Of the shapes and instances of the world that may focus light, by what their materials do at one point.
pub fn find(scene: &Scene) -> Vec<Ball> {
    let geometry = &scene.geometry;
    let focuses: Vec<bool> = (0..scene.materials.len()).map(|material| may_focus(scene, material)).collect();
    // Of each group, once it is known.
    let mut groups: Vec<Option<bool>> = vec![None; geometry.group_count() as usize];
    let bodies = geometry.members_of(Geometry::WORLD);
    let found = bodies.filter(|(body, shape)| match body {
        Body::Instance(instance) => group_focuses(geometry, &focuses, instance.group, &mut groups),
        _ => focuses.get(shape.material as usize).copied().unwrap_or(false),
    });
    let boxes: Vec<(Vec3, Vec3)> = found.filter_map(|(body, _)| geometry.body_bounds(body)).collect();
    match boxes.len() {
        0..=MOST => boxes.into_iter().map(Ball::round).filter(|ball| ball.radius > 0.0).collect(),
        _ => {
            let all = boxes.into_iter().reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
            all.map(Ball::round).into_iter().collect()
        }
    }
}

/// Those of a picture that shows what is in a ball, as far as paths leave light to photons: of what is larger than the ball, only what may be
/// in it counts.
pub fn of_picture(casters: &[Ball], visible: &Ball) -> Vec<Ball> {
    let (mut balls, large): (Vec<Ball>, Vec<Ball>) = casters.iter().partition(|ball| ball.radius <= visible.radius);
    balls.extend(large.iter().any(|ball| ball.touches(visible)).then_some(*visible));
    balls
}

/// What photons are aimed at.
pub struct Targets {
    balls: Vec<Ball>,
    choice: Distribution,
}

impl Targets {
    /// Balls, by their radii: photons for each of the same area would leave few to small ones, and as many for each would be strong for large
    /// ones.
    pub fn whole(balls: Vec<Ball>) -> Targets {
        let choice = Distribution::new(balls.iter().map(|ball| ball.radius));
        Targets { balls, choice }
    }

    /// Of light that no path finds, in a picture that shows what is in a ball. Casters larger than that have parts, from the one that is as
    /// large and nearest to it up to the whole: a mirror out of view lights what is seen, too, and glass as far away as one can see is worth
    /// few photons, but some.
    pub fn graded(casters: &[Ball], visible: &Ball) -> Targets {
        let (small, large): (Vec<Ball>, Vec<Ball>) = casters.iter().partition(|ball| ball.radius <= visible.radius);
        let mut weighted: Vec<(Ball, f32)> = small.into_iter().map(|ball| (ball, ball.radius)).collect();
        for caster in &large {
            let levels = (caster.radius / visible.radius).log(GROWTH).ceil().clamp(1.0, 16.0) as i32;
            // Half of the photons for the nearest part, the others for all that are larger.
            let half = 0.5 * visible.radius / large.len() as f32;
            let parts = (0..levels).map(|level| visible.radius * GROWTH.powi(level));
            let parts = parts.map(|radius| caster.part_near(visible.center, radius)).chain([*caster]);
            weighted.extend(parts.zip(std::iter::once(half).chain(std::iter::repeat(half / levels as f32))));
        }
        let choice = Distribution::new(weighted.iter().map(|(_, weight)| *weight));
        Targets { balls: weighted.into_iter().map(|(ball, _)| ball).collect(), choice }
    }

    pub fn is_empty(&self) -> bool {
        self.balls.is_empty()
    }

    /// One of them, for a number in [0, 1).
    pub fn choose(&self, u: f32) -> Ball {
        self.balls[self.choice.sample(u).0]
    }

    /// The density of what is sent to them, by that for each of them.
    pub fn density(&self, towards: impl Fn(&Ball) -> f32) -> f32 {
        self.balls.iter().enumerate().map(|(i, ball)| self.choice.probability(i) * towards(ball)).sum()
    }
}

/// By how much each part of a large caster is larger than the one before.
const GROWTH: f32 = 4.0;

fn group_focuses(geometry: &Geometry, focuses: &[bool], group: u32, groups: &mut [Option<bool>]) -> bool {
    if let Some(known) = groups[group as usize] {
        return known;
    }
    let any = geometry.members_of(group).any(|(body, shape)| match body {
        Body::Instance(instance) => group_focuses(geometry, focuses, instance.group, groups),
        _ => focuses.get(shape.material as usize).copied().unwrap_or(false),
    });
    groups[group as usize] = Some(any);
    any
}

/// Whether a direction was drawn as mirrors, glass, or lobes nearly as narrow draw it.
pub fn is_narrow(next: &BsdfSample) -> bool {
    next.specular.is_some() || next.pdf >= NARROW
}

/// Whether the material has narrow lobes at a point that looks straight or aslant at its light. Where its textures make them
/// elsewhere alone, photons of a guide still find them, if not as often.
fn may_focus(scene: &Scene, material: usize) -> bool {
    let aslant = Vec3::new(0.6, 0.0, -0.8);
    let points = [Vec3::NEG_Z, aslant].map(|incident| {
        let surface =
            Surface { normal: Vec3::Z, gnormal: Vec3::Z, tangent: Vec3::X, bitangent: Vec3::Y, ..Surface::default() };
        ShadingPoint { surface, incident, ..ShadingPoint::default() }
    });
    let (mut lobes, mut ssl, mut shaded) = (Vec::new(), SslLobes::default(), Vec::new());
    let (around, material) = (scene.surroundings(), &scene.materials[material]);
    let lists = LobeLists { rust: &mut lobes, ssl: &mut ssl };
    material.rehearse(&points, around, &scene.textures, &mut Scratch::default(), lists, &mut shaded);
    scene.textures.cache().release();
    points.iter().zip(&shaded).any(|(point, shaded)| {
        let wo = -point.incident;
        let bent_normals = scene.integrator.bent_normals;
        let all = Bsdf { lobes: &lobes[shaded.lobes.clone()], ssl: None, wo, gnormal: Vec3::Z, bent_normals };
        let alone = |i: usize| Bsdf { lobes: &all.lobes[i..i + 1], ..all }.sample(Vec2::splat(0.3));
        let narrow = |next: &BsdfSample| is_narrow(next) && next.specular.is_none_or(|specular| !specular.straight);
        let in_rust = (0..all.lobes.len()).any(|i| alone(i).is_some_and(|next| narrow(&next)));
        in_rust || ssl.list[shaded.ssl.clone()].iter().any(|l| has_narrow_part(&ssl, &l.lobe, wo))
    })
}

/// Whether a lobe with code in SSL is narrow, or a part of it is that it draws from at least once in `DRAWS` times.
fn has_narrow_part(ssl: &SslLobes, lobe: &SslLobe, wo: Vec3) -> bool {
    const DRAWS: usize = 256;
    let points: Vec<Vec2> = (0..DRAWS).map(|i| Vec2::new((i as f32 + 0.5) / DRAWS as f32, 0.3)).collect();
    let mut drawn = points.chunks(LANES).flat_map(|some| ssl.samples(lobe, wo, some)).flatten();
    lobe.is_specular() || drawn.any(|sample| sample.pdf >= NARROW)
}
