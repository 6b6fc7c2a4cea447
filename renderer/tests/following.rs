//! One path written down: that it is the render's own path, and that what it says adds up.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("shade-following-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tiny() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/render_scenes/tiny.toml").display().to_string()
}

fn shade(arguments: &[&str]) -> (Option<i32>, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_shade")).args(arguments).output().expect("built for this test");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

/// The path of a sample in the picture of 16×9 pixels and 4 samples.
fn followed(scene: &str, pixel: &str, sample: u32, more: &[&str]) -> Value {
    let sample = sample.to_string();
    let arguments = ["render", scene, "--size", "16x9", "--spp", "4", "--pixel", pixel, "--sample", &sample, "--json"];
    let (code, out, said) = shade(&[&arguments[..], more].concat());
    assert_eq!(code, Some(0), "{said}");
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"))
}

fn vector(value: &Value) -> [f64; 3] {
    [0, 1, 2].map(|c| value[c].as_f64().unwrap_or_else(|| panic!("{value} is no vector")))
}

/// The mean of a pixel's paths is the pixel.
#[test]
fn it_is_the_path_of_the_render() {
    let folder = Folder::new("same");
    let exr = folder.0.join("a.exr").display().to_string();
    assert_eq!(shade(&["render", &tiny(), "--size", "16x9", "--spp", "4", "-o", &exr]).0, Some(0));
    let picture = image::open(&exr).expect("a whole picture").into_rgb32f();
    for (x, y) in [(8, 4), (3, 7), (8, 7), (0, 0)] {
        let mut mean = [0.0; 3];
        for sample in 0..4 {
            let radiance = vector(&followed(&tiny(), &format!("{x},{y}"), sample, &[])["radiance"]);
            mean.iter_mut().zip(radiance).for_each(|(m, r)| *m += r / 4.0);
        }
        for (mean, pixel) in mean.into_iter().zip(picture.get_pixel(x, y).0) {
            assert!((mean - f64::from(pixel)).abs() <= 1e-6 * mean.max(1.0), "{x},{y}: {mean} {pixel}");
        }
    }
}

/// What the hits, their lights and the environment bring is the radiance of the sample, and throughputs are products of
/// weights.
#[test]
fn what_it_says_adds_up() {
    let mut bounces = 0;
    for (pixel, sample) in [("8,4", 0), ("8,4", 3), ("3,7", 1), ("12,8", 2)] {
        let path = followed(&tiny(), pixel, sample, &[]);
        let mut sum = [0.0; 3];
        let mut throughput = [1.0; 3];
        let mut add = |throughput: [f64; 3], light: [f64; 3], share: f64| {
            (0..3).for_each(|c| sum[c] += throughput[c] * light[c] * share);
        };
        let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|c| (a[c] - b[c]).abs() <= 1e-4 * b[c].abs().max(1e-3));
        for hit in path["hits"].as_array().expect("a list") {
            assert!(near(throughput, vector(&hit["throughput"])), "{hit}");
            add(throughput, vector(&hit["emission"]), 1.0);
            let share = hit["shape_emission_share"].as_f64().expect("a number");
            add(throughput, vector(&hit["shape_emission"]), share);
            for light in hit["lights"].as_array().expect("a list") {
                add(throughput, vector(&light["adds"]), 1.0);
            }
            if hit["end"].is_null() {
                let (weight, survival) = (vector(&hit["next"]["weight"]), hit["next"]["survival"].as_f64());
                (0..3).for_each(|c| throughput[c] *= weight[c] / survival.expect("a number"));
                bounces += 1;
            }
        }
        let seen = &path["environment"];
        if !seen.is_null() {
            add(throughput, vector(&seen["radiance"]), seen["share"].as_f64().expect("a number"));
        }
        assert!(near(sum, vector(&path["radiance"])), "{pixel} {sample}: {sum:?} {}", path["radiance"]);
    }
    assert!(bounces >= 4, "{bounces}");
}

