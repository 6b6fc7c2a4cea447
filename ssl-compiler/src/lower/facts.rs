//! Facts about each function that lowering needs first: whether it has effects, can call itself, or touches closures,
//! and how much work a call of it can be.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::sema::hir::*;
use crate::source::Span;
use std::collections::BTreeSet;

/// Calls that a function may make, all that they call included, before they take fuel.
///
/// Without this a chain of functions that each call the next one twice would run for 2ⁿ calls
/// without meeting a loop or a recursion.
const FREE_CALLS: u32 = 1 << 14;

/// Functions that may call each other in a circle: the frames of more, on all levels of recursion, are larger than the
/// memory that shaders have.
const MAX_CIRCLE: usize = 64;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FunctionFacts {
    /// Threads a token: samples textures, loops, recurses, or calls what does, as custom derivatives may.
    pub effects: bool,
    pub recursive: bool,
    /// Has a parameter, result or variable with a closure in it.
    pub closures: bool,
    /// A shader that another one calls: written into its caller, as closures are.
    pub shader: bool,
    /// Fuel that a call takes, if any.
    pub fuel: u32,
}

pub(super) struct Facts {
    list: Vec<FunctionFacts>,
}

impl FunctionFacts {
    /// Whether calls are replaced by the body.
    pub fn inlined(&self) -> bool {
        self.closures || self.shader
    }
}

impl Facts {
    pub fn of(&self, id: FunctionId) -> &FunctionFacts {
        &self.list[id.0 as usize]
    }
}

#[derive(Default)]
struct Scan {
    calls: Vec<(FunctionId, Span)>,
    effects: bool,
}

/// Facts about all functions that `root` can reach; missing bodies and recursion through closures are
/// reported.
pub(super) fn collect(program: &Program, root: FunctionId, probes: bool, diagnostics: &mut Diagnostics) -> Facts {
    let mut scans: Vec<Scan> = program.functions.iter().map(scan).collect();
    let custom: Vec<_> = (0..scans.len()).map(|i| custom_inside(program, &scans, i)).collect();
    scans.iter_mut().zip(custom).for_each(|(scan, calls)| scan.calls.extend(calls));
    let mut facts: Vec<FunctionFacts> = program
        .functions
        .iter()
        .map(|f| FunctionFacts {
            closures: std::iter::once(&f.result)
                .chain(f.variables.iter().map(|v| &v.ty))
                .any(|t| program.types.holds_closures(t)),
            shader: f.is_shader,
            ..FunctionFacts::default()
        })
        .collect();
    let mut order = Components {
        scans: &scans,
        state: vec![State::default(); scans.len()],
        stack: Vec::new(),
        counter: 0,
        found: Vec::new(),
    };
    order.visit(root.0 as usize);
    // What the author gives for derivatives is called by none, but written where what it is for is.
    let mut next = 0;
    while let Some(component) = order.found.get(next) {
        let functions = component.iter().flat_map(|&i| program.functions[i].attributes.functions());
        for id in functions.collect::<Vec<_>>() {
            if order.state[id.0 as usize].index.is_none() {
                order.visit(id.0 as usize);
            }
        }
        next += 1;
    }
    // Callees come before callers.
    let mut work = vec![1u32; scans.len()];
    for component in &order.found {
        let inside = |id: FunctionId| component.contains(&(id.0 as usize));
        if component.len() > MAX_CIRCLE {
            let function = program.function(FunctionId(component[0] as u32));
            let message = format!("{} functions call each other in a circle", component.len());
            let hint = format!("at most {MAX_CIRCLE} can: 256 levels of more would not fit the memory there is");
            diagnostics.push(Diagnostic::error(&codes::TOO_LARGE, function.span, message, hint));
            return Facts { list: facts };
        }
        let recursive = component.len() > 1 || scans[component[0]].calls.iter().any(|(id, _)| inside(*id));
        let calls = || component.iter().flat_map(|&i| &scans[i].calls);
        let total =
            calls().filter(|(id, _)| !inside(*id)).fold(1u32, |sum, (id, _)| sum.saturating_add(work[id.0 as usize]));
        // A derivative has no body of its own that could take fuel; its callers pay for it.
        let derived = component.iter().any(|&i| program.functions[i].derived.is_some());
        let pays = recursive || total > FREE_CALLS && !derived;
        let attributes = || component.iter().map(|&i| &program.functions[i].attributes);
        // A probe is an effect, and may stand anywhere. What is linked has an allowance of its own.
        let effects = attributes().all(|a| a.linked.is_none())
            && (probes
                || pays
                || attributes().any(Attributes::is_custom)
                || component.iter().any(|&i| scans[i].effects)
                || calls().any(|(id, _)| facts[id.0 as usize].effects));
        for &i in component {
            facts[i] = FunctionFacts { effects, recursive, fuel: if pays { total } else { 0 }, ..facts[i] };
            work[i] = if pays { 1 } else { total };
        }
        for &i in component {
            check(program, FunctionId(i as u32), &facts[i], &scans[i], diagnostics);
        }
    }
    // The entry always threads a token: it is what the host gets the lane's fate from.
    facts[root.0 as usize].effects = true;
    Facts { list: facts }
}

