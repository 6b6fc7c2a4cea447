//! From the typed tree to the IR: lowering splits vectors and structs into scalars, turns control flow into nested
//! regions and closures into a table of lobes, and gives loops their fuel.
//!
//! Design. Variables live in an environment that maps each to the IR values of its parts. `if` and `loop` compare the
//! environments of their branches and turn the differences into results. Early exits (`return`, `break`, `continue`)
//! are normalised away: if a branch leaves, the code behind the `if` moves into the other branch, and if that is not
//! enough, a flag guards the rest. Rejected: building a control-flow graph first and then finding its structure again,
//! since the source is structured already.

mod buffers;
mod calls;
mod closures;
mod construct;
mod crossing;
mod custom;
mod derived;
mod entry;
mod exprs;
mod facts;
mod integrals;
pub mod linked;
mod look_ups;
mod loops;
mod names;
mod places;
mod state;
mod stmts;
mod switch;
mod undo;
mod watch;

use crate::diagnostics::{Code, Diagnostic, Diagnostics, codes};
use crate::ir::builder::Builder;
use crate::ir::{self, ColumnWord, Const, FuncId, Gradients, Module, ParameterWord, Precision, Ty, Values};
use crate::runtime::interface::Metadata;
use crate::runtime::linked::Facet;
use crate::runtime::{ClosureId, ExternalRegistry, GlobalsLayout, ParameterBlock, ShaderInterface, Texts, TextureDesc};
use crate::sema::Checked;
use crate::sema::hir::{self, FunctionId, Program, VarId};
use crate::source::Span;
use crate::syntax::ast::Direction;
use crate::types::Type;
use facts::Facts;
use state::{LeafState, State};
use std::collections::HashMap;
use std::sync::Arc;

/// Lobes that one shader may have.
const MAX_LOBES: usize = 64;

/// What parameters of the shader are without being given a value, where that was computed beforehand: the
/// scalars of each, in order.
pub type Defaults = HashMap<VarId, Vec<Const>>;

/// What to make of a checked file.
pub struct Request<'a> {
    pub checked: &'a Checked,
    pub externals: &'a ExternalRegistry,
    /// A shader, or a function without a result: its inputs are read from rows, in order, in place of globals.
    pub shader: FunctionId,
    /// Writes these parameter values into the code instead of reading the block.
    pub bake: Option<Bake<'a>>,
    /// Instead of lowering these parameters' defaults.
    pub defaults: &'a Defaults,
    /// Writes a probe before every sink, for the interpreter.
    pub probes: bool,
    /// How many samples all integrals take, their seeds moved by the global [`RESEEDED`](crate::ir::points::RESEEDED).
    pub resampled: Option<i32>,
    /// Gives all code of a shader that the entry calls the place of that call, instead of its own.
    pub call_sites: bool,
    /// Notes which values the author's variables hold.
    pub names: bool,
    /// Lets code tell which conditions of an integrand coincide.
    pub coincidences: bool,
    /// Writes a watch behind each derivative and look-up and before each output.
    pub poison: bool,
    pub roots: Roots<'a>,
    pub precision: Precision,
    /// Makes this facet of the function the entry, in place of the function: all that it takes is read from rows, and all
    /// that it gives is written to rows.
    pub linked: Option<Facet>,
}

/// Parameter values to write in, and the parameters that the code reads from its block all the same.
#[derive(Clone, Copy, Debug)]
pub struct Bake<'a> {
    pub block: &'a ParameterBlock,
    pub except: &'a [String],
}

/// Which of a shader's results somebody wants; what only the others need falls away.
#[derive(Clone, Copy, Debug, Default)]
pub enum Roots<'a> {
    #[default]
    All,
    /// Lobes of these types, and no plain outputs: an emitter's emission, or a shadow ray's transparency.
    Lobes(&'a [ClosureId]),
}

