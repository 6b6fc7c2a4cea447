//! Optimisers: kernels of the language that move the floats of a buffer against their gradient.

mod eigen;
pub mod review;
mod settings;
mod state;

pub use settings::{Correction, Group, Method, Schedule, Shape};

use crate::buffer::{Arrangement, Buffer, BufferError, Element};
use crate::kernel::{Binding, Control, Grid, Kernel, KernelError, Launch, LaunchError, Status};
use crate::sums::Sums;
use ssl_compiler::{CompileError, Compiler, ParameterError};
use std::fmt;

/// The kernels in the language.
const SOURCE: &str = include_str!("../../ssl/optimisers.ssl");

/// Fits the floats of one buffer.
///
/// ```
/// use kernels::optimise::{Group, Method, Optimiser};
/// use kernels::{Arrangement, Buffer, Control};
/// use ssl_compiler::Compiler;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut x = Buffer::from_values(Arrangement::Columns, &[0.0f32, 10.0])?;
/// let mut gradient = Buffer::from_values(Arrangement::Columns, &[0.0f32; 2])?;
/// let method = Method::adam();
/// let mut optimiser = Optimiser::new(&mut Compiler::new(), method, &[Group::all(0.1)], &x)?;
/// for _ in 0..300 {
///     // Of (x − 3)².
///     let slopes: Vec<f32> = x.values::<f32>()?.iter().map(|x| 2.0 * (x - 3.0)).collect();
///     gradient.set_values(&slopes)?;
///     optimiser.step(&mut x, &gradient, &Control::default())?;
/// }
/// assert!(x.values::<f32>()?.iter().all(|x| (x - 3.0).abs() < 0.01));
/// # Ok(())
/// # }
/// ```
pub struct Optimiser {
    method: Method,
    schedule: Schedule,
    /// By column of the fitted buffer.
    settings: Buffer,
    element: Element,
    arrangement: Arrangement,
    steps: u64,
    raw: Buffer,
    /// One moment or two.
    moments: Vec<Buffer>,
    kernel: Kernel,
    left_out: Sums,
    launch: Launch,
}

impl Optimiser {
    /// An optimiser for a buffer of floats. Later groups win over earlier ones where they name the same column; a column in no
    /// group stays as it is. The buffer's values are where the fit starts.
    ///
    /// # Errors
    /// The buffer does not hold floats, a group names a column that there is not, or a setting makes no sense.
    pub fn new(
        compiler: &mut Compiler,
        method: Method,
        groups: &[Group],
        fitted: &Buffer,
    ) -> Result<Optimiser, OptimiseError> {
        method.check()?;
        let settings = settings::by_column(groups, fitted.element())?;
        let settings = Buffer::from_values(Arrangement::Rows, &settings)?;
        let file = compiler.add_source("optimisers.ssl", SOURCE);
        let mut kernel = |name| Ok::<_, OptimiseError>(Kernel::new(compiler.compile(file, name)?)?);
        let (mut start, mut kernel) = (kernel("start")?, kernel(method.kernel())?);
        let length = fitted.flat()?.len();
        let [along, across] = match fitted.arrangement() {
            Arrangement::Rows => [1, fitted.element().len()],
            Arrangement::Columns => [fitted.len().max(1), fitted.element().len()],
        };
        for kernel in [&mut start, &mut kernel] {
            // Both are below 2³¹, as the buffer is.
            kernel.set("along", along as i32)?;
            kernel.set("across", across as i32)?;
        }
        let floats = || Buffer::new(Element::floats(1), Arrangement::Columns, length);
        let mut raw = floats()?;
        let mut launch = Launch::new();
        let bindings =
            &mut [Binding::Read(settings.view()), Binding::Read(fitted.flat()?), Binding::Write(raw.view_mut())];
        launch.run(&start, Grid::line(length as u32), bindings, &Control::default())?;
        Ok(Optimiser {
            schedule: Schedule::Constant,
            settings,
            element: fitted.element().clone(),
            arrangement: fitted.arrangement(),
            steps: 0,
            raw,
            moments: (0..method.moments()).map(|_| floats()).collect::<Result<_, _>>()?,
            kernel,
            left_out: Sums::new(&Element::int(), 1)?,
            launch,
            method,
        })
    }

    /// The same by a compiler of its own.
    ///
    /// # Errors
    /// As [`Optimiser::new`].
    pub fn alone(method: Method, groups: &[Group], fitted: &Buffer) -> Result<Optimiser, OptimiseError> {
        Optimiser::new(&mut Compiler::new(), method, groups, fitted)
    }

