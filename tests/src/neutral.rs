//! Neutral scenes: descriptions that several renderers read, with meshes and images beside them, converted into scenes
//! of this renderer. They mean: linear colors, a square picture of box-filtered pixels, `max_depth` counting the
//! segments of a path from the camera to the light, and area lights that emit only from their front. Light that
//! interpolated normals would send below the surface is lost, and so is what a principled surface would send where they face away
//! from a viewer whom the surface itself faces.

use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a neutral scene is rendered.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    /// Pixels of a side.
    pub side: u32,
    pub samples: u32,
    /// Whether paths that carry little may end at random.
    pub roulette: bool,
}

/// The scene of a folder, `scene.json` in it, as a scene file in JSON. The error says what is not understood.
pub fn convert(folder: &Path, picture: Picture) -> Result<Value, String> {
    let file = folder.join("scene.json");
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let from: Value = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    let place = |relative: &Value| folder.join(relative.as_str().unwrap_or_default()).display().to_string();
    let named = |what: &str| from[what].as_object().cloned().unwrap_or_default();
    let listed = |what: &str| from[what].as_array().cloned().unwrap_or_default();
    let mut materials = Map::new();
    for (name, material) in named("materials") {
        materials.insert(name, convert_material(&material)?);
    }
    let textures = named("textures").into_iter().map(|(name, t)| {
        let raw = t["colorspace"] != "srgb";
        (name, json!({ "file": place(&t["file"]), "raw": raw, "wrap": t["wrap"] }))
    });
    let lights = listed("lights");
    let shapes = listed("meshes").into_iter().map(|mesh| {
        let mut shape = json!({ "type": "obj", "file": place(&mesh["file"]), "material": mesh["material"] });
        let light = lights.iter().find(|l| l["type"] == "area" && l["mesh"] == mesh["file"]);
        if let Some(light) = light {
            shape["emission"] = light["radiance"].clone();
        }
        shape
    });
    let camera = &from["camera"];
    let segments = from["integrator"]["max_depth"].as_u64().ok_or("there is no max_depth")?;
    let mut scene = json!({
        "camera": { "position": camera["origin"], "look_at": camera["target"], "up": camera["up"], "fov": camera["fov_deg"] },
        "film": { "width": picture.side, "height": picture.side, "filter": "box", "tone": "clamp" },
        // Here the first hit is no bounce.
        "integrator": {
            "samples": picture.samples, "max_depth": segments.saturating_sub(1), "roulette": picture.roulette,
            "bent_normals": "drop",
        },
        "textures": textures.collect::<Map<_, _>>(),
        "materials": materials,
        "shapes": shapes.collect::<Vec<_>>(),
    });
    let mut distant = Vec::new();
    for light in &lights {
        match light["type"].as_str().unwrap_or_default() {
            "area" => {}
            "directional" => distant.push(json!({
                "type": "distant", "direction": light["direction"], "irradiance": light["irradiance"],
            })),
            "constant" => scene["environment"] = json!({ "type": "constant", "radiance": light["radiance"] }),
            "envmap" => {
                let scale = light["scale"].as_f64().unwrap_or(1.0);
                scene["environment"] =
                    json!({ "type": "image", "file": place(&light["file"]), "scale": [scale, scale, scale] });
            }
            other => return Err(format!("a light of the kind `{other}`")),
        }
    }
    scene["lights"] = distant.into();
    Ok(scene)
}

