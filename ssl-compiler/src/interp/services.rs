//! What the interpreter asks of the host: texture samples, calls of the host's functions, and receiving what is
//! printed.

use super::frame::{Cell, Frame};
use super::{Machine, from_bits};
use crate::ir::real::Real;
use crate::ir::{Axis, InstData, Op, Value};
use crate::runtime::externals::MAX_WORDS;
use crate::runtime::{AddRequest, PrintRequest, Row, TextureRequest};
use crate::types::Scalar;
use smallvec::SmallVec;

impl<R: Real> Machine<'_, R> {
    pub(super) fn texture(&mut self, frame: &mut Frame<'_, R>, data: &InstData) {
        let lane = self.inputs.lane();
        let mut request = TextureRequest { mask: 1 << lane, ..TextureRequest::new() };
        let word = match data.op {
            Op::Texture { word, gradient, level } => {
                (request.wants_gradient, request.has_level) = (u32::from(gradient), u32::from(level));
                word
            }
            Op::Sample { word } => word,
            _ => return,
        };
        request.texture = self.inputs.parameter(word as usize);
        if R::IS_DOUBLE && self.texture_double(frame, data, request.texture) {
            return;
        }
        self.path.single = true;
        fill(&mut request, lane, frame, &data.args[1..]);
        self.host.texture(&mut request);
        frame.set(data.results[0], frame.get(data.args[0]));
        let rows = request.result.iter().chain(&request.gradient);
        for (&r, row) in data.results[1..].iter().zip(rows) {
            frame.set(r, Cell::Float(R::from_f32(row.0[lane])));
        }
    }

    /// The host takes what f32 holds of the cotangents.
    pub(super) fn texture_adjoint(&mut self, frame: &mut Frame<'_, R>, data: &InstData, word: u32, level: bool) {
        let (lane, token) = (self.inputs.lane(), frame.token(data.args[0]));
        frame.set(data.results[0], Cell::Token(token));
        if token.fuel == 0 {
            return;
        }
        let has_level = u32::from(level);
        let mut request = TextureRequest { mask: 1 << lane, has_level, ..TextureRequest::new() };
        request.texture = self.inputs.parameter(word as usize);
        let (places, cotangents) = data.args[1..].split_at(data.args.len() - 5);
        fill(&mut request, lane, frame, places);
        for (row, &v) in request.result.iter_mut().zip(cotangents) {
            row.0[lane] = frame.float(v).to_f32();
        }
        let kept = self.host.texture_adjoint(&request);
        self.lost_texture_gradients = self.lost_texture_gradients.wrapping_add(u32::from(!kept));
    }

    /// The host takes what f32 holds of the values.
    pub(super) fn add_to(&mut self, frame: &mut Frame<'_, R>, data: &InstData, column: u32) {
        let (lane, token) = (self.inputs.lane(), frame.token(data.args[0]));
        frame.set(data.results[0], Cell::Token(token));
        if token.fuel == 0 {
            return;
        }
        let (index, values) = (data.args[1], &data.args[2..]);
        let mut request =
            AddRequest { column, count: values.len() as u32, mask: 1 << lane, uniform: 0, ..AddRequest::new() };
        request.index.0[lane] = self.inside(frame.int(index), column);
        for (row, &v) in request.values.iter_mut().zip(values) {
            match frame.get(v) {
                Cell::Float(x) => row.0[lane] = x.to_f32(),
                cell => row.set_int(lane, cell.bits() as i32),
            }
        }
        self.host.add_to_buffer(&request);
    }

    /// The last element for whatever is beyond, as in compiled code.
    pub(super) fn inside(&self, index: i32, column: u32) -> u32 {
        // As for compiled code, the first column of a buffer stands for all.
        let column = self.program.module.columns.get(column as usize).map_or(column, |c| c.first);
        (index as u32).min(self.inputs.column_length(column as usize) - 1)
    }

    pub(super) fn texture_size(&mut self, word: u32, axis: Axis) -> Cell<R> {
        let size = self.host.texture_size(self.inputs.parameter(word as usize));
        Cell::Float(R::from_f32(size[axis as usize] as f32))
    }

    /// Asks the host for a texture in f64, if it can.
    fn texture_double(&self, frame: &mut Frame<'_, R>, data: &InstData, texture: u32) -> bool {
        let [u, v] = [1, 2].map(|i| frame.float(data.args[i]).to_f64());
        let Some(sample) = self.host.texture_double(texture, u, v) else { return false };
        frame.set(data.results[0], frame.get(data.args[0]));
        for (&r, &x) in data.results[1..].iter().zip(sample.value.iter().chain(&sample.gradient)) {
            frame.set(r, Cell::Float(R::from_f64(x)));
        }
        true
    }

    pub(super) fn print(&mut self, frame: &mut Frame<'_, R>, data: &InstData, format: u32) {
        let (lane, texts) = (self.inputs.lane(), &self.program.module.texts);
        let row = |&v: &Value| {
            let mut row = Row::ZERO;
            row.set_int(lane, frame.get(v).bits() as i32);
            row
        };
        let arguments: Vec<Row> = data.args[1..].iter().map(row).collect();
        // Verified code names formats that exist.
        if let Some(format) = texts.formats.get(format as usize) {
            let (arguments, mask, strings) = (arguments.as_slice(), 1 << lane, texts.strings.as_slice());
            self.host.print(&PrintRequest { format, arguments, mask, strings });
        }
        frame.set(data.results[0], frame.get(data.args[0]));
    }

    /// A function of the host's: in f64 by its own version, if it has one.
    pub(super) fn external(&mut self, frame: &mut Frame<'_, R>, data: &InstData, id: u32) {
        // Verified code calls functions that exist.
        let Some(external) = self.program.module.externals.get(id) else { return };
        let number = |&v: &Value| match frame.get(v) {
            Cell::Float(x) => x.to_f64(),
            other => f64::from(other.bits() as i32),
        };
        let mut numbers: SmallVec<[f64; MAX_WORDS]> = data.results.iter().map(|_| 0.0).collect();
        let numbers = &mut numbers[..];
        let arguments: Vec<f64> = data.args.iter().map(number).collect();
        if !(R::IS_DOUBLE && external.call_double(&arguments, numbers)) {
            self.path.single = true;
            let arguments: Vec<u32> = data.args.iter().map(|&v| frame.get(v).bits()).collect();
            let mut words: SmallVec<[u32; MAX_WORDS]> = data.results.iter().map(|_| 0).collect();
            external.call(&arguments, &mut words, &mut self.linked);
            for ((&r, bits), scalar) in data.results.iter().zip(words).zip(external.gives()) {
                if scalar != Scalar::Float {
                    self.path.chose::<R>(u64::from(bits));
                }
                frame.set(r, from_bits(scalar, bits));
            }
            return;
        }
        for ((&r, &x), scalar) in data.results.iter().zip(&*numbers).zip(external.gives()) {
            if scalar != Scalar::Float {
                self.path.chose::<R>(x.to_bits());
            }
            frame.set(
                r,
                match scalar {
                    Scalar::Float => Cell::Float(R::from_f64(x)),
                    Scalar::Int => Cell::Int(x as i32),
                    Scalar::Bool => Cell::Bool(x != 0.0),
                },
            );
        }
    }
}

/// Fills in where a lane looks: coordinates, and partials or a level.
fn fill<R: Real>(request: &mut TextureRequest, lane: usize, frame: &Frame<'_, R>, places: &[Value]) {
    let TextureRequest { u, v, dudx, dudy, dvdx, dvdy, level, has_level, .. } = request;
    let partials = [dudx, dudy, dvdx, dvdy];
    let extent = if *has_level != 0 { vec![level] } else { partials.into() };
    for (row, &v) in [u, v].into_iter().chain(extent).zip(places) {
        row.0[lane] = frame.float(v).to_f32();
    }
}
