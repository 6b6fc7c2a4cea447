//! Functions of the host that shaders may call, each with the rule of its derivatives.
//!
//! An external function is *pure*: it gives the same results for the same arguments and does nothing else, so the
//! compiler may merge, drop and move calls. Its derivative by a component of its arguments is another external
//! function, which takes the same arguments. Since that one has rules, too, derivatives of any order follow.
//!
//! ```
//! use ssl_compiler::runtime::externals::{External, ExternalRegistry};
//!
//! let mut externals = ExternalRegistry::new();
//! externals.register(External::of("wave", |x: f32| x.sin()).derivative(0, "wave_slope"));
//! externals.register(External::of("wave_slope", |x: f32| x.cos()));
//! ```

use super::linked::{Facet, LinkedCalls, MAX_ROWS};
use super::{BlockContext, LANES, Row, Texts};
use crate::types::{Scalar, Type, VectorKind};
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// The most components that the arguments, or the result, of one external function may have.
pub const MAX_WORDS: usize = 16;

/// Up to 16 calls at once. A row is one component of the arguments or of the result.
pub struct ExternalCall<'a> {
    /// The components of the arguments, in order.
    pub arguments: &'a [Row],
    /// The components of the result, for the function to fill.
    pub results: &'a mut [Row],
    /// Bit i is set if lane i takes part. The function leaves others alone.
    pub mask: u32,
    /// What functions that were linked may spend, and how they ended.
    pub(crate) linked: &'a mut LinkedCalls,
}

type Wide = Arc<dyn Fn(&mut ExternalCall<'_>) + Send + Sync>;
type Double = Arc<dyn Fn(&[f64], &mut [f64]) + Send + Sync>;

/// The derivative by one component of the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Partial {
    Unknown,
    Zero,
    By(String),
}

/// A function of the host.
#[derive(Clone)]
pub struct External {
    /// Its name in shaders.
    pub name: String,
    /// The types of its arguments.
    pub parameters: Vec<Type>,
    /// The type of its result.
    pub result: Type,
    takes: Vec<Scalar>,
    gives: Vec<Scalar>,
    partials: Vec<Partial>,
    run: Wide,
    double: Option<Double>,
}

/// A value that crosses into the host: `f32`, `i32`, `bool`, two to four floats, or the rows of a matrix.
pub trait ExternalValue: Copy {
    /// The type in the language.
    const TYPE: Type;

    /// The value that the words hold.
    fn read(words: &[u32]) -> Self;
    /// Writes the value's words.
    fn write(self, words: &mut [u32]);
}

macro_rules! scalar_value {
    ($($t:ty: $ty:ident, $read:expr, $write:expr;)*) => {
        $(impl ExternalValue for $t {
            const TYPE: Type = Type::$ty;

            fn read(words: &[u32]) -> $t {
                $read(words[0])
            }

            fn write(self, words: &mut [u32]) {
                words[0] = $write(self);
            }
        })*
    };
}

scalar_value! {
    f32: Float, f32::from_bits, f32::to_bits;
    i32: Int, |w| w as i32, |x: i32| x as u32;
    bool: Bool, |w| w != 0, u32::from;
}

macro_rules! vector_value {
    ($($n:literal: $kind:ident;)*) => {
        $(impl ExternalValue for [f32; $n] {
            const TYPE: Type = Type::Vector(VectorKind::$kind);

            fn read(words: &[u32]) -> [f32; $n] {
                std::array::from_fn(|i| f32::from_bits(words[i]))
            }

            fn write(self, words: &mut [u32]) {
                words.iter_mut().zip(self).for_each(|(w, x)| *w = x.to_bits());
            }
        })*
    };
}

vector_value! { 2: Float2; 3: Float3; 4: Float4; }

impl ExternalValue for [[f32; 4]; 4] {
    const TYPE: Type = Type::Matrix;

    fn read(words: &[u32]) -> [[f32; 4]; 4] {
        std::array::from_fn(|row| <[f32; 4]>::read(&words[4 * row..]))
    }

    fn write(self, words: &mut [u32]) {
        words.chunks_mut(4).zip(self).for_each(|(words, row)| row.write(words));
    }
}

