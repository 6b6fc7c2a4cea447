//! Transposed look-ups: on every back end, one request hands the cotangents of the active lanes to the host, at the places
//! of the look-ups that they belong to.

use ssl_compiler::backend::{Lanes, OptLevel};
use ssl_compiler::ir::parse;
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{Block, BlockStatus, HostServices, LANES, LaneError, NoTextures, ParameterBlock, Row};
use ssl_compiler::testing::{Levels, TestImage, TestPattern, TestTextures, Texel};
use ssl_compiler::{BackendKind, Shader, Target, compile_module};
use ssl_tests::WAYS;
use ssl_tests::generate::Random;

/// Looks the texture up, and hands the globals `r` to `a` back as cotangents where `a` is above 0.
fn source(level: bool, before: &str) -> String {
    let (name, extent) = if level { (".level", "%3") } else { ("", "%3, %4, %5, %6") };
    let heads: String =
        ["u", "v", "p", "q", "s", "t", "r", "g", "b", "a"].map(|n| format!("global {n}: float value\n")).concat();
    let reads: String = ["u", "v", "p", "q", "s", "t", "r", "g", "b", "a"]
        .iter()
        .zip(1..)
        .map(|(n, i)| format!("  %{i}: float = global {n}.0.value\n"))
        .collect();
    format!(
        "{heads}parameter image: texture2d\n\nentry fn @main(%0: token) -> (token, float, float, float, float) {{\n{reads}  \
         %20: token, %21: float, %22: float, %23: float, %24: float = texture{name} 0 %0, %1, %2, {extent}\n{before}  \
         %30: float = const 0.0\n  %31: bool = fcmp.lt %30, %10\n  %32: token = if %31 {{\n    \
         %33: token = texture_adjoint{name} 0 %25, %1, %2, {extent}, %7, %8, %9, %10\n    yield %33\n  }} else {{\n    \
         yield %25\n  }}\n  return %32, %21, %22, %23, %24\n}}\n"
    )
}

/// Nothing between the look-up and its transpose.
const PLAIN: &str = "  %25: token, %27: bool = burn 1 %20\n";

fn targets() -> impl Iterator<Item = Target> {
    let wide = Target { backend: BackendKind::Cranelift, opt: OptLevel::O0, lanes: Lanes::Auto };
    WAYS.iter().map(|way| way.target).chain([wide])
}

fn shader(text: &str, target: Target) -> Shader {
    let module = parse::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    compile_module(module, target).unwrap_or_else(|e| panic!("{target:?}: {}", e.0))
}

fn run(shader: &Shader, rows: &[Row], texture: u32, mask: u32, host: &dyn HostServices) -> (Vec<Row>, BlockStatus) {
    let mut parameters = ParameterBlock::new(shader.interface());
    parameters.words[0] = texture;
    let mut outputs = shader.new_outputs();
    let fuel = DEFAULT_FUEL;
    let block = Block { mask, fuel, host, tape_rows: 0, ..Block::new(rows, &parameters, &mut outputs) };
    let status = shader.run(&mut { block });
    (outputs, status)
}

/// Ten rows: places, footprints of up to a few texels, or levels, and cotangents.
fn rows(random: &mut Random) -> Vec<Row> {
    let mut number = |scale: f32| (random.below(4001) as f32 / 2000.0 - 1.0) * scale;
    let scales = [3.0, 3.0, 0.5, 0.3, 0.3, 0.5, 2.0, 2.0, 2.0, 2.0];
    scales.map(|scale| Row(std::array::from_fn(|_| number(scale)))).into()
}

fn image(random: &mut Random) -> TestImage {
    let mut texel = || -> Texel { std::array::from_fn(|_| random.below(2001) as f32 / 1000.0 - 1.0) };
    TestImage::new(12, 9, (0..12 * 9).map(|_| texel()).collect())
}

fn product(gradient: &Levels, texels: &Levels) -> f64 {
    let flat = |levels: &Levels| levels.iter().flatten().flatten().map(|x| f64::from(*x)).collect::<Vec<_>>();
    flat(gradient).iter().zip(flat(texels)).map(|(x, y)| x * y).sum()
}

