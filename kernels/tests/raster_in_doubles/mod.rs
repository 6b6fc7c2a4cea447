//! Soft pictures of triangles in doubles, by brute force: every pixel looks at every piece.

use std::fmt::Write;

pub const VIEW: [usize; 2] = [24, 20];
pub const VIEWS: usize = 2;
const NEAR: f64 = 0.5;
const TEXTURE: [usize; 2] = [4, 3];
/// All targets.
const TARGET: f64 = 0.3;

pub type V2 = [f64; 2];
pub type V3 = [f64; 3];

#[derive(Clone, Copy, Debug)]
pub struct Soft {
    pub layers: usize,
    pub radius: f64,
    pub sigma: f64,
    pub delta: f64,
    pub everywhere: bool,
}

#[derive(Clone)]
pub struct Mesh {
    pub positions: Vec<V3>,
    pub faces: Vec<[usize; 3]>,
    pub uvs: Vec<V2>,
}

impl Mesh {
    /// As an OBJ. Texture coordinates have the indices of the positions.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.positions.iter().for_each(|[x, y, z]| writeln!(text, "v {x} {y} {z}").expect("a string"));
        self.uvs.iter().for_each(|[u, v]| writeln!(text, "vt {u} {v}").expect("a string"));
        for face in &self.faces {
            let corner = |i: usize| match self.uvs.len() {
                0 => format!("{}", i + 1),
                all => format!("{}/{}", i + 1, i % all + 1),
            };
            writeln!(text, "f {} {} {}", corner(face[0]), corner(face[1]), corner(face[2])).expect("a string");
        }
        text
    }
}

#[derive(Clone)]
pub struct Scene {
    pub mesh: Mesh,
    /// Position, target, up, angle.
    cameras: Vec<[f64; 10]>,
    texture: Vec<V3>,
    /// Direction, strength, sky.
    lamp: [f64; 9],
}

/// A triangle on the screen, with the shares of its corners in the vertices of its face over their depths.
struct Piece {
    face: usize,
    at: [V2; 3],
    shares: [V3; 3],
}

struct Seen {
    distance: f64,
    weights: V3,
    depth: f64,
    face: usize,
}

fn sub<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn mix<const N: usize>(a: [f64; N], b: [f64; N], t: f64) -> [f64; N] {
    std::array::from_fn(|i| a[i] + t * (b[i] - a[i]))
}

fn dot<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    (0..N).map(|i| a[i] * b[i]).sum()
}

fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: V3) -> V3 {
    a.map(|x| x / dot(a, a).sqrt())
}

fn turn(a: V2, b: V2) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// Positive inside.
fn signed_distance(t: &[V2; 3], p: V2) -> f64 {
    let sides = [0, 1, 2].map(|i| (t[i], t[(i + 1) % 3]));
    let inside = sides.iter().all(|&(a, b)| turn(sub(b, a), sub(p, a)) >= 0.0);
    let to_side = |(a, b): (V2, V2)| {
        let along = (dot(sub(p, a), sub(b, a)) / dot(sub(b, a), sub(b, a))).clamp(0.0, 1.0);
        let way = sub(p, mix(a, b, along));
        dot(way, way).sqrt()
    };
    let distance = sides.map(to_side).into_iter().fold(f64::INFINITY, f64::min);
    if inside { distance } else { -distance }
}

