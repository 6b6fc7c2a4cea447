//! BSDFs that shader files bring themselves, as structs with methods: those of `bsdfs.ssl`, and those that ship.

use glam::Vec3;
use renderer::bsdf::harness::{self, Pose};
use renderer::bsdf::{LobeSample, Request, Scatter, SslLobeAlone};
use renderer::material::{Making, Material, ShadingLanguage};
use renderer::render::{RenderOptions, render};
use renderer::sampler::Sampler;
use renderer::scene::{self, LoadOptions, Scene};
use ssl_compiler::backend::Lanes;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::runtime::ParameterValue;
use ssl_compiler::{BackendKind, Target};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn bsdfs() -> PathBuf {
    tests().join("bsdfs.ssl")
}

fn material(file: &Path, entry: &str, target: impl Into<Target>) -> Material {
    let (language, making) = (ShadingLanguage::new(), Making::from(target.into()));
    let mut compiler = language.compiler(&making, &SearchPath::on_disk(Vec::new()));
    let file = compiler.add_file(file).expect("it ships");
    let program = compiler.program(file);
    let compiled = language.compile(&making, &program, Some(entry)).unwrap_or_else(|e| panic!("{e}"));
    Material::new("test", compiled, &language)
}

fn lobe(material: &Material, pose: &Pose) -> Box<dyn Scatter> {
    Box::new(SslLobeAlone::new("a lobe in SSL", material.lobes_at(std::slice::from_ref(pose))).expect("there is one"))
}

/// The native back ends. The interpreter gives their bits, as another test shows, and takes minutes for this.
fn native() -> impl Iterator<Item = BackendKind> {
    BackendKind::ALL.iter().copied().filter(|b| *b != BackendKind::Interpreter)
}

#[test]
fn lobes_pass_the_harness() {
    for backend in native() {
        let dust = material(&bsdfs(), "dust", backend);
        harness::check("Dust", &|pose: &Pose| lobe(&dust, pose));
        let shipped = tests().join("../../scenes/bsdfs/dust.ssl");
        let shipped = material(&shipped, "dust", backend);
        harness::check_one_way("Dust that ships", &|pose: &Pose| lobe(&shipped, pose));
    }
}

/// Whether many lobes are asked together or each alone, and whoever runs their code, the bits are the same.
#[test]
fn all_back_ends_answer_the_same_bits_together_and_alone() {
    let poses: Vec<Pose> = (0..16)
        .map(|i| {
            let mut s = Sampler::new(5, (i, 2), 0);
            let wo = renderer::math::uniform_cone(s.next_2d(), 1.0);
            Pose { inside: i % 3 == 0, ..Pose::upright(wo) }
        })
        .collect();
    let mut reference: Option<Vec<u32>> = None;
    let targets = BackendKind::ALL.iter().flat_map(|&backend| {
        [Lanes::default(), Lanes::ONE].map(|lanes| Target { backend, lanes, ..Target::default() })
    });
    for target in targets {
        let mut bits = Vec::new();
        for entry in ["dust", "sheet"] {
            let own = material(&bsdfs(), entry, target).lobes_at(&poses);
            let (mut asked, mut drawn) = (Vec::new(), Vec::new());
            for (i, l) in own.list.iter().enumerate() {
                let mut s = Sampler::new(6, (i as u32, 7), 0);
                // Two for each lobe, so that lanes have several rounds; and twice as many for some.
                let directions = 2 + i % 2 * 2;
                asked.extend(
                    (0..directions)
                        .map(|_| renderer::math::uniform_cone(s.next_2d(), 2.0))
                        .map(|wi| Request { lobe: l.lobe, with: wi }),
                );
                drawn.push(Request { lobe: l.lobe, with: s.next_2d() });
            }
            let bits_of = |values: Vec<(Vec3, f32)>, samples: Vec<Option<LobeSample>>| -> Vec<u32> {
                let values = values.into_iter().flat_map(|(value, pdf)| [value.x, value.y, value.z, pdf]);
                let samples = samples.into_iter().flat_map(|s| {
                    let s = s.expect("each draws one");
                    [s.wi.x, s.wi.y, s.wi.z, s.weight.x, s.pdf, s.refracted.map_or(0.0, |r| r.eta)]
                });
                values.chain(samples).map(f32::to_bits).collect()
            };
            let wo = |lane: u32| poses[lane as usize].wo;
            let values = asked.iter().map(|r| own.value(&r.lobe, wo(r.lobe.lane), r.with)).collect();
            let samples = drawn.iter().map(|r| own.drawn(&r.lobe, wo(r.lobe.lane), r.with)).collect();
            let alone = bits_of(values, samples);
            let mut own = own;
            let together = bits_of(own.evaluate(&asked), own.draw(&drawn));
            assert!(own.list.len() == 16 && alone == together, "{target:?} {entry}");
            bits.extend(alone);
        }
        match &reference {
            None => reference = Some(bits),
            Some(reference) => assert!(*reference == bits, "{target:?}"),
        }
    }
}

