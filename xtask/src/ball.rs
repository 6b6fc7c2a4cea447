//! The ball on a foot that shows materials and lobes: a profile turned about the y axis.
//!
//! It has what tells materials apart: a large round face, a groove with rounded edges, a hollow neck and a small foot.
//! Its lower end stands at y = 0, its center at y = 1. u runs once about it, and v from the foot to the top along the
//! profile. The mesh is closed, so glass works.

use super::Outcome;
use super::commands::root;
use std::f32::consts::{FRAC_PI_2, TAU};
use std::fmt::Write as _;

const SEGMENTS: usize = 48;
const RADIUS: f32 = 0.8;
/// Angles from the top, in degrees, between which the groove falls and rises, and how deep it is.
const GROOVE: [f32; 4] = [50.0, 53.5, 58.5, 62.0];
const DEPTH: f32 = 0.06;

/// Writes it where the scenes look for it.
pub fn write() -> Outcome {
    let path = root().join("scenes/models/ball.obj");
    std::fs::write(&path, obj()).map_err(|e| format!("{}: {e}", path.display()))
}

/// The mesh as a Wavefront OBJ file.
fn obj() -> String {
    let profile = profile();
    let last = profile.len() - 1;
    let mut out = "# A ball on a foot, to show materials on; written by `cargo xtask ball`.\n".to_owned();
    // Pieces are added up in writing, which cannot fail.
    for [r, y] in &profile {
        for segment in 0..SEGMENTS {
            let angle = TAU * segment as f32 / SEGMENTS as f32;
            let _ = writeln!(out, "v {:.4} {y:.4} {:.4}", r * angle.sin() + 0.0, r * angle.cos() + 0.0);
        }
    }
    for v in along(&profile) {
        for segment in 0..=SEGMENTS {
            let _ = writeln!(out, "vt {:.4} {v:.4}", segment as f32 / SEGMENTS as f32);
        }
    }
    for row in 0..last {
        for segment in 0..SEGMENTS {
            let corner = |row: usize, segment: usize| {
                format!("{}/{}", row * SEGMENTS + segment % SEGMENTS + 1, row * (SEGMENTS + 1) + segment + 1)
            };
            let [a, b] = [corner(row, segment), corner(row, segment + 1)];
            let [c, d] = [corner(row + 1, segment + 1), corner(row + 1, segment)];
            // At the ends a quad has two corners in one place.
            let _ = match row {
                0 => writeln!(out, "f {a} {c} {d}"),
                _ if row + 1 == last => writeln!(out, "f {a} {b} {c}"),
                _ => writeln!(out, "f {a} {b} {c} {d}"),
            };
        }
    }
    out
}

/// Distances from the axis, and heights, from the middle of the foot's lower side to the top.
fn profile() -> Vec<[f32; 2]> {
    let mut points = vec![[0.0, 0.0], [0.52, 0.0], [0.545, 0.0]];
    // The foot's rounded rim, its flat upper side, and the fillet to the neck.
    arc(&mut points, [0.5, 0.06], 0.06, -0.6, FRAC_PI_2);
    points.push([0.42, 0.12]);
    arc(&mut points, [0.38, 0.22], -0.1, FRAC_PI_2, 0.1);
    for degrees in (70..=158).rev().step_by(8) {
        points.push(on_ball(degrees as f32));
    }
    for [from, to] in [[GROOVE[2], GROOVE[3]], [GROOVE[0], GROOVE[1]]] {
        points.extend((0..=6).map(|i| on_ball(to + (from - to) * i as f32 / 6.0)));
    }
    for degrees in (0..=42).rev().step_by(7) {
        points.push(on_ball(degrees as f32));
    }
    points
}

fn arc(points: &mut Vec<[f32; 2]>, center: [f32; 2], radius: f32, from: f32, to: f32) {
    points.extend((0..=5).map(|i| {
        let (sin, cos) = (from + (to - from) * i as f32 / 5.0).sin_cos();
        [center[0] + radius * cos, center[1] + radius * sin]
    }));
}

/// The point of the ball's profile so many degrees from the top.
fn on_ball(degrees: f32) -> [f32; 2] {
    let step = |low: f32, high: f32| {
        let t = ((degrees - low) / (high - low)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    let radius = RADIUS - DEPTH * (step(GROOVE[0], GROOVE[1]) - step(GROOVE[2], GROOVE[3]));
    let (sin, cos) = degrees.to_radians().sin_cos();
    [radius * sin, 1.0 + radius * cos]
}

/// How far along the profile each of its points lies, 0 to 1.
fn along(profile: &[[f32; 2]]) -> Vec<f32> {
    let mut lengths = vec![0.0];
    for pair in profile.windows(2) {
        let way = (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]);
        lengths.push(lengths[lengths.len() - 1] + way);
    }
    let whole = lengths[lengths.len() - 1];
    lengths.iter().map(|l| l / whole).collect()
}
