//! The shaders that call a function, as text behind that of its file.

use super::called::Input;
use super::inputs::leaves;
use super::inverse::InversePlan;
use super::plan::Plan;
use super::undo::UndoPlan;
use crate::syntax::ast::{Direction, THIS};
use crate::types::{Type, TypeTable};
use std::fmt::Write;

/// The names of the shaders, and of what they take and give: each is followed by a number.
pub(super) struct Shaders {
    pub text: String,
    pub value: String,
    pub gradient: String,
    /// Where the author gives a derivative of forward mode.
    pub forward: Option<String>,
    pub names: Names,
}

/// Words that no name of the file starts with.
#[derive(Clone)]
pub(super) struct Names {
    prefix: String,
}

impl Names {
    fn free_in(text: &str) -> Names {
        let mut prefix = "gradient_test_".to_owned();
        while text.contains(&prefix) {
            prefix.push_str("x_");
        }
        Names { prefix }
    }

    /// A scalar of a parameter.
    pub fn scalar(&self, parameter: usize, leaf: usize) -> String {
        format!("{}in_{parameter}_{leaf}", self.prefix)
    }

    pub fn texture(&self, parameter: usize) -> String {
        format!("{}texture_{parameter}", self.prefix)
    }

    /// What a result is multiplied with.
    pub fn cotangent(&self, result: usize) -> String {
        format!("{}cotangent_{result}", self.prefix)
    }

    pub fn tangent(&self, parameter: usize, leaf: usize) -> String {
        format!("{}tangent_{parameter}_{leaf}", self.prefix)
    }

    /// What comes out.
    pub fn output(&self, n: usize) -> String {
        format!("{}out_{n}", self.prefix)
    }

    fn local(&self, word: &str, n: usize) -> String {
        format!("{}{word}_{n}", self.prefix)
    }
}

/// The shaders that test a gradient, for a file with this text.
pub(super) fn of_gradient(types: &TypeTable, plan: &Plan, text: &str) -> Shaders {
    let names = Names::free_in(text);
    let writer = |head| Writer::new(types, &plan.inputs, &names, head);
    let shaders = [writer("value").value(plan), writer("gradient").gradient(plan)];
    let forward = plan.forward.then(|| writer("forward").forward(plan));
    let name = |head: &str| format!("{}{head}", names.prefix);
    Shaders {
        text: shaders.iter().chain(&forward).map(String::as_str).collect(),
        value: name("value"),
        gradient: name("gradient"),
        forward: forward.map(|_| name("forward")),
        names,
    }
}

/// The shader that takes a step and takes it back; its text, its name, and those of what it takes.
pub(super) fn of_undo(types: &TypeTable, plan: &UndoPlan, text: &str) -> (String, String, Names) {
    let names = Names::free_in(text);
    let written = Writer::new(types, &plan.inputs, &names, "undo").undo(plan);
    (written, format!("{}undo", names.prefix), names)
}

/// The shader that maps a point and leads it back; its text, its name, and those of what it takes.
pub(super) fn of_inverse(types: &TypeTable, plan: &InversePlan, text: &str) -> (String, String, Names) {
    let names = Names::free_in(text);
    let written = Writer::new(types, &plan.inputs, &names, "inverse").inverse(plan);
    (written, format!("{}inverse", names.prefix), names)
}

struct Writer<'a> {
    types: &'a TypeTable,
    inputs: &'a [Input],
    names: &'a Names,
    head: &'static str,
    parameters: Vec<String>,
    body: String,
    /// The declarations of what comes out.
    outputs: Vec<String>,
}

