//! The page of the book on lobes: the head of each closure's file, which is its page of the manual.

use ssl_compiler::runtime::ClosureRegistry;
use std::path::{Path, PathBuf};

const INTRODUCTION: &str = "# Lobes

A shader describes with closures how a surface scatters light. `make_closure<NAME>(…)` makes a closure of weight 1, `*`
scales it by a float or a color, and `+` adds closures. Each section begins with the arguments of a closure, in their
order. Colors are linear Rec. 709. The renderer replaces a normal of zero length, or one with a NaN, by the normal of the
surface, and flips a normal that faces away from the viewer. It clamps all other parameters to their range. Unless a
section says otherwise, a lobe conserves energy and is reciprocal. Shaders can
[import the files](own-bsdf.md#the-renderers-own) of lobes whose code is SSL: nearly all.
";

/// All closures of the registry, in its order.
pub fn page(root: &Path, registry: &ClosureRegistry) -> std::io::Result<String> {
    let mut out = INTRODUCTION.to_owned();
    for closure in registry.types() {
        let path = file_of(&root.join("renderer/src/bsdf"), &closure.name);
        let text = std::fs::read_to_string(&path)
            .map_err(|e| std::io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
        out.push_str(&format!("\n## {}\n\n{}", closure.name, head(&text)));
        let kind = renderer::bsdf::closures().into_iter().find(|kind| (kind.closure_type)().name == closure.name);
        if let Some(file) = kind.and_then(|kind| kind.file()) {
            out.push_str(&format!("\nIts code: `{file}`.\n"));
        }
    }
    Ok(out)
}

/// That of `NameOfMine` is `name_of_mine.rs`, or `nameofmine.rs` where there is no such.
fn file_of(folder: &Path, closure: &str) -> PathBuf {
    let split = folder.join(snake_case(closure) + ".rs");
    if split.exists() { split } else { folder.join(closure.to_lowercase() + ".rs") }
}

fn snake_case(closure: &str) -> String {
    let mut name = String::new();
    for c in closure.chars() {
        if c.is_uppercase() && !name.is_empty() && !name.ends_with(|last: char| last.is_uppercase()) {
            name.push('_');
        }
        name.push(c);
    }
    name.to_lowercase()
}

/// The `//!` lines that a file opens with; links into the source become plain text.
fn head(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().map_while(|l| l.strip_prefix("//!")) {
        out.push_str(&plain_links(line.strip_prefix(' ').unwrap_or(line)));
        out.push('\n');
    }
    out
}

fn plain_links(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once('[') {
        match link.split_once("](super::").and_then(|(text, after)| Some((text, after.split_once(')')?.1))) {
            Some((text, after)) if !text.contains(['[', ']']) => {
                out.push_str(before);
                out.push_str(text);
                rest = after;
            }
            _ => {
                out.push_str(before);
                out.push('[');
                rest = link;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_lose_their_comment_marks_and_links_into_the_source() {
        let text =
            "//! `A(float b)`: [facets](super::ggx), [a page](page.md), x[0].\n//!\n//! More.\n\nuse x;\n//! no\n";
        assert_eq!(head(text), "`A(float b)`: facets, [a page](page.md), x[0].\n\nMore.\n");
        assert_eq!(head("//! [one and [two](super::b)\n"), "[one and two\n");
    }

    #[test]
    fn files_are_named_like_their_closures() {
        assert_eq!(snake_case("OrenNayar"), "oren_nayar");
        assert_eq!(snake_case("OpenPBR"), "open_pbr");
    }
}
