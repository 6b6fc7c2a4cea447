//! Conversions to and from values of interfaces: functions that take a value apart into words, and put one together.

use super::Checker;
use super::hir::{
    Access, Argument, Attributes, Constant, Conversion, Expr, ExprKind, Function, FunctionId, Parameter, Place, Stmt,
    StmtKind, VarId, Variable,
};
use super::interface_values::Words;
use super::interfaces::InterfaceId;
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Direction};
use crate::types::{FLOAT4, Type};

/// What a value is made of, word by word.
#[derive(Default)]
struct Taken {
    floats: Vec<Expr>,
    ints: Vec<Expr>,
}

/// Words of which a value is made.
struct Source<'a> {
    place: &'a Place,
    /// Members before the first float, and before the first int.
    first: (usize, usize),
    /// Which float each one is, where they do not follow each other.
    order: Option<Vec<usize>>,
    /// How many were used.
    used: Words,
}

impl Checker<'_> {
    /// A value as one of another type, where one of the two is that of an interface's values; the caller knows by
    /// [`Checker::distance`] that it converts.
    pub(super) fn converted(&mut self, e: Expr, to: &Type) -> Expr {
        let span = e.span;
        match self.conversion(&e.ty, to, span) {
            Some(id) => call(id, e, to),
            None => Expr::error(span),
        }
    }

    /// The function from one type to another.
    pub(super) fn conversion(&mut self, from: &Type, to: &Type, span: Span) -> Option<FunctionId> {
        let key = (from.clone(), to.clone());
        if let Some(id) = self.values.conversions.get(&key) {
            return Some(*id);
        }
        let name = format!("{} to {}", self.name_of(from), self.name_of(to));
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(new_function(name, from, to, span));
        self.keep_quiet(id);
        self.values.conversions.insert(key, id);
        if self.values_are_known() {
            self.write_conversion(from, to, id, span);
        }
        Some(id)
    }

    /// Writes the conversions that were asked for before the values were laid out.
    pub(super) fn write_conversions(&mut self) {
        let mut list: Vec<_> = self.values.conversions.iter().map(|(key, id)| (*id, key.clone())).collect();
        list.sort_unstable_by_key(|(id, _)| *id);
        for (id, (from, to)) in list {
            let span = self.program.function(id).span;
            self.write_conversion(&from, &to, id, span);
        }
    }

    fn write_conversion(&mut self, from: &Type, to: &Type, id: FunctionId, span: Span) {
        let whole = Place { variable: VarId(0), path: Vec::new(), ty: from.clone(), span };
        let statement = match (self.interface_of(from), self.interface_of(to)) {
            (Some(from), Some(_)) => {
                self.refuse_open(from, to);
                self.passed_on(from, to, &whole)
            }
            (None, Some(interface)) => self.packed(from, interface, &whole),
            (Some(interface), None) => {
                let words = self.words_of(interface);
                let first = (1, 1 + words.floats);
                self.unpacked(to, Source { place: &whole, first, order: None, used: Words::default() })
            }
            (None, None) => self.differential_converted(from, to, &whole),
        };
        self.program.functions[id.0 as usize].body = Some(vec![statement]);
    }

    /// A value of an implementation becomes one of the interface.
    fn packed(&mut self, from: &Type, interface: InterfaceId, whole: &Place) -> Stmt {
        let span = whole.span;
        let Some(kind) = self.kind_of(interface, from) else {
            let message =
                format!("{} conforms to `{}` too late", self.name_of(from), self.interface_name(interface).to_owned());
            let hint =
                "what a value may hold is settled before functions are: name the type at file level, by `typedef`";
            self.error(&codes::INTERFACE_AS_TYPE, span, message, hint);
            return returned(Expr::error(span));
        };
        let words = self.words_of(interface);
        let mut taken = self.take(from, whole);
        let zero = || Expr::constant(Constant::Float(0.0), span);
        if !taken.ints.is_empty() {
            taken.floats.resize_with(words.floats, zero);
        }
        let kind = Expr::constant(Constant::Int(kind as i32), span);
        let parts = std::iter::once(kind).chain(taken.floats).chain(taken.ints).collect();
        let ty = self.interface_value(interface, span);
        returned(Expr { kind: ExprKind::Construct(parts), ty, span })
    }

    /// The differential of an implementation becomes that of the interface's value, or the other way round.
    fn differential_converted(&mut self, from: &Type, to: &Type, whole: &Place) -> Stmt {
        let span = whole.span;
        if let Some(interface) = self.differential_of_interface(to) {
            let words = self.derivative_words(interface, from).unwrap_or_default();
            let floats = self.take(from, whole).floats;
            let zero = Expr::constant(Constant::Float(0.0), span);
            let parts = words.iter().map(|i| i.and_then(|i| floats.get(i)).unwrap_or(&zero).clone()).collect();
            return returned(Expr { kind: ExprKind::Construct(parts), ty: to.clone(), span });
        }
        let interface = self.differential_of_interface(from);
        let words = interface.and_then(|id| self.derivative_words(id, to)).unwrap_or_default();
        let mut order: Vec<(usize, usize)> = words.iter().enumerate().filter_map(|(w, i)| Some(((*i)?, w))).collect();
        order.sort_unstable();
        let order = Some(order.into_iter().map(|(_, word)| word).collect());
        self.unpacked(to, Source { place: whole, first: (0, 0), order, used: Words::default() })
    }

    fn unpacked(&mut self, to: &Type, mut source: Source<'_>) -> Stmt {
        let e = self.put(to, &mut source);
        returned(e)
    }

    /// A value of an interface becomes one of another interface from which it inherits.
    fn passed_on(&mut self, from: InterfaceId, to: &Type, whole: &Place) -> Stmt {
        let span = whole.span;
        let mut cases = Vec::new();
        for held in self.implementations(from) {
            let own = self.read(whole);
            let own = self.converted(own, &held);
            cases.push(returned(self.converted(own, to)));
        }
        let none = returned(Expr { kind: ExprKind::Construct(Vec::new()), ty: to.clone(), span });
        by_kind(whole, &mut cases.into_iter(), none)
    }

    pub(super) fn read(&self, place: &Place) -> Expr {
        Expr { kind: ExprKind::Place(place.clone()), ty: place.ty.clone(), span: place.span }
    }

    /// The words of a value.
    fn take(&mut self, ty: &Type, place: &Place) -> Taken {
        let mut taken = Taken::default();
        self.take_into(ty, place, &mut taken);
        self.expressions = self.expressions.saturating_add(taken.floats.len() + taken.ints.len());
        taken
    }

    fn take_into(&self, ty: &Type, place: &Place, taken: &mut Taken) {
        let inner = |access: Access, ty: &Type| {
            let mut path = place.path.clone();
            path.push(access);
            Place { variable: place.variable, path, ty: ty.clone(), span: place.span }
        };
        match ty {
            Type::Float => taken.floats.push(self.read(place)),
            Type::Int => taken.ints.push(self.read(place)),
            Type::Bool => taken.ints.push(convert(Conversion::BoolToInt, Type::Int, self.read(place))),
            Type::Vector(kind) => {
                let component = |i: u8| self.read(&inner(Access::Swizzle(vec![i]), &Type::Float));
                taken.floats.extend((0..kind.len() as u8).map(component));
            }
            Type::Matrix => {
                for row in 0..4u8 {
                    let row = inner(Access::Swizzle((4 * row..4 * row + 4).collect()), &FLOAT4);
                    self.take_into(&FLOAT4, &row, taken);
                }
            }
            Type::Struct(id) => {
                for (i, field) in self.program.types.get(*id).fields.iter().enumerate() {
                    self.take_into(&field.ty, &inner(Access::Member(i), &field.ty), taken);
                }
            }
            Type::Array(element, n) => {
                for i in 0..*n {
                    let index = Expr::constant(Constant::Int(i as i32), place.span);
                    self.take_into(element, &inner(Access::Index(Box::new(index)), element), taken);
                }
            }
            _ => {}
        }
    }

    /// A value made of words.
    fn put(&mut self, ty: &Type, source: &mut Source<'_>) -> Expr {
        let span = source.place.span;
        let parts = match ty {
            Type::Float => return source.float(),
            Type::Int => return source.int(),
            Type::Bool => return convert(Conversion::IntToBool, Type::Bool, source.int()),
            Type::Vector(kind) => (0..kind.len()).map(|_| source.float()).collect(),
            Type::Matrix => (0..16).map(|_| source.float()).collect(),
            Type::Struct(id) => {
                let members: Vec<Type> = self.program.types.get(*id).fields.iter().map(|f| f.ty.clone()).collect();
                members.iter().map(|ty| self.put(ty, source)).collect()
            }
            Type::Array(element, n) => (0..*n).map(|_| self.put(element, source)).collect(),
            _ => Vec::new(),
        };
        self.expressions = self.expressions.saturating_add(parts.len());
        Expr { kind: ExprKind::Construct(parts), ty: ty.clone(), span }
    }
}

