//! Why a call fits no function of its name, or several equally well: every candidate with the reason why it does not
//! fit, nearest first.

use super::Checker;
use super::arguments::{Given, Misfit, listed};
use super::convert::distance;
use super::hir::{Expr, Function, FunctionId, Parameter};
use crate::builtins::{self, Builtin};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{Direction, Ident};
use crate::types::Type;

/// Candidates that are shown; the others are counted.
const SHOWN: usize = 6;

/// A function that was considered, and why it is not the one.
struct Rejected {
    head: String,
    /// Where the author declared it.
    declared: Option<Span>,
    reason: String,
    /// The first argument that does not fit, and the parameter's declaration; `None` for a wrong count.
    argument: Option<(usize, Option<Span>)>,
    /// What to say where this is the only one, if arguments have names.
    instead: Option<Diagnostic>,
    /// What does not fit: arguments, or how many there are too many or too few; wrong counts come last.
    faults: usize,
}

/// Past every number of arguments.
const WRONG_COUNT: usize = 1 << 16;

impl Checker<'_> {
    pub(super) fn no_candidate(&mut self, name: &Ident, given: &Given, span: Span) {
        let values = given.values.as_slice();
        if self.diagnostics.is_full() {
            // What nobody reads need not be found out: there may be thousands of calls and of candidates.
            return self.error(&codes::NO_OVERLOAD, span, "", "");
        }
        let derivative = matches!(name.text.as_str(), "ddx" | "ddy") && values.len() == 1;
        if derivative && !self.scope.functions.contains_key(&name.text) {
            return self.not_differentiable(&values[0], span);
        }
        let rejected = self.rejected(&name.text, given, span);
        self.say_rejected(name, rejected, given, span);
    }

    /// Of some functions of the author's none fits.
    pub(super) fn none_fits(&mut self, name: &Ident, ids: &[FunctionId], given: &Given, span: Span) {
        let rejected = ids.iter().map(|id| self.rejected_function(*id, given, span)).collect();
        self.say_rejected(name, rejected, given, span);
    }

    /// Neither an instance of a generic function fits, nor could others be made.
    pub(super) fn no_instance(
        &mut self,
        name: &Ident,
        ids: &[FunctionId],
        refused: Vec<(String, Span, String)>,
        given: &Given,
        span: Span,
    ) {
        if ids.is_empty() && refused.is_empty() {
            // That no instance could be made was said.
            return;
        }
        let mut rejected: Vec<Rejected> = ids.iter().map(|id| self.rejected_function(*id, given, span)).collect();
        rejected.extend(refused.into_iter().map(|(head, declared, reason)| Rejected {
            head,
            declared: Some(declared),
            reason,
            argument: None,
            instead: None,
            faults: 1,
        }));
        self.say_rejected(name, rejected, given, span);
    }

    fn say_rejected(&mut self, name: &Ident, mut rejected: Vec<Rejected>, given: &Given, span: Span) {
        let values = given.values.as_slice();
        rejected.sort_by_key(|r| r.faults);
        let types: Vec<String> = values[usize::from(given.this)..].iter().map(|e| self.name_of(&e.ty)).collect();
        let counted = given.names.is_empty() && rejected.iter().all(|r| r.argument.is_none() && r.faults != 1);
        let (code, message) = if counted {
            let n = types.len();
            let s = if n == 1 { "" } else { "s" };
            (&codes::WRONG_ARGUMENT_COUNT, format!("`{}` does not take {n} argument{s}", name.text))
        } else {
            (&codes::NO_OVERLOAD, format!("`{}` does not take ({})", name.text, types.join(", ")))
        };
        let diagnostic = match rejected.as_slice() {
            // Of built-ins that all have no names, one says it.
            [Rejected { instead: Some(d), declared: None, .. }, rest @ ..]
                if rest.iter().all(|r| r.declared.is_none()) =>
            {
                d.clone()
            }
            [Rejected { instead: Some(d), declared, .. }] => match declared {
                Some(place) => d.clone().with_label(*place, "declared here"),
                None => d.clone(),
            },
            // One function, one argument: that is where to look.
            [Rejected { argument: Some((i, declared)), reason, head, .. }] => {
                let d = Diagnostic::error(code, values[*i].span, message, format!("{reason}: `{head}`"));
                match declared {
                    Some(place) => d.with_label(*place, "the parameter"),
                    None => d,
                }
            }
            [only] => {
                let d = Diagnostic::error(code, span, message, format!("{}: `{}`", only.reason, only.head));
                match only.declared {
                    Some(place) => d.with_label(place, "declared here"),
                    None => d,
                }
            }
            list => {
                let hint = "change the arguments to fit one of these";
                let mut d = Diagnostic::error(code, span, message, hint);
                for r in list.iter().take(SHOWN) {
                    d = d.with_note(r.declared, format!("`{}`: {}", r.head, r.reason));
                }
                if list.len() > SHOWN {
                    d = d.with_note(None, format!("and {} more", list.len() - SHOWN));
                }
                d
            }
        };
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn ambiguous(&mut self, name: &Ident, tied: &[(String, Option<Span>)], span: Span) {
        let message = format!("several functions `{}` take these arguments equally well", name.text);
        let hint = "convert an argument, for instance `float(…)`";
        let mut d = Diagnostic::error(&codes::AMBIGUOUS_CALL, span, message, hint);
        for (head, declared) in tied.iter().take(SHOWN) {
            d = d.with_note(*declared, format!("`{head}`"));
        }
        self.diagnostics.push(d);
    }

    fn rejected(&self, name: &str, given: &Given, span: Span) -> Vec<Rejected> {
        let own = self.scope.functions.get(name).map_or(&[][..], Vec::as_slice);
        let own = own
            .iter()
            .chain(self.library_functions(name))
            .filter(|id| !self.program.function(**id).is_shader)
            .map(|id| self.rejected_function(*id, given, span));
        own.chain(builtins::overloads(name).map(|(_, b)| self.rejected_builtin(b, given))).collect()
    }

    fn rejected_function(&self, id: FunctionId, given: &Given, span: Span) -> Rejected {
        let values = given.values.as_slice();
        let f = self.program.function(id);
        let ty = |p: &Parameter| &f.variables[p.variable.0 as usize].ty;
        let fits = |e: &Expr, p: &Parameter| match p.direction {
            Direction::In => self.distance(&e.ty, ty(p)).is_some(),
            Direction::Out | Direction::InOut => distance(ty(p), &e.ty).is_some_and(|d| d < 2),
        };
        let base = Rejected {
            head: self.head(id),
            declared: Some(f.span),
            reason: String::new(),
            argument: None,
            instead: None,
            faults: 0,
        };
        let least = f.parameters.iter().filter(|p| p.default.is_none()).count();
        let this = usize::from(given.this);
        let count = wrong_count(least - this, f.parameters.len() - this, values.len() - this);
        let slots = match self.slots_of(id, values.len(), &given.names) {
            // Behind a parameter with a default may stand one without, in a derivative.
            Err(misfit) if !given.names.is_empty() || count.is_none() => {
                return self.rejected_names(id, given, &misfit, span, base);
            }
            slots => slots.unwrap_or_default(),
        };
        if let Some(count) = count {
            return Rejected { reason: count.0, faults: WRONG_COUNT + count.1, ..base };
        }
        let pairs = f.parameters.iter().zip(slots).filter_map(|(p, i)| Some((i?, p)));
        let mut wrong: Vec<(usize, &Parameter)> = pairs.filter(|(i, p)| !fits(&values[*i], p)).collect();
        wrong.sort_by_key(|(i, _)| *i);
        let faults = wrong.len();
        let Some(&(i, p)) = wrong.first() else { return base };
        let variable = &f.variables[p.variable.0 as usize];
        let (wanted, found) = (self.name_of(&variable.ty), self.name_of(&values[i].ty));
        let reason = match p.direction {
            Direction::In => format!("`{}` is {wanted}, found {found}", variable.name),
            _ if self.is_pair_of(&variable.ty, &values[i].ty) => format!(
                "`{0}` hands its derivative out: give a variable `{wanted} {0} = diffPair(…);`, or declare it `no_diff {found} {0}`",
                variable.name
            ),
            _ => format!("`{}` hands out {wanted}, which {found} cannot hold", variable.name),
        };
        Rejected { reason, argument: Some((i, Some(variable.span))), faults, ..base }
    }

    /// A function whose parameters are not those that the names say.
    fn rejected_names(&self, id: FunctionId, given: &Given, misfit: &Misfit, span: Span, base: Rejected) -> Rejected {
        let parameters = self.parameters_of(id);
        let reason = match misfit {
            Misfit::TooMany => "it takes fewer arguments".to_owned(),
            Misfit::Unknown(i) => format!("it has no parameter `{}`", given.names[*i].text),
            Misfit::Twice(i) => format!("`{}` is given twice", given.names[*i].text),
            Misfit::Missing(list) => {
                let missing: Vec<&str> = list.iter().map(|i| parameters.names[*i]).collect();
                format!("{} must be given", listed(&missing))
            }
        };
        let callee = format!("`{}`", self.program.function(id).name);
        let instead = Some(self.misfit(&callee, &parameters, &given.names, misfit, span));
        Rejected { reason, instead, faults: WRONG_COUNT, ..base }
    }

    fn rejected_builtin(&self, b: &'static Builtin, given: &Given) -> Rejected {
        let values = given.values.as_slice();
        let base = Rejected {
            head: b.signature(),
            declared: None,
            reason: String::new(),
            argument: None,
            instead: None,
            faults: 0,
        };
        if let Some(name) = given.names.first() {
            let message = format!("the parameters of `{}` have no names", b.name);
            let hint = format!("give the arguments in order, without names: `{}`", base.head);
            let instead = Some(Diagnostic::error(&codes::UNKNOWN_PARAMETER, name.span, message, hint));
            return Rejected {
                reason: "its parameters have no names".to_owned(),
                instead,
                faults: WRONG_COUNT,
                ..base
            };
        }
        if let Some(count) = wrong_count(b.params.len(), b.params.len(), values.len()) {
            return Rejected { reason: count.0, faults: WRONG_COUNT + count.1, ..base };
        }
        let common = super::calls::common_type(b, values);
        let wanted: Vec<Type> = b.params.iter().map(|p| builtins::wanted(*p, &common)).collect();
        let wrong = |(e, ty): &(&Expr, &Type)| distance(&e.ty, ty).is_none();
        let faults = values.iter().zip(&wanted).filter(wrong).count();
        let Some(i) = values.iter().zip(&wanted).position(|pair| wrong(&pair)) else { return base };
        let found = self.name_of(&values[i].ty);
        let reason = format!("argument {} is {}, found {found}", i + 1, self.name_of(&wanted[i]));
        Rejected { reason, argument: Some((i, None)), faults, ..base }
    }

    /// `float f(float, out color)`
    pub(super) fn head(&self, id: FunctionId) -> String {
        // What a method is called on stands before its name.
        self.head_of(self.program.function(id), usize::from(self.takes_this(id)))
    }

    /// The head of a function without its first parameters.
    pub(super) fn head_of(&self, f: &Function, skipped: usize) -> String {
        let one = |p: &Parameter| {
            let ty = self.name_of(&f.variables[p.variable.0 as usize].ty);
            match p.direction {
                Direction::In => ty,
                Direction::Out => format!("out {ty}"),
                Direction::InOut => format!("inout {ty}"),
            }
        };
        let parameters: Vec<String> = f.parameters.iter().skip(skipped).map(one).collect();
        format!("{} {}({})", self.name_of(&f.result), f.name, parameters.join(", "))
    }
}

/// What to say where a function takes from `least` to `most` arguments and gets another number, and by how
/// many it is off.
fn wrong_count(least: usize, most: usize, given: usize) -> Option<(String, usize)> {
    if (least..=most).contains(&given) {
        return None;
    }
    let takes = match (least, most) {
        (0, 0) => "no arguments".to_owned(),
        (1, 1) => "1 argument".to_owned(),
        (a, b) if a == b => format!("{a} arguments"),
        (a, b) => format!("{a} to {b} arguments"),
    };
    Some((format!("it takes {takes}, {given} given"), if given < least { least - given } else { given - most }))
}