/// A Rust function of one to six [`ExternalValue`]s that gives one.
pub trait HostFunction<Arguments>: Send + Sync + 'static {
    /// The types of the arguments and of the result.
    fn signature() -> (Vec<Type>, Type);
    /// Calls the function on words: floats, or the bits of an `int` or `bool`.
    fn call(&self, arguments: &[u32], result: &mut [u32]);
}

fn words(ty: &Type) -> usize {
    ty.components().unwrap_or(0)
}

macro_rules! host_function {
    ($($a:ident)*) => {
        impl<Function, Output, $($a),*> HostFunction<($($a,)*)> for Function
        where
            Function: Fn($($a),*) -> Output + Send + Sync + 'static,
            Output: ExternalValue,
            $($a: ExternalValue,)*
        {
            fn signature() -> (Vec<Type>, Type) {
                (vec![$($a::TYPE),*], Output::TYPE)
            }

            fn call(&self, mut arguments: &[u32], result: &mut [u32]) {
                self($({
                    let (own, rest) = arguments.split_at(words(&$a::TYPE));
                    arguments = rest;
                    $a::read(own)
                }),*).write(result);
                let _ = arguments;
            }
        }
    };
}

host_function!(A);
host_function!(A B);
host_function!(A B C);
host_function!(A B C D);
host_function!(A B C D E);
host_function!(A B C D E F);

impl External {
    /// A Rust function that takes one point after the other.
    ///
    /// # Panics
    /// If the arguments have more than [`MAX_WORDS`] components.
    pub fn of<Arguments, F: HostFunction<Arguments>>(name: &str, function: F) -> External {
        let (parameters, result) = F::signature();
        let (takes, gives) = (parameters.iter().map(words).sum(), words(&result));
        External::wide(name, parameters, result, move |call| {
            let (mut arguments, mut results) = ([0; MAX_WORDS], [0; MAX_WORDS]);
            for lane in (0..LANES).filter(|lane| call.mask >> lane & 1 != 0) {
                arguments.iter_mut().zip(call.arguments).for_each(|(w, row)| *w = row.0[lane].to_bits());
                function.call(&arguments[..takes], &mut results[..gives]);
                call.results.iter_mut().zip(&results).for_each(|(row, w)| row.0[lane] = f32::from_bits(*w));
            }
        })
    }

