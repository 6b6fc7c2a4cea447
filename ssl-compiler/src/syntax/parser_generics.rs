//! Generic functions, interfaces, and what conforms to them.

use super::ast::*;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser, Recover, is_reserved};
use crate::diagnostics::codes;

/// Tokens between `<` and `>` of a call: more are no list of types.
const MAX_LIST: usize = 64;

/// What may be the arguments of something generic.
pub(super) struct ListOfTypes {
    /// The token behind the `>`.
    pub end: usize,
    commas: bool,
    /// All names in it are those of types.
    types: bool,
}

impl Parser<'_> {
    /// `<T : IFloat & IBlend, let N : int>`, if there is one.
    pub(super) fn generic_parameters(&mut self) -> Parsed<Vec<GenericParameter>> {
        let mut list = Vec::new();
        if !self.eat("<") {
            return Ok(list);
        }
        loop {
            let is_int = self.is_word("let") && self.peek_at(1).kind == TokenKind::Name;
            if is_int {
                self.advance();
            }
            let name = self.ident("the name of a type parameter")?;
            let bounds = if is_int {
                self.expect(":", "behind the name of the number")?;
                if !self.eat_word("int") {
                    let (span, found) = (self.peek().span, self.describe());
                    let hint = "numbers between `<` and `>` are whole: `let N : int`";
                    return self.error(span, format!("expected `int`, found {found}"), hint);
                }
                Vec::new()
            } else {
                self.bounds(false)?
            };
            list.push(GenericParameter { name, is_int, bounds });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(">", "behind the type parameters")?;
        Ok(list)
    }

    /// The names of interfaces behind `:`, with `&` between them, or commas where no list goes on.
    pub(super) fn bounds(&mut self, commas: bool) -> Parsed<Vec<Ident>> {
        let mut list = Vec::new();
        if !self.eat(":") {
            return Ok(list);
        }
        loop {
            let inherits = self.refuse_inheritance();
            let name = self.any_name("the name of an interface")?;
            if self.is("<") {
                self.refuse_generic_interface(&name)?;
            }
            if !inherits {
                list.push(name);
            }
            let goes_on = self.eat("&") || commas && self.eat(",");
            if !goes_on {
                return Ok(list);
            }
        }
    }

    /// `interface IShape : IBounded { … }`
    pub(super) fn interface(&mut self) -> Parsed<InterfaceDecl> {
        let start = self.advance().span;
        let name = self.ident("the name of the interface")?;
        if self.is("<") {
            self.broken.insert(name.text.clone());
            let (span, hint) = (self.peek().span, "name the type inside of it: `associatedtype Sample;`");
            return self.fail(&codes::FOREIGN_FORM, span, "interfaces have no type parameters", hint);
        }
        let parents = self.bounds(true)?;
        self.expect("{", "after the name of the interface")?;
        let (mut methods, mut types, mut constants) = (Vec::new(), Vec::new(), Vec::new());
        self.parts("the interface", |p| {
            if p.is_word("associatedtype") {
                p.advance();
                let name = p.ident("the name of an associated type")?;
                let bounds = p.bounds(false)?;
                types.push(AssociatedType { name, bounds });
                return p.expect(";", "after the associated type").map(drop);
            }
            if p.starts_constant() {
                return p.member_constant(false).map(|d| constants.push(d));
            }
            if p.starts_method() {
                methods.push(p.method(false)?);
                return Ok(());
            }
            let (span, found) = (p.peek().span, p.describe());
            let hint = "an interface has methods, `float area();`, types, `associatedtype Sample;`, and constants, \
                        `static const int SIZE;`";
            p.error(span, format!("expected a method, found {found}"), hint)
        })?;
        let span = start.to(self.previous());
        self.eat(";");
        Ok(InterfaceDecl { name, parents, methods, types, constants, span })
    }

    /// `extension float3 : IShape { … }`
    pub(super) fn extension(&mut self) -> Parsed<ExtensionDecl> {
        let start = self.advance().span;
        let ty = self.type_name()?;
        let mut body = Conforming { interfaces: self.bounds(true)?, ..Conforming::default() };
        self.expect("{", "after the type that is extended")?;
        self.parts("the extension", |p| {
            if p.is_word("typealias") || p.is_word("typedef") {
                return p.type_alias().map(|t| body.types.push(t));
            }
            if p.starts_constant() {
                return p.member_constant(true).map(|d| body.constants.push(d));
            }
            if p.starts_method() {
                return p.method(true).map(|m| body.methods.push(m));
            }
            let (span, found) = (p.peek().span, p.describe());
            let hint = "an extension gives methods and constants to a type, and no members";
            p.error(span, format!("expected a method, found {found}"), hint)
        })?;
        let span = start.to(self.previous());
        self.eat(";");
        Ok(ExtensionDecl { ty, body, span })
    }

    /// What stands in braces, up to and with the closing one; the parser goes on behind a part that it does not understand.
    fn parts(&mut self, what: &str, mut part: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        while !self.is("}") {
            if self.peek().kind == TokenKind::End {
                self.expect("}", &format!("to close {what}"))?;
                return Ok(());
            }
            if let Err(Recover) = part(self) {
                self.skip_statement();
            }
        }
        self.advance();
        Ok(())
    }

    /// `typealias Sample = float2;`, or `typedef float2 Sample;`
    pub(super) fn type_alias(&mut self) -> Parsed<TypeAlias> {
        let as_in_c = self.is_word("typedef");
        self.advance();
        if as_in_c {
            let ty = self.type_name()?;
            let name = self.any_name("a name for the type")?;
            let ty = TypeArgument { ty, dims: self.dimensions()? };
            self.expect(";", "after the type")?;
            return Ok(TypeAlias { name, ty });
        }
        let name = self.any_name("a name for the type")?;
        self.expect("=", "behind the name of the type")?;
        let ty = self.type_name()?;
        let ty = TypeArgument { ty, dims: self.dimensions()? };
        self.expect(";", "after the type")?;
        Ok(TypeAlias { name, ty })
    }

    /// The token behind the type of a declaration, which may be one that belongs to another: `T.Sample x`.
    pub(super) fn declared_type_end(&self, ahead: usize) -> usize {
        let mut end = self.type_end(ahead);
        while self.is_at(end, ".") && self.peek_at(end + 1).kind == TokenKind::Name {
            end += 2;
        }
        end
    }

    /// Whether `<` starts the list of what a generic function is for, `f<float, 3>(…)`, and is no comparison.
    ///
    /// `f<a>(b)` would compare a truth value, so it is none. With commas it may be two arguments, `(f < a), (b > (c))`;
    /// then the list must consist of types, numbers and parentheses, or the file declares a generic function `f`. What ends
    /// a parenthesis around it ends it, too: `int(f < a) - int(b > (c))`.
    pub(super) fn starts_generic_call(&self, name: &str) -> bool {
        self.list_of_types(0).is_some_and(|list| {
            self.is_at(list.end, "(") && (!list.commas || list.types || self.generic_names.contains(name))
        })
    }

    /// The list `<float, 3>` that starts so far ahead, if it may be one of types and numbers.
    pub(super) fn list_of_types(&self, ahead: usize) -> Option<ListOfTypes> {
        let (mut open, mut commas, mut types) = (0usize, false, true);
        let mut inside = 0usize;
        for i in ahead..ahead + MAX_LIST {
            match self.peek_at(i).kind {
                TokenKind::Punct("(" | "[") => inside += 1,
                TokenKind::Punct(")" | "]") if inside == 0 => return None,
                TokenKind::Punct(")" | "]") => inside -= 1,
                // A comparison in parentheses, which may be a number of the list.
                TokenKind::Punct("<" | ">") if inside > 0 => {}
                TokenKind::Punct("<") => open += 1,
                TokenKind::Punct(">") if open == 1 => {
                    return (i > ahead + 1).then_some(ListOfTypes { end: i + 1, commas, types });
                }
                TokenKind::Punct(">") if open == 0 => return None,
                TokenKind::Punct(">") => open -= 1,
                TokenKind::Punct(",") => commas = true,
                TokenKind::Punct("." | "+" | "-" | "*" | "/") | TokenKind::Int(_) => {}
                TokenKind::Name => types &= self.word_at(i).is_some_and(|w| self.is_type(w)),
                _ => return None,
            }
        }
        None
    }

    /// `<float, 3>`
    pub(super) fn generic_arguments(&mut self) -> Parsed<Vec<GenericArgument>> {
        self.expect("<", "behind the name of the function")?;
        let mut list = Vec::new();
        loop {
            let argument = match self.peek().kind {
                TokenKind::Name => {
                    let ty = self.nested(Self::type_name)?;
                    GenericArgument::Type(TypeArgument { ty, dims: self.dimensions()? })
                }
                _ => GenericArgument::Int(self.generic_number()?),
            };
            list.push(argument);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(">", "behind what the function is for")?;
        Ok(list)
    }

    /// A literal, or anything in parentheses.
    fn generic_number(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        if self.eat("-") {
            let e = self.nested(Self::generic_number)?;
            let span = start.to(e.span);
            return Ok(Expr { kind: ExprKind::Unary(UnaryOp::Neg, Box::new(e)), span });
        }
        if self.eat("(") {
            let e = self.nested(Self::expression)?;
            self.expect(")", "to close the parenthesis")?;
            return Ok(e);
        }
        match self.peek().kind {
            TokenKind::Int(n) => {
                self.advance();
                Ok(Expr { kind: ExprKind::Int(n), span: start })
            }
            _ => {
                let found = self.describe();
                self.error(start, format!("expected a type or a number, found {found}"), "put a sum into parentheses")
            }
        }
    }
}

/// The names of the functions and structs that a text declares with `<…>`: behind a type, and no comparison.
pub(crate) fn generic_names<'a>(
    words: impl Iterator<Item = (TokenKind, &'a str)>,
) -> std::collections::HashSet<&'a str> {
    let (mut names, mut before) = (std::collections::HashSet::new(), [None, None]);
    for (kind, text) in words {
        if text == "<"
            && let [Some(ty), Some(name)] = before
            && (ty == "struct" || !is_reserved(ty) || crate::types::Type::from_name(ty).is_some())
        {
            names.insert(name);
        }
        before = [before[1], (kind == TokenKind::Name).then_some(text)];
    }
    names
}
