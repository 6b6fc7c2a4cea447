//! The choice between overloads: what a call may mean, and which of it fits best.

use super::Checker;
use super::arguments::Given;
use super::calls::common_type;
use super::convert::distance;
use super::hir::FunctionId;
use crate::builtins::{self, Builtin, BuiltinId};
use crate::source::Span;
use crate::syntax::ast::Direction;

/// Something that a call may mean, and how far each argument is from what it takes.
pub(super) struct Candidate {
    pub target: Target,
    pub distances: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(super) enum Target {
    Function(FunctionId),
    Builtin(BuiltinId),
}

impl Checker<'_> {
    pub(super) fn function_candidates(&self, name: &str, given: &Given) -> Vec<Candidate> {
        self.candidates_among(self.scope.functions.get(name).map_or(&[], Vec::as_slice), given)
    }

    /// Whether one of these functions takes what is given.
    pub(super) fn fits_exactly(&self, ids: &[FunctionId], given: &Given) -> bool {
        self.candidates_among(ids, given).iter().any(|c| c.distances.iter().all(|d| *d == 0))
    }

    /// Whether one of these functions takes what is given, converted if need be.
    pub(super) fn fits_any(&self, ids: &[FunctionId], given: &Given) -> bool {
        !self.candidates_among(ids, given).is_empty()
    }

    pub(super) fn candidates_among(&self, ids: &[FunctionId], given: &Given) -> Vec<Candidate> {
        let fits = |id: &FunctionId| {
            let f = self.program.function(*id);
            if f.is_shader {
                return None;
            }
            let slots = self.slots_of(*id, given.values.len(), &given.names).ok()?;
            let mut distances = vec![0; given.values.len()];
            for (p, argument) in f.parameters.iter().zip(slots) {
                let Some(i) = argument else { continue };
                let (ty, found) = (&f.variables[p.variable.0 as usize].ty, &given.values[i].ty);
                distances[i] = match p.direction {
                    Direction::In => self.distance(found, ty)?,
                    // What comes out is stored as it is.
                    Direction::Out | Direction::InOut => distance(ty, found).filter(|d| *d < 2)?,
                };
            }
            Some(Candidate { target: Target::Function(*id), distances })
        };
        ids.iter().filter_map(fits).collect()
    }

    /// A candidate's head, and where it is declared.
    pub(super) fn described(&self, target: Target) -> (String, Option<Span>) {
        match target {
            Target::Function(id) => (self.head(id), Some(self.program.function(id).span)),
            Target::Builtin(id) => (Builtin::get(id).signature(), None),
        }
    }
}

/// Built-ins have no names for their parameters.
pub(super) fn builtin_candidates(name: &str, given: &Given) -> Vec<Candidate> {
    let values = given.values.as_slice();
    let fits = |(id, b): (BuiltinId, &'static Builtin)| {
        if b.params.len() != values.len() || !given.names.is_empty() {
            return None;
        }
        let common = common_type(b, values);
        let distances: Option<Vec<u32>> =
            b.params.iter().zip(values).map(|(p, e)| distance(&e.ty, &builtins::wanted(*p, &common))).collect();
        distances.map(|distances| Candidate { target: Target::Builtin(id), distances })
    };
    builtins::overloads(name).filter_map(fits).collect()
}

pub(super) enum Choice {
    None,
    One(Target),
    Ambiguous,
}

/// The candidate that is at least as close as every other in each argument, and closer in one.
pub(super) fn best(candidates: &[Candidate]) -> Choice {
    let beats = |a: &Candidate, b: &Candidate| {
        a.distances.iter().zip(&b.distances).all(|(x, y)| x <= y)
            && a.distances.iter().zip(&b.distances).any(|(x, y)| x < y)
    };
    let winner = candidates
        .iter()
        .enumerate()
        .find(|(i, c)| candidates.iter().enumerate().all(|(j, other)| *i == j || beats(c, other)));
    match (candidates, winner) {
        ([], _) => Choice::None,
        (_, Some((_, c))) => Choice::One(c.target),
        _ => Choice::Ambiguous,
    }
}
