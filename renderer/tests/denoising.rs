//! `--denoise` of renders and merges, and `shade denoise`, as a user meets them.

use crate::shade;
use renderer::film::ExrFile;
use shade::{shade, text};
use ssl_tests::temporary::Folder;

/// A ball on a floor under a small lamp: penumbras with noise.
const SCENE: &str = r#"
    camera = { position = [0, 1.5, 4], look_at = [0, 0.5, 0] }
    film = { width = 40, height = 24 }
    integrator = { samples = 8, max_depth = 3 }
    environment = { type = "constant", radiance = [0.05, 0.06, 0.08] }
    [materials.matte]
    source = """
    shader matte(out closure c, out float wear)
    {
        c = make_closure<Lambert>(color(0.7), global_value<normal>);
        wear = 0.5;
    }
    """
    [[shapes]]
    type = "rectangle"
    material = "matte"
    scale = [4, 1, 4]
    [[shapes]]
    type = "sphere"
    material = "matte"
    radius = 0.5
    translate = [0, 0.5, 0]
    [[shapes]]
    type = "rectangle"
    material = "matte"
    emission = [12, 12, 12]
    rotate = [180, 0, 0]
    scale = [1, 1, 1]
    translate = [1, 3, 1]
    "#;

const BUILTIN: &str = "--denoise=builtin";
const LAYERS: &str = "albedo,normal,variance";

/// The standard output of a successful command, and its standard error.
#[track_caller]
fn good(arguments: &[&str]) -> (String, String) {
    let out = shade(arguments);
    assert_eq!(out.status.code(), Some(0), "{arguments:?}: {}", text(&out.stderr));
    (text(&out.stdout), text(&out.stderr))
}

#[track_caller]
fn refused(arguments: &[&str], code: i32, words: &[&str]) {
    let out = shade(arguments);
    let said = text(&out.stderr);
    assert!(out.status.code() == Some(code) && words.iter().all(|w| said.contains(w)), "{arguments:?}: {said}");
}

/// The light of a file as it is shown, and as it was before it was denoised.
fn lights(folder: &Folder, name: &str) -> (Vec<f32>, Vec<f32>) {
    let file = ExrFile::decode(&folder.bytes(name)).expect("a whole file");
    let floats = |pixels: Vec<glam::Vec3>| pixels.iter().flat_map(|p| p.to_array()).collect::<Vec<f32>>();
    (floats(file.light().expect("it has light")), floats(file.noisy().expect("it has light").light))
}

#[test]
fn a_render_keeps_the_noisy_picture_beside_the_clean_one() {
    let folder = Folder::new("denoise");
    let scene = folder.write("scene.toml", SCENE);
    let file = |name: &str| folder.file(name);
    let render = |name: &str, more: &[&str]| good(&[&["render", &scene, "-o", &file(name)], more].concat());
    render("raw.exr", &["--aov", LAYERS]);
    let (said, _) = render("clean.exr", &[BUILTIN, "--threads", "1"]);
    assert!(said.contains("denoised by builtin"), "{said}");
    let ((clean, noisy), (raw, _)) = (lights(&folder, "clean.exr"), lights(&folder, "raw.exr"));
    assert!(noisy == raw && clean != raw);
    // Nearer to many samples than it was.
    render("reference.exr", &["--spp", "256", "--seed", "9"]);
    let reference = lights(&folder, "reference.exr").0;
    let error =
        |light: &[f32]| light.iter().zip(&reference).map(|(a, b)| (a - b) * (a - b) / (b * b + 0.01)).sum::<f32>();
    // This picture has little noise, and most of it at edges as wide as a pixel.
    assert!(error(&clean) < 0.85 * error(&raw), "{} of {}", error(&clean), error(&raw));
    // The threads change no byte.
    render("threads.exr", &[BUILTIN, "--threads", "3"]);
    assert!(folder.bytes("threads.exr") == folder.bytes("clean.exr"));
    // The file has all layers for denoising again, or later.
    let (said, note) = good(&["denoise", &file("raw.exr"), "--denoiser", "builtin"]);
    assert!(said.contains("raw-denoised.exr") && note.is_empty(), "{said}{note}");
    assert!(lights(&folder, "raw-denoised.exr") == (clean.clone(), raw.clone()));
    good(&["denoise", &file("clean.exr"), "-o", &file("again.exr"), "--denoiser", "builtin", "--threads", "3"]);
    assert!(lights(&folder, "again.exr") == (clean, raw));
    // A PNG says nothing of layers that nobody named.
    let (_, note) = render("clean.png", &[BUILTIN]);
    assert_eq!(note, "");
    good(&["denoise", &file("raw.exr"), "-o", &file("raw.png"), "--denoiser", "builtin"]);
    assert!(folder.bytes("raw.png").starts_with(b"\x89PNG"));
}

