//! Fitting the Gaussian splats of `scenes/splats/splats.ssl` to a picture: by our kernels, and by `yardsticks/splats.c`.

use crate::yardstick::Yardstick;
use image::imageops::FilterType;
use kernels::launch::{Box2, TileLists, Tiles};
use kernels::optimise::{Correction, Group, Method, Optimiser};
use kernels::sums::Sums;
use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch, View};
use ssl_compiler::backend::OptLevel;
use ssl_compiler::{BackendKind, Compiler, GradientRequest, ShaderRequest, Target};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

const SOURCE: &str = include_str!("../../scenes/splats/splats.ssl");

/// Pixels of a tile's side, as the kernels and the yardstick have it.
const SIDE: u32 = 16;
/// Rows of pixels of a point of `miss`, as the kernels have it.
const ROWS: u32 = 4;
/// Floats of a blob.
const NUMBERS: usize = 9;
/// How far a step goes.
const RATE: f32 = 0.002;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// What is fitted to what.
pub struct Problem {
    /// Pixels.
    pub size: (u32, u32),
    /// Three floats a pixel, from 0 to 1, row by row.
    pub target: Vec<f32>,
    /// All first numbers of the blobs, then all second ones, from 0 to 1.
    pub start: Vec<f32>,
    /// How large blobs are: the covariance is in units of this.
    pub scale: f32,
}

impl Problem {
    /// The picture of a file, resampled to a size, and so many random blobs.
    ///
    /// # Errors
    /// The file is no picture.
    pub fn of_picture(file: &Path, size: (u32, u32), blobs: usize) -> Outcome<Problem> {
        let picture = image::open(file).map_err(|e| format!("{}: {e}", file.display()))?.into_rgb8();
        let picture = match picture.dimensions() == size {
            true => picture,
            false => image::imageops::resize(&picture, size.0, size.1, FilterType::Lanczos3),
        };
        let target = picture.as_raw().iter().map(|&byte| f32::from(byte) / 255.0).collect();
        let mut state = 1u64;
        let mut draw = || {
            // D. E. Knuth's MMIX.
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f32 / (1u64 << 24) as f32
        };
        // The scale that suits 512² pixels, and as many pixels of a blob for others.
        let scale = 1e-4 * (512.0 * 512.0) / (size.0 * size.1) as f32;
        Ok(Problem { size, target, start: (0..NUMBERS * blobs).map(|_| draw()).collect(), scale })
    }

    /// Starts with the floats of a file.
    ///
    /// # Errors
    /// The file cannot be read, or does not hold as many.
    pub fn starting_at(self, file: &Path) -> Outcome<Problem> {
        let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let (words, rest) = bytes.as_chunks();
        if words.len() != self.start.len() || !rest.is_empty() {
            return Err(format!("{} does not hold {} floats", file.display(), self.start.len()).into());
        }
        Ok(Problem { start: words.iter().map(|word| f32::from_le_bytes(*word)).collect(), ..self })
    }

    pub fn blobs(&self) -> usize {
        self.start.len() / NUMBERS
    }
}

/// The compiled kernels.
pub struct Kernels {
    compiler: Compiler,
    project: Kernel,
    bound: Kernel,
    miss: Kernel,
    back_miss: Kernel,
    back_project: Kernel,
}

impl Kernels {
    /// Those for pictures of a problem's size.
    ///
    /// # Errors
    /// The kernels do not compile.
    pub fn compile(backend: BackendKind, problem: &Problem) -> Outcome<Kernels> {
        let mut compiler = Compiler::new();
        // They run long enough to be worth all that the compiler can do.
        compiler.set_target(Target { backend, opt: OptLevel::O3, ..Target::default() });
        let file = compiler.add_source("splats.ssl", SOURCE);
        let program = compiler.program(file);
        let plain = |name: &str| -> Outcome<Kernel> { Ok(Kernel::new(program.compile(name)?)?) };
        let gradient = |name: &str, by: &str| -> Outcome<Kernel> {
            let request = ShaderRequest { gradient: Some(GradientRequest::of_all().by_buffers([by])), ..name.into() };
            Ok(Kernel::new(program.compile(request)?)?)
        };
        let (width, height) = (problem.size.0 as i32, problem.size.1 as i32);
        let sized = |kernel: Kernel| -> Outcome<Kernel> { Ok(kernel.with("width", width)?.with("height", height)?) };
        let scaled = |kernel: Kernel| -> Outcome<Kernel> { Ok(kernel.with("size", problem.scale)?) };
        Ok(Kernels {
            project: scaled(plain("project")?)?,
            bound: scaled(plain("bound")?.with("width", width as f32)?.with("height", height as f32)?)?,
            miss: sized(plain("miss")?)?,
            back_miss: sized(gradient("miss", "splats")?)?,
            back_project: scaled(gradient("project", "blobs")?)?,
            compiler,
        })
    }
}