/// Lowers a shader and all that it calls.
pub fn lower(request: &Request<'_>, diagnostics: &mut Diagnostics) -> Option<(Module, ShaderInterface)> {
    let program = &request.checked.program;
    let facts = facts::collect(program, request.shader, request.probes || request.poison, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let mut lowering = Lowering {
        request,
        program,
        facts,
        diagnostics,
        instances: HashMap::new(),
        functions: Vec::new(),
        queue: Vec::new(),
        names: HashMap::new(),
        words: Vec::new(),
        columns: Vec::new(),
        watches: Vec::new(),
        inputs: GlobalsLayout::new(),
        size: 0,
        too_long: false,
        integrals: Vec::new(),
        facets: Vec::new(),
        inverses: Vec::new(),
        interface: ShaderInterface {
            name: program.function(request.shader).name.clone(),
            strings: program.strings.clone(),
            kernel: program.function(request.shader).is_kernel,
            metadata: program.function(request.shader).metadata.clone(),
            ..ShaderInterface::default()
        },
    };
    match request.linked {
        Some(facet) => lowering.linked_entry(facet),
        None => lowering.entry(),
    }
    while let Some((id, work)) = lowering.queue.pop() {
        match work {
            Work::Instance(instance) => lowering.instance(id, &instance),
            Work::Custom(custom) => lowering.custom(id, &custom),
            Work::Undo(instance) => lowering.undo(id, &instance),
        }
    }
    let Lowering { functions, mut interface, words, columns, watches, inputs, integrals, facets, inverses, .. } =
        lowering;
    if diagnostics.has_errors() {
        return None;
    }
    interface.parameter_words = words.len();
    interface.columns = columns.len();
    interface.globals =
        if program.function(request.shader).is_shader { request.checked.layout.clone() } else { inputs };
    interface.closure_types = request.checked.closures.clone();
    let globals = interface.globals.fields().to_vec();
    let formats = program.formats.iter().cloned().chain(watches).collect();
    let texts = Texts { formats, strings: program.strings.clone() };
    let module = Module {
        functions,
        entry: FuncId(0),
        globals,
        parameters: words,
        columns,
        externals: request.externals.clone(),
        texts,
        gradients: Gradients::default(),
        gradient_textures: Vec::new(),
        gradient_columns: ir::gradients::Columns::default(),
        gradient_rows: Vec::new(),
        integrals,
        facets,
        sources: request.coincidences.then(|| Arc::new(request.checked.sources.clone())),
        inverses,
    };
    Some((module, interface))
}

/// A function together with the texture slots that its texture parameters stand for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Instance {
    function: FunctionId,
    textures: Vec<u32>,
}

/// A function of the module that is yet to be written.
enum Work {
    Instance(Instance),
    /// What stands for a derivative of an instance.
    Custom(custom::Custom),
    /// What takes an instance back.
    Undo(Instance),
}

struct Lowering<'a> {
    request: &'a Request<'a>,
    program: &'a Program,
    facts: Facts,
    diagnostics: &'a mut Diagnostics,
    instances: HashMap<Instance, FuncId>,
    functions: Vec<ir::Function>,
    queue: Vec<(FuncId, Work)>,
    /// How often a name was given to an IR function.
    names: HashMap<String, usize>,
    words: Vec<ParameterWord>,
    columns: Vec<ColumnWord>,
    /// What each watch looks at; its format is theirs, behind those of the program.
    watches: Vec<String>,
    /// The inputs of an entry that is no shader.
    inputs: GlobalsLayout,
    interface: ShaderInterface,
    /// The size of the functions that are written.
    size: usize,
    /// Whether it was said that there is too much.
    too_long: bool,
    integrals: Vec<ir::points::Integral>,
    facets: Vec<ir::points::Facet>,
    inverses: Vec<(FuncId, FuncId)>,
}

/// One IR function being written; the author's functions that are inlined into it have frames of
/// their own.
struct Writer<'a, 'b> {
    cx: &'b mut Lowering<'a>,
    b: Builder,
    /// Slot 0 holds the token, where the function has effects.
    env: Vec<Option<State>>,
    /// Every change of a slot since the function began: the slot and what it held.
    journal: Vec<(usize, Option<State>)>,
    frame: Frame,
    next_lobe: u32,
    /// A closure had more lobes than are kept on the way.
    lost_lobes: bool,
    inline_depth: usize,
    /// Calls of functions with closures, and of shaders, so far.
    inlined: [usize; 2],
    /// Rounds of loops with closures so far.
    unrolled: usize,
}

/// The author's function that is being lowered.
#[derive(Clone)]
struct Frame {
    function: FunctionId,
    /// Slot of the function's variable 0.
    base: usize,
    textures: HashMap<VarId, u32>,
    /// Slot of the flag that says that `return` was met.
    returned: usize,
    /// Slot of the value that is returned.
    result: usize,
    loops: Option<LoopSlots>,
}

#[derive(Clone, Copy)]
struct LoopSlots {
    broken: usize,
    continued: usize,
}

const TOKEN: usize = 0;

/// What a function comes to beside what is in it, in the same measure.
const FUNCTION: usize = 32;

/// Instructions, operands and results of a shader as lowered, all its functions together.
const MAX_SIZE: usize = 1 << 20;

impl<'a> Lowering<'a> {
    fn error(&mut self, code: &'static Code, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message, hint));
    }

