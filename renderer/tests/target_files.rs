//! Targets and masks of fits from every kind of file. The loss of an even and known picture measures the meaning of a
//! file. Where all counted pixels agree with it, the loss is 0.

use crate::ran;
use ::exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image, ImageAttributes, IntegerBounds, Layer, LayerAttributes,
    Vec2, WritableImage,
};
use image::{Rgb, Rgba};
use ran::shade;
use ssl_tests::temporary::Folder;

/// The color of the picture, and of a file's counted pixels.
const COLOR: [f32; 3] = [0.5, 0.25, 0.125];

/// An even picture of that light, and a job that compares it.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write(
        "scene.toml",
        "[camera]\nposition = [0, 0, 5]\nlook_at = [0, 0, 0]\ntype = \"orthographic\"\nwidth = 2\n\
         [film]\nwidth = 8\nheight = 8\ntone = \"clamp\"\n[integrator]\nmax_depth = 0\n[materials.m]\n\
         source = 'shader m(color c = color(0.5, 0.25, 0.125), out closure k) { k = make_closure<Emission>(c); }'\n\
         [[shapes]]\ntype = \"quad\"\nmaterial = \"m\"\ncorners = [[-3, -3, 0], [3, -3, 0], [-3, 3, 0]]\n",
    );
    folder
}

/// The loss before the first step, or the message.
fn loss(folder: &Folder, view: &str) -> Result<f64, String> {
    let job = format!(
        "steps = 1\nsamples = 1\n[[views]]\n{view}\n[[fit]]\nparameters = \"materials.m.c\"\nrate = 1e-6\nlow = 0.001\nhigh = 1.0\n"
    );
    folder.write("job.toml", &job);
    let [scene, job, out] = ["scene.toml", "job.toml", "out"].map(|name| folder.file(name));
    let (code, _, said) = shade(&["fit", &scene, "--job", &job, "-o", &out]);
    if code != 0 {
        return Err(said);
    }
    let table = std::fs::read_to_string(folder.file("out/loss.csv")).expect("it is written");
    let first = table.lines().nth(1).and_then(|line| line.split(',').nth(1)).expect("there is a step");
    Ok(first.parse().expect("a number"))
}

#[track_caller]
fn assert_same(folder: &Folder, view: &str) {
    let found = loss(folder, view);
    assert!(found.as_ref().is_ok_and(|loss| *loss < 1e-5), "{view}: {found:?}");
}

/// An EXR of these channels, each even, whose pixels stand at a place of a picture of another size.
fn exr(folder: &Folder, name: &str, channels: &[(&str, f32)], (size, at): (usize, i32), whole: usize) {
    let channel = |(name, value): &(&str, f32)| AnyChannel::new(*name, FlatSamples::F32(vec![*value; size * size]));
    let channels = AnyChannels::sort(channels.iter().map(channel).collect());
    let attributes = LayerAttributes { layer_position: Vec2(at, at), ..LayerAttributes::default() };
    let layer = Layer::new((size, size), attributes, Encoding::FAST_LOSSLESS, channels);
    let image = Image::new(ImageAttributes::new(IntegerBounds::from_dimensions((whole, whole))), layer);
    image.write().to_file(folder.file(name)).expect("the folder can be written");
}

const RGB: [(&str, f32); 3] = [("R", COLOR[0]), ("G", COLOR[1]), ("B", COLOR[2])];

/// A crop counts where it has pixels; the part beyond the picture is cut off.
#[test]
fn crops_count_where_they_have_pixels() {
    let folder = folder("crops");
    exr(&folder, "crop.exr", &RGB, (4, 2), 8);
    assert_same(&folder, "target = \"crop.exr\"");
    exr(&folder, "beyond.exr", &RGB, (12, -2), 8);
    assert_same(&folder, "target = \"beyond.exr\"");
    // As the program itself writes them.
    let [scene, own] = ["scene.toml", "own.exr"].map(|name| folder.file(name));
    let (code, _, said) = shade(&["render", &scene, "-o", &own, "--spp", "1", "--crop", "2,2,6,6"]);
    assert_eq!(code, 0, "{said}");
    assert_same(&folder, "target = \"own.exr\"");
    // A quarter of the pixels, of which each is off by 0.25 in one channel of three.
    exr(&folder, "other.exr", &[("R", 0.75), ("G", COLOR[1]), ("B", COLOR[2])], (4, 2), 8);
    let found = loss(&folder, "target = \"other.exr\"").expect("it fits");
    assert!((found - 0.25 * 0.25 * 0.25 / 3.0).abs() < 1e-6, "{found}");
}

