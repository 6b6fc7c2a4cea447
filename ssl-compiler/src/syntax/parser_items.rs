//! What stands at file level: functions, shaders, structs, textures, `globals` blocks, tests.

use super::ast::*;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser, Recover};

impl Parser<'_> {
    pub fn file(&mut self) -> File {
        let mut file = File::default();
        while self.peek().kind != TokenKind::End {
            match self.item() {
                Ok(Some(item)) => file.items.push(item),
                Ok(None) => {}
                Err(Recover) => self.skip_item(),
            }
        }
        file
    }

    /// Skips to what looks like the start of the next item: behind a `}` or `;` outside all braces, or at
    /// a word in the first column.
    fn skip_item(&mut self) {
        let mut open = 0usize;
        for skipped in 0.. {
            let start = self.peek().span.start as usize;
            let first_column = start > 0 && self.text.as_bytes()[start - 1] == b'\n';
            if skipped > 0 && open == 0 && first_column && self.peek().kind == TokenKind::Name {
                return;
            }
            let token = self.advance();
            match token.kind {
                TokenKind::End => return,
                TokenKind::Punct("{") => open += 1,
                TokenKind::Punct("}") => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        return;
                    }
                }
                TokenKind::Punct(";") if open == 0 => return,
                _ => {}
            }
        }
    }

    fn item(&mut self) -> Parsed<Option<Item>> {
        if self.eat(";") {
            return Ok(None);
        }
        let is_block = self.is_at(1, "{");
        match self.word_at(0) {
            Some("struct") => Ok(Some(Item::Struct(self.struct_declaration()?))),
            Some("shader") => Ok(Some(Item::Function(self.function(true)?))),
            Some("globals") if is_block => Ok(Some(Item::Globals(self.globals()?))),
            Some("test") if self.peek_at(1).kind == TokenKind::Str => Ok(Some(Item::Test(self.test()?))),
            Some("const") => Ok(Some(Item::Variable(self.declaration()?))),
            Some(_) if self.peek_at(1).kind == TokenKind::Name && self.is_at(2, "(") => {
                Ok(Some(Item::Function(self.function(false)?)))
            }
            Some(_) if self.starts_declaration() => Ok(Some(Item::Variable(self.declaration()?))),
            _ => {
                let (span, found) = (self.peek().span, self.describe());
                let message = format!("expected a function, shader, struct, texture or test, found {found}");
                self.error(span, message, "statements belong inside a function or shader")
            }
        }
    }

    fn struct_declaration(&mut self) -> Parsed<StructDecl> {
        self.advance();
        let name = self.ident("the name of the struct")?;
        self.types.insert(name.text.clone());
        self.expect("{", "after the name of the struct")?;
        let fields = self.declarations("the struct")?;
        self.expect(";", "after the struct")?;
        Ok(StructDecl { name, fields })
    }

    /// Declarations up to and with the closing `}`.
    fn declarations(&mut self, what: &str) -> Parsed<Vec<Declaration>> {
        let mut list = Vec::new();
        while !self.is("}") {
            if self.peek().kind == TokenKind::End {
                self.expect("}", &format!("to close {what}"))?;
            }
            list.push(self.field_declaration()?);
        }
        self.advance();
        Ok(list)
    }

    /// Like a declaration, but its names may be those of types: `normal normal;`.
    fn field_declaration(&mut self) -> Parsed<Declaration> {
        let start = self.peek().span;
        let ty = self.type_name()?;
        let mut declarators = Vec::new();
        loop {
            let name = self.any_name("a name")?;
            let dims = self.dimensions()?;
            declarators.push(Declarator { name, dims, init: None });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";", "after the declaration")?;
        Ok(Declaration { is_const: false, ty, declarators, span: start.to(self.previous()) })
    }

    fn globals(&mut self) -> Parsed<Vec<Declaration>> {
        self.advance();
        self.advance();
        self.declarations("the globals")
    }

    fn function(&mut self, is_shader: bool) -> Parsed<FunctionDecl> {
        let start = self.peek().span;
        let result = if is_shader {
            let span = self.advance().span;
            TypeName { name: Ident { text: "void".to_owned(), span } }
        } else {
            self.type_name()?
        };
        let name = self.ident("the name of the function")?;
        self.expect("(", "after the name of the function")?;
        let mut parameters = Vec::new();
        if self.word_at(0) == Some("void") && self.is_at(1, ")") {
            self.advance();
        }
        while !self.is(")") {
            parameters.push(self.parameter()?);
            if !self.eat(",") {
                break;
            }
        }
        let end = self.expect(")", "after the parameters")?;
        let span = start.to(end);
        let body = if self.eat(";") {
            None
        } else {
            self.expect("{", "to start the body")?;
            Some(self.block()?)
        };
        Ok(FunctionDecl { is_shader, result, name, parameters, body, span })
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let start = self.peek().span;
        let (mut direction, mut is_const) = (Direction::In, false);
        loop {
            match self.word_at(0) {
                Some("in") => direction = Direction::In,
                Some("out") => direction = Direction::Out,
                Some("inout") => direction = Direction::InOut,
                Some("const") => is_const = true,
                _ => break,
            }
            self.advance();
        }
        let ty = self.type_name()?;
        let name = self.ident("the name of the parameter")?;
        let dims = self.dimensions()?;
        let default = if self.eat("=") { Some(self.initialiser()?) } else { None };
        Ok(Parameter { direction, is_const, ty, name, dims, default, span: start.to(self.previous()) })
    }

    fn test(&mut self) -> Parsed<TestDecl> {
        self.advance();
        let name_span = self.advance().span;
        let name = self.slice(name_span).trim_matches('"').to_owned();
        self.expect("{", "to start the test")?;
        let mut body = Vec::new();
        while !self.is("}") {
            if self.peek().kind == TokenKind::End {
                self.expect("}", "to close the test")?;
            }
            body.push(self.test_statement()?);
        }
        self.advance();
        Ok(TestDecl { name, name_span, body })
    }

    fn test_statement(&mut self) -> Parsed<TestStmt> {
        let start = self.peek().span;
        let name = self.any_name("a global, `run` or an expectation")?;
        let kind = if name.text == "run" && !self.is("=") {
            let shader = self.any_name("the name of a shader")?;
            TestStmtKind::Run(shader, self.named_arguments()?)
        } else if self.is("(") {
            TestStmtKind::Expect(name, self.arguments()?)
        } else {
            self.expect("=", "after the name of the global")?;
            TestStmtKind::Set(name, self.initialiser()?)
        };
        self.expect(";", "after the statement")?;
        Ok(TestStmt { kind, span: start.to(self.previous()) })
    }

    fn named_arguments(&mut self) -> Parsed<Vec<(Ident, Expr)>> {
        self.expect("(", "after the name of the shader")?;
        let mut list = Vec::new();
        while !self.is(")") {
            let name = self.any_name("the name of a parameter")?;
            self.expect("=", "between the parameter and its value")?;
            list.push((name, self.initialiser()?));
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the parameters")?;
        Ok(list)
    }
}
