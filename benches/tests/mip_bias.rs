//! The mip level that derivatives choose is the right one: pictures of one sample a pixel are nearest to the mean over
//! their pixels' area with it, and blur where a bias makes it coarser.

use renderer::texture::MipMode;
use ssl_benches::mip_scene::{Comparison, MipScene, compare};

const SIZE: (u32, u32) = (64, 36);

#[test]
fn the_chosen_level_is_the_best() {
    let folder = std::env::temp_dir().join(format!("ssl-mip-bias-test-{}", std::process::id()));
    let scene = MipScene::write(&folder).expect("the temporary folder can be written");
    let reference = scene.reference(SIZE, 256).expect("the scene is sound");
    let counts = scene.even(SIZE, 64).expect("as above");
    assert!(counts.iter().filter(|&&c| c).count() * 2 > counts.len(), "most pixels count");
    let at = |mode, bias| compare(&scene.picture(SIZE, mode, bias).expect("as above"), &reference, &counts);
    let aniso: Vec<Comparison> = [-1.0, 0.0, 1.0, 2.0].map(|bias| at(MipMode::Aniso, bias)).into();
    let trilinear = at(MipMode::Trilinear, 0.0);
    std::fs::remove_dir_all(&folder).expect("as above");
    println!("{aniso:?} {trilinear:?}");
    assert!([0, 2, 3].iter().all(|&i| aniso[i].rmse > aniso[1].rmse), "{aniso:?}");
    assert!(aniso.windows(2).all(|pair| pair[1].sharpness < 0.9 * pair[0].sharpness), "{aniso:?}");
    // On the way to the horizon the longer step blurs what the shorter one could tell apart.
    assert!(trilinear.sharpness < aniso[1].sharpness && trilinear.rmse > aniso[1].rmse, "{trilinear:?} {aniso:?}");
}
