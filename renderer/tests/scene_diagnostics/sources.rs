//! Findings in a shader that stands in the scene itself lie in the scene.

use super::{CAMERA, findings, fixed};

/// A shader with a mistake, which a fix of the compiler's mends.
const WRONG: &str = "shader m(out closure c)\n{\n    float rough = 0.5;\n    c = make_closure<Lambert>(color(ruogh), global_value<normal>);\n}\n";
const RIGHT: &str = "shader m(out closure c)\n{\n    float rough = 0.5;\n    c = make_closure<Lambert>(color(rough), global_value<normal>);\n}\n";

const SHAPE: &str = "[[shapes]]\ntype = \"sphere\"\nmaterial = \"m\"\n";

/// A scene with the shader in some quotes, the line of the scene that the mistake is in, and the name of the file.
fn scenes(shader: &str) -> Vec<(&'static str, String, usize)> {
    let toml = |quoted: String| format!("{CAMERA}[materials.m]\nsource = {quoted}\n{SHAPE}");
    let escaped = serde_json::to_string(shader).expect("any text can be written");
    let continued = shader.replace('\n', "\\n\\\n   ");
    let json = format!(
        "{{\n \"camera\": {{\"position\": [0, 0, 3], \"look_at\": [0, 0, 0]}},\n \"materials\": {{\"m\": {{\n  \"source\": {escaped}\n }}}},\n \
         \"shapes\": [{{\"type\": \"sphere\", \"material\": \"m\"}}]\n}}\n"
    );
    vec![
        ("literal.toml", toml(format!("'''\n{shader}'''")), 9),
        ("literal-at-once.toml", toml(format!("'''{shader}'''")), 8),
        ("basic.toml", toml(format!("\"\"\"\n{shader}\"\"\"")), 9),
        ("continued.toml", toml(format!("\"\"\"{continued}\"\"\"")), 8),
        ("escaped.toml", toml(escaped.clone()), 5),
        ("crlf.toml", toml(format!("'''\n{shader}'''")).replace('\n', "\r\n"), 9),
        ("inline.json", json, 4),
    ]
}

#[test]
fn findings_point_into_the_scene() {
    for (name, text, line) in scenes(WRONG) {
        let (list, rendered) = findings(name, &text);
        assert_eq!(list.iter().map(|(_, line)| *line).collect::<Vec<_>>(), [line], "{name}\n{rendered}");
        assert!(rendered.contains(&format!("{name}:{line}:")) && !rendered.contains("<material"), "{name}\n{rendered}");
        // The mark stands under the word.
        let lines: Vec<&str> = rendered.lines().collect();
        let marks = lines.iter().position(|l| l.contains("^^^^^")).unwrap_or_else(|| panic!("{name}\n{rendered}"));
        let at = lines[marks].find('^').expect("as above");
        assert_eq!(lines[marks - 1].get(at..at + 5), Some("ruogh"), "{name}\n{rendered}");
    }
}

#[test]
fn json_names_the_scene() {
    for (name, text, line) in scenes(WRONG) {
        let loaded = super::load(name, &text);
        let json = ssl_compiler::diagnostics::render::json(&loaded.diagnostics, &loaded.sources);
        assert!(json[0]["file"].as_str().is_some_and(|f| f.ends_with(name)), "{json}");
        assert_eq!(json[0]["line"], line, "{json}");
        let (start, end) = (json[0]["start"].as_u64().expect("a place"), json[0]["end"].as_u64().expect("a place"));
        assert_eq!(&text[start as usize..end as usize], "ruogh", "{name}: {json}");
    }
}

#[test]
fn fixes_mend_the_scene() {
    for ((name, wrong, _), (_, right, _)) in scenes(WRONG).into_iter().zip(scenes(RIGHT)) {
        assert_eq!(fixed(name, &wrong), right, "{name}");
    }
}

#[test]
fn several_materials_keep_their_places_apart() {
    let shader = |name: &str| format!("[materials.{name}]\nsource = '''\n{WRONG}'''\n");
    let (list, rendered) = findings("two.toml", &format!("{CAMERA}{}{}", shader("a"), shader("b")));
    let lines: Vec<usize> = list.iter().filter(|(code, _)| *code != "S0011").map(|(_, line)| *line).collect();
    assert_eq!(lines, [9, 17], "{rendered}");
}