/// Straight down from a height of 2 on a square of 4 texels a side that is read as large as it is.
#[test]
fn a_hit_shows_what_its_shader_saw() {
    let folder = Folder::new("seen");
    let at = |file: &str| folder.0.join(file).display().to_string();
    image::GrayImage::from_pixel(64, 64, image::Luma([128])).save(at("t.png")).expect("the folder can be written");
    let scene = r#"
        camera = { position = [0, 2, 0], look_at = [0, 0, 0], up = [0, 0, -1], type = "orthographic", width = 1 }
        film = { width = 16, height = 16, filter = "center" }
        integrator = { samples = 1, max_depth = 1 }
        lights = [{ type = "distant", direction = [0, -1, 0], irradiance = [2, 2, 2] }]
        textures = { t = { file = "t.png", raw = true } }
        [materials.shown]
        textures = { t = "t" }
        source = """
        texture2d t;
        shader shown(out closure c)
        {
            const float3 p = global_value<uvw>;
            c = 0.5 * make_closure<Lambert>(texture2d_sample<t>(p.x, p.y), global_value<normal>);
        }
        """
        [[shapes]]
        type = "rectangle"
        material = "shown"
        "#;
    std::fs::write(at("scene.toml"), scene).expect("as above");
    let arguments = ["render", &at("scene.toml"), "--pixel", "12,8"];
    let (code, text, said) = shade(&arguments);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let (_, json, _) = shade(&[&arguments[..], &["--json"]].concat());
    let path: Value = serde_json::from_str(&json).expect("it is JSON");
    let hit = &path["hits"][0];
    let near = |found: &Value, expected: &[f64]| {
        let found: Vec<f64> = found.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect();
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?} {expected:?}");
    };
    let globals = hit["globals"].as_array().expect("a list");
    let global = |name: &str| globals.iter().find(|g| g["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    // A pixel is a sixteenth of a unit; the middle is between the pixels 7 and 8, and down the picture is towards +z.
    near(&global("position")["value"], &[4.5 / 16.0, 0.0, 0.5 / 16.0]);
    near(&global("position")["ddx"], &[0.0625, 0.0, 0.0]);
    near(&global("position")["ddy"], &[0.0, 0.0, 0.0625]);
    near(&global("normal")["value"], &[0.0, 1.0, 0.0]);
    assert!(global("ray_depth").get("ddx").is_none());
    // Four of 64 texels: level 2. 128/255, halved, times 2/π.
    let look_up = &hit["look_ups"][0];
    near(&look_up["ddx"], &[0.0625, 0.0]);
    assert!((look_up["level"].as_f64().expect("there is a texture") - 2.0).abs() < 1e-4);
    let lobe = &hit["lobes"][0];
    assert_eq!(lobe["closure"], "Lambert");
    near(&lobe["weight"], &[0.5; 3]);
    near(&lobe["parameters"][0][1], &[128.0 / 255.0; 3]);
    let light = &hit["lights"][0];
    assert!(light["kind"] == "distant" && light["distance"] == "Infinity" && light["shadowed"] == false);
    near(&light["adds"], &[128.0 / 255.0 / std::f64::consts::PI; 3]);
    for words in [
        "bounce 0: `shown`, 2 away",
        "ddx (0.0625, 0",
        "level 2.000",
        "lobe Lambert weight (0.5, 0.5, 0.5)",
        "scattered to",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn pixels_and_samples_that_are_not_there_are_refused() {
    let refused = |more: &[&str], code: i32, words: &str| {
        let (found, out, said) = shade(&[&["render", &tiny(), "--size", "16x9", "--spp", "4"], more].concat());
        assert!(found == Some(code) && out.is_empty() && said.contains(words), "{more:?}: {found:?} {said}");
    };
    refused(&["--pixel", "16,0"], 1, "the pixel 16,0 is not among those from 0,0 to 15,8");
    refused(&["--pixel", "3,3", "--crop", "4,0,16,9"], 1, "the pixel 3,3 is not among");
    refused(&["--pixel", "3,3", "--sample", "4"], 1, "of 4 samples a pixel, there is no 4");
    refused(&["--pixel", "3"], 2, "a pixel is written");
    refused(&["--sample", "3"], 2, "--pixel");
    // There is no picture, and no statistics.
    for more in [["-o", "a.png"], ["--stats", "a.json"], ["--view", "normal"], ["--time-limit", "1"]] {
        refused(&[&["--pixel", "3,3"], &more[..]].concat(), 2, "cannot be used with");
    }
}
