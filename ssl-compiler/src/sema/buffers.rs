//! Kernels and their buffers: which parameters may be buffers, reading elements of them, and adding to them.

use super::Checker;
use super::hir::{Addition, Expr, ExprKind, TextureRef, VarId};
use crate::diagnostics::codes;
use crate::modules::Modules;
use crate::runtime::{BufferRole, Orders};
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, Direction, UnaryOp};
use crate::syntax::parser_derivatives::BUFFER;
use crate::types::{LeafKind, Scalar, Type};

/// What a kernel knows of its point: the number among all points of the grid, and the place along each axis; then the number
/// of its block in the row. The 16 points of a block lie beside each other along x, so the last three are the same for all.
pub(crate) const POINT: [&str; 5] = ["index", "index_x", "index_y", "index_z", "block_x"];

/// Scalars of an element.
const MAX_SCALARS: usize = 256;

/// A parameter as its kernel's body sees it.
pub(super) struct Seen {
    pub ty: Type,
    pub direction: Direction,
    pub buffer: Option<BufferRole>,
}

impl Checker<'_> {
    /// Files with kernels have globals that say which point this is. A name that is taken stays what it was.
    pub(super) fn point_globals(&mut self, modules: &Modules) {
        let is_kernel = |item: &ast::Item| matches!(item, ast::Item::Function(f) if f.is_kernel);
        if modules.files.iter().any(|file| file.tree.items.iter().any(is_kernel)) {
            for name in &POINT[..2] {
                let _ = self.layout.add(name, Type::Int, Orders::Value);
            }
            for name in &POINT[2..] {
                let _ = self.layout.add_uniform(name, Type::Int);
            }
        }
    }

    /// One of the numbers of a point, where nothing else has the name.
    pub(super) fn point_number(&self, name: &str, span: Span) -> Option<Expr> {
        let (index, field) = POINT.contains(&name).then(|| self.layout.find(name))??;
        Some(Expr { kind: ExprKind::Global(index), ty: field.ty.clone(), span })
    }

    /// Whether an expression, written as `of`, is the number of a point: `index`, where nothing else has the name.
    pub(super) fn is_point(&self, of: &ast::Expr, e: &Expr) -> bool {
        let is_named = matches!(&of.kind, ast::ExprKind::Name(name) if name == POINT[0]);
        let is_number =
            |i| self.layout.find(POINT[0]).is_some_and(|(index, field)| index == i && field.ty == Type::Int);
        is_named && matches!(e.kind, ExprKind::Global(i) if is_number(i))
    }

    /// `index.x` of the number of a point: its place along that axis.
    pub(super) fn point_place(&self, axis: &str, span: Span) -> Option<Expr> {
        let axis = ["x", "y", "z"].iter().position(|name| *name == axis)?;
        self.point_number(POINT[1 + axis], span).filter(|number| number.ty == Type::Int)
    }

    /// The type of a parameter that is written `buffer<…>`.
    pub(super) fn buffer_type(&mut self, p: &ast::Parameter) -> Option<Type> {
        let argument = p.ty.argument.as_ref().filter(|_| p.ty.name.text == BUFFER)?;
        let element = self.resolve(&argument.ty, &argument.dims);
        if p.any_length || !p.dims.is_empty() {
            let hint = "a buffer has any number of elements: write `buffer<float> name`";
            self.error(&codes::BUFFER_USE, p.ty.name.span, "buffers cannot form arrays", hint);
            return Some(Type::Error);
        }
        Some(Type::Buffer { element: Box::new(element), added: p.adds })
    }

    /// What a parameter of this type is inside. The own element of a point is a variable.
    pub(super) fn seen(&mut self, is_kernel: bool, is_shader: bool, p: &ast::Parameter, ty: Type) -> Seen {
        let Type::Buffer { element, added } = ty else {
            let handed_out = p.direction != Direction::In && !matches!(ty, Type::Closure | Type::Error);
            if is_kernel && handed_out {
                let message = "what a kernel hands out are elements of buffers";
                let hint = format!("write `{} buffer<{}>`", word(p.direction), self.name_of(&ty));
                self.error(&codes::BUFFER_USE, p.span, message, hint);
            }
            return Seen { ty, direction: p.direction, buffer: None };
        };
        let own = matches!(p.direction, Direction::Out | Direction::InOut);
        let complaint = match (is_kernel, is_shader) {
            (false, true) => Some(("only kernels have buffers", "write `kernel` in place of `shader`")),
            (false, false) if own => Some((
                "a function has no element of its own in a buffer",
                "let it take or return the element: the kernel writes it",
            )),
            _ if own && p.adds => Some(("a buffer is written or added to, not both", "use two buffers")),
            _ => None,
        };
        if let Some((message, hint)) = complaint {
            self.error(&codes::BUFFER_USE, p.span, message, hint);
            return Seen { ty: Type::Error, direction: Direction::In, buffer: None };
        }
        if !self.is_element(&element, added, p.ty.name.span) {
            return Seen { ty: Type::Error, direction: Direction::In, buffer: None };
        }
        match p.direction {
            Direction::In => {
                let role = if added { BufferRole::Add } else { BufferRole::In };
                Seen { ty: Type::Buffer { element, added }, direction: Direction::In, buffer: Some(role) }
            }
            Direction::Out => Seen { ty: *element, direction: p.direction, buffer: Some(BufferRole::Out) },
            Direction::InOut => Seen { ty: *element, direction: p.direction, buffer: Some(BufferRole::InOut) },
        }
    }

    /// Whether buffers can have elements of a type; it is said if not.
    fn is_element(&mut self, element: &Type, added: bool, span: Span) -> bool {
        if *element == Type::Error {
            return false;
        }
        let leaves = self.program.types.leaves(element);
        let is_number = |kind| matches!(kind, LeafKind::Scalar(Scalar::Int | Scalar::Float));
        let complaint = if leaves.is_empty() || leaves.len() > MAX_SCALARS {
            Some(("it has no scalars, or more than 256 of them", "use several buffers"))
        } else if leaves.iter().any(|leaf| !leaf.dims.is_empty()) {
            Some(("it holds an array", "use a buffer of the array's elements, or name them as members"))
        } else if leaves.iter().any(|leaf| !matches!(leaf.kind, LeafKind::Scalar(_))) {
            Some(("it holds a closure", "buffers hold numbers, bools, vectors, and structs of them"))
        } else if self.holds_text(element) {
            Some(("it holds a string", "buffers hold numbers, bools, vectors, and structs of them"))
        } else if self.holds_derivatives(element) {
            Some(("its differential has parts that no member has", "use a buffer of its members"))
        } else if added && leaves.iter().any(|leaf| !is_number(leaf.kind)) {
            Some(("a bool cannot be added to", "count with an int"))
        } else {
            None
        };
        if let Some((why, hint)) = complaint {
            let message = format!("{} cannot be the element of a buffer: {why}", self.name_of(element));
            self.error(&codes::BUFFER_USE, span, message, hint);
        }
        complaint.is_none()
    }

    /// Looks at the elements of all buffers again: values of interfaces are larger than when these were declared.
    pub(super) fn check_elements(&mut self) {
        let mut list = Vec::new();
        for f in &self.program.functions {
            for p in f.parameters.iter() {
                let variable = &f.variables[p.variable.0 as usize];
                match &variable.ty {
                    Type::Buffer { element, added } => list.push(((**element).clone(), *added, variable.span)),
                    ty if p.buffer.is_some() => list.push((ty.clone(), false, variable.span)),
                    _ => {}
                }
            }
        }
        for (element, added, span) in list {
            self.is_element(&element, added, span);
        }
    }

    fn holds_text(&self, ty: &Type) -> bool {
        match ty {
            Type::String => true,
            Type::Struct(id) => self.program.types.get(*id).fields.iter().any(|f| self.holds_text(&f.ty)),
            _ => false,
        }
    }

    /// Whether members go with a value that hold nothing but derivatives.
    pub(super) fn holds_derivatives(&self, ty: &Type) -> bool {
        let Type::Struct(id) = ty else { return false };
        let structure = self.program.types.get(*id);
        structure.differential.is_some() && structure.named().len() < structure.fields.len()
            || structure.fields.iter().any(|f| self.holds_derivatives(&f.ty))
    }

    /// `buffer[index]`
    pub(super) fn element(&mut self, base: &Expr, index: Expr, span: Span, adding: bool) -> Option<Expr> {
        let Type::Buffer { element, added } = &base.ty else { return None };
        let ExprKind::Texture(TextureRef::Parameter(buffer)) = base.kind else { return Some(Expr::error(span)) };
        if *added && !adding {
            let message = format!("`{}` is only added to", self.variable(buffer).name);
            let hint = "no kernel reads what it adds up: read it in the kernel that comes next";
            self.error(&codes::BUFFER_USE, span, message, hint);
            return Some(Expr::error(span));
        }
        let ty = (**element).clone();
        Some(Expr { kind: ExprKind::Element(buffer, Box::new(index)), ty, span })
    }

    /// `buffer[index].part += value`, where the target is part of a buffer that is added to.
    pub(super) fn addition(
        &mut self,
        op: Option<BinaryOp>,
        target: &Expr,
        value: &ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        let (buffer, index, scalars) = self.added_part(target)?;
        let minus = match op {
            Some(BinaryOp::Add) => false,
            Some(BinaryOp::Sub) => true,
            _ => {
                let message = format!("points may only add to `{}`", self.variable(buffer).name);
                let hint = "write `+=` or `-=`; what each point writes for itself belongs into an `out` buffer";
                self.error(&codes::BUFFER_USE, span, message, hint);
                return Some(Expr::error(span));
            }
        };
        let value = self.expr(value);
        let value = self.coerce(value, &target.ty);
        if scalars.iter().enumerate().any(|(i, scalar)| scalars[..i].contains(scalar)) {
            let message = "the same component is added to twice";
            self.error(&codes::COMPONENT_TWICE, target.span, message, "name each component once");
            return Some(Expr::error(span));
        }
        if value.ty == Type::Error {
            return Some(Expr::error(span));
        }
        let value = if minus { self.unary(UnaryOp::Neg, value, span) } else { value };
        let addition = Addition { buffer, index, scalars, value: Box::new(value) };
        Some(Expr { kind: ExprKind::AddTo(addition), ty: Type::Void, span })
    }

    /// The buffer, the index, and the scalars of the element that the target names.
    fn added_part(&self, e: &Expr) -> Option<(VarId, Box<Expr>, Vec<usize>)> {
        match &e.kind {
            ExprKind::Element(buffer, index) => {
                let added = matches!(self.variable(*buffer).ty, Type::Buffer { added: true, .. });
                added.then(|| (*buffer, index.clone(), (0..self.program.types.leaf_count(&e.ty)).collect()))
            }
            ExprKind::Member(base, i) => {
                let (buffer, index, scalars) = self.added_part(base)?;
                let Type::Struct(id) = base.ty else { return None };
                let types = &self.program.types;
                let before: usize = types.get(id).fields[..*i].iter().map(|f| types.leaf_count(&f.ty)).sum();
                Some((buffer, index, scalars[before..][..types.leaf_count(&e.ty)].to_vec()))
            }
            ExprKind::Swizzle(base, list) => {
                let (buffer, index, scalars) = self.added_part(base)?;
                Some((buffer, index, list.iter().map(|&i| scalars[usize::from(i)]).collect()))
            }
            _ => None,
        }
    }
}

fn word(direction: Direction) -> &'static str {
    if direction == Direction::Out { "out" } else { "inout" }
}