/// Whatever methods return, and however they end, there is no number that is none, and no density without an end.
#[test]
fn broken_methods_scatter_nothing_odd() {
    for how in 0..=10 {
        // Running out of fuel takes long.
        let zeros: &[f32] = if how == 3 { &[0.0] } else { &[0.0, f32::NAN, -0.0] };
        for &zero in zeros {
            let mut material = material(&bsdfs(), "broken", BackendKind::Cranelift);
            material.bind("how", &ParameterValue::Int(how)).expect("it is a parameter");
            material.bind("zero", &ParameterValue::Float(zero)).expect("it is a parameter");
            for wo in harness::directions().into_iter().take(if how == 3 { 1 } else { 5 }) {
                harness::numbers(&format_args!("broken {how} {zero}"), &*lobe(&material, &Pose::upright(wo)));
            }
            assert_eq!(material.error().is_some(), how == 3, "{how}");
        }
    }
}

/// A scene of one square that is seen from straight above under light from all sides, or another scene.
fn load(text: &str, target: impl Into<Target>) -> Scene {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("own-bsdf-{}-{number}.toml", std::process::id()));
    std::fs::write(&path, text).expect("the temporary folder can be written");
    let options = LoadOptions { making: target.into().into(), ..LoadOptions::default() };
    let loaded = scene::load(&path, options, &SearchPath::on_disk(Vec::new()));
    std::fs::remove_file(&path).expect("it was written");
    loaded.scene.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn furnace(entry: &str, settings: &str, from_above: bool) -> String {
    let height = if from_above { 5 } else { -5 };
    format!(
        "[camera]\nposition = [0, {height}, 0]\nlook_at = [0, 0, 0]\nup = [0, 0, -1]\ntype = \"orthographic\"\nwidth = 1\n\
         [film]\nwidth = 4\nheight = 4\n[environment]\ntype = \"constant\"\nradiance = [1, 1, 1]\n{settings}\n\
         [materials.shown]\nfile = '{}'\nentry = \"{entry}\"\n\
         [[shapes]]\ntype = \"rectangle\"\nmaterial = \"shown\"\nscale = [9, 1, 9]\n",
        bsdfs().display()
    )
}

fn mean(text: &str) -> Vec3 {
    let mut scene = load(text, BackendKind::Cranelift);
    let never = std::sync::atomic::AtomicBool::new(false);
    let rendered = render(&mut scene, &RenderOptions::default(), &never, &|_| ()).expect("there is memory");
    let pixels = &rendered.picture.pixels;
    pixels.iter().sum::<Vec3>() / pixels.len() as f32
}

/// Lommel and Seeliger's law sends back (1 − ln 2) / 2 of what comes from all sides to who looks straight down.
#[test]
fn light_from_all_sides_is_scattered_as_the_formulas_say() {
    let dust = 0.5 * (1.0 - 2.0_f32.ln());
    let samples = "[integrator]\nsamples = 256";
    let found = mean(&furnace("dust", samples, true));
    assert!((found - dust).abs().max_element() < 1e-3, "{found} {dust}");
    // A layer of the file's own over a lobe of the renderer's: what it does not reflect its base does.
    let found = mean(&furnace("veiled", samples, true));
    assert!((found - 1.0).abs().max_element() < 2e-3, "{found}");
    // Bases of a layer of the renderer's, one on each side.
    let found = mean(&furnace("two_sided", samples, true));
    assert!((found - dust).abs().max_element() < 1e-3, "{found} {dust}");
    let found = mean(&furnace("two_sided", samples, false));
    assert!((found - 1.0).abs().max_element() < 1e-3, "{found}");
    // Single directions, drawn and listed.
    for integrator in ["path", "whitted"] {
        let settings = format!("[integrator]\nsamples = 16\ntype = \"{integrator}\"");
        let found = mean(&furnace("sheet", &settings, true));
        assert!((found - 1.0).abs().max_element() < 1e-3, "{integrator}: {found}");
    }
}

