//! Gradients of shaders that make the renderer's closures, and what `shade eval --gradient` prints.

use crate::shade;
use renderer::material::ShadingLanguage;
use serde_json::json;
use shade::{shade, text};
use ssl_compiler::interp::{Cell, Inputs, Program};
use ssl_compiler::ir::Precision;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{ClosureParameter, ClosureRegistry, NoTextures, Order};
use ssl_compiler::types::{Scalar, Type};
use ssl_compiler::{CompileOptions, GradientRequest, ShaderInterface, SourceMap, check, lower_checked, on_large_stack};
use ssl_tests::temporary::File;
use std::fmt::Write;

/// Numbers from 0 to 1 that follow `a` and `b` smoothly, each in a way of its own.
struct Varying(usize);

impl Varying {
    fn next(&mut self) -> String {
        self.0 += 1;
        format!(
            "(0.5 + 0.4 * sin({:.2} * a + {:.2} * b + {}.0))",
            1.0 + self.0 as f32 / 50.0,
            self.0 as f32 / 50.0,
            self.0
        )
    }

    fn within(&mut self, p: &ClosureParameter) -> String {
        let (low, high) = (p.range.low.max(0.0), p.range.high.min(4.0));
        format!("({low:.1} + {:.1} * {})", high - low, self.next())
    }

    fn argument(&mut self, p: &ClosureParameter) -> String {
        match p.ty {
            Type::Closure => format!("{} * make_closure<Lambert>(color({}))", self.next(), self.next()),
            Type::Int => "1".to_owned(),
            Type::Bool => "true".to_owned(),
            Type::String => "\"gold\"".to_owned(),
            Type::Float => self.within(p),
            _ => format!("{}({}, {}, {})", p.ty.name_of_three(), self.within(p), self.within(p), self.within(p)),
        }
    }
}

trait Three {
    fn name_of_three(&self) -> &'static str;
}

impl Three for Type {
    fn name_of_three(&self) -> &'static str {
        use ssl_compiler::types::VectorKind;
        match self {
            Type::Vector(VectorKind::Color) => "color",
            Type::Vector(VectorKind::Normal) => "normal",
            Type::Vector(VectorKind::Vector) => "vector",
            Type::Vector(VectorKind::Point) => "point",
            other => panic!("no closure had a parameter of type {other:?} so far"),
        }
    }
}

/// A shader that adds up every closure of the renderer, layers with something beneath them.
fn every_closure(closures: &ClosureRegistry) -> String {
    let mut varying = Varying(0);
    let mut source = "shader main(float a = 0.25, float b = -0.5, out closure surface)\n{\n".to_owned();
    for (i, closure) in closures.types().iter().enumerate() {
        let arguments: Vec<String> = closure.parameters.iter().map(|p| varying.argument(p)).collect();
        let made = format!("{} * make_closure<{}>({})", varying.next(), closure.name, arguments.join(", "));
        let _ = writeln!(source, "    surface = {}{made};", if i == 0 { "" } else { "surface + " });
    }
    source + "}\n"
}

/// Parameters `a` and `b`, and the cotangent of one output row.
struct Point<'a> {
    interface: &'a ShaderInterface,
    words: [f32; 2],
    weighed: Option<usize>,
}

impl Inputs<f64> for Point<'_> {
    fn global(&self, field: usize, component: usize, order: Order) -> f64 {
        let row = self.interface.globals.field(field).row(component, order);
        let weighed = self.weighed.and_then(|row| self.interface.gradient.as_ref()?.cotangent(row));
        f64::from(u8::from(weighed.is_some() && weighed == row))
    }

    fn global_bits(&self, _: usize, _: usize) -> u32 {
        0
    }

    fn parameter(&self, word: usize) -> u32 {
        self.words[word].to_bits()
    }
}

