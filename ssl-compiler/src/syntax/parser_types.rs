//! `typedef` and `enum`, as in C.

use super::ast::*;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};
use crate::diagnostics::{Diagnostic, codes};

impl Parser<'_> {
    /// `typedef float Weight, Pair[2];`
    pub(super) fn typedef(&mut self) -> Parsed<Declaration> {
        let start = self.advance().span;
        if self.declares_type() {
            let (word, span) = (self.describe(), self.peek().span);
            let hint = "declare it without `typedef`: `struct Name { … };` and `enum Name { … };` make `Name` a type";
            let message = format!("{word} is declared inside a `typedef`");
            self.report(Diagnostic::error(&codes::SYNTAX, span, message, hint));
            self.skip_statement();
            if let Some(name) = self.word_at(0) {
                self.broken.insert(name.to_owned());
                self.advance();
                self.eat(";");
            }
            let ty = TypeName::plain(Ident { text: "void".to_owned(), span });
            return Ok(Declaration { is_const: false, ty, declarators: Vec::new(), span });
        }
        let ty = self.type_name()?;
        self.refuse_pointer()?;
        let mut declarators = Vec::new();
        loop {
            let name = self.ident("a name for the type")?;
            self.types.insert(name.text.clone());
            let dims = self.dimensions()?;
            declarators.push(Declarator { name, dims, init: None });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";", "after the `typedef`")?;
        Ok(Declaration { is_const: false, ty, declarators, span: start.to(self.previous()) })
    }

    /// `enum Mode { MATTE, BRIGHT = 4 };`
    pub(super) fn enum_declaration(&mut self) -> Parsed<EnumDecl> {
        self.advance();
        let name = match self.peek().kind {
            TokenKind::Name => Some(self.ident("the name of the enum")?),
            _ => None,
        };
        self.types.extend(name.iter().map(|n| n.text.clone()));
        let mut members = Vec::new();
        let understood = self.enum_members(&mut members);
        if understood.is_err() {
            // Nothing more need be said about them, nor about those that follow.
            let rest = (0..).map_while(|i| match self.peek_at(i).kind {
                TokenKind::End | TokenKind::Punct("}" | ";") => None,
                _ => Some(self.word_at(i)),
            });
            let rest: Vec<String> = rest.flatten().map(str::to_owned).collect();
            self.broken.extend(rest);
            self.broken.extend(members.iter().map(|m: &EnumMember| m.name.text.clone()));
            self.broken.extend(name.iter().map(|n| n.text.clone()));
        }
        understood.map(|()| EnumDecl { name, members })
    }

    fn enum_members(&mut self, members: &mut Vec<EnumMember>) -> Parsed<()> {
        self.expect("{", "after `enum`")?;
        while !self.is("}") {
            let name = self.ident("a name for a value")?;
            members.push(EnumMember { name, value: None });
            if self.eat("=") {
                let value = self.assignment()?;
                members.iter_mut().last().into_iter().for_each(|m| m.value = Some(value.clone()));
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}", "after the names of the enum")?;
        if members.is_empty() {
            let span = self.previous();
            return self.error(span, "this enum names no value", "write its values: `enum Mode { MATTE, BRIGHT };`");
        }
        self.expect(";", "after the enum")?;
        Ok(())
    }
}
