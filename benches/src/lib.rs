//! What the benches share: the shaders of the derivative-cost table, and a block to run them on.
//!
//! The table's shaders come from a generator outside this project. Benches look for it at `$SSL_TABLE_SHADERS`, then
//! beside the checkout, and are skipped if it is not there.

mod call_heavy;
pub mod mip_scene;
pub mod process;
pub mod shapes;
pub mod splats;
pub mod swaps;
pub mod yardstick;

pub use call_heavy::{CallHeavy, call_heavy, materials};
use renderer::material::ShadingLanguage;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::{Block, LANES, Order, ParameterBlock, Row};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{CompileOptions, Shader, Target, compile};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

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

/// A program in two forms: nobody asks for derivatives, and its result is asked for them.
pub struct Program {
    pub name: &'static str,
    plain: String,
    derived: String,
    /// Both forms are in one file, by these names.
    entries: Option<[&'static str; 2]>,
}

impl Program {
    /// Those of the table, where its generator is, and those of this crate.
    pub fn all() -> Vec<Program> {
        let mut all = Vec::new();
        for kind in KINDS {
            match (table_source(kind, "none"), table_source(kind, "ddx")) {
                (Ok(plain), Ok(derived)) => all.push(Program { name: kind, plain, derived, entries: None }),
                (Err(reason), _) | (_, Err(reason)) => {
                    println!("{reason}\n");
                    break;
                }
            }
        }
        let own = [
            ("practical", include_str!("../shaders/practical.ssl")),
            ("noise", include_str!("../shaders/noise.ssl")),
            ("branches", include_str!("../shaders/branches.ssl")),
            ("calls", include_str!("../shaders/calls.ssl")),
            ("textures", include_str!("../shaders/textures.ssl")),
            ("loops", include_str!("../shaders/loops.ssl")),
        ];
        all.extend(own.map(|(name, text)| Program {
            name,
            plain: text.to_owned(),
            derived: text.to_owned(),
            entries: Some(["plain", "derived"]),
        }));
        all
    }

    /// Compiles the form without derivatives, or the one with them.
    pub fn compile(&self, derived: bool, target: Target) -> Result<Shader, String> {
        self.compile_with(derived, target, Options::default())
    }

    /// Likewise, with passes of one's own.
    pub fn compile_with(&self, derived: bool, target: Target, passes: Options) -> Result<Shader, String> {
        let text = if derived { &self.derived } else { &self.plain };
        compiled_entry(text, self.entries.map(|e| e[usize::from(derived)]), target, passes)
    }
}

/// Compiles a source as the renderer would.
pub fn compiled(text: &str, target: Target) -> Result<Shader, String> {
    compiled_entry(text, None, target, Options::default())
}

/// One shader of a text that has several.
pub fn compiled_entry(text: &str, entry: Option<&str>, target: Target, passes: Options) -> Result<Shader, String> {
    let language = ShadingLanguage::new();
    let mut sources = SourceMap::new();
    let file = sources.add("bench.ssl", text);
    let options = CompileOptions { target, passes, ..CompileOptions::new(language.globals(), language.closures()) };
    match compile(&mut sources, file, entry, &options) {
        Ok((shader, _)) => Ok(shader),
        Err(d) => Err(ssl_compiler::diagnostics::render::text(&d, &sources, false)),
    }
}

/// How often what is compared is measured; the least counts.
pub const ROUNDS: usize = 9;

/// Nanoseconds a point of each shader, measured by turns on the same block.
pub fn in_turn(shaders: &[Shader]) -> Vec<f64> {
    let mut points: Vec<[Points; 1]> = shaders.iter().map(|s| [Points::new(s)]).collect();
    let mut points: Vec<&mut [Points]> = points.iter_mut().map(|p| &mut p[..]).collect();
    in_turn_on(shaders, &mut points)
}

/// The same on the blocks given for each shader, run through one after the other.
pub fn in_turn_on(shaders: &[Shader], points: &mut [&mut [Points]]) -> Vec<f64> {
    let mut best = vec![f64::MAX; shaders.len()];
    let mut runs = vec![0u32; shaders.len()];
    let all = |shader: &Shader, points: &mut [Points]| points.iter_mut().for_each(|p| p.run(shader));
    for (i, shader) in shaders.iter().enumerate() {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            all(shader, points[i]);
            runs[i] += 1;
        }
    }
    for _ in 0..ROUNDS {
        for (i, shader) in shaders.iter().enumerate() {
            let start = Instant::now();
            (0..runs[i]).for_each(|_| all(shader, points[i]));
            let count = f64::from(runs[i]) * (LANES * points[i].len()) as f64;
            best[i] = best[i].min(start.elapsed().as_nanos() as f64 / count);
        }
    }
    best
}

/// A full block of points along a diagonal, each with its partials.
pub struct Points {
    rows: Vec<Row>,
    parameters: ParameterBlock,
    outputs: Vec<Row>,
}

impl Points {
    /// Points strewn over `uvw` from −20 to 20, a unit a pixel apart.
    pub fn strewn(shader: &Shader, seed: u32) -> Points {
        let mut points = Points::new(shader);
        let language = ShadingLanguage::new();
        let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
        for field in language.globals().fields().iter().filter(|f| f.name == "uvw") {
            for row in (0..field.components()).filter_map(|c| field.row(c, Order::Value)) {
                points.rows[row] = Row(std::array::from_fn(|_| {
                    // Xorshift (G. Marsaglia, 2003).
                    state ^= state << 13;
                    state ^= state >> 17;
                    state ^= state << 5;
                    state as f32 * (40.0 / 4_294_967_296.0) - 20.0
                }));
            }
        }
        points
    }

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
        let status = shader.run(&mut Block { ..Block::new(&self.rows, &self.parameters, &mut self.outputs) });
        std::hint::black_box(status);
    }
}