    fn leaves(&self, ty: &Type) -> Vec<crate::types::Leaf> {
        self.program.types.leaves(ty)
    }

    fn unique_name(&mut self, name: &str) -> String {
        let n = self.names.entry(name.to_owned()).or_insert(0);
        *n += 1;
        if *n == 1 { name.to_owned() } else { format!("{name}.{n}") }
    }

    /// The IR function for an instance, which is written later if it is new.
    fn instance_id(&mut self, instance: Instance) -> FuncId {
        if let Some(&id) = self.instances.get(&instance) {
            return id;
        }
        let function = self.program.function(instance.function);
        let (mut params, mut results) = (Vec::new(), Vec::new());
        if self.facts.of(instance.function).effects {
            params.push(Ty::Token);
            results.push(Ty::Token);
        }
        results.extend(self.ir_types(&function.result, false));
        for p in &function.parameters {
            let variable = &function.variables[p.variable.0 as usize];
            let types = self.ir_types(&variable.ty, variable.dynamic);
            if p.direction != Direction::Out {
                params.extend(&types);
            }
            if p.direction != Direction::In {
                results.extend(types);
            }
        }
        let id = FuncId(self.functions.len() as u32);
        // `fwd_diff(f)` is `fwd_diff.f`.
        let name = self.unique_name(
            &function.name.replace(['(', '<'], ".").replace([')', '>', ' '], "").replace([',', '[', ']'], "."),
        );
        let mut head = ir::Function::new(name, &params, &results).with_precision(self.request.precision);
        head.prefer = function.attributes.prefer;
        self.functions.push(head);
        self.instances.insert(instance.clone(), id);
        self.size += FUNCTION;
        if function.attributes.is_custom() {
            self.declare_custom(id, &instance);
        }
        self.declare_undo(id, &instance);
        if let Some(by) = function.attributes.inverse {
            let inverse = self.instance_id(Instance { function: by, textures: Vec::new() });
            self.inverses.push((id, inverse));
        }
        self.queue.push((id, Work::Instance(instance)));
        id
    }

    fn writer(&mut self, function: ir::Function, of: FunctionId) -> Writer<'a, '_> {
        let frame = Frame { function: of, base: 0, textures: HashMap::new(), returned: 0, result: 0, loops: None };
        let b = Builder::new(function);
        Writer {
            cx: self,
            b,
            env: vec![None],
            journal: Vec::new(),
            frame,
            next_lobe: 0,
            lost_lobes: false,
            inline_depth: 0,
            inlined: [0; 2],
            unrolled: 0,
        }
    }

    fn instance(&mut self, id: FuncId, instance: &Instance) {
        let function = self.program.function(instance.function);
        if let Some(derived) = &function.derived {
            return self.derived(id, instance, derived);
        }
        if let Some(slot) = function.attributes.linked {
            return self.linked(id, slot);
        }
        if let Some(external) = function.external {
            return self.external_body(id, function, external);
        }
        let facts = *self.facts.of(instance.function);
        let mut textures = self.slots_within(instance).into_iter();
        let head = self.functions[id.index()].clone();
        let params: Values = Values::from_slice(head.params());
        let mut w = self.writer(head, instance.function);
        let mut params = params.into_iter();
        if facts.effects {
            let token = params.next();
            w.env[TOKEN] = token.map(|t| State::from_elem(LeafState::Value(t), 1));
        }
        w.enter_frame(instance.function);
        for p in &function.parameters {
            if function.variables[p.variable.0 as usize].ty.is_slot() {
                if let Some(word) = textures.next() {
                    w.frame.textures.insert(p.variable, word);
                }
                continue;
            }
            w.b.span = function.variables[p.variable.0 as usize].span;
            let slot = w.frame.base + p.variable.0 as usize;
            if p.direction == Direction::Out {
                let start = w.start(p);
                w.set_unnamed(slot, start);
                continue;
            }
            let variable = &function.variables[p.variable.0 as usize];
            let state = w.take(&variable.ty, variable.dynamic, &mut params);
            let state = w.passed(p, state);
            w.set(slot, state);
        }
        w.guarded_body(function, facts);
        let mut results = Values::new();
        if facts.effects {
            results.push(w.token());
        }
        let result = w.get(w.frame.result);
        results.extend(w.hand_over(&result, &function.result, false));
        for p in function.parameters.iter().filter(|p| p.direction != Direction::In) {
            let state = w.get(w.frame.base + p.variable.0 as usize);
            let state = w.passed(p, state);
            let variable = &function.variables[p.variable.0 as usize];
            results.extend(w.hand_over(&state, &variable.ty, variable.dynamic));
        }
        let (size, written) = (w.b.size, w.b.finish(results));
        self.size += size;
        self.functions[id.index()] = written;
    }

