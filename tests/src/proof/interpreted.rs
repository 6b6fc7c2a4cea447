//! Programs in the f64 interpreter: differentiated IR, made for f64, run at a point.

use super::{Judged, refused};
use crate::Host;
use crate::generate::{GLOBALS, Random};
use crate::oracle::World;
use ssl_compiler::interp::{Cell, Inputs, Outcome, Program};
use ssl_compiler::ir::Precision;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{GlobalsLayout, HostServices, Order, Orders, ShaderInterface, TextureRequest};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::TestTexture;
use ssl_compiler::types::{Type, VectorKind};
use ssl_compiler::{CompileOptions, check, lower_checked};
use std::sync::Mutex;

/// A point in the space of the globals, and the direction in which each moves with the pixel.
#[derive(Clone, Debug)]
pub struct Point {
    /// Value, ∂x, ∂y, ∂xx, ∂xy, ∂yy of `ga`, `gb` and `gc`.
    pub floats: [[f64; 6]; 3],
    pub int: i32,
}

impl Point {
    /// Numbers of moderate size, as floats hold them; every third program gets whole ones, where ties are.
    pub fn draw(random: &mut Random) -> Point {
        let whole = random.chance(15);
        let mut number = |range: f64| {
            let x = f64::from((random.below(4_000_001) as f32 - 2_000_000.0) / 2_000_000.0) * range;
            f64::from(if whole { (2.0 * x).round() / 2.0 } else { x } as f32)
        };
        let mut one = || [number(1.5), number(1.0), number(1.0), number(0.5), number(0.5), number(0.5)];
        let floats = [one(), one(), one()];
        Point { floats, int: [0, 1, 2, 3, 7, -1, i32::MAX, i32::MIN][random.below(8)] }
    }

    /// Moved by t along x (0) or y (1), on the parabola that the partials describe.
    pub fn moved(&self, direction: usize, t: f64) -> Point {
        let along = |&[v, x, y, xx, xy, yy]: &[f64; 6]| match direction {
            0 => [v + t * x + t * t / 2.0 * xx, x + t * xx, y + t * xy, xx, xy, yy],
            _ => [v + t * y + t * t / 2.0 * yy, x + t * xy, y + t * yy, xx, xy, yy],
        };
        Point { floats: self.floats.each_ref().map(along), int: self.int }
    }

    pub fn world<'a>(
        &self,
        texture: &'a crate::oracle::Texture<'a>,
        single_coordinates: bool,
        steps: u32,
    ) -> World<'a> {
        let one = ["ga", "gb", "gc"].into_iter().zip(self.floats.map(|seeds| vec![seeds]));
        let three = LIBRARY_GLOBALS.map(|(name, _, order)| (name, order.map(|i| self.floats[i]).to_vec()));
        World {
            floats: one.chain(three).map(|(name, seeds)| (name.to_owned(), seeds)).collect(),
            rounded_globals: !single_coordinates,
            steps,
            ints: [("gi".to_owned(), self.int)].into(),
            texture,
            single_coordinates,
        }
    }
}

impl Inputs<f64> for Point {
    fn global(&self, field: usize, component: usize, order: Order) -> f64 {
        let library = field.checked_sub(NUMBERS).map(|i| LIBRARY_GLOBALS[i].2[component]);
        let which = library.unwrap_or(field);
        self.floats[which][order as usize]
    }

    fn global_bits(&self, _: usize, _: usize) -> u32 {
        self.int as u32
    }

    fn parameter(&self, _: usize) -> u32 {
        0
    }
}

/// The first fields: `ga`, `gb`, `gc` and `gi`.
const NUMBERS: usize = 4;

/// The globals that the library reads, the fields behind those. Each component is one of the first three numbers.
const LIBRARY_GLOBALS: [(&str, VectorKind, [usize; 3]); 4] = [
    ("position", VectorKind::Point, [0, 1, 2]),
    ("normal", VectorKind::Normal, [1, 2, 0]),
    ("tangent", VectorKind::Vector, [2, 0, 1]),
    ("bitangent", VectorKind::Vector, [2, 1, 0]),
];