impl<'a> Writer<'a> {
    fn new(types: &'a TypeTable, inputs: &'a [Input], names: &'a Names, head: &'static str) -> Writer<'a> {
        Writer { types, inputs, names, head, parameters: Vec::new(), body: String::new(), outputs: Vec::new() }
    }

    /// All floats that come out.
    fn value(mut self, plan: &Plan) -> String {
        let arguments = self.values();
        let result = self.result(plan, "", "");
        self.call(&result, &plan.function, &arguments);
        for path in self.result_paths(plan, "") {
            self.give(&Type::Float, &path);
        }
        self.shader()
    }

    /// The state behind a step, the state when that was taken back, and whether it could be.
    fn undo(mut self, plan: &UndoPlan) -> String {
        let arguments = self.values();
        let (state, undone) = (self.names.local("value", 0), self.names.local("undone", 0));
        self.call("", &plan.function, &arguments);
        let give = |writer: &mut Self| {
            for leaf in &writer.inputs[0].leaves {
                writer.give(&leaf.ty, &format!("{state}{}", leaf.path));
            }
        };
        give(&mut self);
        self.call(&format!("bool {undone} = "), &plan.undo, &arguments);
        give(&mut self);
        self.give(&Type::Bool, &undone);
        self.shader()
    }

    /// What a point is mapped to, and where that is led back to.
    fn inverse(mut self, plan: &InversePlan) -> String {
        let mut arguments = self.values();
        let ty = &plan.inputs[0].ty;
        for (n, callee) in [&plan.function, &plan.inverse].into_iter().enumerate() {
            let local = self.names.local("mapped", n);
            self.call(&format!("{} {local} = ", self.types.display(ty)), callee, &arguments);
            for leaf in &plan.inputs[0].leaves {
                self.give(&Type::Float, &format!("{local}{}", leaf.path));
            }
            arguments[0] = Some(local);
        }
        self.shader()
    }

    /// The gradient by the selected parameters, by `bwd_diff`.
    fn gradient(mut self, plan: &Plan) -> String {
        let mut arguments = self.values();
        // In the order of results: first that of the function.
        let mut next = plan.result_leaves.iter().filter(|l| l.ty == Type::Float).count();
        for n in 0..plan.results() {
            self.parameters.push(format!("float {} = 0.0", self.names.cotangent(n)));
        }
        let names = self.names;
        let of_result = (next > 0).then(|| self.differential("dresult", 0, &plan.result, &mut |n| names.cotangent(n)));
        for (i, input) in plan.inputs.iter().enumerate().filter(|(_, input)| input.differentiable) {
            let start = next;
            let mut cotangent = |n: usize| names.cotangent(start + n);
            arguments[i] = Some(if input.comes_out() {
                next += input.floats().count();
                let d = self.differential("d", i, &input.ty, &mut cotangent);
                if input.goes_in() { self.pair(i, Some(&d)) } else { d }
            } else {
                self.pair(i, None)
            });
        }
        for (argument, input) in arguments.iter_mut().zip(&plan.inputs) {
            if input.direction == Direction::Out && !input.differentiable {
                *argument = None;
            }
        }
        arguments.extend(of_result.map(Some));
        let arguments: Vec<&str> = arguments.iter().flatten().map(String::as_str).collect();
        let _ = writeln!(self.body, "    bwd_diff({})({});", plan.function, arguments.join(", "));
        for (i, input) in plan.inputs.iter().enumerate().filter(|(_, input)| input.selected) {
            for leaf in input.floats() {
                self.give(&Type::Float, &format!("{}.d{}", names.local("pair", i), input.leaves[leaf].path));
            }
        }
        self.shader()
    }

    /// The tangents of all floats that come out, by `fwd_diff`.
    fn forward(mut self, plan: &Plan) -> String {
        let mut arguments = self.values();
        let names = self.names;
        for (i, input) in plan.inputs.iter().enumerate().filter(|(_, input)| input.differentiable) {
            arguments[i] = Some(if input.goes_in() {
                let floats: Vec<usize> = input.floats().collect();
                for &leaf in &floats {
                    self.parameters.push(format!("float {} = 0.0", names.tangent(i, leaf)));
                }
                let d = self.differential("d", i, &input.ty, &mut |n| names.tangent(i, floats[n]));
                self.pair(i, Some(&d))
            } else {
                let pair = names.local("pair", i);
                let _ = writeln!(self.body, "    DifferentialPair<{}> {pair};", self.types.display(&input.ty));
                pair
            });
        }
        let differentiable = plan.result_leaves.iter().any(|l| l.ty == Type::Float);
        let (open, close) = if differentiable { ("DifferentialPair<", ">") } else { ("", "") };
        let result = self.result(plan, open, close);
        self.call(&result, &format!("fwd_diff({})", plan.function), &arguments);
        for path in self.result_paths(plan, ".d") {
            self.give(&Type::Float, &path);
        }
        self.shader()
    }

    /// Declares a variable for each parameter; the arguments of a call.
    fn values(&mut self) -> Vec<Option<String>> {
        let (inputs, names) = (self.inputs, self.names);
        let one = |(i, input): (usize, &Input)| {
            if input.ty == Type::Texture2d {
                self.parameters.push(format!("texture2d {}", names.texture(i)));
                return Some(names.texture(i));
            }
            let name = names.local("value", i);
            let declared = declared(self.types, &input.ty, &name, "");
            if !input.goes_in() {
                let _ = writeln!(self.body, "    {declared};");
                return Some(name);
            }
            for (n, leaf) in input.leaves.iter().enumerate() {
                let (word, zero) = match leaf.ty {
                    Type::Int => ("int", "0"),
                    Type::Bool => ("bool", "false"),
                    Type::String => ("string", "\"\""),
                    _ => ("float", "0.0"),
                };
                self.parameters.push(format!("{word} {} = {zero}", names.scalar(i, n)));
            }
            let mut scalars = (0..input.leaves.len()).map(|n| names.scalar(i, n));
            let value = construct(self.types, &input.ty, &mut scalars, &|_| true);
            let _ = writeln!(self.body, "    {declared} = {value};");
            Some(name)
        };
        inputs.iter().enumerate().map(one).collect()
    }

    /// Declares a value of the differential type of `ty`.
    fn differential(&mut self, word: &str, i: usize, ty: &Type, name: &mut dyn FnMut(usize) -> String) -> String {
        let local = self.names.local(word, i);
        let mut scalars = (0..).map(name);
        let types = self.types;
        let value = construct(types, ty, &mut scalars, &|ty| has_floats(types, ty));
        let _ = writeln!(self.body, "    {} = {value};", declared(types, ty, &local, ".Differential"));
        local
    }

    /// Declares a pair of a parameter's value and its differential.
    fn pair(&mut self, i: usize, differential: Option<&str>) -> String {
        let (pair, value) = (self.names.local("pair", i), self.names.local("value", i));
        let ty = self.types.display(&self.inputs[i].ty);
        let second = differential.map_or(String::new(), |d| format!(", {d}"));
        let _ = writeln!(self.body, "    DifferentialPair<{ty}> {pair} = diffPair({value}{second});");
        pair
    }

    /// Declares the variable that a function's result goes into.
    fn result(&self, plan: &Plan, open: &str, close: &str) -> String {
        match &plan.result {
            Type::Void => String::new(),
            ty if open.is_empty() => format!("{} = ", declared(self.types, ty, &self.names.local("result", 0), "")),
            ty => format!("{open}{}{close} {} = ", self.types.display(ty), self.names.local("result", 0)),
        }
    }

    fn call(&mut self, result: &str, callee: &str, arguments: &[Option<String>]) {
        let mut list: Vec<&str> = arguments.iter().flatten().map(String::as_str).collect();
        // A method is called on what its first parameter takes; its derivative is a function like any other.
        let method = callee.split_once('.').filter(|_| self.inputs.first().is_some_and(|i| i.name == THIS));
        let callee = match method.filter(|_| !callee.contains('(')) {
            Some((_, method)) => format!("{}.{method}", list.remove(0)),
            None => callee.to_owned(),
        };
        let _ = writeln!(self.body, "    {result}{callee}({});", list.join(", "));
    }

    /// Where the floats are that come out: in values, or, with `.d`, in pairs.
    fn result_paths(&self, plan: &Plan, part: &str) -> Vec<String> {
        let result = self.names.local("result", 0);
        let floats = plan.result_leaves.iter().filter(|l| l.ty == Type::Float);
        let mut paths: Vec<String> = floats.map(|l| format!("{result}{part}{}", l.path)).collect();
        let outs = plan.inputs.iter().enumerate().filter(|(_, i)| i.comes_out() && i.differentiable);
        for (i, input) in outs {
            let local = self.names.local(if part.is_empty() { "value" } else { "pair" }, i);
            paths.extend(input.floats().map(|n| format!("{local}{part}{}", input.leaves[n].path)));
        }
        paths
    }

    fn give(&mut self, ty: &Type, what: &str) {
        let output = self.names.output(self.outputs.len());
        let _ = writeln!(self.body, "    {output} = {what};");
        self.outputs.push(format!("out {} {output}", self.types.display(ty)));
    }

    fn shader(mut self) -> String {
        self.parameters.append(&mut self.outputs);
        format!("\nshader {}{}({})\n{{\n{}}}\n", self.names.prefix, self.head, self.parameters.join(", "), self.body)
    }
}

