//! Buffers as compiled code sees them: checked against what the kernel takes, then places in memory.

use super::ports::Place;
use super::{Kernel, LaunchError, Port, Reach};
use crate::buffer::{Element, Layout, View, ViewMut};
use crate::sums::Sums;
use smallvec::SmallVec;
use ssl_compiler::runtime::{BufferRole, Column, Row};
use std::ops::Range;

/// What a host gives a kernel for one of its buffers.
pub enum Binding<'a> {
    /// For `in` buffers.
    Read(View<'a>),
    /// For `out` and `inout` buffers, whose length is the number of points.
    Write(ViewMut<'a>),
    /// For `add` buffers. What the sums hold already stays.
    Add(&'a Sums),
    /// For `in` buffers of which each point reads its own element alone: what an earlier kernel of the same launch writes.
    Made {
        /// The number of that kernel in the launch.
        member: usize,
        /// The place of the buffer among its ports.
        port: usize,
    },
}

impl Binding<'_> {
    /// `None` for what is not among the earlier kernels of the launch.
    fn element<'b>(&'b self, earlier: &'b [Bound<'_>]) -> Option<&'b Element> {
        match self {
            Binding::Read(view) => Some(view.element()),
            Binding::Write(view) => Some(view.element()),
            Binding::Add(sums) => Some(sums.element()),
            Binding::Made { member, port } => {
                let made = earlier.get(*member)?;
                made.written.iter().any(|written| written.port == *port).then(|| &made.kernel.ports()[*port].element)
            }
        }
    }

    fn verb(&self) -> &'static str {
        match self {
            Binding::Read(_) => "read",
            Binding::Write(_) => "written",
            Binding::Add(_) => "added to",
            Binding::Made { .. } => "read from an earlier kernel",
        }
    }
}

/// The place of an output row in memory.
struct Target {
    row: usize,
    words: *mut u32,
    stride: usize,
}

/// The place in memory of what a row of the globals block holds.
struct Source {
    row: usize,
    words: *const u32,
    stride: usize,
}

/// An `add` buffer.
pub(super) struct Addend<'a> {
    pub port: &'a Port,
    pub columns: Range<usize>,
    pub sums: &'a Sums,
}

/// What all points add to one element.
pub(super) struct Total<'a> {
    pub port: &'a Port,
    /// The output row for each scalar.
    pub rows: Vec<Option<usize>>,
    pub sums: &'a Sums,
}

/// A buffer that a kernel writes.
struct Written {
    port: usize,
    layout: Layout,
    words: *mut u32,
}

/// All buffers of a kernel in a launch.
pub(super) struct Bound<'a> {
    pub kernel: &'a Kernel,
    written: SmallVec<[Written; 8]>,
    pub columns: SmallVec<[Column; 32]>,
    targets: SmallVec<[Target; 32]>,
    sources: SmallVec<[Source; 8]>,
    pub addends: SmallVec<[Addend<'a>; 4]>,
    pub totals: Vec<Total<'a>>,
}

// SAFETY: blocks write through targets only at the indices of their own points, which differ between blocks, and read there what
// an earlier kernel wrote; all else is shared to be read, or locks.
unsafe impl Sync for Bound<'_> {}

