//! `shade test --bsdf NAME FILE`: the checks of a BSDF, for one that a shader of the file makes.

use super::check::read;
use super::outcome::{self, Outcome};
use renderer::bsdf::checks::{Check, Finding, Limits};
use renderer::bsdf::harness::{self, Pose};
use renderer::bsdf::{Reach, Scatter, SslLobeAlone};
use renderer::material::{Making, Material, ShadingLanguage};
use renderer::sampler::Sampler;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::runtime::ParameterValue;
use ssl_compiler::runtime::interface::ParameterDesc;
use ssl_compiler::types::Type;
use ssl_compiler::{BackendKind, CompileError, Compiler, Program};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

#[derive(clap::Args)]
pub struct BsdfArguments {
    /// Check a BSDF that a shader of the file makes: its samples against its density, its energy, and more. `NAME` is a struct, or
    /// a closure of the renderer. Tests are not run
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "format", "output", "filter"])]
    pub bsdf: Option<String>,
    /// With `--bsdf`, how often the parameters of the shader are drawn, from between their `min` and `max`, or 0 and 1. The first
    /// time they have their defaults
    #[arg(long, value_name = "N", default_value = "8", requires = "bsdf", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    sets: u32,
    /// With `--bsdf`, the seed of the parameters
    #[arg(long, value_name = "N", default_value = "0", requires = "bsdf")]
    seed: u32,
    /// With `--bsdf`, also check that the BSDF is reciprocal
    #[arg(long, requires = "bsdf")]
    reciprocal: bool,
}

/// The results of one check so far.
#[derive(Default)]
struct Tally {
    passed: u32,
    failed: u32,
    skipped: u32,
    /// The first finding, and its place.
    first: Option<String>,
}

impl BsdfArguments {
    pub fn run(&self, name: &str, path: &Path, imports: &SearchPath<'static>, backend: BackendKind) -> Outcome {
        let mut outcome = Outcome::default();
        let file = match read(path, &mut outcome.sources) {
            Ok(file) => file,
            Err(d) => return outcome.refuse((*d).into()),
        };
        let (language, making) = (ShadingLanguage::new(), Making::from(backend));
        let mut compiler: Compiler =
            language.compiler(&making, imports).with_sources(std::mem::take(&mut outcome.sources));
        let program = compiler.program(file);
        let found = makers(&language, &making, &program, name);
        let made = match found {
            Ok(made) => made,
            Err(e) => {
                outcome.sources = e.sources().clone();
                return outcome.refuse(e.into_diagnostics());
            }
        };
        let Makers { chosen, others } = made;
        let Some((shader, material)) = chosen else {
            outcome.code = outcome::INPUT_AT_FAULT;
            let _ = writeln!(outcome.note, "error: no shader of `{}` makes the BSDF `{name}`", path.display());
            let _ = match others.as_slice() {
                [] => writeln!(
                    outcome.note,
                    "hint: a shader with `make_closure<{name}>(…)` in the file gives the BSDF its parameters"
                ),
                others => writeln!(outcome.note, "hint: its shaders make {}", others.join(", ")),
            };
            return outcome;
        };
        self.examine(name, &shader, material, outcome)
    }

    fn examine(&self, name: &str, shader: &str, mut material: Material, mut outcome: Outcome) -> Outcome {
        let mut tallies: Vec<(Check, Tally)> = Check::ALL
            .into_iter()
            .filter(|check| self.reciprocal || *check != Check::Reciprocity)
            .map(|check| (check, Tally::default()))
            .collect();
        let parameters = material.parameter_list().to_vec();
        let mut absent = 0;
        for set in 0..self.sets {
            let mut told = Vec::new();
            for (number, parameter) in parameters.iter().enumerate().filter(|_| set > 0) {
                let mut sampler = Sampler::new(self.seed, (set, number as u32), 0);
                let Some(value) = drawn(parameter, &mut sampler) else { continue };
                if material.bind(&parameter.name, &value).is_ok() {
                    told.push(format!("{} = {}", parameter.name, shown(&value)));
                }
            }
            let told = if told.is_empty() { "the defaults".to_owned() } else { told.join(", ") };
            let make = |pose: &Pose| -> Option<Box<dyn Scatter>> { Some(Box::new(lobe(&material, name, pose)?)) };
            if make(&Pose::upright(glam::Vec3::Z)).is_none() {
                absent += 1;
                continue;
            }
            tally(&mut tallies, &make, &told);
        }
        if let Some(error) = material.error() {
            let _ = writeln!(outcome.note, "warning: {error}");
        }
        if absent == self.sets {
            outcome.code = outcome::INPUT_AT_FAULT;
            let _ = writeln!(outcome.note, "error: `{shader}` gives `{name}` no weight, so there is nothing to check");
            return outcome;
        }
        let failed = tallies.iter().any(|(_, tally)| tally.failed > 0);
        outcome.code = if failed { outcome::INPUT_AT_FAULT } else { outcome::FINE };
        outcome.output = format!(
            "{name}, made by `{shader}`: {} sets of parameters, seed {}\n{}",
            self.sets - absent,
            self.seed,
            table(&tallies)
        );
        outcome
    }
}

