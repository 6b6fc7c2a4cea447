//! Names, overloads and types: from the syntax tree to the typed tree.
//!
//! Every mistake is reported where it is made. The type `Error` stands for something that was already reported, so one
//! mistake makes one message. The typed tree may be lowered only if there was no error.

mod aliases;
mod arguments;
mod attributes;
pub(crate) mod buffers;
mod calls;
mod candidates;
mod closures;
mod color_spaces;
mod conformance;
mod constants;
mod constructors;
mod convert;
mod derived;
mod differentials;
mod dispatch;
mod exprs;
mod externals;
mod functions;
mod generic_derivatives;
mod generic_instances;
mod generic_structs;
mod generics;
pub mod hir;
mod inference;
mod integrals;
mod interface_packing;
mod interface_values;
mod interfaces;
mod items;
mod known_names;
mod lengths;
pub mod linked_words;
mod lints;
mod look_ups;
mod lost;
mod lost_inside;
mod member_constants;
mod metadata;
mod method_calls;
mod methods;
mod names;
mod noise;
mod numbers;
pub mod open_interfaces;
mod operators;
mod overloads;
mod own_closures;
mod own_differentials;
mod passed_names;
mod places;
mod print;
pub mod reach;
mod required_constants;
mod scope;
mod shader_calls;
mod shared_words;
mod spaces;
mod spline;
mod starts;
mod stmts;
mod structures;
mod suspicious;
mod switch;
mod type_names;
mod vector_space;
mod walk;

pub(crate) use constants::{compare_op, int_op};
pub(crate) use convert::distance;
pub use open_interfaces::OpenInterface;
pub(crate) use places::swizzle_type;
pub(crate) use stmts::always_exits;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::modules::Modules;
use crate::runtime::{ClosureRegistry, ExternalRegistry, GlobalsLayout};
use crate::source::{SourceMap, Span};
use crate::syntax::ast;
use crate::types::{StructId, Type};
use hir::{FunctionId, Program, VarId, Variable};
use lengths::AnyLength;
use numbers::Numbers;
use scope::Scope;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A file that was checked, with all that it imports.
pub struct Checked {
    pub program: Program,
    /// The host's globals, then those that `globals` blocks add.
    pub layout: GlobalsLayout,
    /// The host's closure types, then those that the files declare.
    pub closures: ClosureRegistry,
    /// Those of the file itself.
    pub tests: Vec<ast::TestDecl>,
    /// The files that were checked, for what is said of them later.
    pub sources: SourceMap,
}

/// What a host offers to the files that it has checked.
pub struct Host<'a> {
    pub globals: &'a GlobalsLayout,
    pub closures: &'a ClosureRegistry,
    pub externals: &'a ExternalRegistry,
    /// The interfaces whose values may hold types that it links later.
    pub open: &'a [OpenInterface],
}

/// Checks files against what their host offers.
pub fn check<'a>(modules: &'a Modules, host: &Host<'a>, diagnostics: &'a mut Diagnostics) -> Checked {
    let Host { globals, closures, externals, open } = *host;
    let mut checker = Checker {
        diagnostics,
        closures,
        layout: globals.clone(),
        program: Program { root: modules.root().file, ..Program::default() },
        scope: Scope::default(),
        scopes: modules.files.iter().map(|_| Scope::default()).collect(),
        library: HashMap::new(),
        names_used: HashSet::new(),
        given_names: Vec::new(),
        spoken_of: HashSet::new(),
        later: Rc::default(),
        known_names: modules.files.iter().map(|_| None).collect(),
        starts: HashMap::new(),
        differentials: differentials::Differentials::default(),
        attributed: Vec::new(),
        derived: HashMap::new(),
        any_length: AnyLength::default(),
        methods: methods::Methods::default(),
        constants: member_constants::MemberConstants::default(),
        generics: generics::Generics::default(),
        generic_structs: generic_structs::GenericStructs::default(),
        interfaces: interfaces::Interfaces::default(),
        values: interface_values::InterfaceValues::default(),
        bound: generics::Bindings::default(),
        open,
        modules,
        file: None,
        expressions: 0,
        numbers: Numbers::default(),
        local: Local::default(),
    };
    let tests = checker.files(modules);
    checker.note_declarations();
    checker.bind_externals(externals);
    checker.check_names();
    checker.infer_options();
    checker.own_closures_compute();
    if !checker.diagnostics.has_errors() {
        checker.lost_derivatives(externals);
        checker.lint(modules);
    }
    let mut closures = closures.clone();
    closures.append(checker.program.closures.iter().map(|own| own.closure.clone()));
    Checked { program: checker.program, layout: checker.layout, closures, tests, sources: SourceMap::new() }
}

