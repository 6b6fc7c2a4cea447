//! What `shade info` says of a scene, as data.

use renderer::camera::Projection;
use renderer::geometry::Body;
use renderer::light::{EnvironmentKind, MaterialEmission, PointLight};
use renderer::math::figures;
use renderer::scene::Scene;
use renderer::texture::{ColorSpace, Sample};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The smallest and the largest corner of a box.
#[derive(Serialize)]
pub struct Bounds {
    #[serde(serialize_with = "figures::serialize")]
    pub least: [f32; 3],
    #[serde(serialize_with = "figures::serialize")]
    pub most: [f32; 3],
}

#[derive(Serialize)]
pub struct Report {
    pub scene: String,
    /// Of all that there is; nothing where there are no shapes.
    pub bounds: Option<Bounds>,
    pub camera: Camera,
    pub film: Film,
    pub integrator: Integrator,
    pub counts: Counts,
    pub shapes: Vec<Shape>,
    pub materials: Vec<Material>,
    pub textures: Vec<Texture>,
    pub lights: Vec<Light>,
    pub environment: &'static str,
}

#[derive(Serialize)]
pub struct Camera {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(serialize_with = "figures::serialize")]
    pub position: [f32; 3],
    #[serde(serialize_with = "figures::serialize")]
    pub look_at: [f32; 3],
    #[serde(serialize_with = "figures::serialize")]
    pub up: [f32; 3],
    /// Degrees, of a perspective.
    #[serde(serialize_with = "figures::serialize")]
    pub fov: Option<f32>,
    /// What an orthographic picture shows across.
    #[serde(serialize_with = "figures::serialize")]
    pub width: Option<f32>,
}

#[derive(Serialize)]
pub struct Film {
    pub width: u32,
    pub height: u32,
    #[serde(serialize_with = "figures::serialize")]
    pub exposure: f32,
    pub aovs: Vec<String>,
}

#[derive(Serialize)]
pub struct Integrator {
    pub samples: u32,
    pub max_depth: u32,
    pub seed: u32,
}

/// Groups are counted without the world. Primitives are counted once, however often their group is placed.
#[derive(Serialize)]
pub struct Counts {
    pub shapes: usize,
    pub groups: usize,
    pub instances: usize,
    /// How often groups stand in the world, those within groups counted through.
    pub placed: u64,
    pub primitives: BTreeMap<&'static str, usize>,
}

#[derive(Serialize)]
pub struct Shape {
    pub kind: &'static str,
    /// Its place in the scene file, which is also the layer `object_id`.
    pub object_id: u32,
    /// The number of its group; 0 is the world.
    pub group: u32,
    /// The group that an instance places.
    pub places: Option<u32>,
    pub material: Option<String>,
    pub primitives: usize,
    /// In the space of its group.
    pub bounds: Option<Bounds>,
}

#[derive(Serialize)]
pub struct Material {
    pub name: String,
    /// Its number, which is also the layer `material_id`.
    pub material_id: usize,
    /// How many shapes have it.
    pub shapes: usize,
}

#[derive(Serialize)]
pub struct Texture {
    /// Where its texels come from.
    pub file: String,
    pub width: u32,
    pub height: u32,
    pub levels: usize,
    pub channels: usize,
    pub sample: &'static str,
    pub color: &'static str,
    /// Of all its levels, if they were in memory together.
    pub bytes: u64,
}

#[derive(Serialize)]
pub struct Light {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(serialize_with = "figures::serialize")]
    pub position: Option<[f32; 3]>,
    /// From the light into the scene.
    #[serde(serialize_with = "figures::serialize")]
    pub direction: Option<[f32; 3]>,
    /// Radiance of a shape that emits the same everywhere, power per steradian of a point or a spot, irradiance of a
    /// distant light or a sun. None where the shader of a material says what it is.
    #[serde(serialize_with = "figures::serialize")]
    pub strength: Option<[f32; 3]>,
    /// Of a shape: its place in the scene file.
    pub object_id: Option<u32>,
    /// Of a shape: the number of its group; 0 is the world.
    pub group: Option<u32>,
}

impl Report {
    pub fn of(path: &Path, scene: &Scene) -> Report {
        let shapes = shapes(scene);
        Report {
            scene: path.display().to_string(),
            bounds: bounds(scene.geometry.bounds()),
            camera: camera(scene),
            film: Film {
                width: scene.film.width,
                height: scene.film.height,
                exposure: scene.film.exposure,
                aovs: scene.film.aovs.iter().map(|a| a.name().to_owned()).collect(),
            },
            integrator: Integrator {
                samples: scene.integrator.samples,
                max_depth: scene.integrator.max_depth,
                seed: scene.integrator.seed,
            },
            counts: counts(scene, &shapes),
            materials: materials(scene, &shapes),
            shapes,
            textures: textures(scene),
            lights: lights(scene),
            environment: match scene.environment.kind() {
                EnvironmentKind::Constant(radiance) if *radiance == glam::Vec3::ZERO => "none",
                EnvironmentKind::Constant(_) => "constant",
                EnvironmentKind::Sky { .. } => "sky",
                EnvironmentKind::Daylight(_) => "daylight",
                EnvironmentKind::Image { .. } => "image",
            },
        }
    }
}

fn bounds(corners: Option<(glam::Vec3, glam::Vec3)>) -> Option<Bounds> {
    corners.map(|(least, most)| Bounds { least: least.to_array(), most: most.to_array() })
}