impl Scene {
    /// Triangles that overlap and cross each other in depth, one that the near plane cuts once and one that it cuts twice, an
    /// edge with three faces, and either way round.
    pub fn with_all_cases() -> Scene {
        let positions = vec![
            [-1.3, -0.9, 0.2],
            [1.2, -0.7, -0.4],
            [0.1, 1.1, 0.5],
            [0.9, 0.8, -1.1],
            [-0.8, 0.9, 1.3],
            [1.5, 0.4, 6.2],
            [-1.6, -1.2, 6.4],
        ];
        let faces = vec![[0, 1, 2], [1, 0, 3], [0, 1, 4], [4, 2, 5], [3, 5, 6]];
        let uvs =
            vec![[0.13, 0.21], [0.82, 0.34], [0.37, 0.77], [0.93, 0.91], [0.05, 0.66], [0.55, 0.15], [0.71, 0.52]];
        let camera = |x: f64, fov: f64| [x, 0.3, 5.0, 0.1, -0.1, 0.0, 0.1, 1.0, 0.0, fov];
        let color = |i: usize| [0, 1, 2].map(|c| 0.2 + 0.6 * ((i * 7 + c * 5) % 11) as f64 / 11.0);
        Scene {
            mesh: Mesh { positions, faces, uvs },
            cameras: vec![camera(0.4, 40.0), camera(-0.9, 34.0)],
            texture: (0..TEXTURE[0] * TEXTURE[1]).map(color).collect(),
            lamp: [0.3, 0.5, 0.9, 0.7, 0.6, 0.5, 0.25, 0.3, 0.35],
        }
    }

    pub fn cameras_text(&self) -> String {
        format!("{:?}", self.cameras)
    }

