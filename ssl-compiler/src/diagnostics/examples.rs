//! The examples of the explanation pages: for each code a source that causes it, and the same source corrected.
//!
//! They stand in a text file: `## CODE`, then two fenced blocks, the wrong one first. The text between the blocks says
//! what changed. The language of a block tells the tests how to check it.

/// Examples of the compiler's codes.
pub const TEXT: &str = include_str!("examples.md");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example<'a> {
    /// `c` for a whole shader file, `toml` for a graph or scene, `text` for what only shows.
    pub language: &'a str,
    pub wrong: &'a str,
    pub right: &'a str,
}

/// The example of a code in a text of examples.
pub fn find<'a>(text: &'a str, id: &str) -> Option<Example<'a>> {
    let section = text.split("\n## ").find(|s| s.lines().next().is_some_and(|l| l.trim() == id))?;
    let mut blocks = section.split("\n```");
    let wrong = blocks.nth(1)?;
    // What lies between the blocks.
    blocks.next()?;
    let right = blocks.next()?;
    let (language, wrong) = wrong.split_once('\n')?;
    let (_, right) = right.split_once('\n')?;
    Some(Example { language: language.trim(), wrong, right })
}

/// The page that explains a code: what it means, and its example.
pub fn page(code: &super::Code, text: &str) -> String {
    let mut out = format!("{}: {}\n\n{}\n", code.id, code.title, code.explanation);
    if let Some(e) = find(text, code.id) {
        let indented = |s: &str| s.lines().map(|l| format!("    {l}").trim_end().to_owned() + "\n").collect::<String>();
        out.push_str(&format!("\nWrong:\n\n{}\nRight:\n\n{}", indented(e.wrong), indented(e.right)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Example, find};

    #[test]
    fn a_section_is_two_blocks() {
        let text = "# Title\n\n## E0001\n\n```c\nint a\n```\n\nis\n\n```c\nint a;\n```\n\n## E0002\n\nnothing\n";
        assert_eq!(find(text, "E0001"), Some(Example { language: "c", wrong: "int a", right: "int a;" }));
        assert_eq!(find(text, "E0002"), None);
        assert_eq!(find(text, "E0003"), None);
    }
}
