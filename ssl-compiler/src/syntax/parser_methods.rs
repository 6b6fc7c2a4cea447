//! Methods and constants of types: their declarations, and calls of methods.

use super::ast::*;
use super::parser::{Parsed, Parser};
use crate::diagnostics::{Diagnostic, codes};

/// How long a call may be for which the parser writes down what it is without methods.
const MAX_REWRITTEN: usize = 200;

impl Parser<'_> {
    /// Whether a method of a struct starts here, and no member.
    pub(super) fn starts_method(&self) -> bool {
        self.is("[") || self.is_word("static") || self.starts_function()
    }

    /// Whether a constant of a type starts here.
    pub(super) fn starts_constant(&self) -> bool {
        self.is_word("static") && self.word_at(1) == Some("const")
    }

    /// `static const int SIZE = 4;`
    pub(super) fn member_constant(&mut self, needs_value: bool) -> Parsed<Declaration> {
        self.advance();
        let declaration = self.declaration()?;
        if let Some(d) = declaration.declarators.iter().find(|d| needs_value && d.init.is_none()) {
            let message = format!("the constant `{}` has no value", d.name.text);
            let hint = format!("write one: `{} = …`", d.name.text);
            self.report(Diagnostic::error(&codes::BAD_DECLARATION, d.name.span, message, hint));
        }
        Ok(declaration)
    }

    /// `[mutating] static float area(float width) { … }`
    pub(super) fn method(&mut self, needs_body: bool) -> Parsed<Method> {
        let mut attributes = self.attributes()?;
        let is_static = self.eat_word("static");
        attributes.extend(self.attributes()?);
        let mut function = self.nested(|p| p.function(false))?;
        function.attributes = attributes;
        // As in C++, a `;` behind a method means nothing.
        while self.eat(";") {}
        if function.body.is_none() && needs_body {
            let hint = "write its body in the struct: `{ … }`";
            let message = format!("the method `{}` has no body", function.name.text);
            self.report(Diagnostic::error(&codes::BAD_DECLARATION, function.name.span, message, hint));
        }
        Ok(Method { is_static, function })
    }

    /// The arguments of a method, behind its name.
    pub(super) fn method_call(&mut self, on: Expr, name: Ident) -> Parsed<ExprKind> {
        self.called.insert(self.slice(name.span));
        let types = if self.is("<") { self.generic_arguments()? } else { Vec::new() };
        let arguments = self.arguments()?;
        let whole = on.span.to(self.previous());
        let function = (types.is_empty() && whole.range().len() <= MAX_REWRITTEN).then(|| {
            let spans = std::iter::once(on.span).chain(arguments.iter().map(|a| a.span));
            let all: Vec<&str> = spans.map(|span| self.slice(span)).collect();
            if name.text == "sample" || name.text.starts_with("Sample") {
                format!("texture2d_sample<{}>(u, v)", all[0])
            } else {
                format!("{}({})", name.text, all.join(", "))
            }
        });
        Ok(ExprKind::Method { on: Box::new(on), name, types, arguments, function })
    }
}
