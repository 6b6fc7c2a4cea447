//! Puts the text of a unit into a larger text: it renames the names of the file level and leaves tests out.

use super::text::Names;
use crate::diagnostics::Diagnostics;
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast::{self, Item};
use crate::syntax::lexer::{Token, TokenKind, lex};
use std::collections::{HashMap, HashSet};

/// A text that can stand beside others.
pub struct Embedded {
    pub text: String,
    /// What each name of the file level is called there.
    pub names: HashMap<String, String>,
}

/// Embeds a file that parses. `unit` becomes the name of its shader `main`, and begins all others.
pub fn embed(sources: &SourceMap, file: FileId, unit: &str, main: &str, taken: &mut Names) -> Embedded {
    let text = sources.get(file).text.clone();
    let tree = crate::syntax::parse(sources, file, &mut Diagnostics::new());
    let mut names = HashMap::new();
    for name in tree.items.iter().flat_map(declared) {
        let wanted = if name == main { unit.to_owned() } else { format!("{unit}_{name}") };
        names.entry(name.to_owned()).or_insert_with(|| taken.unique(&wanted));
    }
    let fields: HashSet<Span> = tree.items.iter().flat_map(fields).collect();
    let own = own_names(&tree.items);
    let tokens = lex(file, &text, &mut Diagnostics::new());
    let mut out = String::new();
    let mut copied = 0;
    let mut i = 0;
    while i < tokens.len() {
        if let Some(end) = test_end(&tokens, i, &text) {
            out.push_str(&text[copied..tokens[i].span.start as usize]);
            copied = tokens[end].span.end as usize;
            i = end + 1;
            continue;
        }
        let span = tokens[i].span;
        // Of `alias::name` the alias is the file's own.
        let word = text[span.range()].split("::").next().unwrap_or("");
        let new = names.get(word).filter(|_| tokens[i].kind == TokenKind::Name);
        if let Some(new) = new
            && !fields.contains(&span)
            && !is_own(&own, span, word)
            && !names_something_else(&tokens, i, &text)
        {
            out.push_str(&text[copied..span.start as usize]);
            out.push_str(new);
            copied = span.start as usize + word.len();
        }
        i += 1;
    }
    out.push_str(&text[copied..]);
    Embedded { text: out.trim().to_owned(), names }
}

/// The names that an item declares for the whole file.
fn declared(item: &Item) -> Vec<&str> {
    match item {
        Item::Function(f) => vec![&f.name.text],
        Item::Struct(s) => vec![&s.name.text],
        Item::Interface(i) => vec![&i.name.text],
        Item::Enum(e) => e.members.iter().map(|m| &m.name).chain(&e.name).map(|n| n.text.as_str()).collect(),
        Item::Typedef(d) | Item::Variable(d) => d.declarators.iter().map(|d| d.name.text.as_str()).collect(),
        Item::Import(i) => i.alias.iter().map(|a| a.text.as_str()).collect(),
        Item::Globals(_) | Item::Test(_) | Item::Extension(_) => Vec::new(),
    }
}

/// Declared names that are nobody else's: members of structs, and globals.
fn fields(item: &Item) -> Vec<Span> {
    let of = |list: &[ast::Declaration]| list.iter().flat_map(|d| &d.declarators).map(|d| d.name.span).collect();
    match item {
        Item::Struct(s) => of(&s.fields),
        Item::Globals(list) => of(list),
        _ => Vec::new(),
    }
}

/// The structs that have methods, and the names of their members, which the methods use without anything before them.
fn own_names(items: &[Item]) -> Vec<(Span, HashSet<&str>)> {
    let structs = items.iter().filter_map(|item| match item {
        Item::Struct(s) if !s.body.methods.is_empty() => Some(s),
        _ => None,
    });
    let own = structs.map(|s| {
        let members = s.fields.iter().flat_map(|d| &d.declarators).map(|d| d.name.text.as_str());
        (s.span, members.chain(s.body.methods.iter().map(|m| m.function.name.text.as_str())).collect())
    });
    own.collect()
}

/// Whether a name stands in a struct that has a member of this name.
fn is_own(own: &[(Span, HashSet<&str>)], place: Span, name: &str) -> bool {
    let around = own.iter().filter(|(span, _)| span.start <= place.start && place.end <= span.end);
    around.into_iter().any(|(_, names)| names.contains(name))
}

/// Whether the name behind `.` or between angle brackets is a member, a global or a closure.
fn names_something_else(tokens: &[Token], i: usize, text: &str) -> bool {
    let is = |back: usize, wanted: &str| i >= back && &text[tokens[i - back].span.range()] == wanted;
    is(1, ".") || (is(1, "<") && (is(2, "global_value") || is(2, "make_closure")))
}

/// The index of the `}` that ends the test that starts here.
fn test_end(tokens: &[Token], start: usize, text: &str) -> Option<usize> {
    let is_test = &text[tokens[start].span.range()] == "test" && tokens.get(start + 1)?.kind == TokenKind::Str;
    let mut open = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(start).take_while(|_| is_test) {
        match token.kind {
            TokenKind::Punct("{") => open += 1,
            TokenKind::Punct("}") if open <= 1 => return Some(i),
            TokenKind::Punct("}") => open -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_level_names_are_replaced_and_nothing_else() {
        let source = "
            // noise of noise
            struct wave { float noise; float other; };
            globals { float noise; }
            float noise(wave w, float scale) { float scale2 = w.noise * global_value<noise>; return scale2 + scale; }
            shader main(float x, out float o) { wave w = {x, 1.0}; o = noise(w, x); }
            test \"one\" { noise = 1.0; run main(x = 1.0); }
        ";
        let mut sources = SourceMap::new();
        let file = sources.add("unit", source);
        let mut taken = Names::default();
        taken.take("a_noise");
        let embedded = embed(&sources, file, "a", "main", &mut taken);
        let expected = "// noise of noise
            struct a_wave { float noise; float other; };
            globals { float noise; }
            float a_noise_2(a_wave w, float scale) { float scale2 = w.noise * global_value<noise>; return scale2 + scale; }
            shader a(float x, out float o) { a_wave w = {x, 1.0}; o = a_noise_2(w, x); }";
        assert_eq!(embedded.text, expected);
    }

    #[test]
    fn methods_keep_their_names_and_those_of_members() {
        let source = "float size() { return 1.0; }
struct Box { float width; float size() { return width * this.size(2.0); } float size(float f) { return f; } };
float width(Box b) { return b.size() + size(); }";
        let mut sources = SourceMap::new();
        let file = sources.add("unit", source);
        let embedded = embed(&sources, file, "a", "main", &mut Names::default());
        let expected = "float a_size() { return 1.0; }
struct a_Box { float width; float size() { return width * this.size(2.0); } float size(float f) { return f; } };
float a_width(a_Box b) { return b.size() + a_size(); }";
        assert_eq!(embedded.text, expected);
    }
}
