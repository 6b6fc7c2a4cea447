//! OBJ files with the materials of their libraries.

use super::{Folder, LIT_WALL, pixels, seen_from_the_front, shows};

/// Two squares side by side.
const SQUARES: &str = "mtllib the colors.mtl\nv -1 -1 0\nv 0 -1 0\nv 0 1 0\nv -1 1 0\nv 1 -1 0\nv 1 1 0\n\
    vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n\
    o one\nusemtl left\nf 1/1 2/2 3/3 4/4\no two\nusemtl right\nf 2/1 5/2 6/3 3/4\n";
const OBJ: &str = "[[shapes]]\ntype = \"obj\"\nfile = \"s.obj\"\n";
const SKY: &str = "[environment]\ntype = \"constant\"\n[integrator]\nsamples = 64\nmax_depth = 4\n";

fn folder(library: &str) -> Folder {
    let folder = Folder::temporary();
    folder.write("s.obj", SQUARES).write("the colors.mtl", library);
    folder
}

/// What scatters, shines, lets through and refracts, in light from everywhere: both halves' means.
#[test]
fn materials_return_the_light_that_they_should() {
    for (library, left, right) in [
        (
            "newmtl left\nKd 0.2 0.4 0.6\nillum 1\nnewmtl right\nKd 0 0 0\nKe 0.5 0 2\n",
            [0.2, 0.4, 0.6],
            [0.5, 0.0, 2.0],
        ),
        // Half of the light passes one; the other is a mirror for most of it.
        (
            "newmtl left\nKd 0 0 0\nd 0.5\nnewmtl right\nKd 0 0 0\nKs 0.7 0.7 0.7\nNs 1000\nillum 3\n",
            [0.5; 3],
            [0.7; 3],
        ),
        // More than all light does not leave.
        (
            "newmtl left\nKd 1 1 1\nKs 1 1 1\nNs 1000\nillum 3\nnewmtl right\nKd 0.1 0 0\nd 1\nillum 1\n",
            [1.0; 3],
            [0.1, 0.0, 0.0],
        ),
        // Glass in the same light all round loses none of it.
        (
            "newmtl left\nKd 0.5 0.5 0.5\nNi 1.0\nTf 0.5 1 1\nillum 7\nnewmtl right\nillum 0\nKd 0 0 0\n",
            [0.5, 1.0, 1.0],
            [0.0; 3],
        ),
    ] {
        let pixels = folder(library).picture(&seen_from_the_front(&format!("{SKY}{OBJ}")));
        for (begin, expected) in [(0, left), (4, right)] {
            let half = pixels.iter().enumerate().filter(|(i, _)| i % 8 / 4 == begin / 4).map(|(_, p)| p);
            let mean = half.fold([0.0; 3], |s, p| [s[0] + p[0] / 32.0, s[1] + p[1] / 32.0, s[2] + p[2] / 32.0]);
            let off = (0..3).map(|i| (mean[i] - expected[i]).abs()).fold(0.0, f32::max);
            assert!(off < 0.04, "{library}: {mean:?} for {expected:?}");
        }
    }
}

/// So that a wall behind is lit through them, and however many bounces are allowed.
#[test]
fn light_samples_pass_what_is_open() {
    for library in ["newmtl left\nd 0\nnewmtl right\nd 0\n", "newmtl left\nd 0\nmap_Kd a.png\nnewmtl right\nd 0\n"] {
        let folder = folder(library);
        image::RgbaImage::from_pixel(2, 2, image::Rgba([255; 4])).save(folder.0.join("a.png")).expect("as above");
        shows(&folder.picture(&seen_from_the_front(&format!("{LIT_WALL}{OBJ}"))), 1e-4, |_, _| [1.0; 3]);
    }
}

#[test]
fn images_are_beside_their_library() {
    let folder =
        folder("newmtl left\nKd 1 1 1\nillum 1\nmap_Kd -s 1 1 1 maps\\half.png\nnewmtl right\nKd 0 0 0\nillum 0\n");
    std::fs::create_dir_all(folder.0.join("maps")).expect("the temporary folder can be written");
    image::RgbImage::from_pixel(2, 2, image::Rgb([255, 0, 255]))
        .save(folder.0.join("maps/half.png"))
        .expect("as above");
    let expected = |x: f32, _: f32| if x < 0.0 { [1.0, 0.0, 1.0] } else { [0.0; 3] };
    shows(&folder.picture(&seen_from_the_front(&format!("{SKY}{OBJ}"))), 0.02, expected);
}

