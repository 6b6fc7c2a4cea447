//! Materials of glTF files beyond what scatters: what alpha leaves of emission, what is transmitted, numbers out of their range,
//! and the colors of images.

use super::writer::Writer;
use super::{Folder, LIT_WALL, pixels, seen_from_the_front, shows};
use serde_json::{Value, json};

const MODEL: &str = "[[shapes]]\ntype = \"gltf\"\nfile = \"m.glb\"\n";
const FURNACE: &str = "[environment]\ntype = \"constant\"\n[integrator]\nsamples = 64\nmax_depth = 4\n";

/// A square of a material.
fn square(material: Value) -> Writer {
    let mut w = Writer::empty();
    let uses: Vec<String> = material["extensions"].as_object().into_iter().flat_map(|e| e.keys().cloned()).collect();
    w.document["extensionsUsed"] = json!(uses);
    let number = w.add("materials", material);
    let mesh = w.square(Some(number), json!({}));
    w.add("nodes", json!({"mesh": mesh}));
    w
}

fn picture(writer: &Writer, rest: &str) -> Vec<[f32; 3]> {
    Folder::temporary().write("m.glb", writer.glb()).picture(&seen_from_the_front(rest))
}

/// A picture of a file of which something is left out.
fn picture_with_warnings(writer: &Writer, rest: &str) -> Vec<[f32; 3]> {
    let folder = Folder::temporary();
    folder.write("m.glb", writer.glb());
    let loaded = folder.load(&seen_from_the_front(rest));
    assert!(loaded.diagnostics.list.iter().all(|d| d.code.id == "S0025") && !loaded.diagnostics.is_empty());
    pixels(loaded)
}

/// Of a column of the picture, red.
fn column(pixels: &[[f32; 3]], x: usize) -> f32 {
    (0..8).map(|y| pixels[y * 8 + x][0]).sum::<f32>() / 8.0
}

fn mean(pixels: &[[f32; 3]]) -> f32 {
    (0..8).map(|x| column(pixels, x)).sum::<f32>() / 8.0
}