impl<'a> Bound<'a> {
    /// Of a kernel behind those that have been bound before it.
    pub fn new(
        kernel: &'a Kernel,
        points: usize,
        bindings: &'a mut [Binding<'_>],
        earlier: &[Bound<'_>],
    ) -> Result<Bound<'a>, LaunchError> {
        if bindings.len() != kernel.ports().len() {
            return Err(LaunchError::Count { wanted: kernel.ports().len(), found: bindings.len() });
        }
        let columns = kernel.shader().interface().columns;
        let mut bound = Bound {
            kernel,
            written: SmallVec::new(),
            columns: SmallVec::from_elem(Column::EMPTY, columns),
            targets: SmallVec::new(),
            sources: SmallVec::new(),
            addends: SmallVec::new(),
            totals: Vec::new(),
        };
        for (number, binding) in bindings.iter_mut().enumerate() {
            check(kernel, number, binding, points, earlier)?;
            bound.bind(number, binding, earlier)?;
        }
        Ok(bound)
    }

    fn bind(&mut self, number: usize, binding: &'a mut Binding<'_>, earlier: &[Bound<'_>]) -> Result<(), LaunchError> {
        let kernel = self.kernel;
        let port = &kernel.ports()[number];
        let scalars = port.element.len();
        match binding {
            Binding::Read(view) if view.is_empty() => {}
            Binding::Read(view) => {
                let (layout, words) = view.parts();
                self.bind_read(port, layout, words);
            }
            Binding::Made { member, port: made } => {
                let written = earlier.get(*member).and_then(|bound| bound.written.iter().find(|w| w.port == *made));
                if let Some(written) = written.filter(|written| written.layout.length > 0) {
                    self.bind_read(port, written.layout, written.words);
                }
            }
            Binding::Write(view) => {
                let (layout, words) = view.parts();
                self.written.push(Written { port: number, layout, words });
                if layout.length == 0 {
                    return Ok(());
                }
                let Place::Own { row, first_column } = port.place else { return Ok(()) };
                for scalar in 0..scalars {
                    // SAFETY: as above.
                    let words = unsafe { words.add(layout.word(0, scalar)) };
                    self.targets.push(Target { row: row + scalar, words, stride: layout.element_step });
                    if port.role == BufferRole::InOut {
                        self.columns[first_column + scalar] = column(words, layout.element_step, layout.length);
                    }
                }
            }
            Binding::Add(sums) => self.bind_sums(port, sums)?,
        }
        Ok(())
    }

    /// A buffer that is not empty.
    fn bind_read(&mut self, port: &Port, layout: Layout, words: *const u32) {
        for scalar in 0..port.element.len() {
            // SAFETY: the first word of a column of a view that is not empty lies in its memory.
            let words = unsafe { words.add(layout.word(0, scalar)) };
            match &port.place {
                Place::Given(rows) => {
                    let source = |row| Source { row, words, stride: layout.element_step };
                    self.sources.extend(rows[scalar].map(source));
                }
                Place::Columns { first, .. } => {
                    self.columns[first + scalar] = column(words, layout.element_step, layout.length);
                }
                Place::Own { .. } | Place::Summed(_) => {}
            }
        }
        if let Place::Columns { length: Some(asked), .. } = port.place {
            self.columns[asked..asked + port.element.len()].fill(only_length(layout.length));
        }
    }

    /// How many terms its sums have left out so far.
    pub fn left_out(&self) -> u64 {
        let all = self.addends.iter().map(|addend| addend.sums).chain(self.totals.iter().map(|total| total.sums));
        // Several buffers of a kernel may have the same sums.
        let mut seen: SmallVec<[*const Sums; 8]> = SmallVec::new();
        let mut count = 0;
        for sums in all {
            if !seen.contains(&std::ptr::from_ref(sums)) {
                seen.push(sums);
                count += sums.left_out();
            }
        }
        count
    }

    fn bind_sums(&mut self, port: &'a Port, sums: &'a Sums) -> Result<(), LaunchError> {
        match &port.place {
            Place::Columns { first, .. } => {
                let columns = *first..first + port.element.len();
                self.columns[columns.clone()].fill(only_length(sums.len()));
                self.addends.push(Addend { port, columns, sums });
            }
            Place::Summed(rows) => self.totals.push(Total { port, rows: rows.clone(), sums }),
            Place::Own { .. } | Place::Given(_) => {}
        }
        Ok(())
    }

    /// Fills the rows of a block that hold the points' own elements.
    pub fn load(&self, points: Range<usize>, rows: &mut [Row]) {
        for source in &self.sources {
            let row = &mut rows[source.row].0[..points.len()];
            for (number, to) in row.iter_mut().enumerate() {
                // SAFETY: the buffer has an element for each point, and nobody writes to what a launch reads.
                *to = f32::from_bits(unsafe { source.words.add((points.start + number) * source.stride).read() });
            }
        }
    }

    /// Copies the output rows of a block to the elements of its points.
    ///
    /// # Safety
    /// `points` are points of the launch, and no other thread stores theirs or reads them at the same time.
    pub unsafe fn store(&self, points: Range<usize>, rows: &[Row]) {
        for target in &self.targets {
            let row = &rows[target.row].0[..points.len()];
            for (number, value) in row.iter().enumerate() {
                // SAFETY: the buffer has an element for each point.
                unsafe { target.words.add((points.start + number) * target.stride).write(value.to_bits()) };
            }
        }
    }
}

/// For code that asks for the length alone.
fn only_length(length: usize) -> Column {
    let length = u32::try_from(length.max(1)).unwrap_or(u32::MAX);
    Column { stride: 0, length, ..Column::EMPTY }
}

/// Layouts see to it that stride times length is below 2³¹.
fn column(words: *const u32, stride: usize, length: usize) -> Column {
    Column { words, stride: stride as u32, length: length as u32 }
}

fn check(
    kernel: &Kernel,
    number: usize,
    binding: &Binding<'_>,
    points: usize,
    earlier: &[Bound<'_>],
) -> Result<(), LaunchError> {
    let port = &kernel.ports()[number];
    let buffer = || port.name.clone();
    let (fits, length) = match (port.role, binding) {
        (BufferRole::In, Binding::Read(view)) => (true, matches!(port.place, Place::Given(_)).then_some(view.len())),
        (BufferRole::In, Binding::Made { .. }) => (matches!(kernel.reach(number), Reach::Nothing | Reach::Own), None),
        (BufferRole::Out | BufferRole::InOut, Binding::Write(view)) => (true, Some(view.len())),
        (BufferRole::Add, Binding::Add(_)) => (true, None),
        _ => (false, None),
    };
    let Some(element) = binding.element(earlier).filter(|_| fits) else {
        return Err(LaunchError::Role { buffer: buffer(), role: port.role, found: binding.verb() });
    };
    if element != &port.element {
        let (wanted, found) = (port.element.to_string(), element.to_string());
        return Err(LaunchError::Type { buffer: buffer(), wanted, found });
    }
    match length {
        Some(found) if found != points => Err(LaunchError::Length { buffer: buffer(), points, found }),
        _ => Ok(()),
    }
}
