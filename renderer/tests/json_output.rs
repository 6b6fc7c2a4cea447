//! What commands print where JSON is asked for.

use crate::shade;
use shade::{shade, text};
use ssl_tests::temporary::File;

/// The object that a command prints where it is asked for JSON.
fn object(arguments: &[&str], code: i32) -> serde_json::Value {
    let out = shade(arguments);
    assert_eq!(out.status.code(), Some(code), "{arguments:?}: {}{}", text(&out.stdout), text(&out.stderr));
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON is printed");
    assert_eq!(found["version"], 1, "{arguments:?}");
    found
}

#[test]
fn json_has_one_spelling_everywhere_and_keeps_the_older_one() {
    let file = File::new("spelled.ssl", "shader main(out float o) { o = ddx(global_value<uvw>.x); }\n");
    let path = file.path();
    for command in [&["check", &path][..], &["eval", &path], &["dump", "--stage", "demand", "--why", "o", &path]] {
        let all = |more: &[&str]| object(&[command, more].concat(), 0);
        assert_eq!(all(&["--json"]), all(&["--format", "json"]), "{command:?}");
        assert_eq!(all(&["--json"]), all(&["--format=json"]), "{command:?}");
    }
    let tested = File::new(
        "tested.ssl",
        "shader main(out float o) { o = 1.0; }\ntest \"one\" { run main(); expect(o, 1.0); }\n",
    );
    for form in [&["--json"][..], &["--format", "json"]] {
        let found = object(&[&["test", &tested.path()], form].concat(), 0);
        assert_eq!((&found["failed"], &found["diagnostics"]), (&0.into(), &serde_json::json!([])));
    }
    // It is no error to want text.
    let out = shade(&["check", "--format", "text", &path]);
    assert!(out.status.success() && out.stdout.is_empty());
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let bad = File::new("refused.ssl", "shader main(out float o)\n{\n    o = missing;\n}\n");
    let path = bad.path();
    for (command, code) in [
        (&["eval", &path, "--json"][..], "E0201"),
        (&["check", &path, "--json"], "E0201"),
        (&["dump", "--stage", "demand", "--why", "o", &path, "--json"], "E0201"),
        (&["graph", "check", "/no/such/graph.toml", "--json"], ""),
        (&["render", "/no/such/scene.toml", "--pixel", "1,1", "--json"], "S0001"),
    ] {
        let found = object(command, 1);
        let first = &found["diagnostics"][0];
        assert_eq!(first["severity"], "error", "{command:?}: {found}");
        assert!(code.is_empty() || first["code"] == code, "{command:?}: {found}");
        if code == "E0201" {
            assert_eq!(
                (&first["file"], &first["line"], &first["column"]),
                (&path.clone().into(), &3.into(), &9.into())
            );
        }
        assert!(shade(command).stderr.is_empty(), "all of it is in the object");
    }
    // The command line itself, and what it asks for of a shader that is fine.
    let good = File::new("fine.ssl", "shader main(out float o) { o = 1.0; }\n");
    for command in [
        &["eval", &good.path(), "--json", "--opt", "9"][..],
        &["eval", &good.path(), "--json", "--param", "nothing=1"],
        &["check", "--json"],
    ] {
        let found = object(command, 2);
        assert_eq!(
            (&found["diagnostics"][0]["severity"], &found["diagnostics"][0]["code"]),
            (&"error".into(), &"usage".into())
        );
    }
}

#[test]
fn numbers_that_json_does_not_have_have_one_form() {
    let source = "shader main(float zero = 0.0, out float n, out float p, out float m, out float3 v)
        { n = 0.0 * (1.0 / zero); p = 1.0 / zero; m = -1.0 / zero; v = float3(p, 1.5, m); }";
    let file = File::new("unwritable.ssl", source);
    let found = object(&["eval", &file.path(), "--json"], 0);
    let expected =
        serde_json::json!({"n": "NaN", "p": "Infinity", "m": "-Infinity", "v": ["Infinity", 1.5, "-Infinity"]});
    assert_eq!(found["outputs"], expected);
}
