//! Paths of one scene whose vertices are one SSL program, with all state in rows: an experiment beside the path tracer, which
//! shades through a table of lobes. It prints nanoseconds a sample on one thread, in all and by stage.
//!
//! `vertex_program SCENE [SAMPLES]`: the scene has a constant sky, one spot light, quads and meshes. The material `table` is
//! `Principled` with a roughness of 0.22 and the texture `tex.png`; all others are blue with a roughness of 0.15. Rays have no
//! differentials, so the texture is read at its finest level.

// Loops over lanes read several rows at the same lane.
#![allow(clippy::needless_range_loop)]

use glam::{Vec2, Vec3};
use renderer::camera::Projection;
use renderer::film::Tile;
use renderer::geometry::{Hit, Primitive, TriangleMesh};
use renderer::light::{Cone, DirectionFootprint, PointLight};
use renderer::material::LIBRARY;
use renderer::ray::Ray;
use renderer::sampler::{Noise, Pattern, Streams};
use ssl_benches::process;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::runtime::{Block, LANES, ParameterBlock, Row};
use ssl_compiler::types::{Type, VectorKind};
use ssl_compiler::{BackendKind, Compiler, GlobalsLayout, Orders};
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const SOURCE: &str = include_str!("vertex.ssl");

#[cfg(feature = "llvm")]
const BACKEND: BackendKind = BackendKind::Llvm;
#[cfg(not(feature = "llvm"))]
const BACKEND: BackendKind = BackendKind::Cranelift;

// The first rows of the globals, in the order of the layout.
const INCIDENT: usize = 0;
const SHADING: usize = 3;
const GNORMAL: usize = 6;
const BASE: usize = 9;
const TO_LAMP: usize = 12;
const LAMP: usize = 15;
const BETA: usize = 18;
const U: usize = 21;
const ROUGH: usize = 23;
const ROULETTE: usize = 24;
const PLAYS: usize = 25;
const GLOBALS: usize = 26;

fn layout() -> Result<GlobalsLayout, String> {
    let mut layout = GlobalsLayout::new();
    let [vector, color, float2] = [VectorKind::Vector, VectorKind::Color, VectorKind::Float2].map(Type::Vector);
    for (name, ty) in [
        ("incident", vector.clone()),
        ("shading", vector.clone()),
        ("gnormal", vector.clone()),
        ("base_color", color.clone()),
        ("to_lamp", vector.clone()),
        ("lamp", color.clone()),
        ("beta", color.clone()),
        ("u", float2),
        ("rough", Type::Float),
        ("roulette", Type::Float),
        ("plays", Type::Float),
    ] {
        layout.add(name, ty, Orders::Value).map_err(|e| e.to_string())?;
    }
    Ok(layout)
}

/// Nanoseconds of each stage.
#[derive(Default)]
struct Times {
    stages: [u64; 9],
}
const STAGES: [&str; 9] =
    ["camera", "rays", "sort", "surfaces", "numbers", "lights", "vertex", "scatter", "shadow rays"];

/// The state of paths, a list a field.
#[derive(Default)]
struct Paths {
    beta: [Vec<f32>; 3],
    radiance: [Vec<f32>; 3],
}

impl Paths {
    fn resize(&mut self, n: usize) {
        for list in [&mut self.beta, &mut self.radiance].into_iter().flatten() {
            list.clear();
            list.resize(n, 0.0);
        }
    }
}

struct Texture {
    width: usize,
    height: usize,
    texels: Vec<[f32; 4]>,
}

impl Texture {
    #[inline(always)]
    fn at(&self, u: f32, v: f32) -> [f32; 3] {
        let (x, y) = (u * self.width as f32 - 0.5, (1.0 - v) * self.height as f32 - 0.5);
        let (x0, y0) = (x.floor(), y.floor());
        let (tx, ty) = (x - x0, y - y0);
        let wrap = |i: f32, n: usize| (i as i32).rem_euclid(n as i32) as usize;
        let (xa, xb) = (wrap(x0, self.width), wrap(x0 + 1.0, self.width));
        let (ya, yb) = (wrap(y0, self.height), wrap(y0 + 1.0, self.height));
        let t = |x: usize, y: usize| self.texels[y * self.width + x];
        let (a, b, c, d) = (t(xa, ya), t(xb, ya), t(xa, yb), t(xb, yb));
        std::array::from_fn(|i| (a[i] * (1.0 - tx) + b[i] * tx) * (1.0 - ty) + (c[i] * (1.0 - tx) + d[i] * tx) * ty)
    }
}

fn main() -> ExitCode {
    process::ended(measure())
}

