//! `--set` and `shade info`, as a user meets them.

use crate::shade as program;
use serde_json::{Value, json};
use ssl_tests::temporary::Folder;

/// The exit code and what is said on stdout and stderr.
fn shade(arguments: &[&str]) -> (Option<i32>, String, String) {
    let out = program::shade(arguments);
    (out.status.code(), program::text(&out.stdout), program::text(&out.stderr))
}

const SCENE: &str = r#"
[camera]
position = [0, 1, 4]
look_at = [0, 0.5, 0]
fov = 40

[film]
width = 12
height = 8

[environment]
type = "constant"
radiance = [0.4, 0.5, 0.6]

[textures.grain]
file = "grain.png"

[materials.floor]
source = """
texture2d map;
shader floor(float gain = 0.5, color tint = color(1.0), out closure c)
{
    const float3 p = global_value<uvw>;
    c = make_closure<Lambert>(gain * tint * texture2d_sample<map>(p.x, p.y), global_value<normal>);
}
"""
textures = { map = "grain" }
parameters = { gain = 0.25 }

[materials."glow.strip"]
source = "shader glow(float power = 2.0, out closure c) { c = make_closure<Emission>(power * color(1.0)); }"

[[groups.pair.shapes]]
type = "sphere"
material = "floor"
radius = 0.5

[[groups.pair.shapes]]
type = "disk"
material = "floor"
translate = [2, 0, 0]

[[shapes]]
type = "rectangle"
material = "floor"
scale = [4, 1, 2]

[[shapes]]
type = "sphere"
material = "glow.strip"
name = "bulb"
translate = [0, 3, 0]
radius = 0.25

[[shapes]]
type = "instance"
group = "pair"
translate = [0, 1, -1]

[[lights]]
type = "point"
name = "key"
position = [1, 2, 3]
intensity = [4, 5, 6]
"#;

fn scene(folder: &Folder) -> String {
    image::GrayImage::from_pixel(64, 32, image::Luma([128])).save(folder.file("grain.png")).expect("it can be written");
    folder.write("scene.toml", SCENE)
}

#[test]
fn settings_are_keys_of_the_file() {
    let folder = Folder::new("keys");
    let scene = scene(&folder);
    let render = |scene: &str, name: &str, more: &[&str]| {
        let file = folder.file(name);
        let (code, _, said) = shade(&[&["render", scene, "-o", &file, "--spp", "2"], more].concat());
        assert_eq!((code, said.as_str()), (Some(0), ""), "{more:?}");
        std::fs::read(&file).expect("it was written")
    };
    let plain = render(&scene, "plain.png", &[]);
    for (setting, from, to) in [
        ("film.tone=clamp", "height = 8", "height = 8\ntone = \"clamp\""),
        ("film.exposure=-2", "height = 8", "height = 8\nexposure = -2"),
        ("integrator.max_depth=0", "[environment]", "[integrator]\nmax_depth = 0\n[environment]"),
        ("camera.position.1=2.5", "position = [0, 1, 4]", "position = [0, 2.5, 4]"),
        ("environment.radiance=[1, 0, 0]", "radiance = [0.4, 0.5, 0.6]", "radiance = [1, 0, 0]"),
        ("materials.floor.gain=0.75", "gain = 0.25", "gain = 0.75"),
        ("materials.floor.parameters.gain=0.75", "gain = 0.25", "gain = 0.75"),
        ("materials.floor.tint=[1, 0, 0]", "gain = 0.25", "gain = 0.25, tint = [1, 0, 0]"),
        (
            "materials.\"glow.strip\".power=9",
            "\nsource = \"shader glow",
            "\nparameters = { power = 9 }\nsource = \"shader glow",
        ),
        ("shapes.0.translate=[0, -1, 0]", "scale = [4, 1, 2]", "scale = [4, 1, 2]\ntranslate = [0, -1, 0]"),
        ("shapes.bulb.radius=0.9", "radius = 0.25", "radius = 0.9"),
        ("groups.pair.shapes.0.radius=0.9", "radius = 0.5", "radius = 0.9"),
        ("lights.key.intensity=[0, 50, 0]", "intensity = [4, 5, 6]", "intensity = [0, 50, 0]"),
        ("lights.0.position.0=-1", "position = [1, 2, 3]", "position = [-1, 2, 3]"),
    ] {
        assert_eq!(SCENE.matches(from).count(), 1, "{from}");
        let other = folder.write("other.toml", &SCENE.replace(from, to));
        let set = render(&scene, "set.png", &["--set", setting]);
        assert!(set == render(&other, "other.png", &[]), "{setting}");
        assert!(set != plain, "{setting} changes the picture");
    }
    // Several, the later one before the earlier one; a key in its other spelling.
    let both = ["--set", "film.exposure=7", "--set", "film.exposure=-2", "--set", "integrator.spp=2"];
    assert!(render(&scene, "a.png", &both) == render(&scene, "b.png", &["--set", "film.exposure=-2"]));
}