/// The parts of a step, in their order.
pub const PARTS: [&str; 6] = [
    "blobs to splats and their bounds",
    "lists of the tiles",
    "the gradient of the loss by splats, with the blending",
    "sums to buffers",
    "the gradient by blobs",
    "Adam",
];

/// A fit on its way. Works on rayon's current pool.
pub struct Fit<'a> {
    kernels: &'a Kernels,
    size: (u32, u32),
    blobs: Buffer,
    splats: Buffer,
    bounds: Buffer,
    target: Buffer,
    /// The cotangent of the loss.
    one: Buffer,
    splat_gradient: Buffer,
    blob_gradient: Buffer,
    loss: Sums,
    splat_sums: Sums,
    blob_sums: Sums,
    lists: TileLists,
    boxes: Vec<Box2>,
    optimiser: Optimiser,
    launch: Launch,
    /// Milliseconds of each part of the steps so far.
    pub spent: [f64; PARTS.len()],
}

impl<'a> Fit<'a> {
    /// Before its first step.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new(kernels: &'a mut Kernels, problem: &Problem) -> Outcome<Fit<'a>> {
        let (count, nine) = (problem.blobs(), Element::floats(NUMBERS));
        let rows = |element: &Element, length| Buffer::new(element.clone(), Arrangement::Rows, length);
        let columns = || Buffer::new(nine.clone(), Arrangement::Columns, count);
        let mut blobs = columns()?;
        blobs.words_mut().iter_mut().zip(&problem.start).for_each(|(word, x)| *word = x.to_bits());
        let mut target = rows(&Element::floats(3), (problem.size.0 * problem.size.1) as usize)?;
        target.words_mut().iter_mut().zip(&problem.target).for_each(|(word, x)| *word = x.to_bits());
        // As the yardstick has it.
        let method = Method::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, correction: Correction::Constant };
        let optimiser = Optimiser::new(&mut kernels.compiler, method, &[Group::all(RATE)], &blobs)?;
        Ok(Fit {
            kernels,
            size: problem.size,
            splats: rows(&nine, count)?,
            bounds: rows(&Element::floats(4), count)?,
            target,
            one: Buffer::from_values(Arrangement::Rows, &[1.0f32])?,
            splat_gradient: rows(&nine, count)?,
            blob_gradient: columns()?,
            loss: Sums::new(&Element::floats(1), 1)?,
            splat_sums: Sums::new(&nine, count)?,
            blob_sums: Sums::new(&nine, count)?,
            lists: TileLists::default(),
            boxes: Vec::new(),
            optimiser,
            launch: Launch::new(),
            spent: [0.0; PARTS.len()],
            blobs,
        })
    }

    /// How near the picture is, in decibels.
    ///
    /// # Errors
    /// A launch fails.
    pub fn psnr(&mut self) -> Outcome<f64> {
        self.project()?;
        self.fill_lists()?;
        self.loss.clear();
        let points = self.points_of_miss();
        let [starts, boxes] = indices(&self.lists)?;
        let bindings = &mut [
            Binding::Read(self.splats.view()),
            Binding::Read(self.bounds.view()),
            Binding::Read(starts),
            Binding::Read(boxes),
            Binding::Read(self.target.view()),
            Binding::Add(&self.loss),
        ];
        run(&mut self.launch, &self.kernels.miss, points, bindings)?;
        Ok(-10.0 * (f64::from(self.loss.read(0, 0)) / 3.0).log10())
    }

    /// Takes a step.
    ///
    /// # Errors
    /// A launch fails, or a gradient is not finite.
    pub fn step(&mut self) -> Outcome {
        let mut clock = Instant::now();
        let mut lap = |spent: &mut f64| {
            *spent += clock.elapsed().as_secs_f64() * 1e3;
            clock = Instant::now();
        };
        self.project()?;
        lap(&mut self.spent[0]);
        self.fill_lists()?;
        lap(&mut self.spent[1]);
        self.splat_sums.clear();
        self.blob_sums.clear();
        lap(&mut self.spent[3]);
        self.sweep_loss()?;
        lap(&mut self.spent[2]);
        self.splat_sums.write(self.splat_gradient.view_mut())?;
        lap(&mut self.spent[3]);
        self.sweep_projection()?;
        lap(&mut self.spent[4]);
        self.blob_sums.write(self.blob_gradient.view_mut())?;
        lap(&mut self.spent[3]);
        let step = self.optimiser.step(&mut self.blobs, &self.blob_gradient, &Control::default())?;
        lap(&mut self.spent[5]);
        if step.not_finite > 0 {
            return Err(format!("{} numbers of the gradient are not finite", step.not_finite).into());
        }
        Ok(())
    }

    fn points_of_miss(&self) -> Grid {
        Grid::plane(self.size.0, self.size.1.div_ceil(ROWS))
    }

    fn project(&mut self) -> Outcome {
        let line = Grid::line(self.blobs.len() as u32);
        let bindings = &mut [Binding::Read(self.blobs.view()), Binding::Write(self.splats.view_mut())];
        run(&mut self.launch, &self.kernels.project, line, bindings)?;
        let bindings = &mut [Binding::Read(self.blobs.view()), Binding::Write(self.bounds.view_mut())];
        run(&mut self.launch, &self.kernels.bound, line, bindings)
    }

    fn fill_lists(&mut self) -> Outcome {
        let bounds = self.bounds.values::<[f32; 4]>()?;
        self.boxes.clear();
        self.boxes.extend(bounds.iter().map(|&[x0, y0, x1, y1]| Box2 { min: [x0, y0], max: [x1, y1] }));
        Ok(self.lists.fill(Tiles::covering(self.size.0, self.size.1, SIDE), &self.boxes)?)
    }

    fn sweep_loss(&mut self) -> Outcome {
        let points = self.points_of_miss();
        let [starts, boxes] = indices(&self.lists)?;
        let bindings = &mut [
            Binding::Read(self.splats.view()),
            Binding::Read(self.bounds.view()),
            Binding::Read(starts),
            Binding::Read(boxes),
            Binding::Read(self.target.view()),
            Binding::Read(self.one.view()),
            Binding::Add(&self.splat_sums),
        ];
        run(&mut self.launch, &self.kernels.back_miss, points, bindings)
    }

    fn sweep_projection(&mut self) -> Outcome {
        let bindings = &mut [
            Binding::Read(self.blobs.view()),
            Binding::Read(self.splat_gradient.view()),
            Binding::Add(&self.blob_sums),
        ];
        run(&mut self.launch, &self.kernels.back_project, Grid::line(self.blobs.len() as u32), bindings)
    }
}