    /// A function that takes up to 16 points at once. A row holds floats, or the bits of an `int` or of a `bool`, 0 or 1.
    /// Parameters and result are scalars, vectors and matrices.
    ///
    /// # Panics
    /// If a type is none of these, or there are more than [`MAX_WORDS`] components.
    pub fn wide(
        name: &str,
        parameters: Vec<Type>,
        result: Type,
        run: impl Fn(&mut ExternalCall<'_>) + Send + Sync + 'static,
    ) -> External {
        let takes: Vec<Scalar> = parameters.iter().flat_map(scalars).collect();
        let all = parameters.iter().chain([&result]).all(|t| words(t) > 0);
        assert!(all && takes.len() <= MAX_WORDS, "`{name}`: an external function takes up to {MAX_WORDS} components");
        External {
            name: name.to_owned(),
            partials: vec![Partial::Unknown; takes.len()],
            takes,
            gives: scalars(&result).collect(),
            parameters,
            result,
            run: Arc::new(run),
            double: None,
        }
    }

    /// A function that is linked to compiled code: it takes and gives scalars, up to [`MAX_ROWS`] of each.
    pub(crate) fn linked(
        name: String,
        takes: Vec<Scalar>,
        gives: Vec<Scalar>,
        run: impl Fn(&mut ExternalCall<'_>) + Send + Sync + 'static,
    ) -> External {
        let (partials, run) = (vec![Partial::Unknown; takes.len()], Arc::new(run));
        External { name, parameters: Vec::new(), result: Type::Void, takes, gives, partials, run, double: None }
    }

    /// Names another external function with the same parameters and result, which gives the partial of every component of
    /// the result by one component of the arguments. Components are counted through all arguments, from 0.
    pub fn derivative(mut self, component: usize, function: &str) -> External {
        self.partials[component] = Partial::By(function.to_owned());
        self
    }

    /// States that the result does not vary smoothly with this component: its partial is 0.
    pub fn no_derivative(mut self, component: usize) -> External {
        self.partials[component] = Partial::Zero;
        self
    }

    /// A version in f64, for checking derivatives numerically; integers come as floats. Without one, the check calls the
    /// function itself.
    pub fn double(mut self, function: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> External {
        self.double = Some(Arc::new(function));
        self
    }

    /// The scalars of the arguments, in order.
    pub fn takes(&self) -> Vec<Scalar> {
        self.takes.clone()
    }

    /// Those of the result.
    pub fn gives(&self) -> Vec<Scalar> {
        self.gives.clone()
    }

    /// Calls the function for one point, in f32.
    pub(crate) fn call(&self, arguments: &[u32], results: &mut [u32], linked: &mut LinkedCalls) {
        let one = |w: &u32| {
            let mut row = Row::ZERO;
            row.0[0] = f32::from_bits(*w);
            row
        };
        let arguments: SmallVec<[Row; MAX_WORDS]> = arguments.iter().map(one).collect();
        let mut out: SmallVec<[Row; MAX_WORDS]> = results.iter().map(|_| Row::ZERO).collect();
        (self.run)(&mut ExternalCall { arguments: &arguments, results: &mut out, mask: 1, linked });
        results.iter_mut().zip(&out).for_each(|(w, row)| *w = row.0[0].to_bits());
    }

    /// Calls the function for one point in f64, if it has such a version.
    pub fn call_double(&self, arguments: &[f64], results: &mut [f64]) -> bool {
        if let Some(function) = &self.double {
            function(arguments, results);
        }
        self.double.is_some()
    }
}

fn scalars(ty: &Type) -> impl Iterator<Item = Scalar> + use<> {
    std::iter::repeat_n(ty.component_scalar().unwrap_or(Scalar::Float), words(ty))
}

impl std::fmt::Debug for External {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{:?} -> {:?}", self.name, self.parameters, self.result)
    }
}

/// The derivative of an external function by a component of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It is 0 everywhere.
    Zero,
    /// Another function of the registry.
    Function(u32),
    /// No rule is registered.
    Missing,
}

/// The external functions of a host, by name.
#[derive(Clone, Debug, Default)]
pub struct ExternalRegistry {
    list: Vec<External>,
    /// The number of the first one that is linked, where any is. Those of one slot follow each other, by what they derive.
    first_linked: Option<u32>,
    /// By slot, which of the scalars that the method takes an integral may move.
    moving: Vec<Vec<bool>>,
}

/// The registry of a host without such functions.
pub static NO_EXTERNALS: ExternalRegistry = ExternalRegistry::new();

impl ExternalRegistry {
    /// No functions.
    pub const fn new() -> ExternalRegistry {
        ExternalRegistry { list: Vec::new(), first_linked: None, moving: Vec::new() }
    }

    /// Adds a function. It replaces one of the same name.
    pub fn register(&mut self, external: External) {
        match self.list.iter_mut().find(|e| e.name == external.name) {
            Some(known) => *known = external,
            None => self.list.push(external),
        }
    }

    /// The function of this name, and its number.
    pub fn find(&self, name: &str) -> Option<(u32, &External)> {
        self.list.iter().position(|e| e.name == name).map(|i| (i as u32, &self.list[i]))
    }

    /// The function of this number.
    pub fn get(&self, id: u32) -> Option<&External> {
        self.list.get(id as usize)
    }

    /// Adds the functions that are linked to compiled code: of each slot, all of its facets, and which of the scalars that
    /// the method takes an integral may move.
    pub(crate) fn append_linked(&mut self, functions: impl IntoIterator<Item = External>, moving: Vec<Vec<bool>>) {
        self.first_linked = Some(self.list.len() as u32);
        self.list.extend(functions);
        self.moving = moving;
    }

    /// Which of the scalars that a slot's method takes an integral may move.
    pub(crate) fn moving(&self, slot: u32) -> &[bool] {
        self.moving.get(slot as usize).map_or(&[], Vec::as_slice)
    }

