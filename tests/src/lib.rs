//! What the tests of this crate share: a host with a few globals and closures, and shortcuts from
//! source text to a shader and from a shader to its outputs.

pub mod floats;
pub mod fuzz;
pub mod generate;
pub mod grid;
pub mod hostile;
pub mod images;
pub mod kernel_programs;
pub mod layout;
pub mod memory;
pub mod neutral;
pub mod oracle;
pub mod proof;
pub mod rooms;
pub mod rust_source;
mod skips;
pub mod tape_programs;
pub mod temporary;

pub use skips::skip;
use ssl_compiler::backend::{Lanes, OptLevel};
use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::ir::Module;
pub use ssl_compiler::on_large_stack;
use ssl_compiler::pipeline::{Options, Stage};
use ssl_compiler::runtime::block::{DEFAULT_FUEL, DEFAULT_TAPE_ROWS};
use ssl_compiler::runtime::print::Listener;
use ssl_compiler::runtime::{
    Block, BlockStatus, Closure, ClosureDefault, ClosureRegistry, External, ExternalRegistry, GlobalsLayout, LANES,
    ParameterBlock, Row,
};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::TestTexture;
use ssl_compiler::types::Scalar;
use ssl_compiler::{BackendKind, CompileOptions, Shader, Target, check, compile, lower_checked};
use std::path::{Path, PathBuf};

ssl_compiler::shader_globals! {
    /// A part of what a renderer offers at a hit.
    pub struct HitGlobals {
        uvw: float3, first;
        position: point, first;
        normal: normal, first;
        time: float, value;
        object_id: int, value;
        backfacing: bool, value;
    }
}

ssl_compiler::closure_type! {
    /// Ideal diffuse reflection.
    pub struct Lambert { albedo: color in (0.0..=1.0), normal: normal = ClosureDefault::Global("normal") }
}

/// Light that a surface gives off.
pub fn emission() -> ssl_compiler::runtime::ClosureType {
    ssl_compiler::runtime::ClosureType { name: "Emission".into(), parameters: vec![] }
}

/// A clear layer over another closure.
pub fn coat() -> ssl_compiler::runtime::ClosureType {
    use ssl_compiler::runtime::{ClosureParameter, ClosureType, ValueRange};
    use ssl_compiler::types::Type;
    ClosureType {
        name: "Coat".into(),
        parameters: vec![
            ClosureParameter {
                name: "ior".into(),
                ty: Type::Float,
                range: ValueRange::of(1.0..=10.0),
                default: Some(ClosureDefault::Float(1.5)),
            },
            ClosureParameter {
                name: "base".into(),
                ty: Type::Closure,
                range: ValueRange::ALL,
                default: Some(ClosureDefault::NoLobes),
            },
        ],
    }
}

/// Everything that a compiler must know of the host.
pub struct Host {
    pub globals: GlobalsLayout,
    pub closures: ClosureRegistry,
    pub externals: ExternalRegistry,
}

/// Functions of a host: smooth ones with their rules, and one without.
pub fn externals() -> ExternalRegistry {
    let mut all = ExternalRegistry::new();
    let mut add = |e: External| all.register(e);
    // The derivatives of a sine go round.
    type Turn = (&'static str, &'static str, fn(f32) -> f32, fn(f64) -> f64);
    let turns: [Turn; 4] = [
        ("host_sin", "host_cos", f32::sin, f64::sin),
        ("host_cos", "host_minus_sin", f32::cos, f64::cos),
        ("host_minus_sin", "host_minus_cos", |x| -x.sin(), |x| -x.sin()),
        ("host_minus_cos", "host_sin", |x| -x.cos(), |x| -x.cos()),
    ];
    for (name, slope, single, double) in turns {
        let external = External::of(name, single).derivative(0, slope);
        add(external.double(move |x, out| out[0] = double(x[0])));
    }
    add(External::of("host_product", |x: f32, y: f32| x * y).derivative(0, "host_right").derivative(1, "host_left"));
    add(External::of("host_left", |x: f32, _: f32| x).derivative(0, "host_one").no_derivative(1));
    add(External::of("host_right", |_: f32, y: f32| y).no_derivative(0).derivative(1, "host_one"));
    add(External::of("host_one", |_: f32, _: f32| 1.0_f32).no_derivative(0).no_derivative(1));
    add(External::of("host_opaque", |x: f32| x * x));
    let scaled = |n: i32, flip: bool, v: [f32; 3]| v.map(|x| if flip { -(n as f32) } else { n as f32 } * x);
    let axis = |i: usize| {
        move |n: i32, flip: bool, _: [f32; 3]| {
            let mut v = [0.0; 3];
            v[i] = if flip { -(n as f32) } else { n as f32 };
            v
        }
    };
    let mut by_axis = External::of("host_scaled", scaled).no_derivative(0).no_derivative(1);
    for (i, name) in ["host_x", "host_y", "host_z"].into_iter().enumerate() {
        add((0..5).fold(External::of(name, axis(i)), External::no_derivative));
        by_axis = by_axis.derivative(2 + i, name);
    }
    add(by_axis);
    add(External::of("host_count", |x: f32| x.floor() as i32).no_derivative(0));
    add(External::of("host_inside", |x: f32, n: i32| x.abs() < n as f32).no_derivative(0).no_derivative(1));
    all
}

