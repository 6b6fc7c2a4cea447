//! What the tests of this crate share: a host with a few globals and closures, and shortcuts from
//! source text to a shader and from a shader to its outputs.

pub mod generate;

use ssl_compiler::backend::cranelift::Effort;
use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::ir::Module;
pub use ssl_compiler::on_large_stack;
use ssl_compiler::pipeline::{Options, Stage};
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{Block, BlockStatus, ClosureRegistry, GlobalsLayout, ParameterBlock, Row};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::TestTexture;
use ssl_compiler::types::Scalar;
use ssl_compiler::{BackendKind, CompileOptions, Shader, check, compile, lower_checked};
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
    pub struct Lambert { albedo: color, normal: normal }
}

/// Light that a surface gives off.
pub fn emission() -> ssl_compiler::runtime::ClosureType {
    ssl_compiler::runtime::ClosureType { name: "Emission", parameters: vec![] }
}

/// A clear layer over another closure.
pub fn coat() -> ssl_compiler::runtime::ClosureType {
    use ssl_compiler::runtime::{ClosureParameter, ClosureType};
    use ssl_compiler::types::Type;
    ClosureType {
        name: "Coat",
        parameters: vec![
            ClosureParameter { name: "ior", ty: Type::Float },
            ClosureParameter { name: "base", ty: Type::Closure },
        ],
    }
}

/// Everything that a compiler must know of the host.
pub struct Host {
    pub globals: GlobalsLayout,
    pub closures: ClosureRegistry,
}

impl Default for Host {
    fn default() -> Host {
        let mut closures = ClosureRegistry::new();
        [Lambert::closure_type(), coat(), emission()].into_iter().for_each(|c| {
            closures.register(c);
        });
        Host { globals: HitGlobals::layout(), closures }
    }
}

/// One way to bring a shader to its result.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub backend: BackendKind,
    pub effort: Effort,
    pub optimise: bool,
}

/// The reference first: interpreted as lowered.
pub const WAYS: [Way; 4] = [
    Way { backend: BackendKind::Interpreter, effort: Effort::Quick, optimise: false },
    Way { backend: BackendKind::Interpreter, effort: Effort::Quick, optimise: true },
    Way { backend: BackendKind::Cranelift, effort: Effort::Quick, optimise: true },
    Way { backend: BackendKind::Cranelift, effort: Effort::Speed, optimise: true },
];

/// The interpreter and native code, on the same optimised module.
pub const BACKENDS: [Way; 2] = [WAYS[1], WAYS[3]];

impl Host {
    pub fn options(&self, way: Way) -> CompileOptions<'_> {
        CompileOptions {
            backend: way.backend,
            effort: way.effort,
            passes: Options { optimise: way.optimise, ..Options::default() },
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
        compile(&sources, file, entry, &self.options(way)).map(|(shader, _)| shader)
    }

    /// What the checker says about a text, warnings included.
    pub fn diagnose(&self, source: &str) -> Diagnostics {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source);
        check(&sources, file, &self.options(WAYS[1])).1
    }

    /// The module at a stage.
    pub fn stage(&self, source: &str, wanted: Stage) -> Module {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source);
        let options = self.options(WAYS[1]);
        let (checked, diagnostics) = check(&sources, file, &options);
        assert!(!diagnostics.has_errors(), "{}", explain(&sources, &diagnostics));
        let mut found = None;
        let result = lower_checked(&checked, file, None, &options, &mut |stage, module| {
            if stage == wanted {
                found = Some(module.clone());
            }
        });
        if let Err(diagnostics) = result {
            panic!("{}", explain(&sources, &diagnostics));
        }
        found.expect("every stage is shown")
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
    let status = shader.run(&mut Block {
        globals: &rows,
        parameters: &parameters,
        host: &TestTexture,
        outputs: &mut outputs,
        mask: 1,
        fuel,
    });
    let is_whole = |row: usize| {
        let mut plain = shader.interface().outputs.iter();
        plain.any(|o| row >= o.first_row && o.scalars.get(row - o.first_row).is_some_and(|s| *s != Scalar::Float))
    };
    let bits = |(i, row): (usize, &Row)| match row.0[0] {
        x if x.is_nan() && !is_whole(i) => f32::NAN.to_bits(),
        x => x.to_bits(),
    };
    Ran { outputs: outputs.iter().enumerate().map(bits).collect(), status }
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