/// Every weight and every parameter of every lobe has the gradient that finite differences in f64 give.
#[test]
fn all_lobes_have_gradients_of_weights_and_parameters() {
    let language = ShadingLanguage::new();
    let source = every_closure(language.closures());
    let mut sources = SourceMap::new();
    let file = sources.add("closures.ssl", source.as_str());
    let request = GradientRequest::of(["surface"]).by_parameters(["a", "b"]);
    let options = CompileOptions {
        gradient: Some(&request),
        passes: Options { precision: Precision::Double, ..Options::default() },
        ..CompileOptions::new(language.globals(), language.closures())
    };
    let (checked, diagnostics) = check(&mut sources, file, &options);
    assert!(!diagnostics.has_errors(), "{source}");
    let (module, interface) = match lower_checked(&checked, file, None, &options, &mut |_, _| {}) {
        Ok(lowered) => lowered,
        Err(found) => panic!("{:?}\n{source}", found.list),
    };
    let gradient = interface.gradient.as_ref().expect("a gradient was asked for");
    assert!(interface.lobes.len() > language.closures().types().len(), "layers have something beneath them");
    let program = Program::new(module);
    let run = |words: [f32; 2], weighed: Option<usize>| -> Vec<f64> {
        let outcome = program.run::<f64>(&Point { interface: &interface, words, weighed }, &NoTextures, DEFAULT_FUEL);
        let number = |cell: &Cell<f64>| if let Cell::Float(x) = *cell { x } else { 0.0 };
        outcome.results.iter().map(number).collect()
    };
    on_large_stack(|| {
        let at = [0.25, -0.5];
        let mut compared = 0;
        for (k, name) in ["a", "b"].into_iter().enumerate() {
            // Steps that floats hold; Richardson's extrapolation leaves an error of the sixth order.
            let slope = |step: f32| -> Vec<f64> {
                let (mut low, mut high) = (at, at);
                (low[k], high[k]) = (at[k] - step, at[k] + step);
                let (low, high) = (run(low, None), run(high, None));
                low.iter().zip(&high).map(|(l, h)| (h - l) / (2.0 * f64::from(step))).collect()
            };
            let [coarse, middle, fine] = [slope(1.0 / 64.0), slope(1.0 / 128.0), slope(1.0 / 256.0)];
            let by = gradient.by_parameter(name).expect("asked for").rows[0].expect("a float");
            for row in 0..interface.lobes[0].weight_row.max(gradient.cotangents.len()) {
                if gradient.cotangent(row).is_none() {
                    continue;
                }
                let (ab, bc) = ((4.0 * middle[row] - coarse[row]) / 3.0, (4.0 * fine[row] - middle[row]) / 3.0);
                let expected = (16.0 * bc - ab) / 15.0;
                let found = run(at, Some(row))[by];
                assert!((found - expected).abs() < 1e-8, "row {row} by {name}: {found}, expected {expected}\n{source}");
                compared += usize::from(expected != 0.0);
            }
        }
        let floats = |c: &ssl_compiler::runtime::ClosureType| -> usize {
            let is_float = |p: &&ClosureParameter| p.ty.component_scalar() == Some(Scalar::Float);
            3 + c.parameters.iter().filter(is_float).filter_map(|p| p.ty.components()).sum::<usize>()
        };
        let all: usize = language.closures().types().iter().map(floats).sum();
        assert!(compared >= 2 * all, "only {compared} slopes were compared, of {} in all", 2 * all);
    });
}

const SHADER: &str =
    "shader main(float a = 3.0, color tint = color(0.5, 0.25, 1.0), out float y, out color c, out float s, \
    out closure surface)
{
    const float x = global_value<uvw>.x;
    y = a * x * x;
    c = a * tint;
    s = ddx(y);
    surface = a * make_closure<Lambert>(tint * x, global_value<normal>);
}
";

#[test]
fn eval_prints_gradients_as_text_and_json() {
    let file = File::new("gradients.ssl", SHADER);
    let path = file.path();
    for backend in ["interp", "cranelift"] {
        let base = ["eval", &path, "--backend", backend, "--global", "uvw:float3=(2,0,0),(0.5,0,0),0"];
        let asked = ["--gradient", "y:a,uvw", "--gradient", "c:tint", "--gradient", "s:a,uvw"];
        let out = shade(&[&base[..], &asked].concat());
        assert!(out.status.success(), "{}", text(&out.stderr));
        let printed = text(&out.stdout);
        // y = a x²; c = a · tint; s = 2 a x ẋ with ẋ = 0.5.
        for line in [
            "gradient of y by a = 4.0",
            "gradient of y by uvw = [12.0,0.0,0.0]",
            "gradient of c by tint = [[3.0,0.0,0.0],[0.0,3.0,0.0],[0.0,0.0,3.0]]",
            "gradient of s by a = 2.0",
            "gradient of s by uvw = [3.0,0.0,0.0]",
            "gradient of s by ddx(uvw) = [12.0,0.0,0.0]",
        ] {
            assert!(printed.lines().any(|l| l == line), "{line}\n{printed}");
        }
        let out = shade(&[&base[..], &["--gradient", "surface:a", "--json"]].concat());
        let found: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let list = found["gradients"].as_array().expect("a list");
        let of = |part: &str| {
            let entry = list.iter().find(|g| g["lobe"]["part"] == part).expect("the part is there");
            (entry["of"].clone(), entry["by"].clone(), entry["lobe"]["closure"].clone(), entry["value"].clone())
        };
        assert_eq!(of("weight"), (json!("surface"), json!("a"), json!("Lambert"), json!([1.0, 1.0, 1.0])));
        assert_eq!(of("albedo").3, json!([0.0, 0.0, 0.0]));
    }
}

#[test]
fn eval_refuses_gradients_that_there_are_not() {
    let file = File::new("gradients.ssl", SHADER);
    let path = file.path();
    for (asked, code, message) in [
        ("y", 2, "write OUT:NAME"),
        ("y:", 2, "write OUT:NAME"),
        ("y:tnt", 2, "did you mean `tint`?"),
        ("yy:tint", 1, "the shader has no output `yy`"),
    ] {
        let out = shade(&["eval", &path, "--gradient", asked]);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{said}");
        assert!(said.contains(message), "{said}");
    }
}
