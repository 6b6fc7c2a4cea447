//! Prints how far pictures of one sample per pixel are from the mean over the area of their pixels, for each filter and
//! mip bias: the table of docs/src/textures.md.
//!
//! With `--view FILE.png` it writes the false-color view of the scene instead, which is on that page, too.

use renderer::film::{self, ImageFormat, ToneCurve};
use renderer::integrator::View;
use renderer::texture::MipMode;
use ssl_benches::mip_scene::{MipScene, compare};
use ssl_benches::process;
use std::path::Path;
use std::process::ExitCode;

const SIZE: (u32, u32) = (128, 72);
const REFERENCE: u32 = 4096;
const BIASES: [f32; 5] = [-1.0, -0.5, 0.0, 1.0, 2.0];
const FILTERS: [&str; 5] = ["aniso", "stochastic", "trilinear", "bilinear", "nearest"];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    process::in_folder("mip-bias", |folder| {
        let scene = MipScene::write(folder)?;
        match &words[..] {
            [] => table(&scene),
            [option, file] if option == "--view" => view(&scene, Path::new(file)),
            _ => Err("the only option is --view FILE.png".to_owned()),
        }
    })
}

fn table(scene: &MipScene) -> Result<(), String> {
    let reference = scene.reference(SIZE, REFERENCE)?;
    let counts = scene.even(SIZE, REFERENCE / 16)?;
    println!("| filter | {} |", BIASES.map(|b| format!("bias {b}: RMSE, sharpness")).join(" | "));
    println!("| --- |{}", " --- |".repeat(BIASES.len()));
    for name in FILTERS {
        let mode = MipMode::NAMED.iter().find(|(n, _)| *n == name).map_or(MipMode::Auto, |(_, mode)| *mode);
        let mut cells = Vec::new();
        for bias in BIASES {
            let c = compare(&scene.picture(SIZE, mode, bias)?, &reference, &counts);
            cells.push(format!("{:.4}, {:.2}", c.rmse, c.sharpness));
        }
        println!("| {name} | {} |", cells.join(" | "));
    }
    let share = counts.iter().filter(|&&c| c).count() as f64 / counts.len() as f64;
    println!("\n{} of {} pixels count.", counts.iter().filter(|&&c| c).count(), counts.len());
    debug_assert!(share > 0.5);
    Ok(())
}

fn view(scene: &MipScene, file: &Path) -> Result<(), String> {
    let picture = scene.view((640, 360), View::MipLevel, 1)?;
    film::write(&picture, file, ImageFormat::Png, (0.0, ToneCurve::Clamp), None).map_err(|e| e.to_string())
}