fn check(program: &Program, id: FunctionId, facts: &FunctionFacts, scan: &Scan, diagnostics: &mut Diagnostics) {
    let function = program.function(id);
    for (callee, span) in &scan.calls {
        let callee = program.function(*callee);
        let linked = callee.attributes.linked.is_some();
        if callee.body.is_none() && callee.external.is_none() && callee.derived.is_none() && !linked {
            let message = format!("`{}` has no body", callee.name);
            let hint = "write its body in the same file; the host has no function of this name either";
            diagnostics.push(
                Diagnostic::error(&codes::NO_BODY, *span, message, hint).with_label(callee.span, "declared here"),
            );
        }
    }
    if let Some(derived) = &function.derived {
        return check_derived(program, derived, facts, diagnostics);
    }
    if facts.recursive && facts.shader {
        let message = format!("the shader `{}` calls itself", function.name);
        let hint = "move what recurses into a function, which the shader calls";
        diagnostics.push(Diagnostic::error(&codes::RECURSIVE_SHADER, function.span, message, hint));
    } else if facts.recursive && facts.closures {
        let message = format!("`{}` touches closures and calls itself", function.name);
        let hint = "build the closure in a loop with a constant number of rounds, or recurse on its weights";
        diagnostics.push(Diagnostic::error(&codes::CLOSURE_FLATTEN, function.span, message, hint));
    }
}

/// What a derivative calls in place of derivatives of functions inside.
fn custom_inside(program: &Program, scans: &[Scan], i: usize) -> Vec<(FunctionId, Span)> {
    let Some(derived) = &program.functions[i].derived else { return Vec::new() };
    let (mut open, mut seen) = (vec![derived.of], BTreeSet::from([derived.of]));
    let mut found = Vec::new();
    while let Some(id) = open.pop() {
        let function = program.function(id);
        found.extend(function.attributes.functions().map(|custom| (custom, derived.place)));
        let inside = scans[id.0 as usize].calls.iter().map(|(callee, _)| *callee);
        open.extend(inside.filter(|callee| seen.insert(*callee)));
    }
    found
}

/// Functions with closures are written into their callers, so there is none to differentiate; and none that is
/// its own derivative has an end.
fn check_derived(program: &Program, derived: &Derived, facts: &FunctionFacts, diagnostics: &mut Diagnostics) {
    let function = program.function(derived.of);
    let closures = std::iter::once(&function.result)
        .chain(function.variables.iter().map(|v| &v.ty))
        .any(|t| program.types.holds_closures(t));
    let d = if facts.recursive {
        let message = format!("`{}` comes to its own derivative", function.name);
        let hint = "a function cannot differentiate itself, nor one that calls it: there is no end to it";
        Diagnostic::error(&codes::UNBOUNDED_ORDER, derived.place, message, hint)
    } else if closures {
        let message = format!("`{}` touches closures, which have no derivatives", function.name);
        let hint = "move what is to be differentiated into a function of its own, without closures";
        Diagnostic::error(&codes::DERIVED_FUNCTION, derived.place, message, hint)
    } else {
        return;
    };
    diagnostics.push(d.with_label(function.span, "declared here"));
}

fn scan(function: &Function) -> Scan {
    let mut scan = Scan::default();
    function.body.iter().flatten().for_each(|s| scan.stmt(s));
    scan.calls.extend(function.derived.iter().map(|d| (d.of, d.place)));
    scan
}

