//! Where light matters: what the camera sees.

use crate::camera::Camera;
use crate::geometry::surface;
use crate::math::ball::Ball;
use crate::scene::Scene;
use glam::{Vec2, Vec3};

/// Rays along each side of the frame.
const RAYS: u32 = 32;
/// The share of what is seen that lies within the ball. A floor may reach as far as one can see: photons spread over all of it would be
/// few and strong where one looks.
const WITHIN: f32 = 0.5;

/// A ball round half of what a camera sees with a frame of so many pixels; `None` if that is nothing.
pub fn visible(scene: &Scene, camera: &Camera, (width, height): (u32, u32)) -> Option<Ball> {
    let at = |i: u32, side: u32| (i as f32 + 0.5) / RAYS as f32 * side as f32;
    let films = (0..RAYS * RAYS).map(|i| Vec2::new(at(i % RAYS, width), at(i / RAYS, height)));
    let rays: Vec<_> = films.map(|film| camera.ray(film, Vec2::splat(0.5), 0.5).0).collect();
    let mut hits = Vec::new();
    scene.accel.closest_each(&rays, &mut hits);
    let seen = rays.iter().zip(&hits).filter_map(|(ray, hit)| {
        let hit = hit.as_ref()?;
        Some(surface::place_on(&scene.geometry, scene.geometry.find(hit.primitive), ray, hit).position)
    });
    let seen: Vec<Vec3> = seen.collect();
    let ranked = |mut values: Vec<f32>, share: f32| {
        values.sort_unstable_by(f32::total_cmp);
        values.get(((values.len() as f32 * share) as usize).min(values.len().checked_sub(1)?)).copied()
    };
    let middle = |axis: usize| ranked(seen.iter().map(|place| place[axis]).collect(), 0.5);
    let center = Vec3::new(middle(0)?, middle(1)?, middle(2)?);
    let radius = ranked(seen.iter().map(|place| place.distance(center)).collect(), WITHIN)?;
    (radius > 0.0).then_some(Ball { center, radius })
}
