//! What a host is told by each form of look-up, in every lane and on every back end: coordinates, footprints and levels
//! against their definitions in f64, and what it says of a texture's size.

use ssl_compiler::Shader;
use ssl_compiler::runtime::{Block, HostServices, LANES, ParameterBlock, ParameterValue, Row, TextureRequest};
use ssl_tests::{Host, WAYS, Way, messages};
use std::sync::Mutex;

/// One look-up as a host sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    texture: u32,
    lane: usize,
    uv: [f32; 2],
    /// ∂u/∂x, ∂u/∂y, ∂v/∂x, ∂v/∂y.
    partials: [f32; 4],
    level: Option<f32>,
}

/// Gives 1 with the slopes 2 by u and 3 by v, and remembers what it was asked. Texture 7 has 640 by 480 texels.
#[derive(Default)]
struct Recorder(Mutex<Vec<Asked>>);

impl HostServices for Recorder {
    fn texture(&self, request: &mut TextureRequest) {
        for lane in request.lanes() {
            let at = |row: &Row| row.0[lane];
            let r = &*request;
            let partials = [&r.dudx, &r.dudy, &r.dvdx, &r.dvdy].map(at);
            let level = (r.has_level != 0).then(|| at(&r.level));
            // A lock is poisoned by a panic alone, which has failed the test already.
            let mut list = self.0.lock().expect("no panic before");
            list.push(Asked { texture: r.texture, lane, uv: [&r.u, &r.v].map(at), partials, level });
        }
        request.result.iter_mut().for_each(|row| *row = Row::splat(1.0));
        request.gradient.iter_mut().enumerate().for_each(|(i, row)| *row = Row::splat(if i < 4 { 2.0 } else { 3.0 }));
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        if texture == 7 { [640, 480] } else { [1, 1] }
    }
}

const HEAD: &str = "globals { float2 p; float k; } texture2d t; texture2d other;\n";

/// The globals of a lane: p.x, p.y and k, each with its partials by x and y.
fn globals(lane: usize) -> [[f32; 3]; 3] {
    let i = lane as f32;
    [[0.1 + 0.05 * i, 0.02, -0.01 * i], [0.9 - 0.05 * i, 0.003 * i, 0.04], [0.5 + 0.25 * i, 1.5, -0.5]]
}

/// Runs the shader of a text in 15 of the 16 lanes: its outputs, and what it asked, lanes in order.
fn run(source: &str, way: Way) -> (Vec<Row>, Vec<Asked>) {
    let host = Host::default();
    let shader: Shader = host.compile(&format!("{HEAD}{source}"), way).unwrap_or_else(|d| panic!("{}", messages(&d)));
    let mut rows = vec![Row::ZERO; host.globals.rows() + 9];
    for (i, row) in rows[host.globals.rows()..].iter_mut().enumerate() {
        (0..LANES).for_each(|lane| row.0[lane] = globals(lane)[i / 3][i % 3]);
    }
    let mut parameters = ParameterBlock::new(shader.interface());
    assert_eq!(parameters.set(shader.interface(), "t", &ParameterValue::Texture(7)), Ok(()));
    let mut outputs = vec![Row::ZERO; shader.interface().output_rows];
    let recorder = Recorder::default();
    let block = &mut Block { host: &recorder, mask: MASK, fuel: 1000, ..Block::new(&rows, &parameters, &mut outputs) };
    assert!(shader.run(block).is_clean());
    let mut asked = recorder.0.into_inner().expect("no panic before");
    asked.sort_by_key(|a| a.lane);
    (outputs, asked)
}

/// All lanes but one.
const MASK: u32 = 0xfff7;

fn lanes() -> impl Iterator<Item = usize> {
    (0..LANES).filter(|lane| MASK >> lane & 1 != 0)
}

/// Runs a shader with one look-up on every back end and holds what is asked of each lane against `expected`.
fn each(look_up: &str, expected: impl Fn(usize, Asked)) {
    let source = format!(
        "shader main(out color r) {{ const float2 p = global_value<p>; const float k = global_value<k>; r = {look_up}; }}"
    );
    for way in WAYS {
        let (_, asked) = run(&source, way);
        assert_eq!(asked.iter().map(|a| a.lane).collect::<Vec<_>>(), lanes().collect::<Vec<_>>(), "{way:?}");
        for a in asked {
            assert_eq!(a.texture, 7, "{way:?}");
            expected(a.lane, a);
        }
    }
}