const MIXED: &str = "[camera]\nposition = [0, 1.5, 4]\nlook_at = [0, 0.5, 0]\nfov = 40\n[film]\nwidth = 24\nheight = 16\n\
    [environment]\ntype = \"sky\"\n\
    [materials.lamp]\nsource = \"shader l(out closure c) { c = make_closure<Lambert>(color(0.0), global_value<normal>); }\"\n\
    [[shapes]]\ntype = \"quad\"\nmaterial = \"lamp\"\ncorners = [[-1, 2.5, -1], [1, 2.5, -1], [-1, 2.5, 1]]\nemission = [4, 4, 4]\n\
    [[shapes]]\ntype = \"sphere\"\nmaterial = \"shown\"\nradius = 0.7\ntranslate = [0, 0.7, 0]\n\
    [[shapes]]\ntype = \"rectangle\"\nmaterial = \"shown\"\nscale = [6, 1, 6]\n";

fn mixed(settings: &str) -> String {
    format!("{MIXED}[materials.shown]\nfile = '{}'\nentry = \"mixed\"\n[integrator]\n{settings}\n", bsdfs().display())
}

#[test]
fn pictures_are_the_same_for_all_back_ends_threads_and_lanes() {
    let bits = |target: Target, threads: usize| -> Vec<u32> {
        let mut scene = load(&mixed("samples = 2\nmax_depth = 4"), target);
        let options = RenderOptions { threads: Some(threads), ..RenderOptions::default() };
        let never = std::sync::atomic::AtomicBool::new(false);
        let rendered = render(&mut scene, &options, &never, &|_| ()).expect("there is memory");
        rendered.picture.pixels.iter().flat_map(|p| p.to_array()).map(f32::to_bits).collect()
    };
    let reference = bits(BackendKind::Cranelift.into(), 1);
    assert!(reference.iter().any(|b| f32::from_bits(*b) > 0.1));
    assert!(bits(BackendKind::Cranelift.into(), 3) == reference, "threads");
    for &backend in BackendKind::ALL {
        let target = Target { backend, lanes: Lanes::ONE, ..Target::default() };
        assert!(bits(target, 2) == reference, "{}", backend.name());
    }
}

/// Light samples are weighed against samples of the lobes, which alone come to the same.
#[test]
fn light_samples_and_lobes_agree() {
    let of = |sampling: &str, samples: u32| {
        mean(&mixed(&format!("sampling = \"{sampling}\"\nsamples = {samples}\nmax_depth = 2\nroulette = false")))
    };
    let (both, lobes) = (of("both", 128), of("lobes", 256));
    assert!(((lobes - both) / both).abs().max_element() < 0.015, "{lobes} against {both}");
}

/// The density that a direction was drawn with is that of the sum, also where lobes of both kinds share it.
#[test]
fn sums_of_both_kinds_are_sampled_as_they_are() {
    let found = mean(&furnace("mixed", "[integrator]\nsamples = 400\nsampling = \"lobes\"", true));
    let lights = mean(&furnace("mixed", "[integrator]\nsamples = 400\nsampling = \"both\"", true));
    assert!(((found - lights) / lights).abs().max_element() < 0.02, "{found} {lights}");
}

/// The page shows the file that ships.
#[test]
fn the_page_shows_what_ships() {
    let page = include_str!("../../docs/src/own-bsdf.md").replace("\r\n", "\n");
    let listing = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    assert_eq!(listing, include_str!("../../scenes/bsdfs/dust.ssl").replace("\r\n", "\n"));
}

