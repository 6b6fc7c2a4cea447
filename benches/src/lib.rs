//! What the benches share: the shaders of the derivative-cost table, and a block to run them on.
//!
//! The table's shaders come from a generator outside this project. Benches look for it at
//! `$SSL_TABLE_SHADERS`, then beside the checkout, and are skipped where it is not.

use renderer::material::ShadingLanguage;
use ssl_compiler::backend::cranelift::Effort;
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{Block, LANES, NoTextures, Order, ParameterBlock, Row};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{BackendKind, CompileOptions, Shader, compile};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kinds of the table, in its order.
pub const KINDS: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// The workspace's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The source of a table shader; `sink` is what asks for derivatives: `ddx`, `texture` or `none`.
pub fn table_source(kind: &str, sink: &str) -> Result<String, String> {
    let beside = || root().join("../shared/tools/table_shaders.py");
    let generator = std::env::var_os("SSL_TABLE_SHADERS").map_or_else(beside, PathBuf::from);
    if !generator.exists() {
        return Err(format!("skipped: {} is not there", generator.display()));
    }
    let folder = std::env::temp_dir().join(format!("ssl-table-{}-{sink}", std::process::id()));
    let file = folder.join(format!("table_{kind}.ssl"));
    if !file.exists() {
        let status = Command::new("python3").arg(&generator).arg(&folder).args(["--sink", sink]).status();
        match status {
            Ok(s) if s.success() => {}
            other => return Err(format!("skipped: python3 {} came to {other:?}", generator.display())),
        }
    }
    std::fs::read_to_string(&file).map_err(|e| format!("skipped: {}: {e}", file.display()))
}

/// Compiles a source as the renderer would.
pub fn compiled(text: &str, backend: BackendKind, effort: Effort) -> Result<Shader, String> {
    let language = ShadingLanguage::new();
    let mut sources = SourceMap::new();
    let file = sources.add("bench.ssl", text);
    let options = CompileOptions { backend, effort, ..CompileOptions::new(language.globals(), language.closures()) };
    match compile(&sources, file, None, &options) {
        Ok((shader, _)) => Ok(shader),
        Err(d) => Err(ssl_compiler::diagnostics::render::text(&d, &sources, false)),
    }
}

/// A full block of points along a diagonal, each with its partials.
pub struct Points {
    rows: Vec<Row>,
    parameters: ParameterBlock,
    outputs: Vec<Row>,
}

impl Points {
    pub fn new(shader: &Shader) -> Points {
        let language = ShadingLanguage::new();
        let layout = language.globals();
        let mut rows = vec![Row::ZERO; layout.rows()];
        for field in layout.fields().iter().filter(|f| f.orders.count() > 1) {
            for c in 0..field.components() {
                let slope = [(Order::Value, 0.1), (Order::Ddx, 0.01), (Order::Ddy, 0.02)];
                for (order, step) in slope {
                    let Some(row) = field.row(c, order) else { continue };
                    rows[row] = Row(std::array::from_fn(|lane| step * (1 + lane + c) as f32));
                }
            }
        }
        Points {
            rows,
            parameters: ParameterBlock::new(shader.interface()),
            outputs: vec![Row::ZERO; shader.interface().output_rows],
        }
    }

    /// Runs the shader on all lanes.
    pub fn run(&mut self, shader: &Shader) {
        let status = shader.run(&mut Block {
            globals: &self.rows,
            parameters: &self.parameters,
            host: &NoTextures,
            outputs: &mut self.outputs,
            mask: (1 << LANES) - 1,
            fuel: DEFAULT_FUEL,
        });
        std::hint::black_box(status);
    }
}