impl Source<'_> {
    fn word(&self, member: usize, ty: Type) -> Expr {
        let (variable, span) = (self.place.variable, self.place.span);
        let place = Place { variable, path: vec![Access::Member(member)], ty: ty.clone(), span };
        Expr { kind: ExprKind::Place(place), ty, span }
    }

    fn float(&mut self) -> Expr {
        let i = self.used.floats;
        self.used.floats += 1;
        let i = self.order.as_ref().and_then(|order| order.get(i)).copied().unwrap_or(i);
        self.word(self.first.0 + i, Type::Float)
    }

    fn int(&mut self) -> Expr {
        self.used.ints += 1;
        self.word(self.first.1 + self.used.ints - 1, Type::Int)
    }
}

fn convert(kind: Conversion, ty: Type, e: Expr) -> Expr {
    let span = e.span;
    Expr { kind: ExprKind::Convert(kind, Box::new(e)), ty, span }
}

/// A call of a function of one parameter.
pub(super) fn call(id: FunctionId, e: Expr, ty: &Type) -> Expr {
    let span = e.span;
    Expr { kind: ExprKind::Call(id, vec![Argument::In(e)]), ty: ty.clone(), span }
}

pub(super) fn returned(e: Expr) -> Stmt {
    let span = e.span;
    Stmt { kind: StmtKind::Return(Some(e)), span }
}

