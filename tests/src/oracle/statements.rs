//! Statements, each run where it stands.

use super::value::{Ty, Value};
use super::{Machine, Result, Stop};
use ssl_compiler::syntax::ast::{Declaration, Expr, FunctionDecl, Stmt, StmtKind, SwitchSection};

/// What comes after a statement.
#[derive(Clone, Copy, PartialEq)]
pub enum Flow {
    Next,
    Break,
    Continue,
    Return,
}

impl Machine<'_> {
    /// The body of the function whose frame is open.
    pub fn body(&mut self, function: &FunctionDecl) -> Result<()> {
        let Some(body) = &function.body else {
            return Err(Stop::unknown(format!("`{}` has no body", function.name.text)));
        };
        self.all(body).map(|_| ())
    }

    fn all(&mut self, list: &[Stmt]) -> Result<Flow> {
        for statement in list {
            let flow = self.statement(statement)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// Runs something whose declarations end with it.
    fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let visible = self.frame().variables.len();
        let result = run(self);
        self.frame().variables.truncate(visible);
        result
    }

    fn statement(&mut self, statement: &Stmt) -> Result<Flow> {
        self.step()?;
        Ok(match &statement.kind {
            StmtKind::Empty => Flow::Next,
            StmtKind::Block(list) => self.scoped(|m| m.all(list))?,
            StmtKind::Declaration(d) => {
                self.declaration(d)?;
                Flow::Next
            }
            StmtKind::Expr(e) => {
                self.eval(e)?;
                Flow::Next
            }
            StmtKind::If { condition, then, otherwise } => {
                if self.condition(condition)? {
                    return self.scoped(|m| m.statement(then));
                }
                match otherwise {
                    Some(otherwise) => self.scoped(|m| m.statement(otherwise))?,
                    None => Flow::Next,
                }
            }
            StmtKind::While { condition, body } => self.rounds(true, Some(condition), None, body)?,
            StmtKind::DoWhile { body, condition } => self.rounds(false, Some(condition), None, body)?,
            StmtKind::For { init, condition, step, body } => self.scoped(|m| {
                m.statement(init)?;
                m.rounds(true, condition.as_ref(), step.as_ref(), body)
            })?,
            StmtKind::Switch { value, sections } => self.switch(value, sections)?,
            StmtKind::Attributed(_, inner) => self.statement(inner)?,
            StmtKind::Break => Flow::Break,
            StmtKind::Continue => Flow::Continue,
            StmtKind::Return(value) => {
                let ty = self.frame().result.clone();
                let value = match value {
                    Some(value) => self.eval_as(value, &ty)?,
                    None => Value::Void,
                };
                self.frame().returned = Some(value);
                Flow::Return
            }
        })
    }

    pub fn condition(&mut self, e: &Expr) -> Result<bool> {
        let value = self.eval(e)?;
        self.truth(&value)
    }

    /// A loop; `first` says whether the condition is asked before the first round too.
    fn rounds(&mut self, first: bool, condition: Option<&Expr>, step: Option<&Expr>, body: &Stmt) -> Result<Flow> {
        let mut ask = first;
        loop {
            self.step()?;
            if ask
                && let Some(condition) = condition
                && !self.condition(condition)?
            {
                return Ok(Flow::Next);
            }
            ask = true;
            match self.scoped(|m| m.statement(body))? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                Flow::Next | Flow::Continue => {}
            }
            if let Some(step) = step {
                self.eval(step)?;
            }
        }
    }

    /// All sections share a scope; what one declares is zero in the next ones until it is declared.
    fn switch(&mut self, value: &Expr, sections: &[SwitchSection]) -> Result<Flow> {
        let value = self.eval(value)?;
        let mut chosen = None;
        for (i, section) in sections.iter().enumerate() {
            for label in &section.labels {
                match &label.value {
                    None => chosen = chosen.or(Some((i, true))),
                    Some(case) if self.same(&value, case)? => chosen = Some((i, false)),
                    Some(_) => {}
                }
            }
            if matches!(chosen, Some((_, false))) {
                break;
            }
        }
        let Some((first, _)) = chosen else { return Ok(Flow::Next) };
        self.scoped(|m| {
            let skipped = sections[..first].iter().flat_map(|s| &s.body);
            for statement in skipped {
                if let StmtKind::Declaration(d) = &statement.kind {
                    for declarator in &d.declarators {
                        let ty = m.declared(&d.ty, &declarator.dims)?;
                        m.frame().declare(&declarator.name.text, ty.zero());
                    }
                }
            }
            for section in &sections[first..] {
                match m.all(&section.body)? {
                    Flow::Next => {}
                    Flow::Break => return Ok(Flow::Next),
                    flow => return Ok(flow),
                }
            }
            Ok(Flow::Next)
        })
    }

    fn same(&mut self, value: &Value, case: &Expr) -> Result<bool> {
        Ok(match (value, self.eval(case)?) {
            (Value::Int(a), Value::Int(b)) => *a == b,
            (Value::Text(a), Value::Text(b)) => *a == b,
            _ => return Err(Stop::unknown("a switch by something else")),
        })
    }

    fn declaration(&mut self, d: &Declaration) -> Result<()> {
        for declarator in &d.declarators {
            let ty: Ty = self.declared(&d.ty, &declarator.dims)?;
            let value = match &declarator.init {
                Some(init) => self.eval_as(init, &ty)?,
                None => ty.start(),
            };
            self.frame().declare(&declarator.name.text, value);
        }
        Ok(())
    }
}
