//! Tests in the language: their statements, tables of cases, and sources that must not compile.

use super::ast::*;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser};
use crate::source::Span;
use std::ops::Range;

/// Expectations that take the type of a lobe, which may be a struct of the file.
const LOBES: [&str; 2] = ["expect_lobe", "expect_lobes"];

impl Parser<'_> {
    /// A test; all words in it are kept, whatever they turn out to mean.
    pub(super) fn test(&mut self) -> Parsed<TestDecl> {
        let start = self.at;
        let test = self.test_itself();
        for token in &self.tokens[start..self.at] {
            if token.kind == TokenKind::Name {
                self.named_in_tests.insert(self.slice(token.span));
            }
        }
        test
    }

    fn test_itself(&mut self) -> Parsed<TestDecl> {
        let start = self.advance().span;
        let (name, name_span) = self.string();
        self.expect("{", "to start the test")?;
        let mut body = Vec::new();
        while !self.is("}") {
            if self.peek().kind == TokenKind::End {
                self.expect("}", "to close the test")?;
                break;
            }
            body.push(self.test_statement()?);
        }
        self.advance();
        Ok(TestDecl { name, name_span, body, span: start.to(self.previous()) })
    }

    fn test_statement(&mut self) -> Parsed<TestStmt> {
        let start = self.peek().span;
        let name = self.any_name("a global, `run` or an expectation")?;
        let kind = match name.text.as_str() {
            "expect_error" => return self.expect_error(start),
            "cases" if self.is("(") => return self.cases(start),
            "run" if !self.is("=") => {
                let shader = self.any_name("the name of a shader")?;
                TestStmtKind::Run(shader, self.named_arguments()?)
            }
            _ if self.is("(") => {
                let arguments = self.test_arguments(LOBES.contains(&name.text.as_str()))?;
                TestStmtKind::Expect(name, arguments)
            }
            _ => {
                self.expect("=", "after the name of the global")?;
                TestStmtKind::Set(name, self.initialiser()?)
            }
        };
        self.expect(";", "after the statement")?;
        Ok(TestStmt { kind, span: start.to(self.previous()) })
    }

    /// What an expectation compares: like arguments, but a value may be a list in braces and have a name. If it `names_types`,
    /// a type may stand in place of a value.
    fn test_arguments(&mut self, names_types: bool) -> Parsed<Vec<TestArgument>> {
        self.expect("(", "after the name of the expectation")?;
        let mut list = Vec::new();
        while !self.is(")") {
            let is_named = self.peek().kind == TokenKind::Name && self.is_at(1, "=");
            let name = if is_named { Some(self.any_name("the name of an argument")?) } else { None };
            if is_named {
                self.advance();
            }
            let is_type = names_types && name.as_ref().is_none_or(|n| n.text == "under") && self.is_type_alone();
            let value = if is_type { self.type_alone()? } else { self.initialiser()? };
            list.push(TestArgument { name, value });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the expectation")?;
        Ok(list)
    }

    /// Whether an argument is the name of a type and nothing else.
    fn is_type_alone(&self) -> bool {
        let token = self.peek();
        let is_type = token.kind == TokenKind::Name && self.is_type(self.slice(token.span));
        is_type && (self.is_at(1, ",") || self.is_at(1, ")"))
    }

    fn type_alone(&mut self) -> Parsed<Expr> {
        let name = self.any_name("the type of a lobe")?;
        Ok(Expr { kind: ExprKind::Name(name.text), span: name.span })
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

    /// `expect_error CODE { … }`. What stands in the braces is only matched up, bracket by bracket: it is words
    /// of the language, but no part of the file.
    fn expect_error(&mut self, start: Span) -> Parsed<TestStmt> {
        let code = self.any_name("the code of a diagnostic, such as `E0205`")?;
        let open = self.expect("{", "before the source that must not compile")?;
        let mut closing = vec!["}"];
        while let Some(&due) = closing.last() {
            match self.peek().kind {
                TokenKind::Punct("(") => closing.push(")"),
                TokenKind::Punct("[") => closing.push("]"),
                TokenKind::Punct("{") => closing.push("}"),
                TokenKind::Punct(")" | "]" | "}") | TokenKind::End => {
                    self.expect(due, "in the source that must not compile")?;
                    closing.pop();
                    continue;
                }
                _ => {}
            }
            self.advance();
        }
        let close = self.previous();
        let source = Span { start: open.end, end: close.start, ..open };
        Ok(TestStmt { kind: TestStmtKind::ExpectError { code, source }, span: start.to(close) })
    }

    /// Takes back what was said of words in sources that must not compile: their tests say it, or expect it.
    /// `words` are the findings of the lexer.
    pub(super) fn leave_to_tests(&mut self, words: Range<usize>, items: &[Item]) {
        let tests = items.iter().filter_map(|item| if let Item::Test(test) = item { Some(&test.body) } else { None });
        let source =
            |s: &TestStmt| if let TestStmtKind::ExpectError { source, .. } = s.kind { Some(source) } else { None };
        let sources: Vec<Span> = tests.flatten().filter_map(source).collect();
        if sources.is_empty() || words.is_empty() {
            return;
        }
        // In the order of the text.
        let within = |s: Span| {
            let next = sources.partition_point(|source| source.end < s.end);
            sources.get(next).is_some_and(|source| source.start <= s.start)
        };
        let mut at = 0;
        self.diagnostics.list.retain(|d| {
            at += 1;
            !words.contains(&(at - 1)) || !d.span.is_some_and(within)
        });
    }

    /// `cases(x, y) { "name": 1, 2; … }`
    fn cases(&mut self, start: Span) -> Parsed<TestStmt> {
        self.expect("(", "before the names of the columns")?;
        let mut columns = Vec::new();
        while !self.is(")") {
            columns.push(self.any_name("the name of a column")?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the names of the columns")?;
        let head = start.to(self.previous());
        self.expect("{", "before the cases")?;
        let mut rows = Vec::new();
        while !self.is("}") {
            rows.push(self.case()?);
        }
        self.advance();
        Ok(TestStmt { kind: TestStmtKind::Cases(TestCases { columns, rows }), span: head })
    }

    fn case(&mut self) -> Parsed<TestCase> {
        if self.peek().kind != TokenKind::Str {
            let message = format!("expected the name of a case, found {}", self.describe());
            return self.error(self.peek().span, message, "write it in quotes: `\"at the origin\": 0.0, 1.0;`");
        }
        let (name, name_span) = self.string();
        self.expect(":", "after the name of the case")?;
        let mut values = Vec::new();
        while !self.is(";") {
            values.push(self.initialiser()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";", "after the case")?;
        Ok(TestCase { name, name_span, values })
    }
}
