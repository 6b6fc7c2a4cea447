//! Runs kernels over a grid, one block after the other, with sums in f64: what a runtime does, in its simplest form.

use ssl_compiler::Shader;
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{
    AddRequest, Block, BlockStatus, BufferRole, Column, HostServices, LANES, NoTextures, ParameterBlock, Row,
    TextureRequest,
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

/// Sums of what is added, by column and element.
#[derive(Default)]
struct Sums {
    floats: Mutex<BTreeMap<(u32, u32), f64>>,
    ints: Mutex<BTreeMap<(u32, u32), u32>>,
    scalars: Vec<Scalar>,
    uniform: Mutex<[usize; 2]>,
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
                    Scalar::Float => *floats.entry(place).or_default() += f64::from(row.0[lane]),
                    _ => {
                        let sum = ints.entry(place).or_default();
                        *sum = sum.wrapping_add(row.int(lane) as u32);
                    }
                }
            }
        }
    }
}

/// Runs a kernel. Buffers of `given` that it only reads may have any length; those that it writes get an element for each
/// point, and those that it adds to have the length that is given.
pub fn launch(kernel: &Shader, how: Launch, given: &Buffers) -> Launched {
    let interface = kernel.interface();
    let [nx, ny, nz] = how.grid;
    let points = (nx * ny * nz) as usize;
    let mut buffers = given.clone();
    let mut columns = vec![Column::EMPTY; interface.columns];
    let mut scalars = vec![Scalar::Float; interface.columns];
    for b in &interface.buffers {
        let width = b.scalars.len();
        let words = buffers.entry(b.name.clone()).or_insert_with(|| vec![0; width * points]);
        if b.role == BufferRole::Out {
            continue;
        }
        for (i, scalar) in b.scalars.iter().enumerate().filter(|_| !words.is_empty()) {
            let length = (words.len() / width) as u32;
            columns[b.first_column + i] = Column { words: &raw const words[i], stride: width as u32, length };
            scalars[b.first_column + i] = *scalar;
        }
    }
    let sums = Sums { scalars, ..Sums::default() };
    let parameters = ParameterBlock::new(interface);
    let mut rows = vec![Row::ZERO; interface.globals.rows()];
    let mut outputs = kernel.new_outputs();
    let (mut statuses, mut written) = (Vec::new(), Vec::new());
    for (z, y) in (0..nz).flat_map(|z| (0..ny).map(move |y| (z, y))) {
        for x in (0..nx).step_by(LANES) {
            for lane in 0..LANES {
                let at = x + lane as u32;
                let numbers = [at + nx * (y + ny * z), at, y, z];
                for (name, number) in ["index", "index_x", "index_y", "index_z"].iter().zip(numbers) {
                    if let Some((_, field)) = interface.globals.find(name) {
                        rows[field.first_row].set_int(lane, number as i32);
                    }
                }
            }
            let mask = u32::MAX >> (32 - (nx - x).min(LANES as u32));
            statuses.push(kernel.run(&mut Block {
                mask,
                fuel: how.fuel,
                host: &sums,
                columns: &columns,
                ..Block::new(&rows, &parameters, &mut outputs)
            }));
            written.push((x + nx * (y + ny * z), mask, outputs.clone()));
        }
    }
    for b in &interface.buffers {
        let (width, Some(words)) = (b.scalars.len(), buffers.get_mut(&b.name)) else { continue };
        for ((first, mask, rows), row) in written.iter().flat_map(|w| b.first_row.map(|row| (w, row))) {
            for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
                for i in 0..width {
                    words[(*first as usize + lane) * width + i] = rows[row + i].0[lane].to_bits();
                }
            }
        }
        if b.role == BufferRole::Add {
            let columns = b.first_column..b.first_column + width;
            let place = |(column, element): (u32, u32)| element as usize * width + column as usize - b.first_column;
            let floats = sums.floats.lock().unwrap_or_else(PoisonError::into_inner);
            for (&at, &sum) in floats.iter().filter(|(at, _)| columns.contains(&(at.0 as usize))) {
                words[place(at)] = (sum as f32).to_bits();
            }
            let ints = sums.ints.lock().unwrap_or_else(PoisonError::into_inner);
            for (&at, &sum) in ints.iter().filter(|(at, _)| columns.contains(&(at.0 as usize))) {
                words[place(at)] = sum;
            }
        }
    }
    let uniform = *sums.uniform.lock().unwrap_or_else(PoisonError::into_inner);
    Launched { buffers, statuses, uniform }
}

/// Words of floats, and back.
pub fn words(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|x| x.to_bits()).collect()
}

pub fn floats(words: &[u32]) -> Vec<f32> {
    words.iter().map(|x| f32::from_bits(*x)).collect()
}