fn convert_material(material: &Value) -> Result<Value, String> {
    let shader = |source: &str, parameters: Value| json!({ "source": source, "parameters": parameters });
    let kind = material["type"].as_str().unwrap_or_default();
    Ok(match kind {
        "diffuse" => match material["reflectance"].get("texture") {
            Some(texture) => json!({ "source": TEXTURED, "textures": { "reflectance": texture } }),
            None => shader(DIFFUSE, json!({ "reflectance": material["reflectance"] })),
        },
        "rough_conductor" => {
            let alpha = material["alpha"].as_f64().ok_or("a conductor without alpha")?;
            shader(CONDUCTOR, json!({ "eta": material["eta"], "k": material["k"], "roughness": alpha.sqrt() }))
        }
        "dielectric" => shader(DIELECTRIC, json!({ "ior": material["ior"] })),
        "principled" => {
            let known = ["base_color", "metallic", "roughness", "specular"];
            shader(PRINCIPLED, known.iter().map(|&name| (name.to_owned(), material[name].clone())).collect())
        }
        _ => return Err(format!("a material of the kind `{kind}`")),
    })
}

const DIFFUSE: &str = "shader diffuse(color reflectance = color(0.5), out closure result)
{
    result = make_closure<Lambert>(reflectance, global_value<normal>);
}
";

const TEXTURED: &str = "texture2d reflectance;
shader diffuse(out closure result)
{
    const float3 uv = global_value<uvw>;
    result = make_closure<Lambert>(texture2d_sample<reflectance>(uv.x, uv.y), global_value<normal>);
}
";

const CONDUCTOR: &str =
    "shader conductor(color eta = color(0.0), color k = color(1.0), float roughness = 0.0, out closure result)
{
    result = make_closure<Conductor>(eta, k, global_value<normal>, roughness);
}
";

const DIELECTRIC: &str = "shader dielectric(float ior = 1.5, out closure result)
{
    result = make_closure<Dielectric>(color(1.0), global_value<normal>, ior);
}
";

const PRINCIPLED: &str = "import \"principled.ssl\";
shader plastic(
    color base_color = color(0.5), float metallic = 0.0, float roughness = 0.5, float specular = 0.5, out closure result)
{
    PrincipledSurface m = principled_defaults();
    m.base_color = base_color;
    m.metallic = metallic;
    m.roughness = roughness;
    m.specular = specular;
    // Others show nothing where the interpolated normal faces away from the viewer, and the surface does not.
    const bool from_outside = dot(global_value<I>, global_value<normal>) < 0.0;
    const float faces = from_outside != global_value<backfacing> ? 1.0 : 0.0;
    result = faces * principled(m);
}
";

/// Where neutral scenes and pictures of them are, beside the project: a program that writes the scenes, and what others
/// made of them.
pub fn beside() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/peers/render")
}

/// The folder of a neutral scene: in the folder that `SSL_NEUTRAL_SCENES` names, else written by their program, which
/// `python3` with `numpy` and `pillow` runs, once. The error says what is missing.
pub fn folder(name: &str) -> Result<PathBuf, String> {
    if let Some(scenes) = std::env::var_os("SSL_NEUTRAL_SCENES").filter(|scenes| !scenes.is_empty()) {
        return Ok(PathBuf::from(scenes).join(name));
    }
    let program = beside().join("gen_scenes.py");
    if !program.exists() {
        return Err(format!("there is no {}", program.display()));
    }
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/neutral");
    let folder = scenes.join(name);
    if folder.exists() {
        return Ok(folder);
    }
    // Whole or not there, even if other processes write it at the same time, or other threads another one.
    let partial = scenes.join(format!("{name}-{}.partial", std::process::id()));
    let mut python = Command::new("python3");
    // Where `cargo xtask setup` puts the packages, if python3 has none of its own.
    python.env("PYTHONPATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("../third_party/python"));
    let written = python.arg(&program).arg(&partial).args(["--scenes", name]).output();
    let written = written.map_err(|e| format!("there is no python3: {e}"))?;
    if !written.status.success() {
        let said = String::from_utf8_lossy(&written.stderr);
        return Err(format!("{} failed: {}", program.display(), said.lines().last().unwrap_or_default()));
    }
    let moved = std::fs::rename(partial.join(name), &folder);
    let _ = std::fs::remove_dir_all(&partial);
    if folder.exists() { Ok(folder) } else { Err(format!("{}: {moved:?}", folder.display())) }
}
