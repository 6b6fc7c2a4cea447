//! Lobes that are written in SSL without a shader that makes them: for tests and benches.

use super::lobe_code::SslLobeCode;
use super::shipped;
use super::table::{float_rows, rows};
use super::{Making, ShadingLanguage};
use crate::bsdf::{LobeCode, Place, Places, Request, SslLobeCotangents, SslLobes, WeightedSslLobe};
use crate::math::lanes::first_lanes;
use glam::Vec3;
use ssl_compiler::runtime::Row;
use ssl_compiler::types::Type;
use ssl_compiler::{ClosureId, CompileError, Program, SearchPath};
use std::sync::Arc;

/// A lobe of the renderer that is written in SSL, to be asked without a shader that makes it.
pub struct ShippedLobe {
    code: Arc<SslLobeCode>,
    program: Arc<Program>,
    id: ClosureId,
    /// Of its parameters, the rows that hold floats; and the numbers of its bases.
    floats: Vec<usize>,
    bases: Vec<usize>,
}

impl ShippedLobe {
    /// That of the closure of this name; `None` if there is no such closure, or its code is Rust.
    pub fn new(
        language: &ShadingLanguage,
        closure: &str,
        making: &Making,
    ) -> Result<Option<ShippedLobe>, CompileError> {
        let Some((id, closure)) = language.closures.find(closure) else { return Ok(None) };
        let Some(file) = language.kinds[id.0 as usize].file() else { return Ok(None) };
        let mut compiler = language.compiler(making, &SearchPath::on_disk(Vec::new()));
        let nothing = compiler.add_source("<nothing>", "");
        let program = compiler.program(nothing);
        let code = shipped::code(&program, program.target(), file, closure, language.kinds.len())?;
        let bases = closure.parameters.iter().filter(|p| p.ty == Type::Closure).count();
        Ok(Some(ShippedLobe { code, program, id, floats: float_rows(&rows(closure), 0), bases: (0..bases).collect() }))
    }

    /// Begins it with a weight of 1 at up to 16 places, each with its shading normal. The rows of the parameters have a lane for
    /// each place. Returns its slot.
    pub fn begin(&self, parameters: &[Row], places: &[(Place, Vec3)], lobes: &mut SslLobes) -> usize {
        lobes.clear();
        let (code, mask): (Arc<dyn LobeCode>, _) = (Arc::clone(&self.code) as _, first_lanes(places.len()));
        let slot =
            lobes.begin(&code, (parameters, &self.floats), &Places::new(places.iter().copied()), &self.bases, mask);
        let list: Vec<_> = (0..places.len()).filter_map(|lane| lobes.lobe(slot, lane)).collect();
        lobes.list.extend(list.into_iter().map(|lobe| WeightedSslLobe::new(lobe, Vec3::ONE)));
        slot
    }

    /// The gradient by the parameters for the cotangents of values in directions: a row for each row of the parameters. The lobes
    /// are those that [`ShippedLobe::begin`] began in `slot` with these parameters at these places.
    pub fn pull_back(
        &self,
        (lobes, slot): (&SslLobes, usize),
        parameters: &[Row],
        places: &[(Place, Vec3)],
        values: &[(Request<Vec3>, Vec3)],
    ) -> Result<Vec<Row>, CompileError> {
        self.code.differentiate(&self.program, self.id)?;
        let mut cotangents = SslLobeCotangents::default();
        cotangents.begin(lobes);
        lobes.pull_back_values(values, &mut cotangents, &mut Vec::new());
        let at = (&Places::new(places.iter().copied()), first_lanes(places.len()));
        let gradient = lobes.pull_back_begin(slot, (parameters, &self.floats), at, &mut cotangents);
        Ok(gradient.iter().take(parameters.len()).copied().collect())
    }
}