fn camera(scene: &Scene) -> Camera {
    let (kind, fov, width) = match scene.view.projection {
        Projection::Perspective { fov, .. } => ("perspective", Some(fov), None),
        Projection::Orthographic { width } => ("orthographic", None, Some(width)),
        Projection::Panoramic => ("panoramic", None, None),
    };
    let [position, look_at, up] = [scene.view.position, scene.view.target, scene.view.up].map(|v| v.to_array());
    Camera { kind, position, look_at, up, fov, width }
}

fn shapes(scene: &Scene) -> Vec<Shape> {
    let geometry = &scene.geometry;
    let name = |number: u32| scene.materials.get(number as usize).map(|m| m.name.clone());
    let of_group = |group: u32| {
        geometry.members_of(group).map(move |(body, shape)| {
            let places = if let Body::Instance(instance) = body { Some(instance.group) } else { None };
            Shape {
                kind: kind(body),
                object_id: shape.object_id,
                group,
                places,
                // What is placed has materials of its own.
                material: if places.is_some() { None } else { name(shape.material) },
                primitives: body.count(),
                bounds: bounds(geometry.body_bounds(body)),
            }
        })
    };
    (0..geometry.group_count()).flat_map(of_group).collect()
}

fn kind(body: &Body) -> &'static str {
    match body {
        Body::Mesh(_) => "mesh",
        Body::Sphere(_) => "sphere",
        Body::Disk(_) => "disk",
        Body::Quad(_) => "quad",
        Body::Curves(_) => "curves",
        Body::Instance(_) => "instance",
    }
}

fn counts(scene: &Scene, shapes: &[Shape]) -> Counts {
    let mut primitives = BTreeMap::new();
    for s in shapes.iter().filter(|s| s.places.is_none()) {
        let kind = match s.kind {
            "mesh" => "triangles",
            "sphere" => "spheres",
            "disk" => "disks",
            "quad" => "quads",
            _ => "curve_pieces",
        };
        *primitives.entry(kind).or_default() += s.primitives;
    }
    let instances = shapes.iter().filter(|s| s.places.is_some()).count();
    Counts {
        shapes: shapes.len() - instances,
        groups: scene.geometry.group_count() as usize - 1,
        instances,
        // The world stands once itself.
        placed: scene.geometry.path_count() - 1,
        primitives,
    }
}

fn materials(scene: &Scene, shapes: &[Shape]) -> Vec<Material> {
    let used = |name: &str| shapes.iter().filter(|s| s.material.as_deref() == Some(name)).count();
    let one = |(material_id, m): (usize, &renderer::material::Material)| Material {
        name: m.name.clone(),
        material_id,
        shapes: used(&m.name),
    };
    scene.materials.iter().enumerate().map(one).collect()
}

fn textures(scene: &Scene) -> Vec<Texture> {
    let cache = scene.textures.cache();
    let one = |(number, t): (usize, renderer::texture::cache::TextureStatistics)| {
        let layout = cache.layout(number as u32);
        let texels: u64 = layout.levels.iter().map(|l| u64::from(l.width) * u64::from(l.height)).sum();
        let (width, height) = layout.levels.first().map_or((0, 0), |l| (l.width, l.height));
        Texture {
            file: t.name,
            width,
            height,
            levels: layout.levels.len(),
            channels: layout.channels as usize,
            sample: match layout.sample {
                Sample::U8 => "u8",
                Sample::U16 => "u16",
                Sample::F16 => "f16",
                Sample::F32 => "f32",
            },
            color: match layout.color_space {
                None => "not said",
                Some(ColorSpace::Linear) => "linear",
                Some(ColorSpace::Srgb) => "srgb",
            },
            bytes: texels * (layout.channels as usize * layout.sample.bytes()) as u64,
        }
    };
    cache.statistics().textures.into_iter().enumerate().map(one).collect()
}

fn lights(scene: &Scene) -> Vec<Light> {
    let dark = Light { kind: "", position: None, direction: None, strength: None, object_id: None, group: None };
    let of_point = |p: &PointLight| Light {
        kind: if p.cone.is_some() { "spot" } else { "point" },
        position: Some(p.position.to_array()),
        direction: p.cone.map(|c| c.axis.to_array()),
        strength: Some(p.intensity.to_array()),
        ..dark
    };
    let parallel = scene.parallel.iter().map(|(light, _)| ("distant", *light));
    let suns = scene.suns.iter().map(|(sun, _)| ("sun", sun.middle()));
    let far = parallel.chain(suns).map(|(kind, light)| Light {
        kind,
        direction: Some(light.direction.to_array()),
        strength: Some(light.irradiance.to_array()),
        ..dark
    });
    let geometry = &scene.geometry;
    let bodies = |group| geometry.bodies_of(group).map(move |(first, body)| (group, first, body));
    let all = (0..geometry.group_count()).flat_map(bodies);
    let all = all.filter(|(_, _, body)| !matches!(body, Body::Instance(_)) && body.count() > 0);
    let shapes = all.filter_map(|(group, first, _)| {
        let number = geometry.shape_of(first);
        let shape = geometry.shape(number);
        let strength = match scene.lights.material_emission(shape.material) {
            // Most materials of models could emit, and do not.
            MaterialEmission::Varying if scene.lights.is_dark(number) && shape.emission == glam::Vec3::ZERO => {
                return None;
            }
            MaterialEmission::Varying => None,
            MaterialEmission::Constant(radiance) => Some(radiance + shape.emission),
            MaterialEmission::None if shape.emission == glam::Vec3::ZERO => return None,
            MaterialEmission::None => Some(shape.emission),
        };
        let strength = strength.map(|s| s.to_array());
        Some(Light { kind: "shape", strength, object_id: Some(shape.object_id), group: Some(group), ..dark })
    });
    shapes.chain(scene.lights.points().map(of_point)).chain(far).collect()
}
