//! Where light matters: what the camera sees.

use crate::accel::offset_origin;
use crate::camera::Camera;
use crate::geometry::Hit;
use crate::geometry::surface::{self, Place};
use crate::math::ball::Ball;
use crate::ray::Ray;
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
    let places = |rays: &[Ray]| {
        let mut hits = Vec::new();
        scene.accel.closest_each(rays, &mut hits);
        let place = |(ray, hit): (&Ray, &Option<Hit>)| {
            let hit = hit.as_ref()?;
            Some(surface::place_on(&scene.geometry, scene.geometry.find(hit.primitive), ray, hit))
        };
        rays.iter().zip(&hits).map(place).collect::<Vec<_>>()
    };
    let first = places(&rays);
    // The camera may look through a pane.
    let behind = rays.iter().zip(&first).map(|(ray, place)| {
        let beyond = |p: &Place| offset_origin(p.position, p.position_error, p.gnormal, ray.direction);
        Ray { origin: place.as_ref().map_or(ray.origin, beyond), ..*ray }
    });
    let second = places(&behind.collect::<Vec<_>>());
    let both = first.iter().zip(&second).filter_map(|(first, second)| second.as_ref().or(first.as_ref()));
    let seen: Vec<Vec3> = both.map(|place| place.position).collect();
    let ranked = |mut values: Vec<f32>, share: f32| {
        values.sort_unstable_by(f32::total_cmp);
        values.get(((values.len() as f32 * share) as usize).min(values.len().checked_sub(1)?)).copied()
    };
    let middle = |axis: usize| ranked(seen.iter().map(|place| place[axis]).collect(), 0.5);
    let center = Vec3::new(middle(0)?, middle(1)?, middle(2)?);
    let radius = ranked(seen.iter().map(|place| place.distance(center)).collect(), WITHIN)?;
    (radius > 0.0).then_some(Ball { center, radius })
}
