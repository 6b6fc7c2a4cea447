//! Reading scenes: all mistakes in one run, in words of their own, with the key or the file that was meant.

use super::{CAMERA, MATTE, after_preamble, findings, fixed, load_with};

#[test]
fn all_mistakes_are_told_in_one_run() {
    let text = format!(
        "{CAMERA}fov = \"40\"\n{MATTE}[film]\nwidht = 640\nfilter = \"gauss\"\n[environment]\ntype = \"skye\"\nradiance = 1\n\
         [[shapes]]\ntype = \"sphere\"\nmaterial = \"mate\"\nradius = [1]\n[[lights]]\ntype = \"point\"\nposition = [0, 1]\n\
         intensity = -1\n[materials.broken]\nsource = 'shader m(out closure c) {{ c = 1; }}'\n"
    );
    let (list, rendered) = findings("all.toml", &text);
    let lines: Vec<usize> = list.iter().map(|(_, line)| *line).collect();
    assert_eq!(lines, [4, 8, 9, 11, 12, 15, 16, 19, 20, 22], "{rendered}");
    for word in ["serde", "invalid type", "unknown field", "untagged"] {
        assert!(!rendered.contains(word), "{word}: {rendered}");
    }
}

#[test]
fn keys_that_there_are_not_lead_to_those_that_there_are() {
    let cases = [
        ("[camera]\nposition = [0, 0, 3]\nlookat = [0, 0, 0]\n", "the camera has no key `lookat`", "`look_at`"),
        ("[camera]\neye = [0, 0, 3]\nlook_at = [0, 0, 0]\n", "the camera has no key `eye`", "`position`"),
        ("[camera]\nposition = [0, 0, 3]\nlook_at = [0, 0, 0]\nsamples = 3\n", "it is a key of `integrator`", "`fov`"),
        (
            "[camera]\nposition = [0, 0, 3]\nlook_at = [0, 0, 0]\nvariables = { a = 1 }\n",
            "stands before the first table",
            "",
        ),
        ("[cam]\n", "a scene has no key `cam`", "`camera`, `film`"),
        ("[camra]\nposition = [0, 0, 3]\nlook_at = [0, 0, 0]\n", "did you mean `camera`?", ""),
    ];
    for (text, first, second) in cases {
        let (_, rendered) = findings("keys.toml", text);
        assert!(rendered.contains(first) && rendered.contains(second), "{text}\n{rendered}");
    }
    // The help lists what a shape of this type takes, and nothing of other tables or types.
    let (_, rendered) =
        after_preamble("shape.toml", "[[shapes]]\ntype = \"disk\"\nmaterial = \"matte\"\nthickness = 3\n");
    let help = rendered.split("help: ").nth(1).expect("there is a help");
    assert!(help.contains("`radius`") && !help.contains("corners") && !help.contains("fov"), "{rendered}");
}

/// What was nearly said counts as said, so that one mistake is one finding.
#[test]
fn a_mistake_does_not_lead_to_others() {
    let cases = [
        ("[[shapes]]\ntype = \"sphere\"\nmateral = \"matte\"\n", 8),
        ("[[shapes]]\ntyp = \"sphere\"\nmaterial = \"matte\"\n", 7),
        ("[[shapes]]\ntype = \"quad\"\nmaterial = \"matte\"\ncorners = [[0, 0], [1, 0], [0, 1]]\n", 9),
        ("[[shapes]]\ntype = \"curves\"\nmaterial = \"matte\"\nstrands = \"none\"\n", 9),
        ("[[shapes]]\ntype = \"obj\"\nfile = 3\n", 8),
        ("[[shapes]]\ntype = 3\nmaterial = \"matte\"\n", 7),
        ("[[shapes]]\ntype = \"sphere\"\nmaterial = 3\n", 8),
        ("[[shapes]]\ntype = \"cube\"\nmaterial = \"matte\"\n", 7),
        ("[shapes]\ntype = \"sphere\"\nmaterial = \"matte\"\n", 6),
        (
            "[material.red]\nsource = 'shader m(out closure c) { c = make_closure<Mirror>(color(1), global_value<normal>); }'\n[[shapes]]\ntype = \"sphere\"\nmaterial = \"red\"\n",
            6,
        ),
        ("[materials]\nred = 3\n[[shapes]]\ntype = \"sphere\"\nmaterial = \"red\"\n", 7),
        ("[textures.t]\nraw = true\n", 6),
        ("[textures.t]\nfile = 3\n", 7),
        ("[textures.oak.dark]\nfile = \"oak.png\"\n", 6),
        ("[[lights]]\ntype = \"spot\"\nposition = 3\nlook_at = [0, 0, 0]\n", 8),
        ("[[lights]]\ntype = \"distant\"\ndirection = \"down\"\n", 8),
        ("[environment]\ntype = \"image\"\nfile = 3\n", 8),
        ("[[film]]\nwidth = 3\n", 6),
        ("[groups.g]\n[[shapes]]\ntype = \"instance\"\ngroup = \"g\"\n", 6),
    ];
    for (text, line) in cases {
        let shown = "[[shapes]]\ntype = \"disk\"\nmaterial = \"matte\"\n";
        let text = if text.contains("[shapes]") { text.to_owned() } else { format!("{text}{shown}") };
        let (list, rendered) = after_preamble("one.toml", &text);
        assert!(list.len() == 1 && list[0].1 == line, "{text}\n{list:?}\n{rendered}");
    }
    let (list, rendered) = findings("camera.toml", "camera = 3\n");
    assert_eq!(list.iter().filter(|(code, _)| *code != "S0011").count(), 1, "{rendered}");
    let (list, rendered) = findings("none.toml", MATTE);
    assert_eq!(list.iter().filter(|(code, _)| *code != "S0011").count(), 1, "{rendered}");
}