/// `float name[3]`; `suffix` comes behind the name of a struct.
fn declared(types: &TypeTable, ty: &Type, name: &str, suffix: &str) -> String {
    let (mut element, mut dims) = (ty, String::new());
    while let Type::Array(inner, n) = element {
        let _ = write!(dims, "[{n}]");
        element = inner;
    }
    let suffix = if matches!(element, Type::Struct(_)) { suffix } else { "" };
    format!("{}{suffix} {name}{dims}", types.display(element))
}

/// A value of its scalars in order; members of structs that are not `wanted` are not there.
fn construct(
    types: &TypeTable,
    ty: &Type,
    scalars: &mut dyn Iterator<Item = String>,
    wanted: &dyn Fn(&Type) -> bool,
) -> String {
    let mut several = |n: usize| (0..n).filter_map(|_| scalars.next()).collect::<Vec<_>>().join(", ");
    match ty {
        Type::Vector(kind) => format!("{}({})", kind.name(), several(kind.len())),
        Type::Matrix => format!("matrix({})", several(16)),
        Type::Struct(id) => {
            let fields = types.get(*id).fields.iter().filter(|f| wanted(&f.ty));
            let members: Vec<String> = fields.map(|f| construct(types, &f.ty, scalars, wanted)).collect();
            format!("{{{}}}", members.join(", "))
        }
        Type::Array(element, n) => {
            let members: Vec<String> = (0..*n).map(|_| construct(types, element, scalars, wanted)).collect();
            format!("{{{}}}", members.join(", "))
        }
        _ => several(1),
    }
}

fn has_floats(types: &TypeTable, ty: &Type) -> bool {
    leaves(types, ty).is_some_and(|l| l.iter().any(|l| l.ty == Type::Float))
}