/// The globals of generated programs and of the library, kept by the host with their second partials.
pub fn host() -> Host {
    host_with(Orders::Second)
}

/// The same, kept with as many partials.
pub fn host_with(orders: Orders) -> Host {
    let mut globals = GlobalsLayout::new();
    let numbers: [_; NUMBERS] = [("ga", Type::Float), ("gb", Type::Float), ("gc", Type::Float), ("gi", Type::Int)];
    let library = LIBRARY_GLOBALS.map(|(name, kind, _)| (name, Type::Vector(kind)));
    for (name, ty) in numbers.into_iter().chain(library) {
        // The names differ.
        globals.add(name, ty, orders).expect("a new global");
    }
    Host { globals, ..Host::default() }
}

/// A generated program without its own globals.
pub fn without_globals(source: &str) -> String {
    source.replacen(GLOBALS, "", 1)
}

/// One program's differentiated code.
pub struct Compiled {
    pub program: Program,
    pub interface: ShaderInterface,
    pub optimised: bool,
}

/// A program as it was differentiated, and as it was optimised afterwards. `Err` says what its refusal comes to.
pub fn compile(host: &Host, source: &str) -> Result<Vec<Compiled>, Judged> {
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let options = |optimise: bool| CompileOptions {
        passes: Options { optimise, precision: Precision::Double, ..Options::default() },
        externals: &host.externals,
        ..CompileOptions::new(&host.globals, &host.closures)
    };
    let (checked, diagnostics) = check(&mut sources, file, &options(true));
    if diagnostics.has_errors() {
        return Err(refused(&diagnostics));
    }
    let lower = |optimise: bool| {
        let lowered = lower_checked(&checked, file, None, &options(optimise), &mut |_, _| {});
        let (module, interface) = lowered.map_err(|d| refused(&d))?;
        Ok(Compiled { program: Program::new(module), interface, optimised: optimise })
    };
    [false, true].into_iter().map(lower).collect()
}

/// What a look-up was told: u, v, ∂u/∂x, ∂u/∂y, ∂v/∂x, ∂v/∂y.
pub type Footprint = [f32; 6];

/// The texture of tests, remembering who asked.
#[derive(Default)]
pub struct Listening {
    footprints: Mutex<Vec<Footprint>>,
}

impl HostServices for Listening {
    fn texture(&self, request: &mut TextureRequest) {
        for lane in request.lanes() {
            let rows = [&request.u, &request.v, &request.dudx, &request.dudy, &request.dvdx, &request.dvdy];
            // Nobody panics while holding the lock.
            let mut list = self.footprints.lock().expect("the lock is sound");
            list.push(rows.map(|row| row.0[lane]));
        }
        TestTexture.texture(request);
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        TestTexture.texture_size(texture)
    }
}

/// The texture of tests as a function of two numbers.
pub fn test_texture(u: f64, v: f64) -> ([f64; 4], [[f64; 4]; 2]) {
    let mut request = TextureRequest { mask: 1, wants_gradient: 1, ..TextureRequest::new() };
    (request.u.0[0], request.v.0[0]) = (u as f32, v as f32);
    TestTexture.texture(&mut request);
    let slope = |by: usize| std::array::from_fn(|i| f64::from(request.gradient[4 * by + i].0[0]));
    (std::array::from_fn(|i| f64::from(request.result[i].0[0])), [slope(0), slope(1)])
}

impl Compiled {
    pub fn run(&self, point: &Point) -> (Outcome<f64>, Vec<Footprint>) {
        let host = Listening::default();
        let outcome = self.program.run::<f64>(point, &host, DEFAULT_FUEL);
        let footprints = host.footprints.into_inner().unwrap_or_default();
        (outcome, footprints)
    }

    /// The scalars of an output, in order.
    pub fn output<'o>(&self, outcome: &'o Outcome<f64>, name: &str) -> Option<&'o [Cell<f64>]> {
        let found = self.interface.outputs.iter().find(|o| o.name == name)?;
        outcome.results.get(found.first_row..found.first_row + found.scalars.len())
    }
}