#[test]
fn channels_are_known_by_all_their_names() {
    let folder = folder("channels");
    let names = [["r", "g", "b"], ["red", "green", "blue"], ["beauty.R", "beauty.G", "beauty.B"]];
    for names in names {
        let channels: Vec<(&str, f32)> = names.into_iter().zip(COLOR).collect();
        exr(&folder, "named.exr", &channels, (8, 0), 8);
        assert_same(&folder, "target = \"named.exr\"");
    }
    // Gray of 0.5: off by 0.25 in green and by 0.375 in blue.
    for name in ["Y", "depth.Y", "gray"] {
        exr(&folder, "gray.exr", &[(name, 0.5)], (8, 0), 8);
        let found = loss(&folder, "target = \"gray.exr\"").expect("it fits");
        assert!((found - (0.25 * 0.25 + 0.375 * 0.375) / 3.0).abs() < 1e-6, "{name}: {found}");
    }
}

/// Formats of integers hold display values: 188, 137 and 99 of 255 are the light to within half a code. HDR is divided
/// by its exposure, from every program.
#[test]
fn every_format_is_a_target() {
    let folder = folder("formats");
    let picture = image::RgbImage::from_pixel(8, 8, Rgb([188, 137, 99]));
    for name in ["t.png", "t.tga", "t.bmp"] {
        picture.save(folder.file(name)).expect("the folder can be written");
        assert_same(&folder, &format!("target = \"{name}\""));
    }
    let mut tiff = tiff::encoder::TiffEncoder::new(std::fs::File::create(folder.file("t.tif")).expect("as above"))
        .expect("as above");
    let light: Vec<f32> = COLOR.repeat(64);
    tiff.write_image::<tiff::encoder::colortype::RGB32Float>(8, 8, &light).expect("as above");
    drop(tiff);
    assert_same(&folder, "target = \"t.tif\"");
    let mut hdr = b"#?RGBE\nEXPOSURE=2\nFORMAT=32-bit_rle_rgbe\n\n-Y 8 +X 8\n".to_vec();
    // Mantissas of 256ths, to the power of two.
    hdr.extend([128, 64, 32, 129].repeat(64));
    std::fs::write(folder.file("t.hdr"), hdr).expect("as above");
    assert_same(&folder, "target = \"t.hdr\"");
}

/// The color of a target is the color without alpha, and alpha is its weight.
#[test]
fn alpha_of_targets_is_their_weight() {
    let folder = folder("alpha");
    let hole = |x: u32| if x < 4 { Rgba([188, 137, 99, 255]) } else { Rgba([255, 0, 255, 0]) };
    image::RgbaImage::from_fn(8, 8, |x, _| hole(x)).save(folder.file("t.png")).expect("the folder can be written");
    assert_same(&folder, "target = \"t.png\"");
    // In EXR, colors are multiplied by alpha.
    let halves: Vec<(&str, f32)> =
        ["R", "G", "B"].into_iter().zip(COLOR.map(|c| 0.5 * c)).chain([("A", 0.5)]).collect();
    exr(&folder, "half.exr", &halves, (8, 0), 8);
    assert_same(&folder, "target = \"half.exr\"");
    let off = [("R", 0.375), ("G", 0.125), ("B", 0.0625), ("A", 0.5)];
    exr(&folder, "off.exr", &off, (8, 0), 8);
    let found = loss(&folder, "target = \"off.exr\"").expect("it fits");
    assert!((found - 0.5 * 0.25 * 0.25 / 3.0).abs() < 1e-6, "{found}");
    exr(&folder, "none.exr", &[("R", 0.0), ("G", 0.0), ("B", 0.0), ("A", 0.0)], (8, 0), 8);
    let said = loss(&folder, "target = \"none.exr\"").expect_err("nothing counts");
    assert!(said.contains("no pixel of") && said.contains("none.exr"), "{said}");
}

/// Masks count by their luminance and their alpha, and hide pixels with NaN; the error about a bad mask names its file.
#[test]
fn masks_weigh_or_are_refused() {
    let folder = folder("masks");
    image::Rgb32FImage::from_fn(8, 8, |x, _| if x < 4 { Rgb(COLOR) } else { Rgb([f32::NAN, 9.0, 9.0]) })
        .save(folder.file("t.exr"))
        .expect("the folder can be written");
    let said = loss(&folder, "target = \"t.exr\"").expect_err("it has no number");
    assert!(said.contains("at pixel (4, 0)") && said.contains("t.exr"), "{said}");
    let white = |x: u32| Rgba([255, 255, 255, if x < 4 { 255 } else { 0 }]);
    image::RgbaImage::from_fn(8, 8, |x, _| white(x)).save(folder.file("m.png")).expect("as above");
    assert_same(&folder, "target = \"t.exr\"\nmask = \"m.png\"");
    for (weight, words) in [(-1.0, "at pixel (0, 0)"), (f32::NAN, "NaN at pixel (0, 0)"), (0.0, "no pixel counts")] {
        exr(&folder, "bad.exr", &[("Y", weight)], (8, 0), 8);
        let said = loss(&folder, "target = \"t.exr\"\nmask = \"bad.exr\"").expect_err("it cannot weigh");
        assert!(said.contains("the mask") && said.contains("bad.exr") && said.contains(words), "{weight}: {said}");
    }
}