impl Default for Host {
    fn default() -> Host {
        use ssl_compiler::runtime::ClosureInterface;
        let mut closures = ClosureRegistry::new();
        [Lambert::closure_type(), coat(), emission()].into_iter().for_each(|c| {
            closures.register(c);
        });
        closures.set_interface(ClosureInterface {
            file: "bsdf.ssl",
            name: "IBsdf",
            functions: &["bsdf_begin", "bsdf_eval", "bsdf_draw", "bsdf_beneath"],
        });
        Host { globals: HitGlobals::layout(), closures, externals: externals() }
    }
}

/// One way to bring a shader to its result.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub target: Target,
    pub optimise: bool,
}

const fn way(backend: BackendKind, opt: OptLevel, lanes: Lanes) -> Way {
    Way { target: Target { backend, opt, lanes }, optimise: true }
}

/// The reference first: interpreted as lowered.
pub const WAYS: [Way; if cfg!(feature = "llvm") { 7 } else { 5 }] = [
    Way { optimise: false, ..way(BackendKind::Interpreter, OptLevel::O0, Lanes::ONE) },
    way(BackendKind::Interpreter, OptLevel::O0, Lanes::ONE),
    way(BackendKind::Cranelift, OptLevel::O0, Lanes::Auto),
    way(BackendKind::Cranelift, OptLevel::O2, Lanes::ONE),
    way(BackendKind::Cranelift, OptLevel::O2, Lanes::Auto),
    #[cfg(feature = "llvm")]
    way(BackendKind::Llvm, OptLevel::O0, Lanes::ONE),
    #[cfg(feature = "llvm")]
    way(BackendKind::Llvm, OptLevel::O2, Lanes::Auto),
];

/// Native code of a module that no pass has made simpler.
pub const NATIVE_AS_LOWERED: Way = Way { optimise: false, ..way(BackendKind::Cranelift, OptLevel::O0, Lanes::ONE) };

/// The interpreter and native code, on the same optimised module.
pub const BACKENDS: [Way; if cfg!(feature = "llvm") { 3 } else { 2 }] = [
    WAYS[1],
    WAYS[4],
    #[cfg(feature = "llvm")]
    WAYS[6],
];

impl Host {
    pub fn options(&self, way: Way) -> CompileOptions<'_> {
        CompileOptions {
            target: way.target,
            passes: Options { optimise: way.optimise, ..Options::default() },
            externals: &self.externals,
            ..CompileOptions::new(&self.globals, &self.closures)
        }
    }

    /// Compiles the only shader of a text, or the one called `main`.
    pub fn compile(&self, source: &str, way: Way) -> Result<Shader, Diagnostics> {
        self.compile_entry(source, None, way)
    }

    pub fn compile_entry(&self, source: &str, entry: Option<&str>, way: Way) -> Result<Shader, Diagnostics> {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source);
        compile(&mut sources, file, entry, &self.options(way)).map(|(shader, _)| shader)
    }

    /// What the checker says about a text, warnings included.
    pub fn diagnose(&self, source: &str) -> Diagnostics {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source);
        check(&mut sources, file, &self.options(WAYS[1])).1
    }

    /// The module at a stage.
    pub fn stage(&self, source: &str, wanted: Stage) -> Module {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source);
        let options = self.options(WAYS[1]);
        let (checked, diagnostics) = check(&mut sources, file, &options);
        assert!(!diagnostics.has_errors(), "{}", explain(&sources, &diagnostics));
        let mut found = None;
        let result = lower_checked(&checked, file, None, &options, &mut |stage, module| {
            if stage == wanted {
                found = Some(module.clone());
            }
        });
        match (found, result) {
            // What goes wrong behind it is for other tests.
            (Some(module), _) => module,
            (None, Err(diagnostics)) => panic!("{}", explain(&sources, &diagnostics)),
            (None, Ok(_)) => panic!("every stage is shown"),
        }
    }
}

