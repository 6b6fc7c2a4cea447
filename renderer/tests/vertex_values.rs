//! Variables with a value for each vertex of an OBJ file, from `.npy` files beside the scene to pictures, fits and what is said of
//! files that cannot be used.

use crate::ran;
use formats::npy::{self, Array, Words};
use ran::shade;
use ssl_tests::temporary::Folder;

/// A row of two squares that share the edge x = 0, one of them written after the other's vertices; the texture coordinates of the
/// edge differ between the two.
const SQUARES: &str = "v -1 0 1\nv 0 0 1\nv 0 0 -1\nv -1 0 -1\nv 1 0 1\nv 1 0 -1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n\
    f 1/1 2/2 3/3 4/4\nf 2/1 5/2 6/3 3/4\n";

/// A scene that looks straight down on the square from −1 to 1, x to the right, and shows `tint`.
fn scene(folder: &Folder, more: &str) -> String {
    folder.write("squares.obj", SQUARES);
    folder.write(
        "scene.toml",
        &format!(
            "[camera]\ntype = \"orthographic\"\nposition = [0, 2, 0]\nlook_at = [0, 0, 0]\nup = [0, 0, -1]\nwidth = 2\n\
             [film]\nwidth = 8\nheight = 8\nfilter = \"center\"\n[integrator]\nsamples = 1\nmax_depth = 0\n\
             [materials.m]\nsource = '''\nglobals {{ color tint; }}\nshader m(out closure c) {{ c = global_value<tint> * \
             make_closure<Emission>(color(1.0)); }}\n'''\n\
             [[shapes]]\nname = \"squares\"\ntype = \"obj\"\nfile = \"squares.obj\"\nmaterial = \"m\"\n{more}"
        ),
    )
}

fn write(folder: &Folder, name: &str, shape: &[usize], values: &[f32]) {
    let bytes = npy::write(shape, Words::Floats, values.iter().map(|x| x.to_bits()));
    std::fs::write(folder.file(name), bytes).expect("the folder can be written");
}

/// Red is 0.5 + 0.5 x, green 0.5 − 0.5 z, by the vertices in their order.
const TINT: [f32; 18] = [0., 0., 0.3, 0.5, 0., 0.3, 0.5, 1., 0.3, 0., 1., 0.3, 1., 0., 0.3, 1., 1., 0.3];

fn shows_tint(picture: &str) {
    let picture = image::open(picture).expect("it is written").to_rgb32f();
    for (x, y, pixel) in picture.enumerate_pixels() {
        let [x, z] = [x, y].map(|i| (i as f32 + 0.5) / 4.0 - 1.0);
        let expected = [0.5 + 0.5 * x, 0.5 - 0.5 * z, 0.3];
        let error = pixel.0.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(error < 2e-3, "at {x}, {z}: {:?} for {expected:?}", pixel.0);
    }
}

#[test]
fn vertices_have_the_rows_of_a_file() {
    let folder = Folder::new("rows");
    write(&folder, "tint.npy", &[6, 3], &TINT);
    for more in ["", "smooth = false\n"] {
        let scene = scene(&folder, &format!("{more}variables = {{ tint = \"tint.npy\" }}\n"));
        let (code, _, said) = shade(&["render", &scene, "-o", &folder.file("out.exr")]);
        assert!(code == 0 && said.is_empty(), "{said}");
        shows_tint(&folder.file("out.exr"));
    }
}

