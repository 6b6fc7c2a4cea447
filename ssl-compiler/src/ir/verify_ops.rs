//! The verifier's table of signatures: what each plain operation takes and gives.

use super::verify::{Verifier, list};
use super::*;
use crate::runtime::buffers::MAX_ADDED;
use crate::runtime::format::{Piece, Takes, pieces};

impl Verifier<'_> {
    pub(super) fn operation(&mut self, inst: &InstData) {
        let (args, results) = (self.types(&inst.args), self.types(&inst.results));
        let wanted = self.signature(inst.op, &args, &results);
        match wanted {
            Ok((takes, gives)) if takes == args && gives == results => {}
            Ok((takes, gives)) => {
                let text = format!(
                    "{:?} takes {} and gives {}, not {} and {}",
                    inst.op,
                    list(&takes),
                    list(&gives),
                    list(&args),
                    list(&results)
                );
                self.error(text);
            }
            Err(text) => self.error(format!("{:?}: {text}", inst.op)),
        }
        if !inst.regions.is_empty() {
            self.error(format!("{:?} has regions", inst.op));
        }
    }

    fn signature(&self, op: Op, args: &[Ty], results: &[Ty]) -> Result<(Vec<Ty>, Vec<Ty>), String> {
        let float = |n: usize| vec![FLOAT; n];
        let token_and = |types: Vec<Ty>| [vec![Ty::Token], types].concat();
        Ok(match op {
            Op::Const(c) => (vec![], vec![Ty::Scalar(c.scalar())]),
            Op::Parameter { word, scalar } => {
                self.parameter(word, Some(scalar))?;
                (vec![], vec![Ty::Scalar(scalar)])
            }
            Op::Global { field, component, order } => {
                let global = self.module.globals.get(field as usize).ok_or("no such global")?;
                let scalar = global.ty.component_scalar().ok_or("a global that is no scalar or vector")?;
                if component as usize >= global.components() || global.row(component as usize, order).is_none() {
                    return Err(format!("`{}` has no such component or partial", global.name));
                }
                (vec![], vec![Ty::Scalar(scalar)])
            }
            Op::Float1(_) | Op::Derivative(_) | Op::Finite | Op::Pin | Op::Barrier(_) => (float(1), float(1)),
            Op::Detach => {
                let ty = args.first().copied().filter(|ty| ty.is_differentiable()).ok_or("takes floats")?;
                (vec![ty], vec![ty])
            }
            Op::Boundary => (float(3), float(1)),
            Op::Cross => (float(4), float(1)),
            Op::Float2(_) => (float(2), float(1)),
            Op::ClampIndex(0) => return Err("clamps into nothing".to_owned()),
            Op::Int1(_) | Op::ClampIndex(_) => (vec![INT], vec![INT]),
            Op::ClampElement(column) => {
                self.column(column)?;
                (vec![INT], vec![INT])
            }
            Op::BufferLength(column) => {
                self.column(column)?;
                (Vec::new(), vec![INT])
            }
            Op::Element { column, scalar } => {
                let read = self.column(column)?;
                if read.added || read.scalar != scalar {
                    return Err(format!("column {column} is added to, or has another type"));
                }
                (vec![INT], vec![Ty::Scalar(scalar)])
            }
            Op::AddTo(first) => {
                let mut takes = vec![INT];
                for column in first..first + args.len().saturating_sub(2) as u32 {
                    let added = self.column(column)?;
                    if !added.added {
                        return Err(format!("column {column} is only read"));
                    }
                    takes.push(Ty::Scalar(added.scalar));
                }
                if !(2..=MAX_ADDED + 1).contains(&takes.len()) {
                    return Err(format!("adds 1 to {MAX_ADDED} values"));
                }
                (token_and(takes), vec![Ty::Token])
            }
            Op::Int2(_) => (vec![INT; 2], vec![INT]),
            Op::BoolNot => (vec![BOOL], vec![BOOL]),
            Op::BoolAnd | Op::BoolOr | Op::BoolXor => (vec![BOOL; 2], vec![BOOL]),
            Op::FloatCompare(_) => (float(2), vec![BOOL]),
            Op::IntCompare(_) => (vec![INT; 2], vec![BOOL]),
            Op::Select => {
                let ty =
                    args.get(1).copied().filter(|t| matches!(t, Ty::Scalar(_))).ok_or("selects between scalars")?;
                (vec![BOOL, ty, ty], vec![ty])
            }
            Op::IntToFloat => (vec![INT], float(1)),
            Op::Fma => (float(3), float(1)),
            Op::CubicRoot => (float(5), float(1)),
            Op::BitsFloat => (vec![INT], float(1)),
            Op::FloatToInt | Op::FloatBits => (float(1), vec![INT]),
            Op::BoolToInt => (vec![BOOL], vec![INT]),
            Op::ArrayNew | Op::ArrayFill => {
                let Some(&Ty::Array(s, n)) = results.first() else { return Err("gives an array".to_owned()) };
                let count = if op == Op::ArrayNew { n as usize } else { 1 };
                (vec![Ty::Scalar(s); count], vec![Ty::Array(s, n)])
            }
            Op::ArrayGet | Op::ArraySet => {
                let Some(&Ty::Array(s, n)) = args.first() else { return Err("takes an array".to_owned()) };
                let (array, element) = (Ty::Array(s, n), Ty::Scalar(s));
                if op == Op::ArrayGet {
                    (vec![array, INT], vec![element])
                } else {
                    (vec![array, INT, element], vec![array])
                }
            }
            Op::Sample { word } => {
                self.parameter(word, None)?;
                (token_and(float(2)), token_and(float(4)))
            }
            Op::TextureSize { word, .. } => {
                self.parameter(word, None)?;
                (Vec::new(), float(1))
            }
            Op::Texture { word, gradient, level } => {
                self.parameter(word, None)?;
                (token_and(float(if level { 3 } else { 6 })), token_and(float(if gradient { 12 } else { 4 })))
            }
            Op::TextureAdjoint { word, level } => {
                self.parameter(word, None)?;
                (token_and(float(if level { 7 } else { 10 })), vec![Ty::Token])
            }
            Op::Burn(_) | Op::Enter => (vec![Ty::Token], vec![Ty::Token, BOOL]),
            Op::Prepay(_) => (vec![Ty::Token, INT], vec![Ty::Token, INT]),
            Op::Leave => (vec![Ty::Token], vec![Ty::Token]),
            Op::Probe(_) => (token_and(float(3)), vec![Ty::Token]),
            Op::Keep => (float(1), Vec::new()),
            Op::Call(callee) => {
                let f = self.module.functions.get(callee.index()).ok_or("the callee does not exist")?;
                (f.params().iter().map(|&v| f.ty(v)).collect(), f.results.clone())
            }
            Op::Jvp { function, .. } | Op::Vjp { function, .. } => {
                let f = self.module.functions.get(function.index()).ok_or("the callee does not exist")?;
                let params: Vec<Ty> = f.params().iter().map(|&v| f.ty(v)).collect();
                match op {
                    Op::Jvp { .. } => derived(&params, &f.results, &params, &f.results),
                    _ => derived(&params, &f.results, &f.results, &params),
                }
            }
            // Anything but tokens; the module's pushes and pops are compared elsewhere.
            Op::Push(_) => (token_and(data(args.get(1..))?), vec![Ty::Token]),
            Op::Pop(_) => (vec![Ty::Token], token_and(data(results.get(1..))?)),
            Op::External(id) => {
                let external = self.module.externals.get(id).ok_or("the external function does not exist")?;
                let types = |list: Vec<Scalar>| list.into_iter().map(Ty::Scalar).collect();
                (types(external.takes()), types(external.gives()))
            }
            Op::Print(format) => {
                let format = self.module.texts.formats.get(format as usize).ok_or("the format does not exist")?;
                let words = pieces(format).0.into_iter().filter_map(|p| match p {
                    Piece::Conversion(c) => Some(if c.takes() == Takes::Float { FLOAT } else { INT }),
                    Piece::Text(_) => None,
                });
                (token_and(words.collect()), vec![Ty::Token])
            }
            Op::If | Op::Loop(_) => return Err("is checked elsewhere".to_owned()),
        })
    }

    fn column(&self, column: u32) -> Result<&ColumnWord, String> {
        self.module.columns.get(column as usize).ok_or_else(|| format!("column {column} does not exist"))
    }

    fn parameter(&self, word: u32, scalar: Option<Scalar>) -> Result<(), String> {
        match self.module.parameters.get(word as usize) {
            Some(p) if p.scalar == scalar => Ok(()),
            _ => Err(format!("parameter word {word} does not exist or has another type")),
        }
    }
}

/// The types without tokens that a tape operation carries.
fn data(types: Option<&[Ty]>) -> Result<Vec<Ty>, String> {
    let types = types.unwrap_or_default().to_vec();
    if types.contains(&Ty::Token) { Err("no token goes on the tape".to_owned()) } else { Ok(types) }
}

/// What a derivative takes and gives: what the function does, and behind it the differentiable ones of two lists.
pub(super) fn derived(params: &[Ty], results: &[Ty], takes: &[Ty], gives: &[Ty]) -> (Vec<Ty>, Vec<Ty>) {
    let with = |first: &[Ty], more: &[Ty]| {
        first.iter().copied().chain(more.iter().copied().filter(|ty| ty.is_differentiable())).collect()
    };
    (with(params, takes), with(results, gives))
}