/// Where the lists begin, and the lists.
fn indices(lists: &TileLists) -> Outcome<[View<'_>; 2]> {
    let of = |list| Ok::<_, Box<dyn Error>>(View::of_host(list, &Element::int(), Arrangement::Rows, list.len(), 1)?);
    Ok([of(&lists.starts)?, of(&lists.boxes)?])
}

/// Runs a kernel, and is not content with less than all of it.
fn run(launch: &mut Launch, kernel: &Kernel, grid: Grid, bindings: &mut [Binding<'_>]) -> Outcome {
    let status = launch.run(kernel, grid, bindings, &Control::default())?;
    match status.is_clean() {
        true => Ok(()),
        false => Err(format!("{} did not run in full: {status:?}", kernel.name()).into()),
    }
}

/// What the yardstick measured.
pub struct ByHand {
    /// Steps, and decibels before them.
    pub psnr: Vec<(usize, f64)>,
    /// Milliseconds a step.
    pub step: f64,
}

/// Fits by hand. The folder is for the files that the program reads.
///
/// # Errors
/// The folder cannot be written, or the program fails.
pub fn by_hand(yardstick: &Yardstick, problem: &Problem, steps: usize, folder: &Path) -> Outcome<ByHand> {
    let save = |name: &str, floats: &[f32]| -> Outcome<String> {
        let path = folder.join(name);
        let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_ne_bytes()).collect();
        std::fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path.display().to_string())
    };
    let (target, start) = (save("target", &problem.target)?, save("start", &problem.start)?);
    let (width, height) = problem.size;
    let numbers = [problem.blobs().to_string(), steps.to_string(), width.to_string(), height.to_string()];
    let text = yardstick.run(numbers.into_iter().chain([problem.scale.to_string(), target, start]))?;
    let mut found = ByHand { psnr: Vec::new(), step: f64::NAN };
    for line in text.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["psnr", step, decibels] => found.psnr.push((step.parse()?, decibels.parse()?)),
            ["ms", all, ..] => found.step = all.parse()?,
            _ => return Err(format!("the yardstick printed {line:?}").into()),
        }
    }
    Ok(found)
}