    /// The textures and the buffers of an instance, as its body sees them.
    fn slots_within(&self, instance: &Instance) -> Vec<u32> {
        let function = self.program.function(instance.function);
        let of = |p: &hir::Parameter| &function.variables[p.variable.0 as usize];
        let slots = function.parameters.iter().filter(|p| of(p).ty.is_slot());
        slots.zip(&instance.textures).map(|(p, &word)| buffers::passed_slot(p, of(p), word)).collect()
    }

    /// A function of the host's as one of the module, to be differentiated.
    fn external_body(&mut self, id: FuncId, function: &hir::Function, external: u32) {
        let head = self.functions[id.index()].clone();
        let (types, params) = (head.results.clone(), Values::from_slice(head.params()));
        let mut b = Builder::new(head);
        let first = usize::from(types.first() == Some(&Ty::Token));
        let mut given = params.iter().copied().skip(first);
        let mut args = Values::new();
        for p in &function.parameters {
            let count = self.ir_types(&function.variables[p.variable.0 as usize].ty, false).len();
            for v in given.by_ref().take(count) {
                let ty = b.ty(v);
                let cut = p.no_diff && ty.is_differentiable();
                args.push(if cut { b.emit(ir::Op::Detach, &[v], ty) } else { v });
            }
        }
        let inst = b.push(ir::Op::External(external), args, &types[first..], &[]);
        let mut results = Values::from_slice(&params[..first]);
        results.extend(b.results(inst).iter().copied());
        self.size += b.size;
        self.functions[id.index()] = b.finish(results);
    }

    /// The shader itself: parameters become loads, results become the rows of the output block.
    fn entry(&mut self) {
        let shader = self.request.shader;
        let function = self.program.function(shader);
        let facts = *self.facts.of(shader);
        for name in &self.program.textures {
            self.texture_word(name, None);
        }
        let name = self.unique_name(&function.name);
        let head = ir::Function::new(name, &[Ty::Token], &[]).with_precision(self.request.precision);
        self.functions.push(head.clone());
        let token = head.params()[0];
        let mut w = self.writer(head, shader);
        w.env[TOKEN] = Some(State::from_elem(LeafState::Value(token), 1));
        w.enter_frame(shader);
        for p in &function.parameters {
            w.b.span = function.variables[p.variable.0 as usize].span;
            w.shader_parameter(function, p);
        }
        w.guarded_body(function, facts);
        w.outputs(function);
    }

    /// A slot; `metadata` are those of the shader's parameter that it is.
    fn texture_word(&mut self, name: &str, metadata: Option<Vec<Metadata>>) -> u32 {
        let word = self.words.len();
        self.words.push(ParameterWord { name: name.to_owned(), scalar: None });
        self.interface.textures.push(TextureDesc {
            name: name.to_owned(),
            word,
            used: false,
            parameter: metadata.is_some(),
            metadata: metadata.unwrap_or_default(),
        });
        word as u32
    }
}

impl Writer<'_, '_> {
    /// Whether so much was written that no more is; that is said once.
    fn is_full(&mut self) -> bool {
        if !self.cx.too_long && self.cx.size + self.b.size <= MAX_SIZE {
            return false;
        }
        if !std::mem::replace(&mut self.cx.too_long, true) {
            let message = "this shader comes to too many instructions";
            let hint = format!(
                "with their operands and results, {MAX_SIZE} are possible; use loops and functions for what repeats"
            );
            self.cx.error(&codes::TOO_LARGE, self.b.span, message, hint);
        }
        true
    }

    /// Gives the variables of a function their slots.
    fn enter_frame(&mut self, function: FunctionId) {
        let variables = self.cx.program.function(function).variables.len();
        let base = self.env.len();
        self.env.resize(base + variables + 2, None);
        self.frame = Frame {
            function,
            base,
            textures: HashMap::new(),
            returned: base + variables,
            result: base + variables + 1,
            loops: None,
        };
        let unset = self.b.bool(false);
        self.set(self.frame.returned, State::from_elem(LeafState::Value(unset), 1));
        let result = self.cx.program.function(function).result.clone();
        let zero = self.zero_result(&result);
        self.set(self.frame.result, zero);
    }

    /// The state of a variable that was just declared.
    fn zero_variable(&mut self, variable: VarId) -> State {
        let variable = &self.cx.program.function(self.frame.function).variables[variable.0 as usize];
        let (ty, dynamic) = (variable.ty.clone(), variable.dynamic);
        self.zero(&ty, dynamic)
    }
}