fn assert_near(found: [f32; 4], expected: [f64; 4]) {
    for (found, expected) in found.iter().zip(expected) {
        let error = (f64::from(*found) - expected).abs();
        assert!(error <= 1e-5 * expected.abs().max(1e-3), "{found} is not {expected}");
    }
}

/// ∂u/∂x, ∂u/∂y, ∂v/∂x, ∂v/∂y of `p`.
fn partials(lane: usize) -> [f64; 4] {
    let [[_, ux, uy], [_, vx, vy], _] = globals(lane).map(|g| g.map(f64::from));
    [ux, uy, vx, vy]
}

fn at(lane: usize) -> [f32; 2] {
    [globals(lane)[0][0], globals(lane)[1][0]]
}

#[test]
fn the_footprint_of_a_plain_look_up_is_that_of_its_coordinates() {
    each("texture2d_sample<t>(p)", |lane, a| {
        assert_eq!((a.uv, a.level), (at(lane), None));
        assert_near(a.partials, partials(lane));
    });
}

// rule: textures.grad accept
#[test]
fn a_footprint_that_is_given_reaches_the_host_as_it_is() {
    let k = |lane: usize| f64::from(globals(lane)[2][0]);
    let expected = |lane: usize, a: Asked| {
        assert_eq!((a.uv, a.level), (at(lane), None));
        // Given by pixel, asked by coordinate: ∂u/∂x, ∂v/∂x, ∂u/∂y, ∂v/∂y.
        assert_near(a.partials, [0.125 * k(lane), 0.5, 0.25, k(lane)]);
    };
    each("texture2d_sample_grad<t>(p.x, p.y, 0.125 * k, 0.25, 0.5, k)", expected);
    each("texture2d_sample_grad<t>(p, float2(0.125 * k, 0.25), float2(0.5, k))", expected);
    each("texture2d_sample4_grad<t>(p, float2(0.125 * k, 0.25), float2(0.5, k)).rgb", expected);
    each("color(texture2d_sample_alpha_grad<t>(p, float2(0.125 * k, 0.25), float2(0.5, k)))", expected);
}

// rule: textures.width accept
#[test]
fn a_width_multiplies_the_footprint() {
    let k = |lane: usize| f64::from(globals(lane)[2][0]);
    each("texture2d_sample<t>(p, width = k)", |lane, a| assert_near(a.partials, partials(lane).map(|d| d * k(lane))));
    each("texture2d_sample_grad<t>(p, float2(0.5, 0.25), float2(0.125, 1.0), width = k)", |lane, a| {
        assert_near(a.partials, [0.5, 0.125, 0.25, 1.0].map(|d| d * k(lane)));
    });
    each("texture2d_sample<t>(p, width = 0.0)", |_, a| assert_eq!(a.partials, [0.0; 4]));
}

/// The Gaussian of a footprint J has the covariance J Jᵀ, of the blur b the covariance b²; blurred twice, they add up.
fn has_covariance(a: Asked, [ux, uy, vx, vy]: [f64; 4], blur: f64) {
    let covariance = |[ux, uy, vx, vy]: [f64; 4]| [ux * ux + uy * uy, ux * vx + uy * vy, vx * vx + vy * vy];
    let [uu, uv, vv] = covariance([ux, uy, vx, vy]);
    let expected = [uu + blur * blur, uv, vv + blur * blur];
    let scale = expected[0] + expected[2];
    for (found, expected) in covariance(a.partials.map(f64::from)).iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-6 * scale, "{a:?}: {found} is not {expected}");
    }
}

// rule: textures.width accept
#[test]
fn a_blur_is_added_in_every_direction() {
    let k = |lane: usize| f64::from(globals(lane)[2][0]);
    each("texture2d_sample<t>(p, blur = 0.01 * k)", |lane, a| has_covariance(a, partials(lane), 0.01 * k(lane)));
    // The width is that of the footprint alone, in whichever order they stand.
    each("texture2d_sample<t>(p, blur = 0.01, width = k)", |lane, a| {
        has_covariance(a, partials(lane).map(|d| d * k(lane)), 0.01);
    });
    each("texture2d_sample_grad<t>(p, float2(0.5, 0.25), float2(0.125, k), blur = 0.3)", |lane, a| {
        has_covariance(a, [0.5, 0.125, 0.25, k(lane)], 0.3);
    });
    each("texture2d_sample<t>(0.25, 0.5, blur = 0.01 * k)", |lane, a| has_covariance(a, [0.0; 4], 0.01 * k(lane)));
    each("texture2d_sample<t>(0.25, 0.5, blur = 0.0)", |_, a| assert_eq!(a.partials, [0.0; 4]));
}