/// A Lambertian surface that is brighter than the light where its parameter says so, and one with samples of another density.
const CHECKED: &str = "import \"bsdf.ssl\";
struct Bright : IBsdf
{
    float gain;
    color eval(vector _wo, vector wi) { return color(gain * wi.z * M_1_PI); }
    float pdf(vector _wo, vector wi) { return wi.z * M_1_PI; }
    BsdfSample sample(vector wo, float2 u)
    {
        const vector wi = bsdf_cosine_hemisphere(u);
        return bsdf_sample(wi, eval(wo, wi), pdf(wo, wi));
    }
    color rho(vector _wo) { return color(gain); }
}
struct Askew : IBsdf
{
    color eval(vector _wo, vector wi) { return color(wi.z * M_1_PI); }
    float pdf(vector _wo, vector wi) { return wi.z * M_1_PI; }
    BsdfSample sample(vector wo, float2 u)
    {
        // By the solid angle, not by the cosine.
        const vector wi = bsdf_uniform_hemisphere(u);
        return bsdf_sample(wi, eval(wo, wi), pdf(wo, wi));
    }
    color rho(vector _wo) { return color(1.0); }
}
shader bright(float gain = 1.0 <<< min = 1.25, max = 2.0 >>>, out closure c) { c = make_closure<Bright>(gain); }
shader askew(out closure c) { c = make_closure<Askew>(); }
shader none(float weight = 0.0 <<< min = 0.0, max = 0.0 >>>, out closure c) { c = weight * make_closure<Lambert>(color(1.0), global_value<normal>); }
";

fn shade(arguments: &[&str]) -> (Option<i32>, String, String) {
    let found = std::process::Command::new(env!("CARGO_BIN_EXE_shade")).args(arguments).output().expect("it was built");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (found.status.code(), text(&found.stdout), text(&found.stderr))
}

#[test]
fn a_command_checks_bsdfs_of_files() {
    let dust = bsdfs().display().to_string();
    let (code, table, said) = shade(&["test", "--bsdf", "Dust", "--sets", "1", "--reciprocal", &dust]);
    assert!(
        code == Some(0) && table.starts_with("Dust, made by `dust`: 1 sets of parameters, seed 0\n"),
        "{table}{said}"
    );
    for check in renderer::bsdf::checks::Check::ALL {
        let row = table.lines().find(|line| line.starts_with(check.says().0)).unwrap_or_else(|| panic!("{table}"));
        assert_eq!(row.split_whitespace().skip(1).take(3).collect::<Vec<_>>(), ["5", "0", "0"], "{table}");
    }
    // A specular one has nothing to ask values for, and sends light through.
    let (code, table, said) = shade(&["test", "--bsdf", "Sheet", "--sets", "1", &dust]);
    assert!(code == Some(0) && table.contains("samples           0      0      10"), "{table}{said}");
    let path = std::env::temp_dir().join(format!("own-bsdf-checked-{}.ssl", std::process::id()));
    std::fs::write(&path, CHECKED).expect("the temporary folder can be written");
    let file = path.display().to_string();
    // The default is within bounds, and drawn values are not.
    let (code, table, said) = shade(&["test", "--bsdf", "Bright", "--sets", "1", &file]);
    assert!(code == Some(0), "{table}{said}");
    let drawn = |seed: &str| shade(&["test", "--bsdf", "Bright", "--sets", "2", "--seed", seed, &file]);
    let (code, table, said) = drawn("3");
    assert!(code == Some(1) && table.contains("\nenergy failed first with gain = 1."), "{table}{said}");
    assert_eq!(table.matches("failed first").count(), 1, "{table}");
    assert!(drawn("3").1 == table && drawn("4").1 != table, "{table}");
    let (code, table, said) = shade(&["test", "--bsdf", "Askew", &file]);
    assert!(code == Some(1) && table.contains("\nsamples failed first with the defaults"), "{table}{said}");
    let (code, _, said) = shade(&["test", "--bsdf", "Lambert", &file]);
    assert!(code == Some(1) && said.contains("gives `Lambert` no weight"), "{said}");
    let (code, _, said) = shade(&["test", "--bsdf", "Velvet", &file]);
    assert!(code == Some(1) && said.contains("makes the BSDF `Velvet`") && said.contains("Askew, Bright"), "{said}");
    assert_eq!(shade(&["test", "--bsdf", "Bright", &file, &dust]).0, Some(2));
    std::fs::remove_file(&path).expect("it was written");
}
