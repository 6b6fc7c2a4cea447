//! Names, overloads and types: from the syntax tree to the typed tree.
//!
//! Every mistake is reported where it is made; the type `Error` stands for what was already reported,
//! so that one mistake makes one message. The typed tree may be lowered only if there was no error.

mod calls;
mod constants;
mod convert;
mod exprs;
pub mod hir;
mod items;
mod operators;
mod places;
mod stmts;

pub(crate) use constants::int_op;
pub(crate) use stmts::always_exits;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::runtime::{ClosureRegistry, GlobalsLayout};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{StructId, Type};
use hir::{FunctionId, Program, VarId, Variable};
use std::collections::HashMap;

/// A file that was checked.
pub struct Checked {
    pub program: Program,
    /// The host's globals, then those that the file's `globals` blocks add.
    pub layout: GlobalsLayout,
    pub tests: Vec<ast::TestDecl>,
}

/// Checks a file against what its host offers.
pub fn check(
    file: &ast::File,
    globals: &GlobalsLayout,
    closures: &ClosureRegistry,
    diagnostics: &mut Diagnostics,
) -> Checked {
    let mut checker = Checker {
        diagnostics,
        closures,
        layout: globals.clone(),
        program: Program::default(),
        structs: HashMap::new(),
        functions: HashMap::new(),
        file_names: HashMap::new(),
        local: Local::default(),
    };
    let tests = checker.file(file);
    Checked { program: checker.program, layout: checker.layout, tests }
}

/// What a name means at file level, functions and types aside.
#[derive(Clone)]
enum FileName {
    Texture(u32),
    /// The value is written in wherever the name is used.
    Constant(hir::Expr),
}

struct Checker<'a> {
    diagnostics: &'a mut Diagnostics,
    closures: &'a ClosureRegistry,
    layout: GlobalsLayout,
    program: Program,
    structs: HashMap<String, StructId>,
    functions: HashMap<String, Vec<FunctionId>>,
    file_names: HashMap<String, FileName>,
    local: Local,
}

/// The function being checked.
#[derive(Default)]
struct Local {
    variables: Vec<Variable>,
    scopes: Vec<HashMap<String, VarId>>,
    result: Option<Type>,
    is_shader: bool,
    loops: usize,
}

impl Checker<'_> {
    fn error(&mut self, code: &'static Code, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message, hint));
    }

    fn name_of(&self, ty: &Type) -> String {
        self.program.types.display(ty).to_string()
    }

    fn variable(&self, id: VarId) -> &Variable {
        &self.local.variables[id.0 as usize]
    }

    fn lookup(&self, name: &str) -> Option<VarId> {
        self.local.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }
}
