//! `shade texture` as a user meets it.

use super::making::{Folder, open};
use super::others::level;
use image::{DynamicImage, ImageBuffer};
use renderer::texture::TileSource;
use std::process::{Command, Output};

fn shade(arguments: &[&str]) -> Output {
    let program = Command::new(env!("CARGO_BIN_EXE_shade")).arg("texture").args(arguments).output();
    program.expect("the program was built for this test")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn textures_are_made_and_described() {
    let folder = Folder::new("commands");
    let path = |name: &str| folder.path(name).display().to_string();
    for name in ["a.png", "b.png"] {
        let image = ImageBuffer::from_raw(70, 20, vec![99; 70 * 20 * 3]).map(DynamicImage::ImageRgb8);
        image.expect("it fits").save(folder.path(name)).expect("the temporary folder can be written");
    }
    let (a, b, out) = (path("a.png"), path("b.png"), path("out"));
    std::fs::create_dir(folder.path("out")).expect("the temporary folder can be written");
    let made = shade(&["make", &a, &b, "-o", &out, "--wrap", "clamp,mirror", "--filter", "lanczos", "--jobs", "1"]);
    assert_eq!((made.status.code(), text(&made.stderr)), (Some(0), String::new()));
    let info = shade(&["info", &path("out/a.tx"), &path("out/b.tx"), "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
    assert_eq!(json["version"], 1);
    let json = &json["textures"];
    assert_eq!(json[1]["path"], path("out/b.tx"));
    assert_eq!(json[0]["sample"], "u8");
    assert_eq!(json[0]["channels"], 3);
    assert_eq!(json[0]["color"], "srgb");
    assert_eq!(json[0]["wrap"], serde_json::json!(["clamp", "mirror"]));
    assert_eq!(json[0]["levels"].as_array().map(Vec::len), Some(7));
    assert_eq!(json[0]["levels"][0]["tiles"], 2);
    let described = text(&shade(&["info", &path("out/a.tx")]).stdout);
    assert!(described.contains("TIFF, deflate") && described.contains("70×20"), "{described}");

    let code = |arguments: &[&str]| shade(arguments).status.code();
    assert_eq!(code(&["info", &a]), Some(1));
    assert_eq!(code(&["make", &path("none.png"), "-o", &path("x.tx")]), Some(1));
    assert_eq!(code(&["make", &a, "-o", &path("none/x.tx")]), Some(4));
    assert_eq!(code(&["make", &a, &b, "-o", &path("x.tx")]), Some(2));
    assert_eq!(code(&["make", &a, &a, "-o", &out]), Some(2));
    assert_eq!(code(&["make", &a, "-o", &a]), Some(2));
    assert_eq!(code(&["make", &a, "-o", &path("x.png")]), Some(2));
    assert_eq!(code(&["make", &a, "-o", &path("x.tx"), "--tile", "17"]), Some(2));
    assert_eq!(code(&["make", &a, "-o", &path("x.tx"), "--wrap", "sideways"]), Some(2));
    assert_eq!(code(&["make", &a, "-o", &path("x.exr"), "--sample", "u8"]), Some(2));
    // One that fails does not keep the others from being made.
    assert_eq!(code(&["make", &path("none.png"), &b, "-o", &path("out")]), Some(1));
    assert!(!folder.path("x.tx").exists());
}

/// All outputs are tried before the first image is read, and a link stays.
#[test]
fn outputs_that_cannot_be_written_are_found_before_the_work() {
    let folder = Folder::new("blocked");
    let path = |name: &str| folder.path(name).display().to_string();
    for name in ["a.png", "b.png"] {
        DynamicImage::new_rgb8(20, 20).save(folder.path(name)).expect("the temporary folder can be written");
    }
    std::fs::create_dir_all(folder.path("out/b.tx")).expect("the temporary folder can be written");
    let made = shade(&["make", &path("a.png"), &path("b.png"), "-o", &path("out")]);
    assert!(made.status.code() == Some(4) && text(&made.stderr).contains("b.tx"), "{}", text(&made.stderr));
    assert!(!folder.path("out/a.tx").exists(), "the work has not begun");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("real.tx", folder.path("link.tx")).expect("links can be made");
        let made = shade(&["make", &path("a.png"), "-o", &path("link.tx")]);
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
        assert!(folder.path("link.tx").is_symlink() && folder.path("real.tx").is_file());
    }
}

/// The replaced numbers are the numbers in the warning; all others stay as they are, to the bit.
#[test]
fn texels_that_are_not_finite_are_replaced_and_told() {
    let folder = Folder::new("odd");
    let path = |name: &str| folder.path(name).display().to_string();
    let texel = |x: u32, y: u32| {
        let plain = (x * 20 + y) as f32 * 0.37 - 1.5;
        match (x, y) {
            (3, 2) => [f32::INFINITY, plain, f32::NAN],
            (4, 2) => [f32::NEG_INFINITY, 1e9, plain],
            _ => [plain; 3],
        }
    };
    let image = image::Rgb32FImage::from_fn(20, 17, |x, y| image::Rgb(texel(x, y)));
    image.save(folder.path("a.exr")).expect("the temporary folder can be written");
    for name in ["out.tx", "out.tiled.exr"] {
        let made = shade(&["make", &path("a.exr"), "-o", &path(name)]);
        assert_eq!(made.status.code(), Some(0));
        let said = text(&made.stderr);
        assert!(said.contains("a.exr` has 2 texels") && said.contains("column 3 of row 2"), "{said}");
        let made = open(&folder.path(name));
        let found = level(&made, 0);
        for (i, rgb) in found.chunks_exact(3).enumerate() {
            let expected = texel(i as u32 % 20, i as u32 / 20).map(|x| match x {
                x if x.is_finite() => x,
                f32::INFINITY => 65504.0,
                _ => 0.0,
            });
            assert_eq!(rgb, expected, "{name} {i}");
        }
        assert!((1..made.layout().levels.len()).all(|l| level(&made, l).iter().all(|x| x.is_finite())));
    }
}
