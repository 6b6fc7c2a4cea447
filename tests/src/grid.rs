//! Runs kernels over a grid, one block after the other, with sums in f64: what a runtime does, in its simplest form.

use ssl_compiler::Shader;
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{
    AddRequest, Block, BlockStatus, BufferRole, Column, GlobalsLayout, GradientBy, HostServices, LANES, NoTextures,
    ParameterBlock, Row, ShaderInterface, TextureRequest,
};
use ssl_compiler::types::Scalar;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Buffers by their names, as rows of structs: words.
pub type Buffers = BTreeMap<String, Vec<u32>>;

/// How a kernel runs.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    pub grid: [u32; 3],
    pub fuel: u32,
}

impl Launch {
    pub fn over(grid: [u32; 3]) -> Launch {
        Launch { grid, fuel: DEFAULT_FUEL }
    }
}

/// What a launch gave.
#[derive(Debug, PartialEq)]
pub struct Launched {
    /// What was written and added, as words.
    pub buffers: Buffers,
    pub statuses: Vec<BlockStatus>,
    /// Requests to add to one element by all lanes, and all of them.
    pub uniform: [usize; 2],
}

/// What is added, by column and element.
#[derive(Default)]
struct Sums {
    /// All terms: a sum is that of the terms in order of size, whatever order they come in.
    floats: Mutex<BTreeMap<(u32, u32), Vec<f32>>>,
    ints: Mutex<BTreeMap<(u32, u32), u32>>,
    scalars: Vec<Scalar>,
    uniform: Mutex<[usize; 2]>,
}

impl Sums {
    /// Puts sums into the words of a buffer.
    fn read(&self, first: usize, width: usize, words: &mut [u32]) {
        let place = |(column, element): (u32, u32)| {
            let inside = (first..first + width).contains(&(column as usize));
            inside.then(|| element as usize * width + column as usize - first)
        };
        for (&at, terms) in self.floats.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            terms.sort_by(f32::total_cmp);
            let sum: f64 = terms.iter().map(|term| f64::from(*term)).sum();
            place(at).into_iter().for_each(|at| words[at] = (sum as f32).to_bits());
        }
        for (&at, &sum) in self.ints.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            place(at).into_iter().for_each(|at| words[at] = sum);
        }
    }
}

impl HostServices for Sums {
    fn texture(&self, request: &mut TextureRequest) {
        NoTextures.texture(request);
    }

    fn texture_size(&self, _: u32) -> [u32; 2] {
        [1, 1]
    }

    fn add_to_buffer(&self, request: &AddRequest) {
        let mut uniform = self.uniform.lock().unwrap_or_else(PoisonError::into_inner);
        uniform[0] += usize::from(request.uniform != 0);
        uniform[1] += 1;
        let mut floats = self.floats.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ints = self.ints.lock().unwrap_or_else(PoisonError::into_inner);
        for i in 0..request.count {
            let (column, row) = (request.column + i, &request.values[i as usize]);
            for lane in request.lanes() {
                let place = (column, request.index.0[lane]);
                match self.scalars[column as usize] {
                    Scalar::Float if !row.0[lane].is_finite() => {}
                    Scalar::Float => floats.entry(place).or_default().push(row.0[lane]),
                    _ => {
                        let sum = ints.entry(place).or_default();
                        *sum = sum.wrapping_add(row.int(lane) as u32);
                    }
                }
            }
        }
    }
}

/// The rows of one block, and the numbers of its points.
struct Points {
    /// The number of the first.
    first: usize,
    mask: u32,
}

impl Points {
    /// The lanes that take part, and the number of each point.
    fn lanes(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (first, mask) = (self.first, self.mask);
        (0..LANES).filter(move |lane| mask >> lane & 1 != 0).map(move |lane| (lane, first + lane))
    }
}

/// Goes through the blocks of a grid, with the rows in which the numbers of the points are set.
fn each_block(grid: [u32; 3], globals: &GlobalsLayout, mut run: impl FnMut(&Points, &mut [Row])) {
    let mut rows = vec![Row::ZERO; globals.rows()];
    let [nx, ny, nz] = grid;
    for (z, y) in (0..nz).flat_map(|z| (0..ny).map(move |y| (z, y))) {
        for x in (0..nx).step_by(LANES) {
            for lane in 0..LANES {
                let at = x + lane as u32;
                let numbers = [at + nx * (y + ny * z), at, y, z, x / LANES as u32];
                for (name, number) in ["index", "index_x", "index_y", "index_z", "block_x"].iter().zip(numbers) {
                    if let Some((_, field)) = globals.find(name) {
                        rows[field.first_row].set_int(lane, number as i32);
                    }
                }
            }
            let mask = u32::MAX >> (32 - (nx - x).min(LANES as u32));
            run(&Points { first: (x + nx * (y + ny * z)) as usize, mask }, &mut rows);
        }
    }
}

/// The columns of buffers that are given as rows of structs.
fn columns(interface: &ShaderInterface, buffers: &Buffers) -> (Vec<Column>, Vec<Scalar>) {
    let mut columns = vec![Column::EMPTY; interface.columns];
    let mut scalars = vec![Scalar::Float; interface.columns];
    for b in interface.buffers.iter().filter(|b| b.role != BufferRole::Out) {
        let Some(words) = buffers.get(&b.name).filter(|words| !words.is_empty()) else { continue };
        set_columns(&mut columns[b.first_column..], words, b.scalars.len());
        scalars[b.first_column..][..b.scalars.len()].copy_from_slice(&b.scalars);
    }
    (columns, scalars)
}