fn measure() -> Result<(), String> {
    let mut words = std::env::args().skip(1);
    let scene_file = PathBuf::from(words.next().ok_or("name a scene")?);
    let samples: u32 = match words.next() {
        Some(word) => word.parse().ok().filter(|n| *n > 0).ok_or("the samples are a number from 1 on")?,
        None => 64,
    };
    let loaded = renderer::scene::load(&scene_file, BACKEND, &SearchPath::on_disk(Vec::new()));
    let scene = loaded.scene.ok_or("the scene does not load: `shade check` says why")?;
    let texture_file = scene_file.with_file_name("tex.png");
    let picture = image::open(&texture_file).map_err(|e| format!("{}: {e}", texture_file.display()))?.to_rgb8();
    let linear = |x: u8| {
        let c = f32::from(x) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    let texture = Texture {
        width: picture.width() as usize,
        height: picture.height() as usize,
        texels: picture.pixels().map(|p| [linear(p[0]), linear(p[1]), linear(p[2]), 0.0]).collect(),
    };
    let mut compiler = Compiler::new();
    compiler.set_globals(layout()?).set_externals(renderer::bsdf::functions()).set_target(BACKEND);
    compiler.set_imports(&SearchPath::on_disk(Vec::new()).with_library(LIBRARY));
    let file = compiler.add_source("vertex.ssl", SOURCE);
    let shader = compiler.compile(file, "vertex").map_err(|e| e.to_string())?;
    let parameters = shader.new_parameters();
    let interface = shader.interface();
    // The file declares them.
    let output = |name: &str| interface.output(name).map_or(0, |output| output.first_row);
    let out = Outputs {
        lamp: output("of_lamp"),
        wi: output("wi"),
        throughput: output("throughput"),
        goes_on: output("goes_on"),
        rows: interface.output_rows,
    };
    let (width, height) = (scene.film.width, scene.film.height);
    let (_, lamp, _) = scene.lights.asked().next().ok_or("the scene has no spot light")?;
    let cone = lamp.cone.ok_or("the light is no spot light")?;
    let Projection::Perspective { fov, .. } = scene.view.projection else {
        return Err("the camera has no perspective".into());
    };
    let sky = scene.environment.radiance(&scene.textures, &DirectionFootprint::scattered(Vec3::Y));
    let mut world = World {
        scene: &scene,
        texture: &texture,
        lamp,
        cone,
        sky,
        fov,
        shader: &shader,
        parameters: &parameters,
        out: &out,
    };
    let mut times = Times::default();
    for round in 0..3 {
        times = Times::default();
        let begin = Instant::now();
        let mean = world.render((width, height), samples, round, &mut times);
        let seconds = begin.elapsed().as_secs_f64();
        let per = seconds * 1e9 / f64::from(width * height * samples);
        println!("{per:.1} ns a sample, mean {mean:?}");
    }
    for (name, t) in STAGES.iter().zip(times.stages) {
        println!("  {name:12} {:7.1}", t as f64 / f64::from(width * height * samples));
    }
    Ok(())
}

struct Outputs {
    lamp: usize,
    wi: usize,
    throughput: usize,
    goes_on: usize,
    rows: usize,
}

struct World<'a> {
    scene: &'a renderer::scene::Scene,
    texture: &'a Texture,
    lamp: &'a PointLight,
    cone: Cone,
    sky: Vec3,
    fov: f32,
    shader: &'a ssl_compiler::Shader,
    parameters: &'a ParameterBlock,
    out: &'a Outputs,
}

#[derive(Default)]
struct Work {
    paths: Paths,
    active: Vec<u32>,
    rays: Vec<Ray>,
    hits: Vec<Option<Hit>>,
    /// The path, its hit, the shape, and the direction that the ray came in.
    by_material: Vec<Vec<(u32, Hit, u32, Vec3)>>,
    shadow: Vec<Ray>,
    shadow_of: Vec<(u32, [f32; 3])>,
    blocked: Vec<bool>,
    inputs: Vec<Row>,
    outputs: Vec<Row>,
}

