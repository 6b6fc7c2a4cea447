//! A random program as a function of all floats that it reads, and functions that give its derivatives.

use super::super::{Judged, refused};
use crate::Host;
use crate::generate::Flavour;
use crate::generate::{Random, program};
use crate::proof::interpreted::without_globals;
use ssl_compiler::ir::builder::Builder;
use ssl_compiler::ir::gradients::Input;
use ssl_compiler::ir::{FLOAT, FuncId, Function, Module, Op, Precision, Ty, Value, Values};
use ssl_compiler::passes::lift;
use ssl_compiler::pipeline::{Options, Stage};
use ssl_compiler::runtime::{GlobalField, Order, Orders, ShaderInterface};
use ssl_compiler::source::SourceMap;
use ssl_compiler::types::{Scalar, Type};
use ssl_compiler::{CompileOptions, check, lower_checked};

/// A module whose old entry has become a function.
pub struct Subject {
    pub module: Module,
    /// Takes a token and floats.
    pub function: FuncId,
    pub inputs: Vec<Input>,
    pub interface: ShaderInterface,
}

/// A program of the generator without derivatives of its own, which reads further floats as parameters.
pub fn source(seed: u64, size: usize, smooth: bool) -> String {
    let flavour = Flavour { smooth, nested_derivatives: false };
    let text = without_globals(&program(seed, size, flavour));
    let text = text.replacen("d0 = ddx(", "d0 = (", 1).replacen("d1 = ddy(", "d1 = (", 1);
    let text = text.replacen(
        "shader main(",
        "shader main(float q0 = 0.75, float3 q1 = float3(0.5, -1.25, 0.25), float4 q2 = float4(1.0, 0.5, 0.25, -0.5), ",
        1,
    );
    let text = text.replacen("float x = global_value<ga>;", "float x = global_value<ga> * q0 + q2.w;", 1);
    text.replacen("float y = global_value<gb>;", "float y = global_value<gb> + dot(q1, q2.xyz);", 1)
}

impl Subject {
    /// Compiles a program up to where it would be differentiated.
    pub fn new(host: &Host, source: &str, precision: Precision) -> Result<Subject, Judged> {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source);
        let options = CompileOptions {
            passes: Options { optimise: false, precision, ..Options::default() },
            externals: &host.externals,
            ..CompileOptions::new(&host.globals, &host.closures)
        };
        let (checked, diagnostics) = check(&mut sources, file, &options);
        if diagnostics.has_errors() {
            return Err(refused(&diagnostics));
        }
        let mut lowered = None;
        let mut look = |stage: Stage, module: &Module| {
            if stage == Stage::Lowered {
                lowered = Some(module.clone());
            }
        };
        let (_, interface) = lower_checked(&checked, file, None, &options, &mut look).map_err(|d| refused(&d))?;
        let Some(mut module) = lowered else { return Err(Judged::Again("nothing was lowered")) };
        let mut inputs = Vec::new();
        for f in &module.functions {
            f.walk(|_, data| {
                let input = Input::read_by(data, &f.types);
                inputs.extend(input.filter(|input| !inputs.contains(input)));
            });
        }
        if inputs.is_empty() {
            return Err(Judged::Again("reads no float"));
        }
        lift::run(&mut module, &inputs);
        let function = module.entry;
        Ok(Subject { module, function, inputs, interface })
    }

    pub fn params(&self, function: FuncId) -> usize {
        self.module.function(function).params().len() - 1
    }

    /// Results of a function that are floats, counted behind the token.
    pub fn floats(&self, function: FuncId) -> Vec<usize> {
        floats(self.module.function(function))
    }
}

fn floats(f: &Function) -> Vec<usize> {
    (0..f.results.len() - 1).filter(|&i| f.results[i + 1] == FLOAT).collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Forward,
    Reverse,
}

fn head(module: &Module, name: &str, like: FuncId, params: &[Ty]) -> Builder {
    let precision = module.function(like).precision;
    let name = format!("{name}{}", module.functions.len());
    Builder::new(Function::new(name, params, &[]).with_precision(precision))
}

fn add(module: &mut Module, mut b: Builder, results: Values) -> FuncId {
    b.function.results = results.iter().map(|&v| b.ty(v)).collect();
    module.functions.push(b.finish(results));
    FuncId(module.functions.len() as u32 - 1)
}