// rule: textures.level accept
#[test]
fn a_level_reaches_the_host_in_place_of_a_footprint() {
    let expected = |lane: usize, a: Asked| {
        assert_eq!((a.uv, a.partials, a.level), (at(lane), [0.0; 4], Some(globals(lane)[2][0])));
    };
    each("texture2d_sample_level<t>(p, k)", expected);
    each("texture2d_sample_level<t>(p.x, p.y, k)", expected);
    each("texture2d_sample4_level<t>(p, k).rgb", expected);
    each("color(texture2d_sample_alpha_level<t>(p, k))", expected);
    each("texture2d_sample_level<t>(p, 3)", |_, a| assert_eq!(a.level, Some(3.0)));
    // Behind a look-up with a footprint, whose partials are no longer there, and before one, which has no level.
    let source = "shader main(out color r) { const float2 p = global_value<p>; \
        r = texture2d_sample<t>(p) + texture2d_sample_level<t>(p, 1.5) + texture2d_sample<t>(p); }";
    for way in WAYS {
        let (_, asked) = run(source, way);
        for look_ups in asked.chunks(3) {
            assert_near(look_ups[0].partials, partials(look_ups[0].lane));
            assert_eq!((look_ups[1].partials, look_ups[1].level), ([0.0; 4], Some(1.5)), "{way:?}");
            assert_eq!(look_ups[2], look_ups[0], "{way:?}");
        }
    }
}

// rule: textures.level derivative; textures.size derivative
#[test]
fn derivatives_go_through_the_coordinates_of_a_level_and_not_through_the_level() {
    let source = "shader main(out float dx, out float dy, out float size) { \
        const float2 p = global_value<p>; const float k = global_value<k>; \
        const float r = texture2d_sample_level<t>(p, k).r; dx = ddx(r); dy = ddy(r); \
        size = ddx(k * texture2d_size<t>().x); }";
    for way in WAYS {
        let (outputs, _) = run(source, way);
        for lane in lanes() {
            // The slopes are 2 by u and 3 by v.
            let [ux, uy, vx, vy] = partials(lane);
            let expected = [2.0 * ux + 3.0 * vx, 2.0 * uy + 3.0 * vy, 640.0 * 1.5, 0.0];
            assert_near([outputs[0].0[lane], outputs[1].0[lane], outputs[2].0[lane], 0.0], expected);
        }
    }
}

// rule: textures.size accept
#[test]
fn a_texture_says_how_large_it_is() {
    // Where all lanes go together, where they go apart, through a parameter, before look-ups, and of a slot without a texture.
    let source = "float area(texture2d a) { const float2 size = texture2d_size<a>(); return size.x * size.y; } \
        shader main(out float2 plain, out float apart, out float areas, out float2 none, out color texel) { \
        const float2 p = global_value<p>; plain = texture2d_size<t>(); \
        if (global_value<k> > 2.0) apart = texture2d_size<t>().x + global_value<k>; else apart = -texture2d_size<t>().y; \
        areas = area(t) + area(other); none = texture2d_size<other>(); \
        texel = texture2d_sample_level<t>((floor(p * plain) + 0.5) / plain, 0.0); }";
    for way in WAYS {
        let (outputs, asked) = run(source, way);
        for lane in lanes() {
            let k = globals(lane)[2][0];
            let found: [f32; 6] = std::array::from_fn(|i| outputs[i].0[lane]);
            let apart = if k > 2.0 { 640.0 + k } else { -480.0 };
            assert_eq!(found, [640.0, 480.0, apart, 307_201.0, 1.0, 1.0], "{way:?} {lane}");
        }
        for Asked { lane, uv, level, .. } in asked {
            let middle = |i: usize, n: f32| ((at(lane)[i] * n).floor() + 0.5) / n;
            assert_eq!((uv, level), ([middle(0, 640.0), middle(1, 480.0)], Some(0.0)), "{way:?}");
        }
    }
}

#[test]
fn whether_a_slot_is_needed_counts_its_size() {
    for (source, used) in [
        ("shader main(out float2 r) { r = texture2d_size<t>(); }", true),
        ("shader main(out color r) { r = texture2d_sample_level<t>(0.5, 0.5, 2.0); }", true),
        ("shader main(out float r) { r = 1.0; }", false),
    ] {
        let shader = Host::default().compile(&format!("{HEAD}{source}"), WAYS[4]).expect("the shader is sound");
        let slot = shader.interface().textures.iter().find(|t| t.name == "t").expect("the slot is there");
        assert_eq!(slot.used, used, "{source}");
    }
}