impl World<'_> {
    fn render(&mut self, (width, height): (u32, u32), samples: u32, seed: u32, times: &mut Times) -> [f64; 3] {
        let mut work = Work {
            inputs: vec![Row::ZERO; GLOBALS],
            outputs: vec![Row::ZERO; self.out.rows],
            by_material: vec![Vec::new(); self.scene.materials.len()],
            ..Work::default()
        };
        let mut sums = [0.0; 3];
        const SIDE: u32 = 16;
        const BATCH: u32 = 16;
        for y0 in (0..height).step_by(SIDE as usize) {
            for x0 in (0..width).step_by(SIDE as usize) {
                let tile = Tile { x0, y0, x1: (x0 + SIDE).min(width), y1: (y0 + SIDE).min(height) };
                for first in (0..samples).step_by(BATCH as usize) {
                    self.batch(tile, first..(first + BATCH).min(samples), seed, &mut work, times);
                    for (sum, list) in sums.iter_mut().zip(&work.paths.radiance) {
                        *sum += list.iter().map(|x| f64::from(*x)).sum::<f64>();
                    }
                }
            }
        }
        sums.map(|s| s / f64::from(width * height * samples))
    }

    fn batch(&self, tile: Tile, samples: Range<u32>, seed: u32, work: &mut Work, times: &mut Times) {
        let mut last = Instant::now();
        let mut stage = |number: usize, times: &mut Times| {
            let now = Instant::now();
            times.stages[number] += (now - last).as_nanos() as u64;
            last = now;
        };
        let pattern = Pattern { seed, noise: Noise::White, samples: samples.end, is_centered: false };
        let count = tile.pixels() as usize * samples.len();
        let Work { paths, active, rays, hits, by_material, shadow, shadow_of, blocked, inputs, outputs } = work;
        paths.resize(count);
        let mut samplers = Vec::with_capacity(count);
        for pixel in 0..tile.pixels() {
            for sample in samples.clone() {
                samplers.push(pattern.sampler(tile.pixel(pixel), sample));
            }
        }
        let mut path = 0;
        let view = &self.scene.view;
        let eye = view.position;
        let forward = (view.target - eye).normalize();
        let right = forward.cross(view.up).normalize();
        let up = right.cross(forward);
        let half = Vec2::new(self.scene.film.width as f32, self.scene.film.height as f32) * 0.5;
        let pixel = (0.5 * self.fov.to_radians()).tan() / half.x;
        rays.clear();
        for block in samplers.chunks(LANES) {
            let films = Streams::new(block.iter().copied()).points(0);
            let (mut x, mut y) = ([0.0; LANES], [0.0; LANES]);
            for lane in 0..block.len() {
                let (px, py) = tile.pixel(((path + lane) / samples.len()) as u32);
                (x[lane], y[lane]) = (px as f32 + films[lane].x - half.x, py as f32 + films[lane].y - half.y);
            }
            let mut d = [[0.0; LANES]; 3];
            for lane in 0..LANES {
                let v: [f32; 3] = std::array::from_fn(|i| forward[i] + (right[i] * x[lane] - up[i] * y[lane]) * pixel);
                let scale = 1.0 / (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
                for i in 0..3 {
                    d[i][lane] = v[i] * scale;
                }
            }
            for lane in 0..block.len() {
                rays.push(Ray::new(eye, Vec3::new(d[0][lane], d[1][lane], d[2][lane]), 0.0));
            }
            path += block.len();
        }
        for i in 0..3 {
            paths.beta[i].fill(1.0);
        }
        active.clear();
        active.extend(0..count as u32);
        stage(0, times);
        let last_depth = self.scene.integrator.max_depth;
        for depth in 0..=last_depth {
            if depth == last_depth {
                // Nothing emits but the sky.
                self.scene.accel.occluded_each(rays, blocked);
                stage(1, times);
                for (&path, blocked) in active.iter().zip(blocked.iter()) {
                    if !blocked {
                        for i in 0..3 {
                            paths.radiance[i][path as usize] += paths.beta[i][path as usize] * self.sky[i];
                        }
                    }
                }
                break;
            }
            self.scene.accel.closest_each(rays, hits);
            stage(1, times);
            by_material.iter_mut().for_each(Vec::clear);
            for ((&path, hit), ray) in active.iter().zip(hits.iter()).zip(rays.iter()) {
                let p = path as usize;
                match hit {
                    Some(hit) => {
                        let (shape, _) = self.scene.geometry.find(hit.primitive);
                        by_material[self.scene.geometry.shape(shape).material as usize].push((
                            path,
                            *hit,
                            shape,
                            ray.direction,
                        ));
                    }
                    None => {
                        for i in 0..3 {
                            paths.radiance[i][p] += paths.beta[i][p] * self.sky[i];
                        }
                    }
                }
            }
            active.clear();
            rays.clear();
            stage(2, times);
            shadow.clear();
            shadow_of.clear();
            for (material, list) in by_material.iter().enumerate() {
                for block in list.chunks(LANES) {
                    let mut surface = Surface::default();
                    self.surfaces(paths, block, &mut surface, inputs);
                    stage(3, times);
                    let streams = Streams::new(block.iter().map(|(path, ..)| samplers[*path as usize]));
                    let first = 3 + 6 * depth;
                    let u = streams.points(first + 1);
                    let roulette = if depth >= 3 { streams.points(first + 4) } else { [Vec2::ZERO; LANES] };
                    stage(4, times);
                    for lane in 0..block.len() {
                        inputs[U].0[lane] = u[lane].x;
                        inputs[U + 1].0[lane] = u[lane].y;
                        inputs[ROULETTE].0[lane] = roulette[lane].x;
                        inputs[PLAYS].0[lane] = if depth >= 3 { 1.0 } else { 0.0 };
                    }
                    self.lights(&surface, inputs);
                    self.material(material, &surface, inputs);
                    stage(5, times);
                    let mask = ((1_u64 << block.len()) - 1) as u32;
                    self.shader.run(&mut Block { mask, ..Block::new(inputs, self.parameters, outputs) });
                    stage(6, times);
                    self.scatter(block, &surface, inputs, outputs, paths, active, rays, shadow, shadow_of);
                    stage(7, times);
                }
            }
            self.scene.accel.occluded_each(shadow, blocked);
            for ((path, light), blocked) in shadow_of.iter().zip(blocked.iter()) {
                if !blocked {
                    for i in 0..3 {
                        paths.radiance[i][*path as usize] += light[i];
                    }
                }
            }
            stage(8, times);
        }
    }

    fn surfaces(&self, paths: &Paths, block: &[(u32, Hit, u32, Vec3)], surface: &mut Surface, inputs: &mut [Row]) {
        let mut p = [[[0.0; LANES]; 3]; 3];
        let mut n = [[[0.0; LANES]; 3]; 3];
        let (mut u, mut v) = ([0.0; LANES], [0.0; LANES]);
        for (lane, (path, hit, shape, direction)) in block.iter().enumerate() {
            let path = *path as usize;
            for i in 0..3 {
                inputs[INCIDENT + i].0[lane] = direction[i];
                inputs[BETA + i].0[lane] = paths.beta[i][path];
            }
            (u[lane], v[lane]) = (hit.u, hit.v);
            match self.scene.geometry.primitive_of(*shape, hit.primitive) {
                Primitive::Triangle(mesh, triangle) => {
                    let TriangleMesh { positions, normals, indices, .. } = mesh;
                    for (corner, vertex) in indices[triangle].into_iter().enumerate() {
                        let (a, b) = (positions[vertex as usize], normals[vertex as usize]);
                        for i in 0..3 {
                            p[corner][i][lane] = a[i];
                            n[corner][i][lane] = b[i];
                        }
                    }
                }
                Primitive::Quad(quad) => {
                    let [a, b, c] = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)].map(|(x, y)| quad.plane.at(x, y));
                    for i in 0..3 {
                        (p[0][i][lane], p[1][i][lane], p[2][i][lane]) = (a[i], b[i], c[i]);
                        for corner in &mut n {
                            corner[i][lane] = [0.0, 1.0, 0.0][i];
                        }
                    }
                }
                _ => {}
            }
        }
        surface.uv = [u, v];
        for lane in 0..LANES {
            let at = |rows: &[[f32; LANES]; 3]| Vec3::new(rows[0][lane], rows[1][lane], rows[2][lane]);
            let (a, b, c) = (at(&p[0]), at(&p[1]), at(&p[2]));
            let (bu, bv) = (u[lane], v[lane]);
            let w = 1.0 - bu - bv;
            let position = a * w + b * bu + c * bv;
            let error = (a.abs() * w + b.abs() * bu + c.abs() * bv) * (7.0 * f32::EPSILON);
            let g = (b - a).cross(c - a).normalize_or_zero();
            let s = (at(&n[0]) * w + at(&n[1]) * bu + at(&n[2]) * bv).normalize_or_zero();
            let incident =
                Vec3::new(inputs[INCIDENT].0[lane], inputs[INCIDENT + 1].0[lane], inputs[INCIDENT + 2].0[lane]);
            let g = if g.dot(s) < 0.0 { -g } else { g };
            let flip = if g.dot(incident) > 0.0 { -1.0 } else { 1.0 };
            let (g, s) = (g * flip, s * flip);
            for i in 0..3 {
                surface.position[i][lane] = position[i];
                surface.error[i][lane] = error[i];
                inputs[GNORMAL + i].0[lane] = g[i];
                inputs[SHADING + i].0[lane] = s[i];
            }
        }
    }

    fn material(&self, material: usize, surface: &Surface, inputs: &mut [Row]) {
        for lane in 0..LANES {
            let (color, rough) = match self.scene.materials[material].name.as_str() {
                "table" => (self.texture.at(surface.uv[0][lane], surface.uv[1][lane]), 0.22),
                _ => ([0.2, 0.35, 0.6], 0.15),
            };
            for i in 0..3 {
                inputs[BASE + i].0[lane] = color[i];
            }
            inputs[ROUGH].0[lane] = rough;
        }
    }

    fn lights(&self, surface: &Surface, inputs: &mut [Row]) {
        let (lamp, cone) = (self.lamp, self.cone);
        for lane in 0..LANES {
            let at = |rows: &[[f32; LANES]; 3]| Vec3::new(rows[0][lane], rows[1][lane], rows[2][lane]);
            let to = lamp.position - at(&surface.position);
            let square = to.length_squared();
            let wi = to / square.sqrt();
            let cosine = -wi.dot(cone.axis);
            let t = ((cosine - cone.cos_outer) / (cone.cos_inner - cone.cos_outer).max(1e-9)).clamp(0.0, 1.0);
            let share = if cosine >= cone.cos_inner { 1.0 } else { t * t * (3.0 - 2.0 * t) };
            let arriving = lamp.intensity * (share / square);
            for i in 0..3 {
                inputs[TO_LAMP + i].0[lane] = wi[i];
                inputs[LAMP + i].0[lane] = arriving[i];
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn scatter(
        &self,
        block: &[(u32, Hit, u32, Vec3)],
        surface: &Surface,
        inputs: &[Row],
        outputs: &[Row],
        paths: &mut Paths,
        active: &mut Vec<u32>,
        rays: &mut Vec<Ray>,
        shadow: &mut Vec<Ray>,
        shadow_of: &mut Vec<(u32, [f32; 3])>,
    ) {
        let out = self.out;
        let lit = beside(surface, inputs, |lane| [0, 1, 2].map(|i| inputs[TO_LAMP + i].0[lane]));
        let on = beside(surface, inputs, |lane| [0, 1, 2].map(|i| outputs[out.wi + i].0[lane]));
        for (lane, (path, ..)) in block.iter().enumerate() {
            let at = |rows: &[Row], first: usize| {
                Vec3::new(rows[first].0[lane], rows[first + 1].0[lane], rows[first + 2].0[lane])
            };
            let place = |rows: &[[f32; LANES]; 3]| Vec3::new(rows[0][lane], rows[1][lane], rows[2][lane]);
            let lamp = at(outputs, out.lamp);
            if lamp.max_element() > 0.0 {
                let ray = Ray::new(place(&lit), at(inputs, TO_LAMP), 0.0);
                shadow.push(ray.ending_at(self.lamp.position, 1e-4));
                shadow_of.push((*path, lamp.to_array()));
            }
            if outputs[out.goes_on].int(lane) != 0 {
                rays.push(Ray::new(place(&on), at(outputs, out.wi), 0.0));
                active.push(*path);
                let path = *path as usize;
                for i in 0..3 {
                    paths.beta[i][path] = outputs[out.throughput + i].0[lane];
                }
            }
        }
    }
}

/// Beside the surface, towards a direction: as `offset_origin`, without branches.
#[inline(always)]
fn beside(surface: &Surface, inputs: &[Row], direction: impl Fn(usize) -> [f32; 3]) -> [[f32; LANES]; 3] {
    let mut rows = [[0.0; LANES]; 3];
    for lane in 0..LANES {
        let d = direction(lane);
        let g = [0, 1, 2].map(|i| inputs[GNORMAL + i].0[lane]);
        let e = [0, 1, 2].map(|i| surface.error[i][lane]);
        let across = e[0] * g[0].abs() + e[1] * g[1].abs() + e[2] * g[2].abs();
        let distance = 2.0 * across.max(e[0].max(e[1]).max(e[2]));
        let below = d[0] * g[0] + d[1] * g[1] + d[2] * g[2] < 0.0;
        let distance = if below { -distance } else { distance };
        for i in 0..3 {
            let (p, o) = (surface.position[i][lane], g[i] * distance);
            let moved = p + o;
            let bits = moved.to_bits() as i32;
            // One step away from the surface.
            let step = if (o > 0.0) == (moved > 0.0) { 1 } else { -1 };
            rows[i][lane] = if o == 0.0 { p } else { f32::from_bits((bits + step) as u32) };
        }
    }
    rows
}

#[derive(Default)]
struct Surface {
    position: [[f32; LANES]; 3],
    error: [[f32; LANES]; 3],
    uv: [[f32; LANES]; 2],
}
