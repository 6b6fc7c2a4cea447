//! The rasteriser in kernels against one in doubles that knows nothing of it: pictures, and gradients against its finite
//! differences; then what must not depend on threads, and meshes that are not as they should be.

use crate::job_files::kept;
use crate::job_files::written;
use crate::raster_in_doubles;
use kept::run;
use kernels::jobs::{self, Fit, Options};
use raster_in_doubles::{Mesh, Scene, Soft, VIEW, VIEWS};
use ssl_compiler::diagnostics::render;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use written::{Written, options, scene};

/// What shades and compares in these tests, beside the kernels that ship.
const JOB: &str = include_str!("job_files/raster.toml");

fn load(path: &Path, options: &Options) -> Result<Fit, String> {
    let loaded = jobs::load(path, options);
    let said = render::text(&loaded.diagnostics, &loaded.sources, false);
    loaded.job.ok_or(said)?.build(None).map_err(|(found, sources)| render::text(&found, &sources, false))
}

fn fit(name: &str, scene: &Scene, soft: Soft, steps: usize) -> Fit {
    let job = Written::new(&format!("{name}.toml"), &scene.job(JOB, name, soft, steps));
    let mesh = Written::new(&format!("{name}.obj"), &scene.mesh.text());
    let fit = load(&job.0, &Options::default());
    drop(mesh);
    fit.unwrap_or_else(|said| panic!("{said}"))
}

fn words(npy: &[u8]) -> impl Iterator<Item = u32> {
    let header = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    npy[header..].as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes))
}

/// The largest difference, and where it is. What is not a number could be either of two.
fn difference(found: &[u8], expected: &[f64]) -> (f64, usize) {
    let found: Vec<f64> = words(found).map(|word| f64::from(f32::from_bits(word))).collect();
    assert_eq!(found.len(), expected.len());
    assert!(expected.iter().filter(|x| x.is_nan()).count() < expected.len() / 5);
    let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).zip(0..);
    apart.filter(|(x, _)| !x.is_nan()).max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are pixels")
}

/// All of the paper's figure 7: anti-aliasing, few layers round silhouettes, and all faces everywhere, as SoftRas has it.
#[test]
fn pictures_are_those_of_the_equations() {
    let scene = Scene::with_all_cases();
    let all = [
        ("anti-aliasing", Soft { layers: 1, radius: 1.0, sigma: 1.0 / 7.0, delta: 1.0, everywhere: false }),
        ("near", Soft { layers: 3, radius: 3.0, sigma: 0.6, delta: 2.0, everywhere: false }),
        ("softras", Soft { layers: 8, radius: 90.0, sigma: 1.5, delta: 1.0, everywhere: true }),
    ];
    for (name, soft) in all {
        let written = run(&mut fit(name, &scene, soft, 0));
        let (silhouette, image) = scene.picture(soft);
        for file in ["silhouette.npy", "covered.npy"] {
            let (apart, at) = difference(&written[file], &silhouette);
            assert!(apart < 2e-4, "{name} {file}: {apart} at {at}");
        }
        let (apart, at) = difference(&written["image.npy"], &image.concat());
        assert!(apart < 1e-3, "{name}: {apart} at {at}");
    }
}

/// With all layers and a wide reach, pictures have derivatives everywhere.
#[test]
fn gradients_are_those_of_finite_differences() {
    let scene = Scene::with_all_cases();
    for (name, soft) in [
        ("wide", Soft { layers: 8, radius: 90.0, sigma: 1.5, delta: 1.0, everywhere: true }),
        ("round", Soft { layers: 8, radius: 90.0, sigma: 2.5, delta: 4.0, everywhere: false }),
    ] {
        let mut fit = fit(name, &scene, soft, 0);
        for (part, buffer) in ["positions", "cameras", "texture", "lamps"].iter().enumerate() {
            let found = fit.gradient(buffer, &AtomicBool::new(false)).expect("it runs").expect("it is fitted");
            let found: Vec<f64> = found.words().iter().map(|word| f64::from(f32::from_bits(*word))).collect();
            let expected: Vec<f64> = (0..found.len()).map(|i| scene.slope(soft, part, i)).collect();
            let size = expected.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
            assert!(size > 1e-6, "{name}: nothing depends on {buffer}");
            for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let apart = (found - expected).abs();
                assert!(apart < 2e-3 * size + 1e-2 * expected.abs(), "{name} {buffer} {i}: {found}, {expected}");
            }
        }
        assert_eq!(fit.findings().sentences(), Vec::<String>::new());
    }
}