/// ⟨ȳ, look-up(texels)⟩ = ⟨look-upᵀ(ȳ), texels⟩, and the same gradient on all back ends.
#[test]
fn cotangents_reach_the_texels_that_were_looked_up() {
    for level in [false, true] {
        let mut random = Random::new(u64::from(level));
        let shaders: Vec<Shader> = targets().map(|target| shader(&source(level, PLAIN), target)).collect();
        for mask in [0xffff, 0x00f3, 0x8000] {
            let (rows, image) = (rows(&mut random), image(&mut random));
            let mut reference: Option<Levels> = None;
            for (shader, target) in shaders.iter().zip(targets()) {
                let mut host = TestTextures::default();
                host.add(TestPattern::DEFAULT);
                let texture = host.add_image(image.clone());
                let (outputs, status) = run(shader, &rows, texture, mask, &host);
                assert!(status.is_clean() && status.lost_texture_gradients == 0, "{status:?}");
                let lanes = (0..LANES).filter(|&lane| mask >> lane & 1 != 0 && rows[9].0[lane] > 0.0);
                let products: Vec<f64> = lanes
                    .flat_map(|lane| (0..4).map(move |c| (lane, c)))
                    .map(|(lane, c)| f64::from(outputs[c].0[lane]) * f64::from(rows[6 + c].0[lane]))
                    .collect();
                let gradient = host.gradient(texture).expect("an image has one");
                let (found, expected) = (product(&gradient, image.levels()), products.iter().sum::<f64>());
                let size: f64 = products.iter().map(|p| p.abs()).sum();
                assert!((found - expected).abs() <= 1e-5 * size, "{target:?}: {found} {expected}");
                let folded = vec![host.folded_gradient(texture).expect("an image has one")];
                let found = product(&folded, &vec![image.levels()[0].clone()]);
                assert!((found - expected).abs() <= 1e-5 * size, "{target:?}: {found} {expected}");
                assert_eq!(*reference.get_or_insert(gradient.clone()), gradient, "{target:?}");
            }
        }
    }
}

/// A flat pattern is one texel: its gradient is the sum of what came.
#[test]
fn a_flat_texture_sums_up() {
    let mut random = Random::new(5);
    let mut rows = rows(&mut random);
    rows[6].0[3] = f32::NAN;
    rows[9].0[3] = 1.0;
    for target in targets() {
        let mut host = TestTextures::default();
        let texture = host.add(TestPattern::Flat([0.5; 4]));
        run(&shader(&source(false, PLAIN), target), &rows, texture, 0xffff, &host);
        let lanes = || (0..LANES).filter(|&lane| rows[9].0[lane] > 0.0);
        let sum = |c: usize| lanes().map(|lane| rows[6 + c].0[lane]).filter(|x| x.is_finite()).fold(0.0, |a, b| a + b);
        let expected: Texel = std::array::from_fn(sum);
        assert_eq!(host.folded_gradient(texture), Some(vec![expected]), "{target:?}");
    }
}

/// What a host does not keep, the status counts.
#[test]
fn lost_gradients_are_counted() {
    let rows = rows(&mut Random::new(6));
    let handed = (0..LANES).filter(|&lane| rows[9].0[lane] > 0.0 && 0xff0f >> lane & 1 != 0).count() as u32;
    assert!(handed > 2);
    for target in targets() {
        let shader = shader(&source(false, PLAIN), target);
        let mut waves = TestTextures::default();
        waves.add(TestPattern::DEFAULT);
        for host in [&NoTextures as &dyn HostServices, &waves] {
            assert_eq!(run(&shader, &rows, 0, 0xff0f, host).1.lost_texture_gradients, handed, "{target:?}");
        }
    }
}

/// A lane that has ended hands nothing over: here those whose push does not fit, as u is above 0.
#[test]
fn a_lane_that_has_ended_adds_nothing() {
    let full = "  %40: float = const 0.0\n  %41: bool = fcmp.lt %40, %1\n  %25: token = if %41 {\n    \
                %42: token = push 0 %20, %1\n    yield %42\n  } else {\n    yield %20\n  }\n";
    let mut random = Random::new(9);
    let (rows, image) = (rows(&mut random), image(&mut random));
    for target in targets() {
        let mut host = TestTextures::default();
        let texture = host.add_image(image.clone());
        let (_, status) = run(&shader(&source(false, full), target), &rows, texture, 0xffff, &host);
        let mut expected = image.no_gradient();
        for lane in 0..LANES {
            let at = |row: usize| rows[row].0[lane];
            let ended = at(0) > 0.0;
            assert_eq!(status.errors[lane], ended.then_some(LaneError::TapeFull), "{target:?}");
            if !ended && at(9) > 0.0 {
                let level = image.level([[at(2), at(4)], [at(3), at(5)]]);
                image.add_adjoint(&mut expected, at(0).into(), at(1).into(), level, [6, 7, 8, 9].map(at));
            }
        }
        assert_eq!(host.gradient(texture), Some(expected), "{target:?}");
    }
}