/// A black surface of radiance 1 before a sky of 0.2: a share a of it shows a + (1 − a) 0.2. What is unlit shows its color.
#[test]
fn emission_is_dimmed_with_its_surface() {
    let black = |alpha: f32| json!({"baseColorFactor": [0.0, 0.0, 0.0, alpha], "metallicFactor": 1.0});
    let cases = [
        (json!({"pbrMetallicRoughness": black(0.25)}), 1.0),
        (json!({"pbrMetallicRoughness": black(0.25), "alphaMode": "OPAQUE"}), 1.0),
        (json!({"pbrMetallicRoughness": black(0.25), "alphaMode": "BLEND"}), 0.4),
        (json!({"pbrMetallicRoughness": black(0.0), "alphaMode": "BLEND"}), 0.2),
        (json!({"pbrMetallicRoughness": black(0.25), "alphaMode": "MASK"}), 0.2),
        (json!({"pbrMetallicRoughness": black(0.75), "alphaMode": "MASK"}), 1.0),
        (json!({"pbrMetallicRoughness": black(0.25), "alphaMode": "MASK", "alphaCutoff": 0.0}), 1.0),
        (
            json!({"pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.5, 0.5, 1.0]}, "extensions": {"KHR_materials_unlit": {}}}),
            0.5,
        ),
    ];
    for (mut material, expected) in cases {
        material["emissiveFactor"] = json!([1.0, 1.0, 1.0]);
        for double_sided in [false, true] {
            material["doubleSided"] = json!(double_sided);
            let sky = FURNACE.replacen('\n', "\nradiance = [0.2, 0.2, 0.2]\n", 1);
            let found = mean(&picture(&square(material.clone()), &format!("{sky}{MODEL}")));
            assert!((found - expected).abs() < 0.02, "{material}: {found} for {expected}");
        }
    }
}

/// A floor below a lamp of which alpha leaves a quarter gets a quarter of the light, by light sampling as by paths.
#[test]
fn light_samples_find_what_alpha_leaves_of_emission() {
    let below = |mode: &str, sampling: &str| {
        let lamp = square(json!({"pbrMetallicRoughness": {"baseColorFactor": [0, 0, 0, 0.25]},
            "emissiveFactor": [1, 1, 1], "alphaMode": mode}));
        let floor = format!(
            "[integrator]\nsamples = 256\nmax_depth = 1\nsampling = \"{sampling}\"\n{MODEL}rotate = [90, 0, 0]\n\
             translate = [0, 0.2, -1]\nscale = [2, 1, 2]\n[materials.white]\n\
             source = \"shader w(out closure c) {{ c = make_closure<Lambert>(color(1.0), global_value<normal>); }}\"\n\
             [[shapes]]\ntype = \"rectangle\"\nmaterial = \"white\"\ntranslate = [0, 0, -3]\nrotate = [90, 0, 0]\nscale = [4, 1, 4]\n"
        );
        let pixels = picture(&lamp, &floor);
        pixels[40..].iter().map(|p| p[0]).sum::<f32>() / 24.0
    };
    let whole = below("OPAQUE", "both");
    assert!(whole > 0.02, "{whole}");
    for sampling in ["lights", "lobes", "both"] {
        let found = below("BLEND", sampling);
        assert!((found - 0.25 * whole).abs() < 0.02 * whole, "{sampling}: {found} of {whole}");
    }
}

fn clear(roughness: f32, ior: f32, more: Value) -> Value {
    let mut extensions =
        json!({"KHR_materials_transmission": {"transmissionFactor": 1.0}, "KHR_materials_ior": {"ior": ior}});
    for (name, value) in more.as_object().into_iter().flatten() {
        extensions[name] = value.clone();
    }
    json!({"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": roughness}, "extensions": extensions})
}

fn of_thickness(thickness: f32) -> Value {
    json!({"KHR_materials_volume": {"thicknessFactor": thickness}})
}

/// In light from everywhere a white sheet is as bright as the light, whatever its roughness and its index; a colored one tints
/// what is not reflected.
#[test]
fn sheets_keep_the_light() {
    for (roughness, ior) in [(0.0, 1.0), (0.0, 1.5), (0.3, 1.5), (0.6, 1.5), (0.0, 2.4)] {
        let found = mean(&picture(&square(clear(roughness, ior, json!({}))), &format!("{FURNACE}{MODEL}")));
        assert!((found - 1.0).abs() < 0.02, "{roughness} {ior}: {found}");
    }
    let mut tinted = clear(0.0, 1.5, json!({}));
    tinted["pbrMetallicRoughness"]["baseColorFactor"] = json!([0.5, 0.5, 0.5, 1.0]);
    // 0.04 are reflected.
    shows(&picture(&square(tinted), &format!("{FURNACE}{MODEL}")), 0.02, |_, _| [0.04 + 0.96 * 0.5; 3]);
    // An index of 0 stands for a surface that reflects all light.
    shows(&picture(&square(clear(0.0, 0.0, json!({}))), &format!("{FURNACE}{MODEL}")), 0.02, |_, _| [1.0; 3]);
}

/// The left half of all that lies behind shines.
const HALF: &str = "[integrator]\nsamples = 512\nmax_depth = 4\n[materials.bright]\n\
    source = \"shader b(out closure c) { c = make_closure<Emission>(color(1.0)); }\"\n\
    [[shapes]]\ntype = \"quad\"\nmaterial = \"bright\"\ncorners = [[-1e4, -1e4, -1], [0, -1e4, -1], [-1e4, 1e4, -1]]\n";

/// A sheet shows what is behind it where it is: sharp if it is polished; else blurred, as much to one side as to the other.
#[test]
fn sheets_blur_by_their_roughness_alone() {
    let scene = format!("{HALF}{MODEL}");
    let sharp = picture(&square(clear(0.0, 1.5, json!({}))), &scene);
    shows(&sharp, 0.02, |x, _| if x < 0.0 { [0.96; 3] } else { [0.0; 3] });
    let blurred = picture(&square(clear(0.4, 1.5, json!({}))), &scene);
    let (left, right) = (column(&blurred, 3), column(&blurred, 4));
    assert!(left > right && right > 0.1 && (left + right - 0.96).abs() < 0.05, "{left} {right}");
    // Without thickness, the extension for solids changes nothing.
    let thin = picture_with_warnings(&square(clear(0.0, 1.5, of_thickness(0.0))), &scene);
    shows(&thin, 0.02, |x, _| if x < 0.0 { [0.96; 3] } else { [0.0; 3] });
}

/// So that a wall behind is lit through it.
#[test]
fn light_samples_pass_polished_sheets() {
    let pixels = picture(&square(clear(0.0, 1.0, json!({}))), &format!("{LIT_WALL}{MODEL}"));
    shows(&pixels, 1e-4, |_, _| [1.0; 3]);
}

/// Into a solid of index 1.5 go 0.96 of the light, at a radiance that is greater by the square of the index: seen from outside,
/// light of radiance 1 within is 0.96/2.25. Roughness blurs it. Either form of file says so.
#[test]
fn what_has_a_thickness_is_a_solid() {
    let scene = format!("{HALF}{MODEL}");
    let solid = |roughness: f32| square(clear(roughness, 1.5, of_thickness(0.5)));
    let within = 0.96 / 2.25;
    let expected = |x: f32, _: f32| if x < 0.0 { [within; 3] } else { [0.0; 3] };
    shows(&picture_with_warnings(&solid(0.0), &scene), 0.01, expected);
    let rough = picture_with_warnings(&solid(0.7), &scene);
    let (left, right) = (column(&rough, 3), column(&rough, 4));
    assert!(left > right && right > 0.04 && (left + right - within).abs() < 0.04, "{left} {right}");
    let folder = Folder::temporary();
    let (text, buffer) = solid(0.0).gltf("b.bin");
    folder.write("m.gltf", text).write("b.bin", buffer);
    let scene = seen_from_the_front(&scene.replace("m.glb", "m.gltf"));
    let said = folder.said(&scene);
    assert!(said.contains("S0025") && said.contains("thickness and attenuation"), "{said}");
    shows(&pixels(folder.load(&scene)), 0.01, expected);
}

/// What is out of range is said, and no surface gains energy by it.
#[test]
fn numbers_out_of_range_are_drawn_in_and_said() {
    let folder = Folder::temporary();
    let scene = seen_from_the_front(&format!("{FURNACE}{MODEL}"));
    let pbr = json!({"metallicFactor": 7, "roughnessFactor": 0.5, "baseColorFactor": [2, 2, 2, 1]});
    let mut w = square(json!({"name": "odd", "pbrMetallicRoughness": pbr}));
    folder.write("m.glb", w.glb());
    let said = folder.said(&scene);
    for words in
        ["`metallicFactor` 7 of the material `odd`", "`baseColorFactor` 2 of the material `odd`", "from 0 to 1"]
    {
        assert!(said.contains("S0025") && said.contains(words), "{words}: {said}");
    }
    shows(&pixels(folder.load(&scene)), 0.03, |_, _| [1.0; 3]);
    // Of very many, the first are told, and how many more there are.
    for i in 0..20 {
        w.add("materials", json!({"pbrMetallicRoughness": {"metallicFactor": -1 - i}}));
    }
    folder.write("m.glb", w.glb());
    let loaded = folder.load(&scene);
    assert_eq!(loaded.diagnostics.list.len(), 9);
    assert!(folder.said(&scene).contains("14 more numbers"));
}

/// A code of 128 is 0.2159 by the curve of sRGB, also where the image says that its codes are light. Elsewhere that counts.
#[test]
fn colors_of_images_are_srgb_whatever_they_say() {
    // The chunk `gAMA` with an exponent of 1, behind the first one, which ends at byte 33.
    const LINEAR: &[u8] = b"\0\0\0\x04gAMA\0\x01\x86\xa0\x31\xe8\x96\x5f";
    let mut w = square(json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}},
        "extensions": {"KHR_materials_unlit": {}}}));
    let plain = w.png(&[&[[128, 128, 128, 255]; 2], &[[128, 128, 128, 255]; 2]]);
    let image = [&plain[..33], LINEAR, &plain[33..]].concat();
    let folder = Folder::temporary();
    folder.write("a.png", &image);
    let table = "[textures.t]\nfile = \"a.png\"\n[materials.m]\ntextures = { t = \"t\" }\nsource = '''\ntexture2d t;\n\
        shader m(out closure c) { c = make_closure<Emission>(texture2d_sample<t>(global_value<uvw>.x, global_value<uvw>.y).rgb); }\n'''\n\
        [[shapes]]\ntype = \"rectangle\"\nmaterial = \"m\"\nrotate = [90, 0, 0]\nscale = [2, 1, 2]\n";
    shows(&folder.picture(&seen_from_the_front(table)), 1e-3, |_, _| [128.0 / 255.0; 3]);
    let view = w.view(&image);
    w.add("textures", json!({"source": 0}));
    w.add("images", json!({"bufferView": view, "mimeType": "image/png"}));
    for _ in 0..2 {
        folder.write("m.glb", w.glb());
        shows(&folder.picture(&seen_from_the_front(MODEL)), 1e-3, |_, _| [0.2158605; 3]);
        // Then beside the file.
        w.document["images"][0] = json!({"uri": "a.png"});
    }
}

