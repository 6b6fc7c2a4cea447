//! The soft shapes of `benches/shaders/gradients/shapes.ssl` and their gradient: by our kernels, and by `yardsticks/shapes.c`.

use crate::process::processor_milliseconds;
use crate::yardstick::Yardstick;
use kernels::sums::Sums;
use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch};
use ssl_compiler::backend::OptLevel;
use ssl_compiler::{BackendKind, Compiler, GradientRequest, Program, ShaderRequest, Target};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

const SOURCE: &str = include_str!("../shaders/gradients/shapes.ssl");

/// Floats of a shape.
pub const NUMBERS: usize = 7;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Shapes, and how much each pixel counts.
pub struct Problem {
    pub width: u32,
    /// Center, extent and tint of each shape.
    pub numbers: Vec<[f32; NUMBERS]>,
    /// Of each pixel, row by row.
    pub cotangent: Vec<[f32; 3]>,
}

impl Problem {
    /// Random ones, always the same.
    pub fn random(width: u32, shapes: usize) -> Problem {
        let mut state = 7u64;
        let mut draw = || {
            // D. E. Knuth's MMIX.
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f32 / (1u64 << 24) as f32
        };
        let mut shape = || {
            let mut numbers: [f32; NUMBERS] = std::array::from_fn(|_| draw());
            numbers[2..4].iter_mut().for_each(|extent| *extent = 0.02 + 0.1 * *extent);
            numbers
        };
        let numbers = (0..shapes).map(|_| shape()).collect();
        let cotangent = (0..width * width).map(|_| std::array::from_fn(|_| draw())).collect();
        Problem { width, numbers, cotangent }
    }
}

/// How a kernel chooses what to compute for a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A method of a value of an interface.
    Method,
    /// An `if` that the author wrote.
    Branch,
}

/// The kernels of a choice, with what they work on. Works on rayon's current pool.
pub struct Shapes {
    draw: Kernel,
    sweep: Kernel,
    grid: Grid,
    shapes: Buffer,
    image: Buffer,
    cotangent: Buffer,
    sums: Sums,
    launch: Launch,
    choice: Choice,
}

impl Shapes {
    /// Those for a problem.
    ///
    /// # Errors
    /// The kernels do not compile, or there is no memory.
    pub fn new(backend: BackendKind, choice: Choice, problem: &Problem) -> Outcome<Shapes> {
        let mut compiler = Compiler::new();
        compiler.set_target(Target { backend, opt: OptLevel::O3, ..Target::default() });
        let file = compiler.add_source("shapes.ssl", SOURCE);
        let program = compiler.program(file);
        let name = match choice {
            Choice::Method => "draw_values",
            Choice::Branch => "draw_by_kind",
        };
        let width = problem.width as i32;
        let request = ShaderRequest { gradient: Some(GradientRequest::of_all().by_buffers(["shapes"])), ..name.into() };
        let draw = Kernel::new(program.compile(name)?)?.with("width", width)?;
        let sweep = Kernel::new(program.compile(request)?)?.with("width", width)?;
        let numbers = Buffer::from_values(Arrangement::Rows, &problem.numbers)?;
        let shapes = match choice {
            Choice::Method => made(&program, &numbers)?,
            Choice::Branch => numbers,
        };
        Ok(Shapes {
            grid: Grid::plane(problem.width, problem.width),
            image: Buffer::new(Element::floats(3), Arrangement::Rows, problem.cotangent.len())?,
            cotangent: Buffer::from_values(Arrangement::Rows, &problem.cotangent)?,
            sums: Sums::new(&Element::floats(shapes.element().len()), shapes.len())?,
            launch: Launch::new(),
            draw,
            sweep,
            shapes,
            choice,
        })
    }

    /// Draws the shapes.
    ///
    /// # Errors
    /// The launch fails.
    pub fn draw(&mut self) -> Outcome {
        let bindings = &mut [Binding::Read(self.shapes.view()), Binding::Write(self.image.view_mut())];
        run(&mut self.launch, &self.draw, self.grid, bindings)
    }

    /// Takes the gradient.
    ///
    /// # Errors
    /// The launch fails.
    pub fn sweep(&mut self) -> Outcome {
        self.sums.clear();
        let bindings =
            &mut [Binding::Read(self.shapes.view()), Binding::Read(self.cotangent.view()), Binding::Add(&self.sums)];
        run(&mut self.launch, &self.sweep, self.grid, bindings)
    }