    /// A job with this scene. Its mesh is in a file of the job's name.
    pub fn job(&self, text: &str, name: &str, soft: Soft, steps: usize) -> String {
        let mesh = format!("ssl-jobs-{}-{name}.obj", std::process::id());
        let shading = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes/raster/raster.ssl").to_owned();
        let rows = (VIEW[1] * VIEWS).to_string();
        [
            ("MESH", mesh),
            ("SHADING", shading),
            ("CAMERAS", self.cameras_text()),
            ("TEXTURE", format!("{:?}", self.texture)),
            ("LAMPS", format!("[{:?}]", self.lamp)),
            ("LAYERS", soft.layers.to_string()),
            ("RADIUS", format!("{:?}", soft.radius)),
            ("SIGMA", format!("{:?}", soft.sigma)),
            ("DELTA", format!("{:?}", soft.delta)),
            ("EVERYWHERE", soft.everywhere.to_string()),
            ("ROWS", rows),
            ("STEPS", steps.to_string()),
        ]
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("<{name}>"), value))
    }

    fn pieces(&self, view: usize) -> Vec<Piece> {
        let [width, height] = VIEW.map(|n| n as f64);
        let c = self.cameras[view];
        let (position, target, up) = ([c[0], c[1], c[2]], [c[3], c[4], c[5]], [c[6], c[7], c[8]]);
        let forward = unit(sub(target, position));
        let right = unit(cross(forward, up));
        let down = cross(forward, right);
        let focal = 0.5 * height / (0.5 * c[9]).to_radians().tan();
        let seen = |p: V3| {
            let way = sub(p, position);
            [focal * dot(way, right), focal * dot(way, down), dot(way, forward)]
        };
        let mut pieces = Vec::new();
        for (number, face) in self.mesh.faces.iter().enumerate() {
            let corners: Vec<(V3, V3)> = face
                .iter()
                .zip([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
                .map(|(i, share)| (seen(self.mesh.positions[*i]), share))
                .collect();
            // Sutherland and Hodgman's clipping, from a corner behind the plane on.
            let first = (0..3).find(|i| corners[*i].0[2] <= NEAR && corners[(i + 1) % 3].0[2] > NEAR).unwrap_or(0);
            let mut polygon = Vec::new();
            for i in 0..3 {
                let (a, b) = (corners[(first + i) % 3], corners[(first + i + 1) % 3]);
                if a.0[2] > NEAR {
                    polygon.push(a);
                }
                if (a.0[2] > NEAR) != (b.0[2] > NEAR) {
                    let t = (NEAR - a.0[2]) / (b.0[2] - a.0[2]);
                    polygon.push((mix(a.0, b.0, t), mix(a.1, b.1, t)));
                }
            }
            if polygon.len() == 4 {
                // The diagonal goes from the first corner of the face.
                polygon.rotate_left(1);
            }
            for i in 1..polygon.len().saturating_sub(1) {
                let mut corners = [polygon[0], polygon[i], polygon[i + 1]];
                let on_screen = |(at, _): (V3, V3)| {
                    [at[0] / at[2] + 0.5 * width, at[1] / at[2] + 0.5 * height + height * view as f64]
                };
                let area = |c: [(V3, V3); 3]| {
                    let [a, b, c] = c.map(on_screen);
                    turn(sub(b, a), sub(c, a))
                };
                if area(corners) < 0.0 {
                    corners.swap(1, 2);
                }
                if area(corners) > 1e-9 {
                    let shares = corners.map(|(at, share)| share.map(|x| x / at[2]));
                    pieces.push(Piece { face: number, at: corners.map(on_screen), shares });
                }
            }
        }
        pieces
    }

    fn normals(&self) -> Vec<V3> {
        let mut normals = vec![[0.0; 3]; self.mesh.positions.len()];
        for face in &self.mesh.faces {
            let [a, b, c] = face.map(|i| self.mesh.positions[i]);
            let n = cross(sub(b, a), sub(c, a));
            face.iter().for_each(|i| normals[*i] = sub(normals[*i], n.map(|x| -x)));
        }
        normals
    }

    fn shade(&self, seen: &Seen, normals: &[V3]) -> V3 {
        let face = self.mesh.faces[seen.face];
        let of = |list: &dyn Fn(usize) -> Vec<f64>| -> Vec<f64> {
            let all = face.map(list);
            (0..all[0].len()).map(|c| (0..3).map(|k| seen.weights[k] * all[k][c]).sum()).collect()
        };
        let uv = of(&|i| self.mesh.uvs[i % self.mesh.uvs.len()].to_vec());
        let n = of(&|i| normals[i].to_vec());
        let [x, y] = [uv[0] * TEXTURE[0] as f64 - 0.5, (1.0 - uv[1]) * TEXTURE[1] as f64 - 0.5];
        let texel = |i: f64, j: f64| {
            let place = |x: f64, n: usize| x.clamp(0.0, n as f64 - 1.0) as usize;
            self.texture[place(i, TEXTURE[0]) + TEXTURE[0] * place(j, TEXTURE[1])]
        };
        let (i, j) = (x.floor(), y.floor());
        let row = |j: f64| mix(texel(i, j), texel(i + 1.0, j), x - i);
        let albedo = mix(row(j), row(j + 1.0), y - j);
        let l = self.lamp;
        let cosine = dot(unit([n[0], n[1], n[2]]), unit([l[0], l[1], l[2]])).max(0.0);
        std::array::from_fn(|c| albedo[c] * (l[6 + c] + l[3 + c] * cosine))
    }

    /// What each pixel sees, first things first, and whether the last one is as near as one that was left out: two faces are
    /// equally far from a pixel beside the edge between them.
    fn seen(&self, soft: Soft) -> Vec<(Vec<Seen>, bool)> {
        let mut pixels = Vec::new();
        for view in 0..VIEWS {
            let pieces = self.pieces(view);
            for i in 0..VIEW[0] * VIEW[1] {
                let p = [(i % VIEW[0]) as f64 + 0.5, (view * VIEW[1] + i / VIEW[0]) as f64 + 0.5];
                let look = |piece: &Piece| {
                    let [a, b, c] = piece.at;
                    let corners = [turn(sub(c, b), sub(p, b)), turn(sub(a, c), sub(p, c)), turn(sub(b, a), sub(p, a))];
                    let inside = corners.map(|w| w.max(0.0));
                    let all: f64 = inside.iter().sum();
                    let over: V3 = std::array::from_fn(|v| (0..3).map(|k| inside[k] / all * piece.shares[k][v]).sum());
                    let depth = 1.0 / over.iter().sum::<f64>();
                    Seen {
                        distance: signed_distance(&piece.at, p),
                        weights: over.map(|x| x * depth),
                        depth,
                        face: piece.face,
                    }
                };
                let mut seen: Vec<Seen> = pieces.iter().map(look).filter(|s| s.distance > -soft.radius).collect();
                // The paper's Shift().
                let shifted = |s: &Seen| {
                    if s.distance >= 0.0 { 0.5 * (1.0 - 1.0 / (1.0 + s.depth)) } else { 0.5 - 0.5 * s.distance }
                };
                seen.sort_by(|a, b| shifted(a).total_cmp(&shifted(b)));
                let tied = soft.layers < seen.len()
                    && (shifted(&seen[soft.layers]) - shifted(&seen[soft.layers - 1])).abs() < 1e-5;
                seen.truncate(soft.layers);
                pixels.push((seen, tied));
            }
        }
        pixels
    }

    /// Silhouette and color of each pixel; the color is not a number where rounding decides on it.
    pub fn picture(&self, soft: Soft) -> (Vec<f64>, Vec<V3>) {
        let (all, normals) = (self.seen(soft), self.normals());
        let hard: Vec<bool> = all.iter().map(|(seen, _)| seen.first().is_some_and(|s| s.distance >= 0.0)).collect();
        let is_edge = |at: usize| {
            let reach = soft.delta.ceil() as i64;
            let (x, y) = ((at % VIEW[0]) as i64, (at / VIEW[0]) as i64);
            let first = y / VIEW[1] as i64 * VIEW[1] as i64;
            let around = (-reach..=reach).flat_map(|dy| (-reach..=reach).map(move |dx| (x + dx, y + dy)));
            let inside =
                around.filter(|(x, y)| (0..VIEW[0] as i64).contains(x) && (first..first + VIEW[1] as i64).contains(y));
            let found: Vec<bool> = inside.map(|(x, y)| hard[x as usize + VIEW[0] * y as usize]).collect();
            found.iter().any(|x| *x) && !found.iter().all(|x| *x)
        };
        let pixel = |(at, (seen, tied)): (usize, &(Vec<Seen>, bool))| {
            if !soft.everywhere && !is_edge(at) {
                let first = seen.first().filter(|_| hard[at]);
                return (f64::from(hard[at]), first.map_or([0.0; 3], |first| self.shade(first, &normals)));
            }
            let parts: Vec<f64> = seen.iter().map(|s| 1.0 / (1.0 + (-s.distance / soft.sigma).exp())).collect();
            let total: f64 = parts.iter().sum();
            let colors: Vec<V3> = seen.iter().map(|s| self.shade(s, &normals)).collect();
            let mean = |c: usize| parts.iter().zip(&colors).map(|(d, color)| d * color[c]).sum::<f64>() / total;
            let color = if *tied {
                [f64::NAN; 3]
            } else if total > 0.0 {
                std::array::from_fn(mean)
            } else {
                [0.0; 3]
            };
            (1.0 - parts.iter().map(|d| 1.0 - d).product::<f64>(), color)
        };
        all.iter().enumerate().map(pixel).unzip()
    }

    fn loss(&self, soft: Soft) -> f64 {
        let (silhouette, image) = self.picture(soft);
        let off = |x: f64| (x - TARGET) * (x - TARGET);
        let shape: f64 = silhouette.iter().map(|x| off(*x)).sum();
        let colors: f64 = image.iter().flatten().map(|x| off(*x)).sum();
        (shape + colors / 3.0) / silhouette.len() as f64
    }

    /// The derivative of the loss by a number of: the positions, the cameras, the texture, the lamp.
    pub fn slope(&self, soft: Soft, part: usize, at: usize) -> f64 {
        const STEP: f64 = 1e-6;
        let moved = |by: f64| {
            let mut scene = self.clone();
            *match part {
                0 => &mut scene.mesh.positions[at / 3][at % 3],
                1 => &mut scene.cameras[at / 10][at % 10],
                2 => &mut scene.texture[at / 3][at % 3],
                _ => &mut scene.lamp[at],
            } += by;
            scene.loss(soft)
        };
        (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
    }
}