/// White with alpha 0 in every other texel: alpha of opaque colors means nothing, also where texels are averaged.
#[test]
fn alpha_of_opaque_colors_means_nothing() {
    let of = |mode: &str| {
        let mut w = Writer::empty();
        let (one, other): (&[[u8; 4]], &[[u8; 4]]) =
            (&[[255, 255, 255, 0], [255; 4], [255, 255, 255, 0]], &[[255; 4], [255, 255, 255, 0], [255; 4]]);
        let texture = w.texture(&[one, other, one], json!({}));
        let material = json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": texture}}, "alphaMode": mode,
            "extensions": {"KHR_materials_unlit": {}}});
        w.add("materials", material);
        let mesh = w.square(Some(0), json!({}));
        w.add("nodes", json!({"mesh": mesh}));
        picture(&w, MODEL)
    };
    shows(&of("OPAQUE"), 1e-6, |_, _| [1.0; 3]);
    // Where alpha is coverage, holes are black.
    assert!(of("MASK").iter().any(|p| p[0] == 0.0) && of("MASK").iter().any(|p| p[0] == 1.0));
}

/// Light, roughness and normals that stand beside alpha 0.
#[test]
fn alpha_of_other_maps_means_nothing() {
    let light =
        "[[lights]]\ntype = \"distant\"\ndirection = [-1, 0, -1]\nirradiance = [3.1415927, 3.1415927, 3.1415927]\n";
    let shown = |alphas: [u8; 2]| {
        let mut w = Writer::empty();
        let row = alphas.map(|alpha| [218, 128, 218, alpha]);
        let image = w.texture(&[&row], json!({}));
        let material = json!({"pbrMetallicRoughness": {"metallicRoughnessTexture": {"index": image}},
            "normalTexture": {"index": image}, "emissiveTexture": {"index": image}, "emissiveFactor": [1, 1, 1]});
        w.add("materials", material);
        let mesh = w.square(Some(0), json!({}));
        w.add("nodes", json!({"mesh": mesh}));
        picture(&w, &format!("{light}{MODEL}"))
    };
    assert_eq!(shown([0, 0]), shown([255, 255]));
    assert_eq!(shown([0, 255]), shown([255, 255]));
}