#[test]
fn values_of_another_kind_are_told_in_our_words() {
    let cases = [
        ("fov = \"40\"", "`fov` of the camera takes a number, and this is a text", "without quotes: 40"),
        ("fov = [40]", "takes a number, and this is a list", "horizontal angle of view"),
        ("up = [0, 1]", "takes a list of 3 numbers, and these are 2", "upwards"),
        ("up = [0, \"1\", 0]", "takes a number, and this is a text", "without quotes: 1"),
        ("up = 1", "takes a list of 3 numbers, and this is a number", ""),
        ("type = true", "takes `perspective`, `orthographic` or `panoramic`, and this is a truth value", "quotes"),
        ("fov = 1979-05-27", "this is a date", ""),
    ];
    for (line, message, hint) in cases {
        let (list, rendered) = findings("kind.toml", &format!("{CAMERA}{line}\n"));
        assert!(list.contains(&("S0002", 4)), "{line}: {list:?}");
        assert!(rendered.contains(message) && rendered.contains(hint), "{line}\n{rendered}");
    }
    let cases = [
        ("[film]\nwidth = 2.5\n", "a whole number, and this is a number with a fraction"),
        ("[film]\naovs = \"depth\"\n", "write it as a list: [\"depth\"]"),
        ("[integrator]\nroulette = 1\n", "write `true`"),
        ("[materials.b]\nsource = 'x'\nparameters = { a = { b = 1 } }\n", "has an entry `a` that takes a number"),
        (
            "[materials.b]\nsource = 'x'\nparameters = { a = 1e400 }\n",
            "has an entry `a` that takes numbers that are finite",
        ),
        ("[materials.b]\nsource = 'x'\nparameters = { a = [1, nan] }\n", "the largest float is about 3.4e38"),
        ("[[shapes]]\ntype = \"disk\"\nmaterial = \"matte\"\nlights = { only = [\"a\"] }\n", "`include` or `exclude`"),
        ("[[shapes]]\ntype = \"disk\"\nmaterial = \"matte\"\nvariables = { a = \"b\" }\n", "a list of up to four"),
    ];
    for (text, part) in cases {
        let (_, rendered) = after_preamble("kind.toml", text);
        assert!(rendered.contains(part), "{text}\n{rendered}");
    }
}

/// Every key with every kind of value: what fits is read, what does not is told, and nothing is told by the last resort,
/// which is for mistakes of ours.
#[test]
fn no_value_of_any_key_reaches_the_reader_unchecked() {
    let values =
        ["true", "3", "-0.5", "nan", "'text'", "[]", "[1, 2, 3]", "[[1]]", "{ a = 1 }", "1979-05-27", "'sphere'"];
    let heads = [
        ("camera", ""),
        ("film", ""),
        ("integrator", ""),
        ("environment", "type = 'daylight'\n"),
        ("textures.t", "file = 't.png'\n"),
        ("materials.m", ""),
        ("groups.g", ""),
        ("[shapes]", "type = 'obj'\n"),
        ("[lights]", "type = 'spot'\n"),
    ];
    let schema = renderer::scene::json_schema::schema();
    let mut keys: Vec<String> = Vec::new();
    for definition in schema["$defs"].as_object().expect("it has definitions").values() {
        let one = definition["oneOf"].as_array().cloned().unwrap_or_else(|| vec![definition.clone()]);
        keys.extend(one.iter().flat_map(|d| d["properties"].as_object().expect("keys").keys().cloned()));
    }
    keys.extend(schema["properties"].as_object().expect("keys").keys().filter(|k| *k != "$schema").cloned());
    keys.sort();
    keys.dedup();
    for value in values {
        for (head, before) in heads {
            // All keys at once: each of them is told by itself.
            let lines: String =
                keys.iter().filter(|k| !before.contains(k.as_str())).map(|k| format!("{k} = {value}\n")).collect();
            let (_, rendered) = findings("any.toml", &format!("[{head}]\n{before}{lines}"));
            assert!(!rendered.contains("the scene cannot be read"), "[{head}] {value}\n{rendered}");
        }
        for key in &keys {
            let (_, rendered) = findings("root.toml", &format!("{key} = {value}\n"));
            assert!(!rendered.contains("the scene cannot be read"), "{key} = {value}\n{rendered}");
        }
    }
}

