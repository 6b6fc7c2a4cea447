//! Rust files as the tests of the source tree read them: what is code in them, and what of it is only for tests.

/// The code of a file: comments are gone, and of strings and characters only the quotes are left. Lines stay lines.
pub fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word_before = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let (kept, length) = if rest.starts_with("//") {
            ("", rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            ("", block_comment(rest))
        } else if let Some(length) = raw_string(rest).filter(|_| !word_before) {
            ("\"\"", length)
        } else if c == '"' {
            ("\"\"", quoted(rest, '"'))
        } else if let Some(length) = character(rest) {
            ("''", length)
        } else {
            (&rest[..c.len_utf8()], c.len_utf8())
        };
        out.push_str(kept);
        if length > c.len_utf8() {
            out.extend(rest[..length].chars().filter(|c| *c == '\n'));
        }
        rest = &rest[length..];
    }
    out
}

/// Up to the end of a comment in which others may stand.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let step = match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Up to the end of `r"…"`, `br"…"` or `r#"…"#`, if that is what comes.
fn raw_string(text: &str) -> Option<usize> {
    let start = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let hashes = start.len() - start.trim_start_matches('#').len();
    let inside = start[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let close = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(text.len() - inside.len() + close)
}

/// Up to the end of what stands between two quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Up to the end of a character, if that and no lifetime is what comes.
fn character(text: &str) -> Option<usize> {
    let mut inside = text.strip_prefix('\'')?.chars();
    let first = inside.next()?;
    (first == '\\' || inside.next() == Some('\'')).then(|| quoted(text, '\''))
}

/// Code without the items that stand behind `#[cfg(test)]`.
pub fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::new();
    let mut rest = code;
    while let Some((before, behind)) = rest.split_once(MARK) {
        out.push_str(before);
        rest = &behind[item(behind)..];
    }
    out + rest
}

/// Up to the end of an item: its semicolon, or the brace that closes its body.
fn item(code: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && c == '}' {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_no_code() {
        let source =
            "a(\"// } \\\" {\"); // b\nlet c = '{'; /* d /* e */\n f */ g::<'h>(r#\"i \" j\"#, br\"k\", '\\'');\n";
        assert_eq!(code(source), "a(\"\"); \nlet c = ''; \n g::<'h>(\"\", \"\", '');\n");
        assert_eq!(code("number\"text\""), "number\"\"");
    }

    #[test]
    fn only_the_items_for_tests_are_left_out() {
        let source = "use a;\n#[cfg(test)]\nuse b;\nfn c() { d[0]; }\n#[cfg(test)]\n#[allow(e)]\nmod f {\n    fn g() { [1; 2]; }\n}\nfn h() {}\n";
        assert_eq!(without_tests(source), "use a;\n\nfn c() { d[0]; }\n\nfn h() {}\n");
        assert_eq!(without_tests("#[cfg(test)]\nmod tests;\nfn a() {}"), "\nfn a() {}");
    }
}