    /// The sum of the picture, weighted by the cotangent, and the gradient of this sum.
    ///
    /// # Errors
    /// A launch fails.
    pub fn found(&mut self) -> Outcome<Found> {
        self.draw()?;
        self.sweep()?;
        let (image, weights) = (self.image.values::<[f32; 3]>()?, self.cotangent.values::<[f32; 3]>()?);
        let pairs = image.as_flattened().iter().zip(weights.as_flattened());
        let sum = pairs.map(|(x, weight)| f64::from(*x) * f64::from(*weight)).sum();
        let gradient = (0..self.shapes.len()).map(|i| self.gradient(i)).collect();
        Ok(Found { sum, gradient })
    }

    /// The gradient by a shape, as the yardstick orders its numbers.
    fn gradient(&self, shape: usize) -> [f32; NUMBERS] {
        // A value's first word is the number of its implementation, and a disk has no height.
        let places = match (self.choice, shape % 2) {
            (Choice::Branch, _) => [Some(0), Some(1), Some(2), Some(3), Some(4), Some(5), Some(6)],
            (Choice::Method, 0) => [Some(1), Some(2), Some(3), None, Some(4), Some(5), Some(6)],
            (Choice::Method, _) => [Some(1), Some(2), Some(3), Some(4), Some(5), Some(6), Some(7)],
        };
        places.map(|place| place.map_or(0.0, |place| self.sums.read(shape, place)))
    }
}

/// Values of the interface of these numbers.
fn made(program: &Program, numbers: &Buffer) -> Outcome<Buffer> {
    let make = Kernel::new(program.compile("make")?)?;
    let element = Element::of_parameter(&make.shader().interface().buffers[1]);
    let mut shapes = Buffer::new(element, Arrangement::Rows, numbers.len())?;
    let bindings = &mut [Binding::Read(numbers.view()), Binding::Write(shapes.view_mut())];
    run(&mut Launch::new(), &make, Grid::line(numbers.len() as u32), bindings)?;
    Ok(shapes)
}

/// Runs a kernel, and is not content with less than all of it.
fn run(launch: &mut Launch, kernel: &Kernel, grid: Grid, bindings: &mut [Binding<'_>]) -> Outcome {
    let status = launch.run(kernel, grid, bindings, &Control::default())?;
    match status.is_clean() {
        true => Ok(()),
        false => Err(format!("{} did not run in full: {status:?}", kernel.name()).into()),
    }
}

/// Nanoseconds of the processor that something takes, as other work does not count in it; of the clock where the system does
/// not tell.
///
/// # Errors
/// Those of what runs.
pub fn nanoseconds(what: impl FnOnce() -> Outcome) -> Outcome<f64> {
    let (start, spent) = (Instant::now(), processor_milliseconds());
    what()?;
    let spent = spent.zip(processor_milliseconds()).map(|(before, after)| after - before);
    Ok(1e6 * spent.unwrap_or(start.elapsed().as_secs_f64() * 1e3))
}

/// What a program finds.
pub struct Found {
    pub sum: f64,
    pub gradient: Vec<[f32; NUMBERS]>,
}

/// What the yardstick finds, and the nanoseconds a pixel and shape of its picture and of its gradient. The folder is for the
/// files that the program reads.
///
/// # Errors
/// The folder cannot be written, or the program fails.
pub fn by_hand(yardstick: &Yardstick, problem: &Problem, folder: &Path) -> Outcome<(Found, [f64; 2])> {
    let save = |name: &str, floats: &[f32]| -> Outcome<String> {
        let path = folder.join(name);
        let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_ne_bytes()).collect();
        std::fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path.display().to_string())
    };
    let numbers = save("numbers", problem.numbers.as_flattened())?;
    let cotangent = save("cotangent", problem.cotangent.as_flattened())?;
    let text = yardstick.run([problem.numbers.len().to_string(), problem.width.to_string(), numbers, cotangent])?;
    let (mut found, mut times) = (Found { sum: f64::NAN, gradient: Vec::new() }, [f64::NAN; 2]);
    for line in text.lines() {
        let unexpected = || format!("the yardstick printed {line:?}");
        let (word, rest) = line.split_once(' ').ok_or_else(unexpected)?;
        let values = rest.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        match (word, &values[..]) {
            ("ns", &[draw, sweep]) => times = [draw, sweep],
            ("sum", &[sum]) => found.sum = sum,
            ("gradient", values) if values.len() == NUMBERS => {
                found.gradient.push(std::array::from_fn(|k| values[k] as f32));
            }
            _ => return Err(unexpected().into()),
        }
    }
    Ok((found, times))
}