#[test]
fn threads_do_not_matter() {
    let soft = Soft { layers: 4, radius: 4.0, sigma: 0.8, delta: 4.0, everywhere: false };
    let results = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
        pool.install(|| run(&mut fit(&format!("threads-{threads}"), &Scene::with_all_cases(), soft, 2)))
    });
    assert!(results[0] == results[1]);
}

/// Faces without an area, behind the camera, beside the picture, cut by the near plane.
#[test]
fn faces_that_cannot_be_seen_are_skipped_and_counted() {
    let mut scene = Scene::with_all_cases();
    let first = scene.mesh.positions.len();
    scene.mesh.positions.extend([
        [0.0, 0.0, 20.0],
        [1.0, 0.0, 20.0],
        [0.0, 1.0, 20.0],
        [500.0, 0.0, 0.0],
        [500.0, 1.0, 0.0],
        [501.0, 0.0, 0.0],
    ]);
    scene.mesh.faces.extend([[0, 0, 1], [1, 2, 2], [first, first + 1, first + 2], [first + 3, first + 4, first + 5]]);
    let soft = Soft { layers: 2, radius: 1.0, sigma: 0.2, delta: 1.0, everywhere: false };
    let written = run(&mut fit("skipped", &scene, soft, 0));
    let skipped: Vec<u32> = words(&written["skipped.npy"]).collect();
    // Two without an area, in each view. The one behind, and the one beside; both cameras look the same way.
    assert_eq!(skipped, [2 * VIEWS as u32, 2 * VIEWS as u32]);
    // They change nothing.
    let (silhouette, _) = scene.picture(soft);
    assert!(difference(&written["silhouette.npy"], &silhouette).0 < 2e-4);
}

#[test]
fn bad_meshes_are_refused_with_their_place() {
    let soft = Soft { layers: 1, radius: 1.0, sigma: 0.2, delta: 1.0, everywhere: false };
    let scene = Scene::with_all_cases();
    let refused = |name: &str, mesh: &str, change: &dyn Fn(String) -> String| -> String {
        let _mesh = Written::new(&format!("{name}.obj"), mesh);
        let job = Written::new(&format!("{name}.toml"), &change(scene.job(JOB, name, soft, 1)));
        load(&job.0, &Options::default()).err().expect("something is wrong")
    };
    let same = |job: String| job;
    let text = scene.mesh.text();
    assert!(
        refused("nan", &text.replacen("v ", "v nan 0 0\n#", 1), &same).contains("line 1: a vertex position is not")
    );
    assert!(refused("no-faces", "v 0 0 0\n", &same).contains("holds no faces"));
    assert!(
        refused("no-uvs", &Mesh { uvs: Vec::new(), ..scene.mesh.clone() }.text(), &same)
            .contains("has no texture coordinates")
    );
    assert!(refused("outside", &format!("{text}f 1/1 2/2 99/3\n"), &same).contains("is no OBJ that can be read"));
    let no_views = |job: String| job.replacen(&scene.cameras_text(), "[]", 1);
    assert!(refused("no-views", &text, &no_views).contains("a list with a number"));
    let no_part = |job: String| job.replacen("part = \"faces\"", "", 1);
    assert!(refused("no-part", &text, &no_part).contains("`part` says what to take from it"));
    let wrong_part = |job: String| job.replacen("part = \"faces\"", "part = \"positions\"", 1);
    assert!(refused("wrong-part", &text, &wrong_part).contains("has `positions` of"));
    let no_mesh = |job: String| job.replacen("mesh = ", "# mesh = ", 1);
    assert!(refused("no-mesh", &text, &no_mesh).contains("it is not said which faces"));
    let ramp = |job: String| format!("{job}\n[[ramps]]\nvalue = \"sigma\"\npoints = [[5, 1.0], [5, 2.0]]\n");
    assert!(refused("ramp", &text, &ramp).contains("in the order of the steps"));
    let ramp = |job: String| format!("{job}\n[[ramps]]\nvalue = \"sgma\"\npoints = [[5, 1.0]]\n");
    assert!(refused("ramp-name", &text, &ramp).contains("did you mean `sigma`?"));
}