#[test]
fn parts_and_resumed_renders_come_to_the_same_bytes() {
    let folder = Folder::new("denoise-parts");
    let scene = folder.write("scene.toml", SCENE);
    let file = |name: &str| folder.file(name);
    let render = |name: &str, more: &[&str]| good(&[&["render", &scene, "-o", &file(name), BUILTIN], more].concat());
    render("whole.exr", &[]);
    let (_, note) = render("a.part", &["--sample-range", "0..4"]);
    assert!(note.contains("shade merge --denoise"), "{note}");
    render("b.part", &["--sample-range", "4..8"]);
    let (said, _) = good(&["merge", &file("b.part"), &file("a.part"), "-o", &file("merged.exr"), BUILTIN]);
    assert!(said.contains("denoised by builtin"), "{said}");
    assert!(folder.bytes("merged.exr") == folder.bytes("whole.exr"));
    // A checkpoint holds samples, not the picture made of them.
    render("resumed.exr", &["--spp", "4", "--keep-checkpoint"]);
    render("resumed.exr", &["--spp", "8", "--resume"]);
    render("longer.exr", &["--spp", "8"]);
    assert!(folder.bytes("resumed.exr") == folder.bytes("longer.exr"));
    // Parts without the layers.
    good(&["render", &scene, "-o", &file("bare.part")]);
    refused(&["merge", &file("bare.part"), "-o", &file("bare.exr"), BUILTIN], 1, &["S0036", "variance", "--denoise"]);
    // A window is denoised by itself.
    render("crop.exr", &["--crop", "5,3,20,17"]);
    assert_eq!(lights(&folder, "crop.exr").0.len(), 15 * 14 * 3);
}

#[test]
fn pictures_that_cannot_be_denoised_are_refused_with_a_reason() {
    let folder = Folder::new("denoise-refused");
    let scene = folder.write("scene.toml", SCENE);
    let file = |name: &str| folder.file(name);
    let render =
        |name: &str, more: &[&str]| good(&[&["render", &scene, "--spp", "2", "-o", &file(name)], more].concat());
    let denoise = |name: &str, code, words: &[&str]| {
        refused(&["denoise", &file(name), "--denoiser", "builtin"], code, words);
    };
    render("bare.exr", &[]);
    denoise("bare.exr", 1, &["S0036", "`variance`", "--aov albedo,normal,variance"]);
    render("half.exr", &["--aov", "variance"]);
    let (_, note) = good(&["denoise", &file("half.exr"), "--denoiser", "builtin"]);
    assert!(note.contains("without the layers albedo, normal"), "{note}");
    render("a.part", &[]);
    denoise("a.part", 1, &["shade merge --denoise"]);
    render("a.png", &[]);
    denoise("a.png", 1, &["S0036"]);
    denoise("nothing.exr", 1, &["S0036"]);
    let cut = folder.bytes("half.exr");
    std::fs::write(file("cut.exr"), &cut[..cut.len() / 2]).expect("the temporary folder can be written");
    denoise("cut.exr", 1, &["S0036"]);
    refused(&["denoise", &file("half.exr"), "-o", &file("a.jpg")], 1, &["S0012"]);
    refused(&["render", &scene, BUILTIN, "--view", "normal"], 2, &["--denoise", "--view"]);
    refused(&["render", &scene, "--denoise=strong"], 2, &["auto, builtin, oidn"]);
    // A layer of the scene's that has the name.
    let named = folder.write("named.toml", &SCENE.replace("wear", "noisy"));
    refused(&["render", &named, "--aov", "noisy", BUILTIN], 1, &["S0006", "`noisy`"]);
}

#[test]
fn the_denoiser_is_named_and_missing_ones_say_how_to_get_them() {
    let folder = Folder::new("denoise-which");
    let scene = folder.write("scene.toml", SCENE);
    let (said, _) = good(&["render", &scene, "--spp", "2", "-o", &folder.file("a.exr"), "--denoise"]);
    let out = shade(&["render", &scene, "--spp", "2", "-o", &folder.file("b.exr"), "--denoise=oidn"]);
    if out.status.success() {
        assert!(said.contains("denoised by oidn") && text(&out.stdout).contains("denoised by oidn"), "{said}");
        assert!(lights(&folder, "b.exr").0.iter().all(|x| x.is_finite()));
    } else {
        assert!(said.contains("denoised by builtin"), "{said}");
        let said = text(&out.stderr);
        assert!(said.contains("cargo xtask setup") && said.contains("--features oidn"), "{said}");
        if cfg!(feature = "oidn") {
            ssl_tests::skip("Open Image Denoise is not there");
        }
    }
}