#[test]
fn settings_that_cannot_be_say_what_there_is() {
    let folder = Folder::new("wrong");
    let scene = scene(&folder);
    for (setting, words) in [
        ("fillm.width=4", &["no `fillm`", "did you mean `film`?"][..]),
        ("film.widht=4", &["`widht` is no key of `film`", "did you mean `width`?", "height"]),
        ("film.width=wide", &["wide"]),
        ("film.width=0.5", &["--set:1"]),
        ("film.width.x=4", &["`width` is a number and has no `x`"]),
        ("materials.flor.gain=1", &["no material `flor`", "did you mean `floor`?"]),
        ("materials.floor.gian=1", &["gian", "gain"]),
        ("shapes.9.radius=1", &["no shape `9`", "from 0 to 2"]),
        ("shapes.1.raduis=1", &["did you mean `radius`?"]),
        ("camera.position.7=1", &["no element `7`", "3 elements"]),
        ("groups.pair.shapes.5.radius=1", &["from 0 to 1"]),
    ] {
        let (code, _, said) = shade(&["check", &scene, "--set", setting]);
        assert_eq!(code, Some(1), "{setting}: {said}");
        assert!(said.contains("--set:1") && words.iter().all(|w| said.contains(w)), "{setting}: {said}");
    }
    // The second of two is at fault, and its place is in the second line.
    let (_, out, _) = shade(&["check", &scene, "--json", "--set", "film.width=4", "--set", "film.height=-1"]);
    let found: Value = serde_json::from_str(&out).expect("JSON");
    let first = &found["diagnostics"][0];
    assert_eq!((&first["file"], &first["line"]), (&json!("--set"), &json!(2)), "{found}");
    for wrong in [&["check", &scene, "--set", "film.width"][..], &["render", &scene, "--set", ".=1"]] {
        assert_eq!(shade(wrong).0, Some(2), "{wrong:?}");
    }
    let shader = folder.write("a.ssl", "shader main(out float o) { o = 1.0; }\n");
    let (code, _, said) = shade(&["check", &shader, "--set", "film.width=4"]);
    assert!(code == Some(2) && said.contains("sets keys of scenes and jobs"), "{said}");
}