/// What did not change is not computed again, and what may run together does; nothing is different for either.
#[test]
fn caches_and_packs_change_no_bit() {
    let small = ["width=32", "height=32", "rows=192", "steps=3", "write.0.every=100", "buffers.target.size=[32, 192]"];
    for name in ["raster/texture.toml", "raster/shape.toml"] {
        let build = |cached: bool, packed: bool| {
            let mut fit = load(&scene(name), &options(&small)).expect("it is right");
            fit.set_cached(cached);
            fit.set_packed(packed);
            fit
        };
        let (mut whole, mut plain) = (build(true, true), build(false, false));
        let ([launches, passes], [all, each]) = (counts(&whole.drawing()), counts(&plain.drawing()));
        assert_eq!((all, counts(&whole.plain_drawing())), (each, [all, each]), "{name}");
        assert!(passes < launches && launches <= all, "{name}: {passes} passes of {launches} launches, of {all}");
        // Of a texture, what a pixel sees does not change.
        assert_eq!(launches < all, name.contains("texture"));
        let wanted = run(&mut plain);
        for (cached, packed) in [(true, false), (false, true)] {
            assert!(run(&mut build(cached, packed)) == wanted, "{name}: cached {cached}, packed {packed}");
        }
        assert!(run(&mut whole) == wanted, "{name}");
        let (dot, svg) = (whole.drawing().dot(), whole.drawing().svg());
        assert_eq!(dot.matches("subgraph").count() > 1, passes < launches);
        assert!(svg.starts_with("<svg") && svg.contains("<title>gradient of differ"));
    }
}

/// The launches that run in each step, and the passes.
fn counts(drawing: &kernels::graph::Drawing) -> [usize; 2] {
    let (launches, passes) = drawing.counts();
    [launches, passes]
}

/// The jobs that ship, small: the loss falls, and an interrupted fit comes to the same bytes, also while values change.
#[test]
fn the_shipped_fits_begin_well() {
    let small = ["width=32", "height=32", "rows=192", "steps=4", "loss.every=1", "write.0.every=100"];
    let target = "buffers.target.size=[32, 192]";
    let sky = ["environment_width=8", "environment_height=4", "buffers.environment.size=[8, 4]"];
    for (name, more) in [
        ("raster/shape.toml", &[target][..]),
        ("raster/texture.toml", &[target]),
        ("raster/inverse-uv.toml", &[target]),
        ("raster/far-near.toml", &[target]),
        ("raster/environment.toml", &sky),
    ] {
        let build =
            |steps: &str| load(&scene(name), &options(&[&small[..], more, &[steps]].concat())).expect("it is right");
        let mut whole = build("steps=4");
        let written = run(&mut whole);
        let losses: Vec<f64> = whole.history().iter().map(|point| point.loss).collect();
        assert!(losses.is_sorted_by(|a, b| a > b), "{name}: {losses:?}");
        assert_eq!(whole.findings().sentences(), Vec::<String>::new(), "{name}");
        let mut first = build("steps=2");
        run(&mut first);
        let state = first.save().expect("there is memory");
        let mut second = build("steps=4");
        second.load(&state).expect("it is the same job");
        let again = run(&mut second);
        assert!(again.len() >= 3 && again.iter().all(|(file, bytes)| written[file] == *bytes), "{name}");
    }
    let drawn = run(&mut load(&scene("raster/pear.toml"), &options(&small[..3])).expect("it is right"));
    assert!(drawn.contains_key("picture.png") && drawn["pear.obj"].starts_with(b"v "));
    const _: () = assert!(VIEW[0] > 0);
}
