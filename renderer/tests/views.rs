//! Views in false color against what is known of the footprints.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The middle pixel of the view of mip levels.
fn middle(name: &str, scene: &str, options: &[&str]) -> [u8; 3] {
    let folder = Folder(std::env::temp_dir().join(format!("renderer-views-{}-{name}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("the temporary folder can be written");
    let at = |file: &str| folder.0.join(file);
    image::GrayImage::from_fn(1024, 1024, |x, y| image::Luma([(x ^ y) as u8])).save(at("t.png")).expect("as above");
    if scene.contains("sky.png") {
        image::GrayImage::new(2048, 1024).save(at("sky.png")).expect("as above");
    }
    std::fs::write(at("scene.toml"), scene).expect("as above");
    let out = Command::new(env!("CARGO_BIN_EXE_shade"))
        .arg("render")
        .arg(at("scene.toml"))
        .args(["--view", "mip-level", "-o"])
        .arg(at("view.png"))
        .args(options)
        .env("SSL_TEXTURE_CACHE", at("converted"))
        .output()
        .expect("the program was built for this test");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let picture = image::open(Path::new(&at("view.png"))).expect("a whole picture").into_rgb8();
    picture.get_pixel(picture.width() / 2, picture.height() / 2).0
}

/// Straight down on a square of 1024 texels, a unit a side: of so many texels a pixel.
fn downward(texels: f32, material: &str, more: &str) -> String {
    // Over 64 pixels, from a height of 1.
    let fov = 2.0 * (0.5 * texels * 64.0 / 1024.0_f32).atan().to_degrees();
    format!(
        r#"
        camera = {{ position = [0, 1, 0], look_at = [0, 0, 0], up = [0, 0, -1], fov = {fov} }}
        film = {{ width = 64, height = 64, filter = "center", exposure = 3.0 }}
        integrator = {{ samples = 1 }}
        {more}
        [textures.t]
        file = "t.png"
        [materials.textured]
        textures = {{ t = "t" }}
        source = """
        texture2d t;
        shader s(out closure c)
        {{
            const float3 p = global_value<uvw>;
            c = make_closure<Lambert>(texture2d_sample<t>(p.x, p.y), global_value<normal>);
        }}
        """
        [materials.mirror]
        source = "shader m(out closure c) {{ c = make_closure<Mirror>(color(0.5), global_value<normal>); }}"
        [[shapes]]
        type = "rectangle"
        material = "{material}"
        "#
    )
}

const SKY: &str = "environment = { type = \"image\", file = \"sky.png\" }";
const COLORS: [[u8; 3]; 4] = [[0xd7, 0x19, 0x1c], [0xf6, 0x8b, 0x33], [0xfc, 0xe9, 0x4f], [0x73, 0xd2, 0x16]];

fn assert_near(found: [u8; 3], expected: [u8; 3]) {
    // The middle of the middle pixel is half a pixel beside the axis.
    assert!(found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 2), "{found:x?} is not {expected:x?}");
}

#[test]
fn the_level_has_its_color() {
    for (level, expected) in COLORS.into_iter().enumerate() {
        assert_near(middle(&format!("level{level}"), &downward((1 << level) as f32, "textured", ""), &[]), expected);
    }
    assert_near(middle("bias", &downward(2.0, "textured", ""), &["--mip-bias", "2"]), COLORS[3]);
    // Four samples share the pixel: a level finer.
    assert_near(middle("samples", &downward(4.0, "textured", ""), &["--spp", "4"]), COLORS[1]);
}

/// A mirror shows the level of what is seen in it: here the environment, of 2048 texels around.
#[test]
fn mirrors_are_followed() {
    // Half a pixel beside the pole, through which the camera looks; a tilted one looks at the horizon.
    let texel = std::f32::consts::TAU / 2048.0 * 1024.0;
    let tilted = downward(texel * 4.0, "mirror", SKY) + "rotate = [45, 0, 0]\nscale = [3, 1, 3]\n";
    assert_near(middle("mirror", &tilted, &[]), COLORS[2]);
    assert_near(middle("plain", &downward(4.0, "mirror", ""), &[]), [0x30; 3]);
}