    /// The number of what is linked for a slot; `None` if it takes or gives too much to be called.
    pub(crate) fn linked(&self, slot: u32, facet: Facet) -> Option<u32> {
        let place = Facet::all().position(|f| f == facet)?;
        let id = self.first_linked? + slot * Facet::all().count() as u32 + place as u32;
        let external = self.list.get(id as usize)?;
        (external.takes.len().max(external.gives.len()) <= MAX_ROWS).then_some(id)
    }

    /// The slot and the facet behind a number, where it is that of a linked function.
    pub(crate) fn linked_slot(&self, id: u32) -> Option<(u32, Facet)> {
        let i = id.checked_sub(self.first_linked?)?;
        let count = Facet::all().count() as u32;
        Some((i / count, Facet::all().nth((i % count) as usize)?))
    }

    /// All functions, by their numbers.
    pub fn list(&self) -> &[External] {
        &self.list
    }

    /// The derivative of a function by a component of its arguments.
    pub fn rule(&self, id: u32, component: usize) -> Rule {
        let Some(external) = self.get(id) else { return Rule::Missing };
        match &external.partials[component] {
            Partial::Unknown => Rule::Missing,
            Partial::Zero => Rule::Zero,
            Partial::By(name) => match self.find(name) {
                Some((id, f)) if f.takes() == external.takes() && f.gives() == external.gives() => Rule::Function(id),
                _ => Rule::Missing,
            },
        }
    }
}

/// A call by compiled code, or something that it prints: rows of arguments and results, and which function
/// or format is meant.
#[doc(hidden)]
#[repr(C, align(64))]
pub struct ExternalRequest {
    pub registry: *const ExternalRegistry,
    pub texts: *const Texts,
    /// Of the registry, or a format.
    pub function: u32,
    pub mask: u32,
    pub linked: LinkedCalls,
    /// Only so many are set as a call of the module takes, and at least [`MAX_WORDS`].
    pub arguments: [MaybeUninit<Row>; MAX_ROWS],
    /// Likewise.
    pub results: [MaybeUninit<Row>; MAX_ROWS],
}

impl ExternalRequest {
    /// A request with so many rows of arguments and of results.
    pub fn new(registry: &ExternalRegistry, texts: &Texts, rows: usize, linked: LinkedCalls) -> Box<ExternalRequest> {
        let mut request = Box::<ExternalRequest>::new_uninit();
        let at = request.as_mut_ptr();
        // SAFETY: the place is valid for writes, and every field is written; rows may stay unset.
        let mut request = unsafe {
            (&raw mut (*at).registry).write(registry);
            (&raw mut (*at).texts).write(texts);
            (&raw mut (*at).function).write(0);
            (&raw mut (*at).mask).write(0);
            (&raw mut (*at).linked).write(linked);
            request.assume_init()
        };
        let rows = rows.clamp(MAX_WORDS, MAX_ROWS);
        for row in request.arguments[..rows].iter_mut().chain(&mut request.results[..rows]) {
            row.write(Row::ZERO);
        }
        request
    }

    /// The arguments of something printed.
    pub fn printed(&self) -> &[Row] {
        // SAFETY: `new` sets at least that many.
        unsafe { self.arguments[..MAX_WORDS].assume_init_ref() }
    }
}

/// Called by compiled code to run a function of the host: `context.external` holds the request.
///
/// # Safety
/// `context` is the live context that the caller was given, its request made from the module's registry with as many rows
/// as calls of the module take and give.
pub unsafe extern "C" fn external_service(context: *mut BlockContext) {
    // SAFETY: the request belongs to this call alone, and the registry outlives the shader's run.
    let (request, registry) = unsafe { (&mut *(*context).external, &*(*(*context).external).registry) };
    let Some(external) = registry.get(request.function) else { return };
    // SAFETY: the caller promises that these rows are set.
    let (arguments, results) = unsafe {
        let arguments = request.arguments[..external.takes.len()].assume_init_ref();
        (arguments, request.results[..external.gives.len()].assume_init_mut())
    };
    let mut call = ExternalCall { arguments, results, mask: request.mask, linked: &mut request.linked };
    // A panic must not unwind into compiled code, which has no unwind tables.
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (external.run)(&mut call))).is_err() {
        std::process::abort();
    }
}