/// The checks seen from all directions, from inside too where light passes through.
fn tally(tallies: &mut [(Check, Tally)], make: &dyn Fn(&Pose) -> Option<Box<dyn Scatter>>, told: &str) {
    for (inside, wo) in
        [false, true].into_iter().flat_map(|inside| harness::directions().into_iter().map(move |wo| (inside, wo)))
    {
        let pose = Pose { inside, ..Pose::upright(wo) };
        let Some(lobe) = make(&pose) else { continue };
        if inside && lobe.reach() == Reach::Reflects {
            continue;
        }
        let made = |pose: &Pose| make(pose).unwrap_or_else(|| Box::new(Nothing));
        let mut narrow = None;
        for (check, tally) in tallies.iter_mut() {
            let verdict = match (&narrow, *check) {
                // The test integrates the density, too.
                (Some(said), Check::Samples) => Some(Err(Finding::Unresolved(String::clone(said)))),
                _ => check.run(&made, &pose, &Limits::default()),
            };
            let place = || format!("with {told}, seen from {wo}{}", if inside { " inside" } else { "" });
            match verdict {
                Some(Ok(())) => tally.passed += 1,
                Some(Err(Finding::Broken(said))) => {
                    tally.failed += 1;
                    tally.first.get_or_insert_with(|| format!("{}: {said}", place()));
                }
                Some(Err(Finding::Unresolved(said))) => {
                    tally.skipped += 1;
                    narrow = Some(said);
                }
                None => tally.skipped += 1,
            }
        }
    }
}

fn table(tallies: &[(Check, Tally)]) -> String {
    let mut text = format!("{:<12} {:>6} {:>6} {:>7}\n", "check", "passed", "failed", "skipped");
    for (check, Tally { passed, failed, skipped, .. }) in tallies {
        let (name, rule) = check.says();
        let _ = writeln!(text, "{name:<12} {passed:>6} {failed:>6} {skipped:>7}  {rule}");
    }
    for (check, tally) in tallies {
        if let Some(first) = &tally.first {
            let _ = writeln!(text, "\n{} failed first {first}", check.says().0);
        }
    }
    text
}

/// The shader to check a BSDF with.
struct Makers {
    chosen: Option<(String, Material)>,
    /// Other BSDFs that the file's shaders make.
    others: Vec<String>,
}

fn makers(
    language: &ShadingLanguage,
    making: &Making,
    program: &Arc<Program>,
    name: &str,
) -> Result<Makers, CompileError> {
    let (mut chosen, mut others) = (None, Vec::new());
    for shader in program.shaders()? {
        let compiled = language.compile(making, program, Some(shader))?;
        let interface = compiled.whole.interface();
        let names: Vec<String> =
            interface.lobes.iter().map(|l| interface.closure_types.get(l.closure).name.to_string()).collect();
        // Best is one that makes nothing else, so that the BSDF is seen from both sides.
        let alone = !names.is_empty() && names.iter().all(|made| made == name);
        if alone || (chosen.is_none() && names.iter().any(|made| made == name)) {
            chosen = Some((shader.to_owned(), Material::new(shader, compiled, language)));
        }
        if alone {
            break;
        }
        others.extend(names);
    }
    others.sort();
    others.dedup();
    Ok(Makers { chosen, others })
}

/// The lobe of this name that a material leaves; `None` where it has no weight.
fn lobe(material: &Material, name: &str, pose: &Pose) -> Option<SslLobeAlone> {
    let mut lobes = material.lobes_at(std::slice::from_ref(pose));
    let at = lobes.list.iter().position(|l| l.weight != glam::Vec3::ZERO && lobes.name(&l.lobe) == name)?;
    lobes.list = vec![lobes.list[at]];
    SslLobeAlone::new("a lobe in SSL", lobes)
}

/// A value between the bounds of a parameter; `None` for its default.
fn drawn(parameter: &ParameterDesc, s: &mut Sampler) -> Option<ParameterValue> {
    let mut number = |component: usize| {
        let [low, high] = match parameter.bounds(component) {
            [low, high] if low.is_finite() && high.is_finite() => [low, high],
            [low, _] if low.is_finite() => [low, low + 1.0],
            [_, high] if high.is_finite() => [high - 1.0, high],
            _ => [0.0, 1.0],
        };
        low + (high - low) * s.next_1d()
    };
    match &parameter.ty {
        Type::Float => Some(ParameterValue::Float(number(0))),
        Type::Bool => Some(ParameterValue::Bool(number(0) < 0.5)),
        Type::Int if parameter.bounds(0).iter().all(|b| b.is_finite()) => {
            Some(ParameterValue::Int(number(0).round() as i32))
        }
        // Points, vectors and normals have no bounds by their nature.
        Type::Vector(kind) if !["point", "vector", "normal"].contains(&parameter.type_name.as_str()) => {
            Some(ParameterValue::Vector((0..kind.len()).map(number).collect()))
        }
        _ => None,
    }
}

fn shown(value: &ParameterValue) -> String {
    match value {
        ParameterValue::Float(x) => x.to_string(),
        ParameterValue::Int(i) => i.to_string(),
        ParameterValue::Bool(b) => b.to_string(),
        ParameterValue::Vector(v) => format!("({})", v.iter().map(f32::to_string).collect::<Vec<_>>().join(", ")),
        _ => "?".to_owned(),
    }
}

/// Where a shader gives the BSDF no weight for some direction.
#[derive(Debug)]
struct Nothing;

impl Scatter for Nothing {
    fn name(&self) -> &'static str {
        "nothing"
    }

    fn eval(&self, _wo: glam::Vec3, _wi: glam::Vec3) -> glam::Vec3 {
        glam::Vec3::ZERO
    }

    fn pdf(&self, _wo: glam::Vec3, _wi: glam::Vec3) -> f32 {
        0.0
    }

    fn sample(&self, _wo: glam::Vec3, _u: glam::Vec2) -> Option<renderer::bsdf::LobeSample> {
        None
    }

    fn albedo(&self) -> glam::Vec3 {
        glam::Vec3::ZERO
    }

    fn normal(&self) -> glam::Vec3 {
        glam::Vec3::Z
    }
}
