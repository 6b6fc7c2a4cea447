//! The formatter keeps what a file says: the same tree, the same comments; and once is enough. On every
//! shader file there is, and on random programs with random blanks and comments between their words
//! (`SSL_RANDOM_CASES` of them).

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::source::SourceMap;
use ssl_compiler::syntax::lexer::{TokenKind, lex};
use ssl_tests::generate::{Flavour, Random, program};
use ssl_tests::layout::{complaint, format, tree};
use ssl_tests::{files, folder};

#[test]
fn every_file_stays_the_same_program() {
    let mut count = 0;
    for path in files(&folder(".."), &["ssl"]) {
        let text = std::fs::read_to_string(&path).expect("the file is readable");
        let source = text.split("; expect:").next().unwrap_or("");
        if let Some(complaint) = complaint(source) {
            panic!("{}: {complaint}", path.display());
        }
        count += usize::from(tree(source).is_some());
    }
    assert!(count > 30, "only {count} files were formatted");
}

/// The same words with other blanks, line breaks and comments between them.
fn shaken(text: &str, random: &mut Random) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", text);
    let tokens = lex(file, text, &mut Diagnostics::new());
    let mut out = String::new();
    for pair in tokens.windows(2) {
        let (range, next) = (pair[0].span.range(), pair[1].span.range());
        out.push_str(&text[range.clone()]);
        let touching = range.end == next.start;
        let word = |k| matches!(k, TokenKind::Name | TokenKind::Int(_) | TokenKind::Float(_));
        match random.below(if touching { 40 } else { 16 }) {
            // Some operators are made of tokens that touch.
            _ if touching && text[range.end - 1..].starts_with(['>', '<']) => {}
            0 => out.push_str("  \n\n\n\t"),
            1 => out.push('\n'),
            2 => out.push_str(" // a comment, \"quoted\" /*\n"),
            3 => out.push_str(" /* in between */"),
            4 => out.push_str("\n  // above\n\n// and again \t\n"),
            5 => out.push_str(" /* several\n   lines */"),
            6 => out.push_str(" /* ends a line */\n"),
            7 => out.push_str("\n/* opens a line */"),
            _ if !touching || word(pair[0].kind) && word(pair[1].kind) => out.push_str(&text[range.end..next.start]),
            _ => {}
        }
    }
    out
}

#[test]
fn random_programs_stay_the_same() {
    let cases = std::env::var("SSL_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&(any::<u64>(), 0usize..30, any::<bool>()), |(seed, size, shake)| {
        let mut text = program(seed, size, Flavour { smooth: false, nested_derivatives: true });
        if shake {
            text = shaken(&text, &mut Random::new(seed ^ 1));
        }
        prop_assert!(tree(&text).is_some(), "does not parse\n{}", text);
        let complaint = complaint(&text);
        prop_assert!(complaint.is_none(), "{}\nfrom\n{}", complaint.unwrap_or_default(), text);
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn line_ends_and_byte_order_mark_stay() {
    assert_eq!(format("float a;\nfloat b;\r\n").as_deref(), Ok("float a;\nfloat b;\n"));
    assert_eq!(format("float  a; // x\r\nfloat b;\n").as_deref(), Ok("float a; // x\r\nfloat b;\r\n"));
    let text = "\u{feff}/* one\r\n   two */\r\nvoid f() {\r\n}\r\n";
    let once = "\u{feff}/* one\r\n   two */\r\nvoid f() {}\r\n";
    assert_eq!(format(text).as_deref(), Ok(once));
    assert_eq!(format(once).as_deref(), Ok(once));
    assert_eq!(format("").as_deref(), Ok(""));
    assert_eq!(format("\n\n").as_deref(), Ok(""));
    assert_eq!(format("// alone").as_deref(), Ok("// alone\n"));
}

#[test]
fn lists_of_types_in_lists_are_closed_without_blanks() {
    let text = "import \"pair.ssl\";

Pair<Pair<float>> twice(const Pair<Box<float>, 3> a, Pair<Pair<Pair<float>>> q)
{
    Pair<Pair<float>> r = {a, a};
    return 16 >> 2 > 3 ? r : q.first;
}
";
    assert_eq!(format(text).as_deref(), Ok(text));
    let spaced = text.replace('<', " < ").replace("float>", "float >");
    assert_eq!(format(&spaced).as_deref(), Ok(text));
}

#[test]
fn a_file_that_does_not_parse_is_refused() {
    for text in ["float f(", "float f() { return 1.0 }", "/* no end", "void f() { (1; }", "#define X"] {
        assert!(format(text).is_err(), "{text}");
    }
}

#[test]
fn lines_are_no_wider_than_they_must_be() {
    for seed in 0..100 {
        let text = program(seed, 20, Flavour { smooth: false, nested_derivatives: true });
        let formatted = format(&text).unwrap_or_else(|e| panic!("{e}"));
        // Where a line of a random program is wider, deep nesting left no room.
        let wide = formatted.lines().find(|l| l.len() > 100 && l.len() - l.trim_start().len() < 40);
        assert_eq!(wide, None);
    }
}