/// A function that gives the derivative of another: it takes a tangent of each parameter, or a cotangent of each float
/// result, behind the parameters. Its further results are the tangents, or the cotangents of the parameters.
pub fn derived(module: &mut Module, f: FuncId, mode: Mode, arrays: bool) -> FuncId {
    let (params, results) = (module.function(f).params().len() - 1, module.function(f).results.clone());
    let outs = floats(module.function(f));
    let (takes, gives) = match mode {
        Mode::Forward => (params, outs.len()),
        Mode::Reverse => (outs.len(), params),
    };
    let packed = arrays.then(|| packed(module, f));
    let types = [vec![Ty::Token], vec![FLOAT; params + takes]].concat();
    let mut b = head(module, if mode == Mode::Forward { "fwd" } else { "rev" }, f, &types);
    let own = Values::from_slice(b.function.params());
    let op = |function| match mode {
        Mode::Forward => Op::Jvp { function, screen: 0 },
        Mode::Reverse => Op::Vjp { function, screen: 0 },
    };
    let Some(packed) = packed else {
        let types = [results, vec![FLOAT; gives]].concat();
        let inst = b.push(op(f), own, &types, &[]);
        let given = Values::from_slice(b.results(inst));
        return add(module, b, given);
    };
    let array = |n: usize| Ty::Array(Scalar::Float, n as u32);
    let x = b.emit(Op::ArrayNew, &own[1..=params], array(params));
    let d = b.emit(Op::ArrayNew, &own[1 + params..], array(takes));
    let types = [module.function(packed).results.clone(), vec![array(gives)]].concat();
    let inst = b.push(op(packed), Values::from_slice(&[own[0], x, d]), &types, &[]);
    let given = Values::from_slice(b.results(inst));
    let mut all = unpacked(&mut b, &results, &given[..given.len() - 1]);
    all.extend(elements(&mut b, given[given.len() - 1], gives));
    add(module, b, all)
}

/// The same function of an array, which gives its floats as an array.
fn packed(module: &mut Module, f: FuncId) -> FuncId {
    let (params, results) = (module.function(f).params().len() - 1, module.function(f).results.clone());
    let mut b = head(module, "packed", f, &[Ty::Token, Ty::Array(Scalar::Float, params as u32)]);
    let own = Values::from_slice(b.function.params());
    let mut args = Values::from_slice(&own[..1]);
    args.extend(elements(&mut b, own[1], params));
    let inst = b.push(Op::Call(f), args, &results, &[]);
    let given = Values::from_slice(b.results(inst));
    let (floats, others): (Vec<Value>, Vec<Value>) = given[1..].iter().partition(|v| b.ty(**v) == FLOAT);
    let array = b.emit(Op::ArrayNew, &floats, Ty::Array(Scalar::Float, floats.len() as u32));
    let results = [given[0], array].into_iter().chain(others).collect();
    add(module, b, results)
}

fn elements(b: &mut Builder, array: Value, n: usize) -> Values {
    let mut out = Values::new();
    for i in 0..n {
        let index = b.int(i as i32);
        out.push(b.array_get(array, index));
    }
    out
}

/// What `packed` packed, in the order of before.
fn unpacked(b: &mut Builder, results: &[Ty], given: &[Value]) -> Values {
    let n = results.iter().filter(|ty| **ty == FLOAT).count();
    let mut floats = elements(b, given[1], n).into_iter();
    let mut others = given[..1].iter().chain(&given[2..]).copied();
    results.iter().filter_map(|ty| if *ty == FLOAT { floats.next() } else { others.next() }).collect()
}

/// An argument of a call that an entry makes.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    /// A number of the pool.
    Pool(usize),
    /// The constant 0.
    Zero,
}

/// Numbers of the pool, one after the other.
pub fn pool(start: usize, n: usize) -> impl Iterator<Item = Arg> {
    (start..start + n).map(Arg::Pool)
}

/// Makes an entry that calls functions with numbers of a pool of so many, and gives all that they give. Returns the
/// field of the pool's first number, and where the results of each call begin.
pub fn entry(module: &mut Module, numbers: usize, orders: Orders, calls: &[(FuncId, Vec<Arg>)]) -> (usize, Vec<usize>) {
    let first_field = module.globals.len();
    let mut row = module.globals.iter().map(|g| g.first_row + g.components() * g.orders.count()).max().unwrap_or(0);
    for i in 0..numbers {
        let name = format!("pool.{i}");
        module.globals.push(GlobalField {
            name,
            ty: Type::Float,
            orders,
            first_row: row,
            withheld: false,
            uniform: false,
        });
        row += orders.count();
    }
    let mut b = head(module, "run", calls[0].0, &[Ty::Token]);
    let mut token = b.function.params()[0];
    let (mut results, mut starts) = (Values::from_slice(&[token]), Vec::new());
    for (f, arguments) in calls {
        let mut args = Values::from_slice(&[token]);
        for argument in arguments {
            args.push(match *argument {
                Arg::Pool(i) => {
                    let op = Op::Global { field: (first_field + i) as u32, component: 0, order: Order::Value };
                    b.emit(op, &[], FLOAT)
                }
                Arg::Zero => b.float(0.0),
            });
        }
        let types = module.function(*f).results.clone();
        let inst = b.push(Op::Call(*f), args, &types, &[]);
        let given = Values::from_slice(b.results(inst));
        token = given[0];
        starts.push(results.len() - 1);
        results.extend(given[1..].iter().copied());
    }
    results[0] = token;
    module.entry = add(module, b, results);
    (first_field, starts)
}

/// A number of moderate size, as a float holds it; whole ones where ties are wanted.
pub fn number(random: &mut Random, range: f64, whole: bool) -> f64 {
    let x = f64::from((random.below(4_000_001) as f32 - 2_000_000.0) / 2_000_000.0) * range;
    f64::from(if whole { (2.0 * x).round() / 2.0 } else { x } as f32)
}