    /// Changes the rates of all groups with the step.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.schedule = schedule;
    }

    /// The steps that were taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// By column of the fitted buffer the rate, and the bounds of the values.
    pub fn columns(&self) -> Vec<(f32, [f32; 2])> {
        // The settings were made from such values.
        let settings = self.settings.values::<settings::Setting>().unwrap_or_default();
        settings.into_iter().map(|(rate, _, _, low, high)| (rate, [low, high])).collect()
    }

    /// The bytes that the state takes.
    pub fn bytes(&self) -> usize {
        let buffers = [&self.settings, &self.raw].into_iter().chain(&self.moments);
        buffers.map(|buffer| 4 * buffer.words().len()).sum()
    }

    /// Takes a step: changes the fitted values by their gradient. What a value was before does not count, only the
    /// optimiser's state. Floats whose gradient is not finite stay as they are.
    ///
    /// # Errors
    /// A buffer has another type, arrangement or length than the one for which the optimiser was made, or the host
    /// cancelled the step; then the state is of no use.
    pub fn step(
        &mut self,
        fitted: &mut Buffer,
        gradient: &Buffer,
        control: &Control<'_>,
    ) -> Result<Step, OptimiseError> {
        for buffer in [&*fitted, gradient] {
            if buffer.element() != &self.element || buffer.arrangement() != self.arrangement {
                let name = |element: &Element, arrangement| format!("{arrangement} of {element}");
                let wanted = name(&self.element, self.arrangement);
                let found = name(buffer.element(), buffer.arrangement());
                return Err(BufferError::Type { wanted, found }.into());
            }
            let (wanted, found) = (self.raw.len(), buffer.words().len());
            if wanted != found {
                return Err(BufferError::Length { wanted, found }.into());
            }
        }
        self.steps += 1;
        let rate = self.schedule.factor(self.steps - 1);
        self.kernel.set("scale", rate as f32)?;
        for (name, value) in self.method.parameters(self.steps) {
            self.kernel.set(name, value)?;
        }
        self.left_out.clear();
        let mut bindings = vec![Binding::Read(self.settings.view()), Binding::Read(gradient.flat()?)];
        bindings.push(Binding::Write(self.raw.view_mut()));
        bindings.extend(self.moments.iter_mut().map(|moment| Binding::Write(moment.view_mut())));
        bindings.extend([Binding::Write(fitted.flat_mut()?), Binding::Add(&self.left_out)]);
        let grid = Grid::line(gradient.words().len() as u32);
        let status = self.launch.run(&self.kernel, grid, &mut bindings, control)?;
        drop(bindings);
        Ok(Step { status, rate, not_finite: self.left_out.read_int(0, 0) as u64 })
    }
}

/// What a step reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// What its launch reports.
    pub status: Status,
    /// What the schedule gave: all rates were multiplied by it.
    pub rate: f64,
    /// Floats whose gradient was not finite, or too large to be squared. They stayed as they were.
    pub not_finite: u64,
}

/// Why an optimiser cannot be made, resumed, or take a step.
#[derive(Debug)]
pub enum OptimiseError {
    /// A buffer does not suit it.
    Buffer(BufferError),
    /// A setting makes no sense.
    Setting(String),
    /// A launch failed, or was cancelled.
    Launch(LaunchError),
    /// A saved state is of another optimiser, or damaged.
    State(String),
    /// A kernel of this crate was refused, which is a fault of it.
    Kernel(String),
}

impl fmt::Display for OptimiseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptimiseError::Buffer(error) => error.fmt(f),
            OptimiseError::Launch(error) => error.fmt(f),
            OptimiseError::Setting(text) | OptimiseError::State(text) | OptimiseError::Kernel(text) => {
                f.write_str(text)
            }
        }
    }
}

impl std::error::Error for OptimiseError {}

impl From<BufferError> for OptimiseError {
    fn from(error: BufferError) -> Self {
        OptimiseError::Buffer(error)
    }
}

impl From<LaunchError> for OptimiseError {
    fn from(error: LaunchError) -> Self {
        OptimiseError::Launch(error)
    }
}

macro_rules! kernel_faults {
    ($($error:ty)*) => {
        $(impl From<$error> for OptimiseError {
            fn from(error: $error) -> Self {
                OptimiseError::Kernel(error.to_string())
            }
        })*
    };
}

kernel_faults!(CompileError KernelError ParameterError);