impl Scan {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(list) => list.iter().for_each(|s| self.stmt(s)),
            StmtKind::Let(_, value) | StmtKind::Return(value) => value.iter().for_each(|e| self.expr(e)),
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.stmt(then);
                otherwise.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::Loop { init, condition, step, body, .. } => {
                self.effects = true;
                init.iter().for_each(|s| self.stmt(s));
                condition.iter().chain(step).for_each(|e| self.expr(e));
                self.stmt(body);
            }
            StmtKind::Switch { value, sections } => {
                self.expr(value);
                sections.iter().flat_map(|s| &s.body).for_each(|s| self.stmt(s));
            }
            StmtKind::Break | StmtKind::Continue => {}
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Call(id, _) => self.calls.push((*id, e.span)),
            ExprKind::Sample(..) | ExprKind::Print(..) | ExprKind::AddTo(_) => self.effects = true,
            // It is a loop.
            ExprKind::Integral(_) => self.effects = true,
            // Its transpose adds.
            ExprKind::Element(..) => self.effects = true,
            _ => {}
        }
        each_child(e, &mut |child| self.expr(child));
    }
}

/// Visits the expressions directly inside one, those in places included.
pub(super) fn each_child(e: &Expr, visit: &mut impl FnMut(&Expr)) {
    let place = |p: &Place, visit: &mut dyn FnMut(&Expr)| {
        for access in &p.path {
            if let Access::Index(i) = access {
                visit(i);
            }
        }
    };
    match &e.kind {
        ExprKind::Constant(_)
        | ExprKind::Global(_)
        | ExprKind::Texture(_)
        | ExprKind::TextureSize(_)
        | ExprKind::BufferLength(_)
        | ExprKind::Error => {}
        ExprKind::AddTo(addition) => {
            visit(&addition.index);
            visit(&addition.value);
        }
        ExprKind::Place(p) | ExprKind::Step { place: p, .. } => place(p, visit),
        ExprKind::Unary(_, a)
        | ExprKind::Convert(_, a)
        | ExprKind::Swizzle(a, _)
        | ExprKind::Member(a, _)
        | ExprKind::Element(_, a)
        | ExprKind::Detach(a) => visit(a),
        ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) | ExprKind::Comma(a, b) => {
            visit(a);
            visit(b);
        }
        ExprKind::Integral(integral) => integral.parts().for_each(visit),
        ExprKind::Ternary(a, b, c) => {
            visit(a);
            visit(b);
            visit(c);
        }
        ExprKind::Assign(p, a) | ExprKind::AssignOp(_, p, a) => {
            place(p, visit);
            visit(a);
        }
        ExprKind::Call(_, arguments) => arguments.iter().for_each(|a| match a {
            Argument::In(e) => visit(e),
            Argument::Place(p, _) => place(p, visit),
            Argument::Texture(_) | Argument::Dropped => {}
        }),
        ExprKind::Builtin(_, list)
        | ExprKind::Print(_, list)
        | ExprKind::Construct(list)
        | ExprKind::Closure(_, list)
        | ExprKind::Sample(_, _, _, list) => list.iter().for_each(visit),
    }
}

/// Tarjan's strongly connected components of the call graph.
struct Components<'a> {
    scans: &'a [Scan],
    state: Vec<State>,
    stack: Vec<usize>,
    counter: usize,
    found: Vec<Vec<usize>>,
}

#[derive(Clone, Default)]
struct State {
    index: Option<usize>,
    low: usize,
    on_stack: bool,
}

impl Components<'_> {
    /// Iterative, since call chains may be as long as a file.
    fn visit(&mut self, root: usize) {
        let mut work = vec![(root, 0usize)];
        while let Some(&mut (node, ref mut next)) = work.last_mut() {
            if *next == 0 {
                self.state[node] = State { index: Some(self.counter), low: self.counter, on_stack: true };
                self.counter += 1;
                self.stack.push(node);
            }
            let Some((callee, _)) = self.scans[node].calls.get(*next) else {
                work.pop();
                self.close(node);
                if let Some(&(parent, _)) = work.last() {
                    self.state[parent].low = self.state[parent].low.min(self.state[node].low);
                }
                continue;
            };
            *next += 1;
            let callee = callee.0 as usize;
            match self.state[callee].index {
                None => work.push((callee, 0)),
                Some(index) if self.state[callee].on_stack => self.state[node].low = self.state[node].low.min(index),
                Some(_) => {}
            }
        }
    }

    fn close(&mut self, node: usize) {
        if self.state[node].index != Some(self.state[node].low) {
            return;
        }
        let mut component = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.state[member].on_stack = false;
            component.push(member);
            if member == node {
                break;
            }
        }
        self.found.push(component);
    }
}