/// Runs the statement of the implementation that a value holds; `none` where there is no implementation. The number is
/// halved in, so that many implementations take few steps.
pub(super) fn by_kind(value: &Place, cases: &mut dyn ExactSizeIterator<Item = Stmt>, none: Stmt) -> Stmt {
    let count = cases.len();
    if count == 0 { none } else { halved(value, cases, 0, count) }
}

fn halved(value: &Place, cases: &mut dyn ExactSizeIterator<Item = Stmt>, from: usize, to: usize) -> Stmt {
    let span = value.span;
    let middle = from + (to - from) / 2;
    if middle == from {
        return cases.next().unwrap_or(Stmt { kind: StmtKind::Block(Vec::new()), span });
    }
    let then = halved(value, cases, from, middle);
    let otherwise = halved(value, cases, middle, to);
    let kind = Place { path: vec![Access::Member(0)], ty: Type::Int, ..value.clone() };
    let kind = Expr { kind: ExprKind::Place(kind), ty: Type::Int, span };
    let bound = Expr::constant(Constant::Int(middle as i32), span);
    let condition = ExprKind::Binary(BinaryOp::Lt, Box::new(kind), Box::new(bound));
    let condition = Expr { kind: condition, ty: Type::Bool, span };
    let kind = StmtKind::If { condition, then: Box::new(then), otherwise: Some(Box::new(otherwise)) };
    Stmt { kind, span }
}

/// A function of one parameter, whose body is yet to be written.
fn new_function(name: String, from: &Type, to: &Type, span: Span) -> Function {
    let variable = Variable { name: "value".to_owned(), ty: from.clone(), span, constant: true, dynamic: false };
    let parameter = Parameter {
        no_diff: false,
        given: None,
        variable: VarId(0),
        direction: Direction::In,
        default: None,
        buffer: None,
        start: None,
        metadata: Vec::new(),
    };
    Function {
        name,
        is_shader: false,
        is_kernel: false,
        result: to.clone(),
        parameters: vec![parameter],
        metadata: Vec::new(),
        variables: vec![variable],
        body: Some(Vec::new()),
        external: None,
        derived: None,
        attributes: Attributes::default(),
        span,
    }
}