#[test]
fn info_counts_what_there_is() {
    let folder = Folder::new("info");
    let scene = scene(&folder);
    let (code, out, said) = shade(&["info", &scene, "--json"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let found: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(found["version"], 1);
    assert_eq!(found["camera"]["type"], "perspective");
    assert_eq!((&found["camera"]["fov"], &found["camera"]["position"]), (&json!(40.0), &json!([0.0, 1.0, 4.0])));
    assert_eq!(found["film"]["width"], 12);
    let counts = &found["counts"];
    assert_eq!((&counts["shapes"], &counts["groups"], &counts["instances"]), (&json!(4), &json!(1), &json!(1)));
    assert_eq!(counts["placed"], 1);
    assert_eq!((&counts["primitives"]["spheres"], &counts["primitives"]["disks"]), (&json!(2), &json!(1)));
    let shapes = found["shapes"].as_array().expect("a list");
    let bulb = shapes.iter().find(|s| s["object_id"] == 1 && s["group"] == 0).expect("the bulb");
    assert_eq!((&bulb["kind"], &bulb["material"]), (&json!("sphere"), &json!("glow.strip")));
    // Boxes may be wider by rounding.
    let near = |found: &Value, expected: f64| (found.as_f64().expect("a number") - expected).abs() < 1e-4;
    for (axis, middle) in [0.0, 3.0, 0.0].into_iter().enumerate() {
        let (least, most) = (&bulb["bounds"]["least"][axis], &bulb["bounds"]["most"][axis]);
        assert!(near(least, middle - 0.25) && near(most, middle + 0.25), "{bulb}");
    }
    // The disk of radius 1 stands at x = 2.
    let instance = shapes.iter().find(|s| s["kind"] == "instance").expect("the instance");
    assert_eq!((&instance["places"], &instance["material"]), (&json!(1), &Value::Null));
    assert!(near(&instance["bounds"]["most"][0], 3.0), "{instance}");
    let floor = &found["materials"][0];
    assert_eq!((&floor["name"], &floor["shapes"]), (&json!("floor"), &json!(3)));
    let texture = &found["textures"][0];
    assert!(texture["file"].as_str().is_some_and(|f| f.contains("grain.png")), "{texture}");
    assert_eq!((&texture["width"], &texture["height"], &texture["levels"]), (&json!(64), &json!(32), &json!(7)));
    // 64 × 32 texels, a quarter of that for each level until one side is 1, then halves.
    assert_eq!(texture["bytes"].as_u64().map(|b| b % (2048 + 512 + 128 + 32 + 8 + 2 + 1)), Some(0));
    let lights = found["lights"].as_array().expect("a list");
    let kinds: Vec<&Value> = lights.iter().map(|l| &l["type"]).collect();
    assert_eq!(kinds, ["shape", "point"]);
    assert_eq!((&lights[0]["object_id"], &lights[1]["strength"]), (&json!(1), &json!([4.0, 5.0, 6.0])));
    assert_eq!(found["environment"], "constant");
    // As text, and of a scene whose keys are set.
    let (code, out, _) = shade(&["info", &scene, "--set", "film.width=99"]);
    assert_eq!(code, Some(0));
    for words in ["99×8", "perspective at (0, 1, 4)", "materials: 2", "textures: 1", "64×32", "point at (1, 2, 3)"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let (code, out, _) = shade(&["info", "/no/such/scene.toml", "--json"]);
    let found: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &found["diagnostics"][0]["severity"]), (Some(1), &json!("error")));
}

/// Materials that may emit count where they do: one shape with each. A shape in a group is named with it.
#[test]
fn info_counts_the_shapes_that_emit() {
    let folder = Folder::new("lights");
    let text = r#"
[materials.pattern]
source = """
shader pattern(float power = 0.0, out closure c) { c = make_closure<Emission>(power * color(global_value<uvw>.x)); }
"""

[materials.bright]
source = """
shader bright(float power = 1.0, out closure c) { c = make_closure<Emission>(power * color(global_value<uvw>.x)); }
"""

[[groups.pair.shapes]]
type = "sphere"
material = "pattern"

[[groups.pair.shapes]]
type = "disk"
material = "bright"

[[shapes]]
type = "rectangle"
material = "pattern"

[[shapes]]
type = "instance"
group = "pair"
"#;
    let scene =
        folder.write("lights.toml", &format!("{}{text}", &SCENE[..SCENE.find("[textures").expect("it has one")]));
    let (code, out, said) = shade(&["info", &scene, "--json"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let found: Value = serde_json::from_str(&out).expect("JSON");
    let lights = found["lights"].as_array().expect("a list");
    let places: Vec<_> = lights.iter().map(|l| (&l["type"], &l["object_id"], &l["group"])).collect();
    assert_eq!(places, [(&json!("shape"), &json!(1), &json!(1))]);
    let (_, out, _) = shade(&["info", &scene]);
    assert!(out.contains("lights: 1\n  shape 1 in group 1, as its shader says"), "{out}");
}