#[test]
fn one_number_stands_for_all_where_that_makes_sense() {
    let good = "[environment]\ntype = \"constant\"\nradiance = 0.5\n[[shapes]]\ntype = \"rectangle\"\nmaterial = \"matte\"\nscale = 2\nuv_repeat = 4\nemission = 5\n[[lights]]\ntype = \"point\"\nposition = [0, 1, 0]\nintensity = 3\n";
    assert_eq!(after_preamble("numbers.toml", good).0, []);
    let scene = super::load("same.toml", &format!("{CAMERA}{MATTE}{good}"));
    let spelled = good
        .replace("radiance = 0.5", "radiance = [0.5, 0.5, 0.5]")
        .replace("scale = 2", "scale = [2, 2, 2]")
        .replace("uv_repeat = 4", "uv_repeat = [4, 4]")
        .replace("emission = 5", "emission = [5, 5, 5]");
    let other = super::load("other.toml", &format!("{CAMERA}{MATTE}{spelled}"));
    let (scene, other) = (scene.scene.expect("it is good"), other.scene.expect("it is good"));
    assert_eq!(scene.geometry.bounds(), other.geometry.bounds());
    assert_eq!(scene.geometry.shape(0).emission, other.geometry.shape(0).emission);
    for bad in [
        "[[shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\ntranslate = 1\n",
        "[[shapes]]\ntype = \"disk\"\nmaterial = \"matte\"\nrotate = 90\n",
    ] {
        assert!(after_preamble("numbers.toml", bad).0.iter().any(|(code, _)| *code == "S0002"), "{bad}");
    }
}

#[test]
fn fixes_can_be_made_as_they_stand() {
    let scene = |camera: &str| {
        format!("[camera]\nposition = [0, 0, 3]\n{camera}{MATTE}[[shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\n")
    };
    let wrong = scene("lookat = [0, 0, 0]\nfov = \"40\"\ntype = \"perspectve\"\n");
    let right = scene("look_at = [0, 0, 0]\nfov = 40\ntype = \"perspective\"\n");
    assert_eq!(fixed("fix.toml", &wrong), right);
    let wrong = "{\"camera\": {\"position\": [0, 0, 3], \"lookat\": [0, 0, 0], \"fov\": \"40\"}}";
    assert_eq!(
        fixed("fix.json", wrong),
        "{\"camera\": {\"position\": [0, 0, 3], \"look_at\": [0, 0, 0], \"fov\": 40}}"
    );
}

#[test]
fn all_that_is_not_well_formed_is_told() {
    let (list, rendered) = findings("form.toml", "[camera]\nfov = \nname = sphere\n[film]\nwidth = 3 4\n");
    let lines: Vec<usize> = list.iter().map(|(_, line)| *line).collect();
    assert!([2, 3, 5].iter().all(|l| lines.contains(l)), "{rendered}");
    let (list, rendered) =
        findings("form.json", "{\n  // the camera\n  \"camera\": {\"fov\": 40,},\n  \"film\": {}\n}\n");
    assert_eq!(list, [("S0002", 2), ("S0002", 3)], "{rendered}");
}

#[test]
fn missing_files_lead_to_those_that_there_are() {
    let files = ["wood.png", "ball.obj", "lamp.ies", "wood.ssl"].map(|name| (name, ""));
    let cases = [
        ("[textures.t]\nfile = \"wod.png\"\n", "wood.png"),
        ("[[shapes]]\ntype = \"obj\"\nmaterial = \"matte\"\nfile = \"bal.obj\"\n", "ball.obj"),
        ("[[lights]]\ntype = \"point\"\nposition = [0, 1, 0]\nies = \"lamps.ies\"\n", "lamp.ies"),
        ("[materials.w]\nfile = \"Wood.ssl\"\n", "wood.ssl"),
        ("[materials.w]\nfile = \"stone.ssl\"\n", "has the files `wood.ssl`"),
        ("[environment]\ntype = \"image\"\nfile = \"wood.exr\"\n", "wood.png"),
    ];
    for (text, name) in cases {
        let loaded = load_with("near.toml", &format!("{CAMERA}{MATTE}{text}"), &files);
        let rendered = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
        let part = if name.starts_with("has") { name.to_owned() } else { format!("{name}`?") };
        assert!(rendered.contains(&part), "{text}\n{rendered}");
    }
}

#[test]
fn crease_angles_are_bounded_and_contradict_flat_faces() {
    for (keys, says, hint) in [
        ("crease_angle = 200.0", "the crease angle is 200", "from 0 to 180"),
        ("crease_angle = -1.0", "the crease angle is -1", "from 0 to 180"),
        ("crease_angle = 30.0\nsmooth = false", "`smooth = false`", "give one of them"),
    ] {
        let text =
            format!("{CAMERA}{MATTE}[[shapes]]\ntype = \"obj\"\nfile = \"none.obj\"\nmaterial = \"matte\"\n{keys}\n");
        let (_, rendered) = findings("crease.toml", &text);
        assert!(rendered.contains(says) && rendered.contains(hint), "{keys}: {rendered}");
    }
}