/// How many expressions a program may come to with its constants written in: those of a megabyte of source and
/// more, but no tower of constants that doubles at each step.
const MAX_EXPRESSIONS: usize = 4_000_000;

struct Checker<'a> {
    diagnostics: &'a mut Diagnostics,
    closures: &'a ClosureRegistry,
    layout: GlobalsLayout,
    program: Program,
    /// The declarations of the current file at file level, with their places.
    later: Rc<items::DeclaredNames>,
    /// The same of each file, once it was asked for.
    known_names: Vec<Option<Rc<items::DeclaredNames>>>,
    /// Of the file that is being checked.
    scope: Scope,
    /// Of the files that are not, by their index; empty where the declarations were not checked yet.
    scopes: Vec<Scope>,
    /// What the standard library offers without an import.
    library: HashMap<&'static str, Vec<FunctionId>>,
    /// Constants and textures that something reads, by the places of their names.
    names_used: HashSet<Span>,
    /// Constant strings that functions of the library were given.
    given_names: Vec<known_names::GivenName>,
    /// What the file that was asked for speaks of: the alias in front of the name, and the place of the declaration.
    spoken_of: HashSet<(Option<String>, Span)>,
    /// The defaults of the members of those structs that have some, or have members that do.
    starts: HashMap<StructId, Vec<Option<hir::Expr>>>,
    differentials: differentials::Differentials,
    /// Functions of the current file with attributes, which are yet to be checked.
    attributed: Vec<(FunctionId, Vec<ast::Attribute>)>,
    /// Derivatives of functions that were asked for.
    derived: HashMap<(ast::Mode, FunctionId), FunctionId>,
    /// Functions that take arrays of any length.
    any_length: AnyLength<'a>,
    methods: methods::Methods,
    constants: member_constants::MemberConstants,
    generics: generics::Generics<'a>,
    generic_structs: generic_structs::GenericStructs<'a>,
    interfaces: interfaces::Interfaces<'a>,
    values: interface_values::InterfaceValues,
    /// What generic parameters and associated types stand for where something is being checked.
    bound: generics::Bindings,
    /// The interfaces that the host leaves open.
    open: &'a [OpenInterface],
    modules: &'a Modules,
    /// The file that is being checked.
    file: Option<usize>,
    /// How many expressions were checked or written in.
    expressions: usize,
    numbers: Numbers,
    local: Local<'a>,
}

/// The function being checked.
#[derive(Default)]
struct Local<'a> {
    variables: Vec<Variable>,
    scopes: Vec<HashMap<String, VarId>>,
    /// What the `const` variables are whose value is a constant.
    constants: HashMap<VarId, constants::Known>,
    result: Option<Type>,
    /// The first `return` says what the result is: an integrand.
    infers: bool,
    function: Option<FunctionId>,
    /// The type whose method it is.
    owner: Option<methods::Owner>,
    is_shader: bool,
    /// The constants of the type that is being declared.
    open: Vec<member_constants::Open<'a>>,
    /// The own elements of a kernel's point.
    own: HashSet<VarId>,
    /// What is looked at is to be added to.
    adding: bool,
    /// Loops around the statement.
    loops: usize,
    /// Loops and `switch`es around it.
    breakable: usize,
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

    /// Notes that `name`, as written at `place`, stands for what is declared at `declared`.
    fn speak_of(&mut self, name: &str, place: Span, declared: Span) {
        if place.file == self.program.root {
            let alias = name.split_once("::").map(|(alias, _)| alias.to_owned());
            self.spoken_of.insert((alias, declared));
        }
    }

    fn lookup(&self, name: &str) -> Option<VarId> {
        self.local.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }
}