#[test]
fn values_of_vertices_are_found_and_kept() {
    let folder = Folder::new("fit");
    write(&folder, "tint.npy", &[6, 3], &TINT);
    let scene = scene(&folder, "variables = { tint = \"tint.npy\" }\n");
    let target = folder.file("target.exr");
    assert_eq!(shade(&["render", &scene, "-o", &target]).0, 0);
    let (code, out, _) = shade(&["fit", &scene, "--list", "shapes.*.variables.tint"]);
    assert_eq!((code, out.as_str()), (0, "shapes.squares.variables.tint: 6 vertices of 3\n"));
    let job = |more: &str| {
        let text = format!(
            "steps = 200\nsamples = 1\n[[views]]\ntarget = '{target}'\n[[fit]]\nparameters = \"shapes.*.variables.tint\"\n\
             rate = 0.05\nstart = [0.5, 0.4, 0.3]\nlow = 0.0\nhigh = 1.0\nschedule = {{ type = \"cosine\", last = 0.02 }}\n{more}"
        );
        folder.write("job.toml", &text)
    };
    let (code, _, said) = shade(&["fit", &scene, "--job", &job(""), "-o", &folder.file("out")]);
    assert_eq!(code, 0, "{said}");
    let bytes = std::fs::read(folder.file("out/shapes.squares.variables.tint.npy")).expect("it is written");
    let found = Array::read(&bytes).expect("it is an array");
    assert_eq!(found.shape, [6, 3]);
    for (found, expected) in found.numbers.iter().zip(TINT) {
        assert!((found - f64::from(expected)).abs() < 0.01, "{:?}", found);
    }
    let (code, _, said) = shade(&["render", &folder.file("out/scene.json"), "-o", &folder.file("found.exr")]);
    assert_eq!(code, 0, "{said}");
    let picture = image::open(folder.file("found.exr")).expect("it is written").to_rgb32f();
    let target = image::open(&target).expect("it was written").to_rgb32f();
    assert!(picture.iter().zip(target.iter()).all(|(a, b)| (a - b).abs() < 0.01));
    // Neighbours that are drawn together strongly become one color.
    let (code, _, said) = shade(&["fit", &scene, "--job", &job("smooth = 100.0\n"), "-o", &folder.file("even")]);
    assert_eq!(code, 0, "{said}");
    let bytes = std::fs::read(folder.file("even/shapes.squares.variables.tint.npy")).expect("it is written");
    let even = Array::read(&bytes).expect("it is an array").numbers;
    assert!(even.chunks_exact(3).all(|row| (row[0] - even[0]).abs() < 0.05), "{even:?}");
}

#[test]
fn files_that_are_of_no_use_are_told() {
    let folder = Folder::new("faults");
    write(&folder, "five.npy", &[5, 3], &[0.0; 15]);
    write(&folder, "wide.npy", &[6, 5], &[0.0; 30]);
    write(&folder, "deep.npy", &[6, 1, 1], &[0.0; 6]);
    write(&folder, "odd.npy", &[6], &[0.0, 1.0, f32::NAN, 0.0, 0.0, 0.0]);
    folder.write("text.npy", "1 2 3 4 5 6");
    // Six floats of 64 bits.
    let header = b"\x93NUMPY\x01\x00\x38\x00{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}\n";
    let huge = [&header[..], &1e300_f64.to_le_bytes().repeat(6)].concat();
    std::fs::write(folder.file("huge.npy"), huge).expect("the folder can be written");
    for (file, code, said) in [
        ("gone.npy", "S0001", "there is no file"),
        ("five.npy", "S0033", "has 5 rows, and `squares.obj` has 6 vertices"),
        ("wide.npy", "S0033", "has the shape [6, 5]"),
        ("deep.npy", "S0033", "has the shape [6, 1, 1]"),
        ("odd.npy", "S0033", "has NaN in row 2"),
        ("text.npy", "S0033", "is no .npy file"),
        ("huge.npy", "S0033", "has 1e300 in row 0"),
    ] {
        let scene = scene(&folder, &format!("variables = {{ tint = \"{file}\" }}\n"));
        let (exit, _, text) = shade(&["render", &scene, "-o", &folder.file("out.exr")]);
        let one = text.matches("error[").count() == 1;
        assert!(exit == 1 && one && text.contains(code) && text.contains(said), "{file}: {exit} {text}");
    }
    let sphere = "variables = { tint = 0.5 }\n[[shapes]]\ntype = \"sphere\"\nmaterial = \"m\"\nvariables = { tint = \"five.npy\" }\n";
    let (exit, _, text) = shade(&["render", &scene(&folder, sphere), "-o", &folder.file("out.exr")]);
    assert!(exit == 1 && text.contains("only shapes of type `obj`"), "{exit} {text}");
    let flag = "variables = { tint = true }\n";
    let (exit, _, text) = shade(&["render", &scene(&folder, flag), "-o", &folder.file("out.exr")]);
    assert!(exit == 1 && text.contains("an `.npy` with values of vertices"), "{exit} {text}");
}
