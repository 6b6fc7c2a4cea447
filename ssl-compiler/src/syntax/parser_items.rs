//! Declarations at file level: functions, shaders, structs, textures, `globals` blocks, tests.

use super::ast::*;
use super::lexer::TokenKind;
use super::parser::{Parsed, Parser, Recover};
use super::parser_derivatives::BUFFER;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

impl Parser<'_> {
    pub fn file(&mut self) -> File {
        let mut file = File::default();
        while self.peek().kind != TokenKind::End {
            let start = self.at;
            match self.item() {
                Ok(Some(item)) => self.keep(&mut file, item),
                Ok(None) => {}
                Err(Recover) => {
                    self.skip_item();
                    self.lose_names(start);
                }
            }
        }
        file
    }

    /// What was not understood is left out, but its name is known.
    fn keep(&self, file: &mut File, item: Item) {
        let name = match &item {
            Item::Function(f) => &f.name.text,
            Item::Struct(s) => &s.name.text,
            _ => return file.items.push(item),
        };
        if !self.broken.contains(name) {
            file.items.push(item);
        }
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

    pub(super) fn item(&mut self) -> Parsed<Option<Item>> {
        if self.eat(";") {
            return Ok(None);
        }
        if self.is("[") && !self.at_osl_metadata() {
            return self.attributed_item();
        }
        let qualified = self.skip_qualifiers(true);
        let is_block = self.is_at(1, "{");
        if self.foreign_shader() {
            return Ok(Some(Item::Function(self.function(true)?)));
        }
        match self.word_at(0) {
            Some("import") => Ok(Some(Item::Import(self.import()?))),
            Some("struct") if self.declares_type() => Ok(Some(Item::Struct(self.struct_declaration()?))),
            Some("interface") if self.peek_at(1).kind == TokenKind::Name => {
                Ok(Some(Item::Interface(self.interface()?)))
            }
            Some("extension") if self.peek_at(1).kind == TokenKind::Name => {
                Ok(Some(Item::Extension(self.extension()?)))
            }
            Some("enum") if self.declares_type() => Ok(Some(Item::Enum(self.enum_declaration()?))),
            Some("typedef") => Ok(Some(Item::Typedef(self.typedef()?))),
            Some("shader") => Ok(Some(Item::Function(self.function(true)?))),
            Some("kernel") if self.starts_kernel() => {
                let kernel = self.function(true)?;
                Ok(Some(Item::Function(FunctionDecl { is_kernel: true, ..kernel })))
            }
            Some("globals") if is_block => Ok(Some(Item::Globals(self.globals()?))),
            Some("test") if self.peek_at(1).kind == TokenKind::Str => Ok(Some(Item::Test(self.test()?))),
            Some(word) if let Some(hint) = self.foreign_item(word) => {
                let message = match word {
                    "kernel" => "a kernel has no result type".to_owned(),
                    "extension" => "an extension has no type parameters".to_owned(),
                    _ => format!("there is no `{word}` here"),
                };
                self.fail(&codes::FOREIGN_FORM, self.peek().span, message, hint)
            }
            Some("const") => Ok(Some(Item::Variable(self.declaration()?))),
            Some(_) if self.starts_function() => Ok(Some(Item::Function(self.function(false)?))),
            Some(_) if self.starts_declaration() => {
                let declaration = self.declaration()?;
                if qualified {
                    // The qualifier was reported.
                    self.broken.extend(declaration.declarators.into_iter().map(|d| d.name.text));
                    return Ok(None);
                }
                Ok(Some(Item::Variable(declaration)))
            }
            _ => {
                let (span, found) = (self.peek().span, self.describe());
                let message = format!("expected a function, shader, struct, texture or test, found {found}");
                let hint = if self.is("}") {
                    "there is one `}` too many before or here"
                } else {
                    "statements belong inside a function or shader"
                };
                self.fail(&codes::OUTSIDE_FUNCTION, span, message, hint)
            }
        }
    }

    /// A type, a name, and what starts a list of parameters.
    pub(super) fn starts_function(&self) -> bool {
        let tag = usize::from(self.is_type_word());
        let name = self.behind_brackets(self.declared_type_end(tag));
        self.peek_at(name).kind == TokenKind::Name && (self.is_at(name + 1, "(") || self.is_at(name + 1, "<"))
    }

    /// `kernel name(`, where no type is called `kernel`.
    fn starts_kernel(&self) -> bool {
        !self.is_type("kernel")
            && self.peek_at(1).kind == TokenKind::Name
            && (self.is_at(2, "(") || self.is_at(2, "<<<"))
    }

    fn import(&mut self) -> Parsed<Import> {
        let start = self.advance().span;
        let path_span = self.peek().span;
        if self.peek().kind != TokenKind::Str {
            let message = format!("expected a file behind `import`, found {}", self.describe());
            return self.error(path_span, message, "write it in quotes: `import \"noise.ssl\";`");
        }
        let (path, path_span) = self.string();
        let alias = if self.eat_word("as") { Some(self.ident("a name for what is imported")?) } else { None };
        self.expect(";", "after the import")?;
        Ok(Import { path, path_span, alias, span: start.to(self.previous()) })
    }

    fn struct_declaration(&mut self) -> Parsed<StructDecl> {
        let start = self.advance().span;
        let name = self.ident("the name of the struct")?;
        self.types.insert(name.text.clone());
        self.refuse_metadata("a struct")?;
        let generics = self.generic_parameters()?;
        let hidden = self.hide_types(&generics);
        let declared = self.struct_behind_name(start, name, generics);
        self.types.retain(|name| !hidden.contains(name));
        declared
    }

    /// Makes types of generic parameters; those names that were none before.
    fn hide_types(&mut self, generics: &[GenericParameter]) -> Vec<String> {
        let names = generics.iter().filter(|g| !g.is_int).map(|g| g.name.text.clone());
        let hidden: Vec<String> = names.filter(|n| !self.types.contains(n)).collect();
        self.types.extend(hidden.iter().cloned());
        hidden
    }

    /// A struct from its interfaces on.
    fn struct_behind_name(&mut self, start: Span, name: Ident, generics: Vec<GenericParameter>) -> Parsed<StructDecl> {
        if self.is(":") && self.starts_inheritance(1) {
            // Members that it would have of another struct are not known.
            self.broken.insert(name.text.clone());
        }
        let mut body = Conforming { interfaces: self.bounds(true)?, ..Conforming::default() };
        self.expect("{", "after the name of the struct")?;
        let mut marks = Vec::new();
        let (fields, understood) = self.declarations("the struct", &mut body, &mut marks)?;
        if !understood {
            self.broken.insert(name.text.clone());
        }
        let span = start.to(self.previous());
        // Slang's structs have none, and C's structs do.
        if !self.eat(";") && understood && body.methods.is_empty() && body.interfaces.is_empty() {
            self.expect(";", "after the struct")?;
        }
        Ok(StructDecl { name, generics, fields, marks, body, span })
    }

    /// Declarations up to and with the closing `}`; whether all were understood.
    fn declarations(
        &mut self,
        what: &str,
        body: &mut Conforming,
        marks: &mut Vec<FieldMarks>,
    ) -> Parsed<(Vec<Declaration>, bool)> {
        let (mut list, mut understood) = (Vec::new(), true);
        while !self.is("}") {
            if self.peek().kind == TokenKind::End {
                self.expect("}", &format!("to close {what}"))?;
                break;
            }
            let in_struct = what == "the struct";
            let part = if in_struct && (self.is_word("typealias") || self.is_word("typedef")) {
                self.type_alias().map(|t| body.types.push(t))
            } else if in_struct {
                self.struct_part(&mut list, marks, body)
            } else {
                self.field_declaration(what).map(|d| list.push(d))
            };
            match part {
                Ok(()) => {}
                Err(Recover) => {
                    understood = false;
                    self.skip_statement();
                }
            }
        }
        self.advance();
        Ok((list, understood))
    }

    /// A method or members, and what stands before them.
    fn struct_part(
        &mut self,
        list: &mut Vec<Declaration>,
        marks: &mut Vec<FieldMarks>,
        body: &mut Conforming,
    ) -> Parsed<()> {
        self.refuse_part()?;
        let attributes = self.attributes()?;
        if attributes.is_empty() && self.starts_constant() {
            return self.member_constant(true).map(|d| body.constants.push(d));
        }
        if self.starts_method() {
            let mut method = self.method(true)?;
            method.function.attributes.splice(0..0, attributes);
            body.methods.push(method);
            return Ok(());
        }
        let no_diff = self.eat_word("no_diff");
        list.push(self.field_declaration("the struct")?);
        marks.push(FieldMarks { attributes, no_diff });
        Ok(())
    }

    /// Like a declaration, but its names may be those of types: `normal normal;`.
    fn field_declaration(&mut self, what: &str) -> Parsed<Declaration> {
        let start = self.peek().span;
        let ty = self.type_name()?;
        let of_type = self.refuse_type_brackets(&ty)?;
        let mut declarators = Vec::new();
        loop {
            let name = self.any_name("a name")?;
            self.refuse_qualified(name.span)?;
            let mut dims = self.dimensions()?;
            dims.extend(of_type.iter().cloned());
            self.refuse_metadata(&format!("a member of {what}"))?;
            let init = if what == "the struct" && self.eat("=") { Some(self.initialiser()?) } else { None };
            self.refuse_metadata(&format!("a member of {what}"))?;
            declarators.push(Declarator { name, dims, init });
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
        self.declarations("the globals", &mut Conforming::default(), &mut Vec::new()).map(|(list, _)| list)
    }

    pub(super) fn function(&mut self, is_shader: bool) -> Parsed<FunctionDecl> {
        let start = self.peek().span;
        let result = if is_shader {
            let span = self.advance().span;
            TypeName::plain(Ident { text: "void".to_owned(), span })
        } else {
            self.type_name()?
        };
        let returns_array = self.refuse_array_result()?;
        let name = self.ident("the name of the function")?;
        if returns_array {
            self.broken.insert(name.text.clone());
        }
        let generics = if is_shader { Vec::new() } else { self.generic_parameters()? };
        // Inside they are types; a type of the file that has the same name is one again behind the function.
        let hidden = self.hide_types(&generics);
        let function = self.function_behind_name(start, is_shader, result, name, generics);
        self.types.retain(|name| !hidden.contains(name));
        function
    }

    /// A function from its parameters on.
    fn function_behind_name(
        &mut self,
        start: Span,
        is_shader: bool,
        result: TypeName,
        name: Ident,
        generics: Vec<GenericParameter>,
    ) -> Parsed<FunctionDecl> {
        let mut metadata = Vec::new();
        self.metadata(&mut metadata)?;
        self.expect("(", "after the name of the function")?;
        let mut parameters = Vec::new();
        if self.word_at(0) == Some("void") && self.is_at(1, ")") {
            self.advance();
        }
        while !self.is(")") {
            match self.parameter() {
                Ok(p) => parameters.push(p),
                Err(Recover) => {
                    self.broken.insert(name.text.clone());
                    break;
                }
            }
            if !self.eat(",") {
                break;
            }
        }
        let end = if self.broken.contains(&name.text) {
            self.skip_parameters();
            self.previous()
        } else {
            self.expect(")", "after the parameters")?
        };
        self.refuse_semantic();
        self.refuse_behind_head(&name.text);
        let span = start.to(end);
        self.metadata(&mut metadata)?;
        let body = if self.eat(";") {
            None
        } else {
            self.expect("{", "to start the body")?;
            // Behind a head that was not understood, what the body means is not known either.
            let quiet = self.gave_up;
            self.gave_up |= self.broken.contains(&name.text);
            let body = self.block();
            self.gave_up = quiet || self.peek().kind == TokenKind::End;
            Some(body?)
        };
        Ok(FunctionDecl {
            attributes: Vec::new(),
            is_shader,
            is_kernel: false,
            result,
            name,
            generics,
            parameters,
            metadata,
            body,
            span,
        })
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let start = self.peek().span;
        let (mut direction, mut adds, mut is_const, mut no_diff) = (Direction::In, false, false, false);
        loop {
            match self.word_at(0) {
                Some("in") => direction = Direction::In,
                Some("out") => direction = Direction::Out,
                Some("inout") => direction = Direction::InOut,
                Some("output") if self.peek_at(2).kind == TokenKind::Name => {
                    let span = self.peek().span;
                    let d =
                        Diagnostic::error(&codes::FOREIGN_QUALIFIER, span, "there is no `output` here", "write `out`");
                    self.report(d.with_fix(span, "out"));
                    direction = Direction::Out;
                }
                Some("add") if self.word_at(1) == Some(BUFFER) => adds = true,
                Some("const") => is_const = true,
                Some("no_diff") => no_diff = true,
                _ => break,
            }
            self.advance();
        }
        self.skip_qualifiers(false);
        let ty = self.type_name()?;
        self.refuse_reference(is_const);
        let of_type = self.refuse_type_brackets(&ty)?;
        let name = self.ident("the name of the parameter")?;
        let any_length = self.eat_empty_brackets().is_some();
        let mut dims = self.dimensions()?;
        dims.extend(of_type);
        self.refuse_semantic();
        let mut metadata = Vec::new();
        self.metadata(&mut metadata)?;
        let default = if self.eat("=") { Some(self.initialiser()?) } else { None };
        let span = start.to(self.previous());
        self.metadata(&mut metadata)?;
        Ok(Parameter { direction, adds, no_diff, is_const, ty, name, any_length, dims, default, metadata, span })
    }
}