fn set_columns(columns: &mut [Column], words: &[u32], width: usize) {
    for (i, column) in columns.iter_mut().enumerate().take(width) {
        *column = Column { words: &raw const words[i], stride: width as u32, length: (words.len() / width) as u32 };
    }
}

/// Runs a kernel. Buffers of `given` that it only reads may have any length; those that it writes get an element for each
/// point, and those that it adds to have the length that is given.
pub fn launch(kernel: &Shader, how: Launch, given: &Buffers) -> Launched {
    let interface = kernel.interface();
    let points = how.grid.iter().product::<u32>() as usize;
    let mut buffers = given.clone();
    for b in &interface.buffers {
        buffers.entry(b.name.clone()).or_insert_with(|| vec![0; b.scalars.len() * points]);
    }
    let (columns, scalars) = columns(interface, &buffers);
    let sums = Sums { scalars, ..Sums::default() };
    let parameters = ParameterBlock::new(interface);
    let mut outputs = kernel.new_outputs();
    let (mut statuses, mut written) = (Vec::new(), Vec::new());
    each_block(how.grid, &interface.globals, |points, rows| {
        statuses.push(kernel.run(&mut Block {
            mask: points.mask,
            fuel: how.fuel,
            host: &sums,
            columns: &columns,
            ..Block::new(rows, &parameters, &mut outputs)
        }));
        for b in &interface.buffers {
            let Some(row) = b.first_row else { continue };
            for (lane, point) in points.lanes() {
                let scalars = (0..b.scalars.len()).map(|i| outputs[row + i].0[lane].to_bits());
                written.push((b.name.clone(), point, scalars.collect::<Vec<u32>>()));
            }
        }
    });
    for (name, point, scalars) in written {
        if let Some(words) = buffers.get_mut(&name) {
            words[point * scalars.len()..][..scalars.len()].copy_from_slice(&scalars);
        }
    }
    for b in interface.buffers.iter().filter(|b| b.role == BufferRole::Add) {
        let Some(words) = buffers.get_mut(&b.name) else { continue };
        sums.read(b.first_column, b.scalars.len(), words);
    }
    Launched { buffers, statuses, uniform: *sums.uniform.lock().unwrap_or_else(PoisonError::into_inner) }
}

/// What a kernel's gradient gave.
#[derive(Debug, PartialEq)]
pub struct Swept {
    /// By the elements of buffers.
    pub buffers: BTreeMap<String, Vec<f32>>,
    /// By parameters, summed over all points.
    pub parameters: BTreeMap<String, Vec<f64>>,
    pub statuses: Vec<BlockStatus>,
}

/// Runs a kernel's gradient, with a cotangent for each element of what the kernel writes and adds to.
pub fn sweep(gradient: &Shader, how: Launch, given: &Buffers, cotangents: &Buffers) -> Swept {
    let interface = gradient.interface();
    let told = interface.gradient.clone().unwrap_or_default();
    let (mut columns, scalars) = columns(interface, given);
    for c in &told.cotangent_columns {
        if let Some(words) = cotangents.get(&c.buffer).filter(|words| !words.is_empty()) {
            set_columns(&mut columns[c.first_column..], words, c.count);
        }
    }
    let mut buffers: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for c in &told.gradient_columns {
        let words = vec![0; given[&c.buffer].len()];
        set_columns(&mut columns[c.first_column..], &words, c.count);
        buffers.insert(c.buffer.clone(), words);
    }
    let sums = Sums { scalars, ..Sums::default() };
    let parameters = ParameterBlock::new(interface);
    let mut outputs = gradient.new_outputs();
    let mut swept = Swept { buffers: BTreeMap::new(), parameters: BTreeMap::new(), statuses: Vec::new() };
    each_block(how.grid, &interface.globals, |points, rows| {
        for b in &interface.buffers {
            let (Some(first), Some(words)) = (b.first_row, cotangents.get(&b.name)) else { continue };
            for i in 0..b.scalars.len() {
                let Some(row) = told.cotangent(first + i) else { continue };
                for (lane, point) in points.lanes() {
                    rows[row].0[lane] = f32::from_bits(words[point * b.scalars.len() + i]);
                }
            }
        }
        swept.statuses.push(gradient.run(&mut Block {
            mask: points.mask,
            fuel: how.fuel,
            host: &sums,
            columns: &columns,
            ..Block::new(rows, &parameters, &mut outputs)
        }));
        for desc in &told.gradients {
            let GradientBy::Parameter(name) = &desc.by else { continue };
            let sum = swept.parameters.entry(name.clone()).or_insert_with(|| vec![0.0; desc.rows.len()]);
            for (lane, _) in points.lanes() {
                sum.iter_mut().zip(desc.read(&outputs, lane)).for_each(|(sum, x)| *sum += f64::from(x));
            }
        }
    });
    for c in &told.gradient_columns {
        let mut words = buffers.remove(&c.buffer).unwrap_or_default();
        sums.read(c.first_column, c.count, &mut words);
        swept.buffers.insert(c.buffer.clone(), floats(&words));
    }
    swept
}

/// Words of floats, and back.
pub fn words(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|x| x.to_bits()).collect()
}

pub fn floats(words: &[u32]) -> Vec<f32> {
    words.iter().map(|x| f32::from_bits(*x)).collect()
}