/// All diagnostics as an author would see them.
pub fn explain(sources: &SourceMap, diagnostics: &Diagnostics) -> String {
    render::text(diagnostics, sources, false)
}

/// The messages alone.
pub fn messages(diagnostics: &Diagnostics) -> String {
    let list: Vec<String> =
        diagnostics.list.iter().map(|d| format!("{}: {} ({})", d.code.id, d.message, d.hint)).collect();
    list.join("\n")
}

/// What a run of lane 0 gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// The bits of the output rows; every NaN is the same one.
    pub outputs: Vec<u32>,
    pub status: BlockStatus,
    /// What it printed.
    pub said: Vec<String>,
}

impl Ran {
    pub fn floats(&self) -> Vec<f32> {
        self.outputs.iter().map(|bits| f32::from_bits(*bits)).collect()
    }
}

/// Runs one lane with the given rows of globals (short ones are filled up with zeros).
pub fn run(shader: &Shader, globals: &[f32], fuel: u32) -> Ran {
    let needed = shader.interface().globals_read.iter().map(|r| r.row + 1).max().unwrap_or(0);
    let mut rows: Vec<Row> = globals.iter().map(|x| Row::splat(*x)).collect();
    rows.resize(rows.len().max(needed), Row::ZERO);
    let parameters = ParameterBlock::new(shader.interface());
    let mut outputs = vec![Row::ZERO; shader.interface().output_rows];
    let listener = Listener::new(&TestTexture, &parameters);
    let status =
        shader.run(&mut Block { host: &listener, mask: 1, fuel, ..Block::new(&rows, &parameters, &mut outputs) });
    let is_whole = |row: usize| {
        let mut plain = shader.interface().outputs.iter();
        plain.any(|o| row >= o.first_row && o.scalars.get(row - o.first_row).is_some_and(|s| *s != Scalar::Float))
    };
    let bits = |(i, row): (usize, &Row)| match row.0[0] {
        x if x.is_nan() && !is_whole(i) => f32::NAN.to_bits(),
        x => x.to_bits(),
    };
    let said = listener.messages().into_iter().map(|(_, text)| text).collect();
    Ran { outputs: outputs.iter().enumerate().map(bits).collect(), status, said }
}

/// What a run of a block gave.
#[derive(Clone, Debug, PartialEq)]
pub struct RanBlock {
    /// The bits of the output rows of each lane that took part; every NaN is the same one.
    pub outputs: Vec<(usize, Vec<u32>)>,
    pub status: BlockStatus,
    /// What each lane printed.
    pub said: Vec<(usize, String)>,
}

/// Runs the lanes of a mask on a row of globals each (short ones are filled up with zeros).
pub fn run_block(shader: &Shader, globals: &[Vec<f32>; LANES], mask: u32, fuel: u32) -> RanBlock {
    run_block_on(shader, globals, mask, fuel, DEFAULT_TAPE_ROWS)
}

/// Likewise, on a tape of so many rows.
pub fn run_block_on(shader: &Shader, globals: &[Vec<f32>; LANES], mask: u32, fuel: u32, tape_rows: u32) -> RanBlock {
    const UNTOUCHED: f32 = 12345.5;
    let needed = shader.interface().globals_read.iter().map(|r| r.row + 1).max().unwrap_or(0);
    let row = |r: usize| Row(std::array::from_fn(|lane| globals[lane].get(r).copied().unwrap_or(0.0)));
    let rows: Vec<Row> = (0..needed).map(row).collect();
    let parameters = ParameterBlock::new(shader.interface());
    let mut outputs = vec![Row::splat(UNTOUCHED); shader.interface().output_rows];
    let listener = Listener::new(&TestTexture, &parameters);
    let usual = Block::new(&rows, &parameters, &mut outputs);
    let status = shader.run(&mut Block { host: &listener, mask, fuel, tape_rows, ..usual });
    let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    let mut ran = RanBlock { outputs: Vec::new(), status, said: listener.messages() };
    for lane in 0..LANES {
        if mask >> lane & 1 != 0 {
            ran.outputs.push((lane, outputs.iter().map(|row| bits(row.0[lane])).collect()));
        } else {
            assert!(outputs.iter().all(|row| row.0[lane] == UNTOUCHED), "lane {lane} took no part and was written");
        }
    }
    ran
}

pub fn run_with_default_fuel(shader: &Shader, globals: &[f32]) -> Ran {
    run(shader, globals, DEFAULT_FUEL)
}

/// A folder of this crate.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Files below a folder with one of these extensions, in order of their names.
pub fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder exists").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