#[test]
fn the_scene_gives_other_materials_by_material_and_object() {
    let folder = folder("newmtl left\nKd 0 0 0\nKe 1 0 0\nnewmtl right\nKd 0 0 0\nKe 0 1 0\n");
    let own = "[materials.blue]\nsource = 'shader m(out closure c) { c = make_closure<Emission>(color(0, 0, 1)); }'\n";
    for (mapped, left, right) in [
        ("", [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        ("materials = { right = \"blue\" }\n", [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
        ("materials = { one = \"blue\" }\n", [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
        ("material = \"blue\"\n", [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
    ] {
        let scene = seen_from_the_front(&format!("{own}{OBJ}{mapped}"));
        shows(&folder.picture(&scene), 1e-6, |x, _| if x < 0.0 { left } else { right });
    }
}

#[test]
fn what_libraries_lack_is_said() {
    let folder = folder("newmtl left\nKd 0 0 0\n");
    let scene = seen_from_the_front(OBJ);
    let said = folder.said(&scene);
    assert!(said.contains("S0025") && said.contains("`right`"), "{said}");
    folder.write("the colors.mtl", "newmtl left\nmap_Ks shiny.png\nnewmtl right\nKd 1 0 0\n");
    let said = folder.said(&scene);
    assert!(said.contains("S0025") && said.contains("`map_Ks` of its materials"), "{said}");
    folder.write("the colors.mtl", "newmtl left\nmap_Kd -s 2 2 1 a.png\nnewmtl right\nKd 1 0 0\n");
    let said = folder.said(&scene);
    assert!(said.contains("S0025") && said.contains("options of `map_Kd`"), "{said}");
    std::fs::remove_file(folder.0.join("the colors.mtl")).expect("it was written");
    let said = folder.said(&scene);
    assert!(said.contains("S0025") && said.contains("the colors.mtl"), "{said}");
}

/// One number is grey, also of emission and filters, and a halo says how much there is where the viewer faces the surface.
#[test]
fn short_forms_are_completed() {
    for (library, expected) in [
        ("newmtl left\nKd .5\nillum 1\nnewmtl right\nKd .5 # grey\nillum 1\n", 0.5),
        ("newmtl left\nKd 0\nKs 0\nKe 1.25\nnewmtl right\nKd 0\nKe 1.25", 1.25),
        ("newmtl left\nKd 0\nd -halo 0.25\nnewmtl right\nKd 0\nd 0\nTf .75\n", 0.75),
    ] {
        let pixels = folder(library).picture(&seen_from_the_front(&format!("{SKY}{OBJ}")));
        let mean = pixels.iter().map(|p| p[0]).sum::<f32>() / 64.0;
        assert!((mean - expected).abs() < 0.02, "{library}: {mean}");
    }
}

/// A line that cannot be read is said with its number, and all others count.
#[test]
fn bad_lines_cost_nothing_else() {
    for (line, words) in [
        ("Kd .5 .5", "has two numbers"),
        ("Kd xyz 0.3 0.3 0.3", "red, green and blue"),
        ("Ks", "without its numbers"),
        ("Ni 1,5", "`1,5`"),
        ("d half", "`half`"),
        ("illum 2.0", "`2.0`"),
        ("map_Kd", "name of an image"),
        ("newmtl", "without a name"),
    ] {
        let folder = folder(&format!("newmtl left\nKd 0 0 0\nKe 1 0 0\n{line}\nnewmtl right\nKd 0 0 0\nKe 0 1 0\n"));
        let scene = seen_from_the_front(OBJ);
        let said = folder.said(&scene);
        assert!(said.contains("S0025") && said.contains("line 4 of the library of materials"), "{line}: {said}");
        assert!(said.contains(words) && said.matches("S0025").count() == 1, "{line}: {said}");
        let expected = |x: f32, _: f32| if x < 0.0 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        shows(&pixels(folder.load(&scene)), 1e-6, expected);
    }
    // A comment in another encoding, a file cut off in a color, and very many bad lines.
    let many = [&b"# gr\xfcn\nnewmtl left\n"[..], &b"Ni x\n".repeat(100), b"newmtl right\nKe 1"].concat();
    let folder = folder("");
    folder.write("the colors.mtl", many);
    let scene = seen_from_the_front(OBJ);
    let loaded = folder.load(&scene);
    assert!(loaded.scene.is_some() && loaded.diagnostics.list.len() == 9);
    assert!(folder.said(&scene).contains("92 more lines"));
}

/// A surface of radiance 1 before a sky of 0.2: a share d of it shows d + (1 − d) 0.2. What is glass shines whole.
#[test]
fn emission_is_dimmed_with_its_surface() {
    let sky = SKY.replacen('\n', "\nradiance = [0.2, 0.2, 0.2]\n", 1);
    for (left, right, expected) in [("d 1", "d 0", [1.0, 0.2]), ("d .25", "illum 7\nNi 1", [0.4, 1.2])] {
        let folder = folder(&format!("newmtl left\nKd 0\nKe 1\n{left}\nnewmtl right\nKd 0\nKe 1\n{right}\n"));
        let pixels = folder.picture(&seen_from_the_front(&format!("{sky}{OBJ}")));
        shows(&pixels, 1e-3, |x, _| [expected[usize::from(x > 0.0)]; 3]);
    }
}

/// A floor below lamps of which a quarter is there gets a quarter of the light, by light sampling as by paths.
#[test]
fn light_samples_find_what_is_left_of_emission() {
    let below = |dissolve: &str, sampling: &str| {
        let folder = folder(&format!("newmtl left\nKd 0\nKe 1\n{dissolve}\nnewmtl right\nKd 0\nKe 1\n{dissolve}\n"));
        let floor = format!(
            "[integrator]\nsamples = 256\nmax_depth = 1\nsampling = \"{sampling}\"\n{OBJ}rotate = [90, 0, 0]\n\
             translate = [0, 0.2, -1]\nscale = [2, 1, 2]\n[materials.white]\n\
             source = \"shader w(out closure c) {{ c = make_closure<Lambert>(color(1.0), global_value<normal>); }}\"\n\
             [[shapes]]\ntype = \"rectangle\"\nmaterial = \"white\"\ntranslate = [0, 0, -3]\nrotate = [90, 0, 0]\nscale = [4, 1, 4]\n"
        );
        let pixels = folder.picture(&seen_from_the_front(&floor));
        pixels[40..].iter().map(|p| p[0]).sum::<f32>() / 24.0
    };
    let whole = below("d 1", "both");
    assert!(whole > 0.02, "{whole}");
    for sampling in ["lights", "lobes", "both"] {
        let found = below("d .25", sampling);
        assert!((found - 0.25 * whole).abs() < 0.02 * whole, "{sampling}: {found} of {whole}");
    }
}

/// A line may name several libraries, and the name of one may have blanks: that of a file that is there counts first.
#[test]
fn a_line_may_name_several_libraries() {
    let folder = folder("newmtl left\nKd 0 0 0\nKe 1 0 0\nnewmtl right\nKd 0 0 0\nKe 0 1 0\n");
    let scene = seen_from_the_front(OBJ);
    let red_and_green = |x: f32, _: f32| if x < 0.0 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    folder.write("colors.mtl", "newmtl left\nKd 0 0 0\nKe 0 0 1\n");
    shows(&folder.picture(&scene), 1e-6, red_and_green);
    std::fs::remove_file(folder.0.join("the colors.mtl")).expect("it was written");
    folder.write("the", "newmtl right\nKd 0 0 0\nKe 0 1 0\n");
    shows(&folder.picture(&scene), 1e-6, |x, _| if x < 0.0 { [0.0, 0.0, 1.0] } else { [0.0, 1.0, 0.0] });
    std::fs::remove_file(folder.0.join("the")).expect("it was written");
    let said = folder.said(&scene);
    assert!(said.contains("S0025") && said.contains("`the`"), "{said}");
}

/// Light from 45° to the right of which a surface that faces it shows all, and a mirror nothing.
const ASIDE: &str =
    "[[lights]]\ntype = \"distant\"\ndirection = [-1, 0, -1]\nirradiance = [3.1415927, 3.1415927, 3.1415927]\n";

/// A scattering surface shows Kd cos 45° of the light; a polished metal nothing, and a rough one something. Maps
/// multiply the factors.
#[test]
fn metals_and_roughness_are_taken_over() {
    let scattered = 0.5 * std::f32::consts::FRAC_1_SQRT_2;
    for (left, right, is_right_metal) in [
        ("Pr 0\nPm 0", "Pr 0\nPm 1", true),
        ("Pr 0", "Pr 0\nmap_Pm white.png", true),
        ("Pr 0\nPm 1\nmap_Pm black.png", "Pr 0\nPm 0\nmap_Pm white.png", false),
    ] {
        let folder = folder(&format!("newmtl left\nKd .5\n{left}\nnewmtl right\nKd .5\n{right}\n"));
        for (name, level) in [("white.png", 255), ("black.png", 0)] {
            // Alpha of a map means nothing.
            image::RgbaImage::from_pixel(2, 2, image::Rgba([level, level, level, 0]))
                .save(folder.0.join(name))
                .expect("as above");
        }
        let pixels = folder.picture(&seen_from_the_front(&format!("{ASIDE}{OBJ}")));
        let expected = |x: f32, _: f32| if x > 0.0 && is_right_metal { [0.0; 3] } else { [scattered; 3] };
        shows(&pixels, 0.01, expected);
    }
    let folder = folder("newmtl left\nKd .5\nPr 1\nPm 1\nnewmtl right\nKd .5\nPm 1\nmap_Pr black.png\n");
    image::GrayImage::new(2, 2).save(folder.0.join("black.png")).expect("as above");
    let pixels = folder.picture(&seen_from_the_front(&format!("{ASIDE}{OBJ}")));
    assert!(pixels[24][0] > 0.02 && pixels[31][0] < 0.01, "{:?} {:?}", pixels[24], pixels[31]);
}

/// A normal bent to the light shows all of it, less the light lost below the surface and returned about its own normal,
/// at 45°.
#[test]
fn normal_maps_are_taken_over() {
    let folder = folder("newmtl left\nKd 1\nillum 1\nnorm bent.png\nnewmtl right\nKd 1\nillum 1\n");
    image::RgbImage::from_pixel(2, 2, image::Rgb([218, 128, 218])).save(folder.0.join("bent.png")).expect("as above");
    let pixels = folder.picture(&seen_from_the_front(&format!("{ASIDE}{OBJ}")));
    let cosine = std::f32::consts::FRAC_1_SQRT_2;
    let bent = 1.0 + 0.5 * (1.0 - cosine) * cosine;
    shows(&pixels, 0.01, |x, _| if x < 0.0 { [bent; 3] } else { [cosine; 3] });
}

/// Before a sky of 1, a black surface shows its transparency.
#[test]
fn transparency_is_the_rest_of_dissolving() {
    let folder = folder("newmtl left\nKd 0\nTr 0.75\nnewmtl right\nKd 0\nd 0.5\nTr 0.1\n");
    let pixels = folder.picture(&seen_from_the_front(&format!("{SKY}{OBJ}")));
    shows(&pixels, 1e-3, |x, _| if x < 0.0 { [0.75; 3] } else { [0.5; 3] });
}

#[test]
fn misspelt_statements_are_told_with_their_line() {
    let folder =
        folder("newmtl left\nKd 0\nmap_kd a.png\nnewmtl right\nKd 0\ndisp b.png\nmap_Kd -s 1 1 1 3 tiles.png\n");
    image::RgbImage::new(2, 2).save(folder.0.join("3 tiles.png")).expect("the temporary folder can be written");
    let said = folder.said(&seen_from_the_front(OBJ));
    assert!(said.contains("line 3 of the library") && said.contains("did you mean `map_Kd`?"), "{said}");
    assert!(said.contains("`disp` of its materials") && said.matches("S0025").count() == 2, "{said}");
}
