//! `shade dump --why`: why variables carry derivatives, or why not. And the switches that change which there are.

use crate::shade;
use serde_json::Value;
use shade::{shade, text};
use ssl_tests::temporary::File;

const BUMP: &str = "texture2d height;
float half(float t) {
    const float h = t * 0.5;
    return h;
}
shader bump(float scale = 2.0, out float slope, out float o)
{
    float3 p = global_value<uvw>;
    const float u = scale * p.x;
    float v = half(p.y);
    slope = ddx(texture2d_sample<height>(u, v).r);
    v = half(scale) + 1.0;
    const float w = cos(p.z);
    const float k = scale * scale;
    o = v + w + ddy(k);
    float list[3];
    list[1] = sin(u);
    o += ddy(list[1]) + list[0];
}
";

fn why(file: &File, name: &str, more: &[&str]) -> Value {
    let path = file.path();
    let out = shade(&[&["dump", "--stage", "demand", "--why", name, "--format", "json", &path], more].concat());
    assert!(out.status.success(), "{name}: {}", text(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

/// `line:column operation` of each place of a chain.
fn places(chain: &Value) -> Vec<String> {
    let place = |p: &Value| format!("{}:{} {}", p["line"], p["column"], p["operation"].as_str().unwrap_or_default());
    chain.as_array().into_iter().flatten().map(place).collect()
}

/// Line, verdict and directions of each answer.
fn verdicts(answered: &Value) -> Vec<String> {
    let one = |a: &Value| {
        let parts: Vec<&str> = a["parts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let carries: String = a["carries"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let verdict = a["verdict"].as_str().unwrap_or_default();
        format!("{}:{} {verdict} {carries}", parts.join(","), a["place"]["line"]).trim_end().to_owned()
    };
    answered["answers"].as_array().into_iter().flatten().map(one).collect()
}

#[test]
fn what_carries_is_explained_from_both_ends() {
    let file = File::new("bump.ssl", BUMP);
    let answered = why(&file, "u", &[]);
    assert_eq!(verdicts(&answered), ["u:9 carries xy"]);
    let u = &answered["answers"][0];
    assert_eq!(places(&u["asked_for_by"][0]), ["11:17 texture2d_sample coordinates"]);
    // `ddx` of the look-up, and that of what comes of `sin(u)`.
    assert_eq!(u["further_places"], 2);
    assert_eq!(places(&u["varies_with"][0]), ["9:21 *", "8:16 global_value<uvw>.x"]);
    assert_eq!(u["varies_with"].as_array().map(Vec::len), Some(1));
    assert_eq!(u["place"]["text"], "const float u = scale * p.x;");
}

#[test]
fn each_place_where_a_variable_is_set_has_its_answer() {
    let file = File::new("overwritten.ssl", BUMP);
    let answered = why(&file, "bump.v", &[]);
    assert_eq!(verdicts(&answered), ["v:10 carries xy", "v:12 neither"]);
    let v = &answered["answers"][0];
    assert_eq!(places(&v["varies_with"][0]), ["10:15 call of `half`", "8:16 global_value<uvw>.y"]);
}

#[test]
fn chains_enter_and_leave_functions() {
    let file = File::new("calls.ssl", BUMP);
    let answered = why(&file, "half.h", &[]);
    assert_eq!(verdicts(&answered), ["h:3 carries xy"]);
    let h = &answered["answers"][0];
    // Back to the caller, to the look-up; and up through the parameter.
    assert_eq!(places(&h["asked_for_by"][0]), ["11:17 texture2d_sample coordinates", "10:15 call of `half`"]);
    assert_eq!(places(&h["varies_with"][0]), ["3:21 *", "2:18 parameter `t` of `half`", "8:16 global_value<uvw>.y"]);
}

#[test]
fn what_is_missing_is_said() {
    let file = File::new("missing.ssl", BUMP);
    assert_eq!(verdicts(&why(&file, "w", &[])), ["w:13 not_asked"]);
    assert_eq!(
        places(&why(&file, "w", &[])["answers"][0]["varies_with"][0]),
        ["13:21 cos", "8:16 global_value<uvw>.z"]
    );
    let k = why(&file, "k", &[]);
    assert_eq!(verdicts(&k), ["k:14 never_varies"]);
    assert_eq!(places(&k["answers"][0]["asked_for_by"][0]), ["15:17 ddy"]);
    let path = file.path();
    for (name, expected) in [
        ("w", "w in `bump`, {}:13:5: carries none; nothing asks for its derivative\n"),
        (
            "k",
            "k in `bump`, {}:14:5: carries none; its derivative is always 0: it is made of constants, parameters and globals without partials\n",
        ),
    ] {
        let out = shade(&["dump", "--stage", "demand", "--why", name, &path]);
        assert!(text(&out.stdout).starts_with(&expected.replace("{}", &path)), "{}", text(&out.stdout));
    }
}

#[test]
fn parts_elements_and_lines_can_be_asked_about() {
    let file = File::new("parts.ssl", BUMP);
    // uvw's components go different ways; together where the same is to be said.
    assert_eq!(verdicts(&why(&file, "p", &[])), ["p.x:8 carries xy", "p.y:8 carries xy", "p.z:8 not_asked"]);
    assert_eq!(verdicts(&why(&file, "p.y", &[])), ["p.y:8 carries xy"]);
    assert_eq!(verdicts(&why(&file, "p.g", &[])), ["p.y:8 carries xy"]);
    assert_eq!(verdicts(&why(&file, "p.yz", &[])), ["p.y:8 carries xy", "p.z:8 not_asked"]);
    assert_eq!(verdicts(&why(&file, "list[1]", &[])).last().map(String::as_str), Some("list[1]:17 carries y"));
    let line = verdicts(&why(&file, &format!("{}:13", file.path()), &[]));
    assert!(line.contains(&"w:13 not_asked".to_owned()), "{line:?}");
}

#[test]
fn a_derivative_of_a_derivative_is_answered_for_itself() {
    let file = File::new(
        "second.ssl",
        "globals { float a; }\nshader main(out float r) {\n    const float s = sin(global_value<a>);\n    const float d = ddx(s);\n    r = ddy(d);\n}\n",
    );
    let s = why(&file, "s", &[]);
    assert_eq!(verdicts(&s), ["s:3 carries x"]);
    let d = why(&file, "d", &[]);
    // d = cos(a) ∂a/∂x; what varies is cos(a), whose y is asked for in the second round.
    assert_eq!(verdicts(&d), ["d:4 carries y"]);
    assert_eq!(d["answers"][0]["order"], 2);
    assert_eq!(places(&d["answers"][0]["asked_for_by"][0]), ["5:9 ddy"]);
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    let file = File::new("unknown.ssl", BUMP);
    let path = file.path();
    for (name, expected) in [
        ("lst", "did you mean `list`?"),
        ("half.hh", "did you mean `half.h`?"),
        (&format!("{path}:99"), "has no line 99"),
        ("other.ssl:1", "nothing of a file `other.ssl`"),
    ] {
        let out = shade(&["dump", "--stage", "demand", "--why", name, &path]);
        assert_eq!(out.status.code(), Some(2), "{name}: {}", text(&out.stdout));
        assert!(text(&out.stderr).contains(expected), "{name}: {}", text(&out.stderr));
    }
    for wrong in
        [&["dump", "--stage", "ir", "--why", "u", &path][..], &["dump", "--stage", "demand", "--format", "json", &path]]
    {
        assert_eq!(shade(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn switches_change_derivatives_and_nothing_else() {
    let file = File::new(
        "switches.ssl",
        "globals { float a; }\nshader main(out float r, out float s) { s = global_value<a> * global_value<a>; r = ddx(s); }\n",
    );
    let path = file.path();
    for backend in ["interp", "cranelift"] {
        for (switch, slope) in [
            ("--derivative-calls=merged", 12.0),
            ("--derivative-calls=signature", 12.0),
            ("--derivative-calls=inline", 12.0),
            ("--force-derivatives", 12.0),
            ("--no-derivatives", 0.0),
        ] {
            let out = shade(&["eval", &path, "--json", "--global", "a:float=3,2,1", "--backend", backend, switch]);
            assert!(out.status.success(), "{}", text(&out.stderr));
            let value: Value = serde_json::from_slice(&out.stdout).expect("JSON");
            // s = a², ∂s/∂x = 2 a ∂a/∂x.
            assert_eq!(value["outputs"], serde_json::json!({"r": slope, "s": 9.0}), "{switch} on {backend}");
        }
    }
    let tested = File::new(
        "tested.ssl",
        "globals { float a; }\nfloat f(float x) { return x * x; }\nshader main(out float r) { r = ddx(f(global_value<a>)); }\n\
         test \"2 a\" { a = dual(3.0, 1.0, 0.0); run main(); expect(r, 6.0, 1e-6); }\n",
    );
    for policy in ["merged", "signature", "inline"] {
        let out = shade(&["test", &tested.path(), "--derivative-calls", policy]);
        assert!(out.status.success(), "{policy}: {}", text(&out.stdout));
    }
    let out = shade(&["eval", &path, "--force-derivatives", "--no-derivatives"]);
    assert_eq!(out.status.code(), Some(2));
    let demand = |switch: &str| text(&shade(&["dump", "--stage", "demand", &path, switch]).stdout);
    assert!(demand("--force-derivatives").contains("shadow xy"));
    assert!(!demand("--no-derivatives").contains("; shadow"));
}

#[test]
fn remarks_say_what_passes_did_where_and_why() {
    let file = File::new(
        "turns.ssl",
        "globals { float a; }\n\
         float half(float x) { return x / 2.0; }\n\
         shader main(out float r, int n = 3)\n\
         {\n\
         r = half(global_value<a>);\n\
         for (int i = 0; i < n; ++i) r += sin(global_value<a>);\n\
         for (int i = 0; i < 2; ++i) r *= r;\n\
         }\n",
    );
    let out = shade(&["dump", "--stage", "remarks", &file.path()]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let remarks = text(&out.stdout);
    let said = |line: usize, pass: &str, what: &str| {
        let place = format!("turns.ssl:{line}:");
        let pass = format!(": {pass} in @main: ");
        let found = remarks.lines().any(|l| l.contains(&place) && l.contains(&pass) && l.contains(what));
        assert!(found, "{line}, {pass}, {what}:\n{remarks}");
    };
    said(5, "inline", "@half is written out");
    said(2, "identities", "a division by a power of two is a multiplication");
    said(6, "hoist", "`sin` moves in front of the loop");
    said(7, "unroll", "it goes 2 rounds");
}

const FLAT: &str = "texture2d map;
shader flat(float k = 0.5, out closure c)
{
    const color albedo = texture2d_sample<map>(k, 0.25);
    c = make_closure<Lambert>(albedo, global_value<normal>);
}
";

#[test]
fn look_ups_at_one_place_are_warned_of() {
    let file = File::new("flat.ssl", FLAT);
    let path = file.path();
    for command in [&["check"][..], &["eval"]] {
        let run = |more: &[&str]| shade(&[command, &[&path[..]], more].concat());
        let out = run(&[]);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        let said = text(&out.stderr);
        // The look-up's own place.
        assert!(said.contains("W0450") && said.contains(":4:26"), "{command:?}: {said}");
        assert!(!text(&run(&["--allow", "W0450"]).stderr).contains("W0450"), "{command:?}");
    }
    assert_eq!(shade(&["check", &path, "--deny", "W0450"]).status.code(), Some(1));
}

#[test]
fn a_render_warns_of_them_too() {
    let scene = File::new(
        "flat.toml",
        &format!(
            "[camera]\nposition = [0, 0, 3]\nlook_at = [0, 0, 0]\n[materials.flat]\nsource = '''\n{FLAT}'''\n\
             [[shapes]]\ntype = \"sphere\"\nmaterial = \"flat\"\n"
        ),
    );
    let picture = File::new("flat.png", "");
    let render = |more: &[&str]| {
        let (scene, picture) = (scene.path(), picture.path());
        shade(
            &[&["render", &scene, "-o", &picture, "--size", "8x8", "--spp", "1", "--allow", "S0010"][..], more]
                .concat(),
        )
    };
    let out = render(&[]);
    assert!(text(&out.stderr).contains("W0450"), "{}", text(&out.stderr));
    assert!(!text(&render(&["--allow", "W0450"]).stderr).contains("W0450"));
    // The renderer keeps no second partials: poison says so, with the pixel.
    let second = File::new(
        "second.toml",
        "[camera]\nposition = [0, 0, 3]\nlook_at = [0, 0, 0]\n[materials.a]\nsource = '''\nshader a(out closure c) {\n\
         const float d = ddx(ddx(global_value<uvw>.x));\n\
         c = make_closure<Lambert>(color(0.5 + (d > 0.0 ? d : 0.0)), global_value<normal>);\n}\n'''\n\
         [[shapes]]\ntype = \"sphere\"\nmaterial = \"a\"\n",
    );
    let (path, out) = (second.path(), picture.path());
    let run = |switch: &[&str]| {
        let out = shade(&[&["render", &path, "-o", &out, "--size", "8x8", "--spp", "1"][..], switch].concat());
        assert!(out.status.success(), "{}", text(&out.stderr));
        text(&out.stdout)
    };
    assert!(!run(&[]).contains("poisoned"));
    assert!(run(&["--poison-derivatives"]).contains("the result of `ddx` is made of second partials of `uvw`"));
}

#[test]
fn poison_says_what_the_command_line_did_not_give() {
    let file = File::new(
        "poison.ssl",
        "globals { float a; float b; }\nshader main(out float r, out float s) {\n    r = ddx(global_value<a> + global_value<b>);\n    s = ddx(global_value<a>);\n}\n",
    );
    let path = file.path();
    for backend in ["interp", "cranelift"] {
        let run = |b: &str| {
            let out = shade(&[
                "eval",
                &path,
                "--poison-derivatives",
                "--backend",
                backend,
                "--json",
                "--global",
                "a:float=1,2,3",
                "--global",
                b,
            ]);
            assert!(out.status.success(), "{}", text(&out.stderr));
            serde_json::from_slice::<Value>(&out.stdout).expect("JSON")
        };
        let value = run("b:float=5");
        assert_eq!(value["outputs"]["s"], 2.0);
        assert_eq!(value["messages"].as_array().map(Vec::len), Some(2), "{value}");
        let said = value["messages"][0].as_str().unwrap_or_default();
        let expected = format!("poisoned: {path}:3:9: the result of `ddx` is made of partials of `b` ({path}:3:31)");
        assert!(said.starts_with(&expected), "{said}");
        let value = run("b:float=5,7,0");
        assert_eq!(value["outputs"], serde_json::json!({"r": 9.0, "s": 2.0}));
        assert_eq!(value["messages"], Value::Null);
    }
}

const GAIN: &str = "float gain(float t, float k)
{
    float e = exp(-t);
    return e * k;
}
float blend(float x, no_diff float k, int n)
{
    float t = 1.0;
    float sum = 0.0;
    float idle = x * 2.0;
    float own = sin(k);
    for (int i = 0; i < n; ++i) {
        sum += t * gain(x, own);
        t *= 1.0 - x;
    }
    printf(\"%f\", idle);
    return sum;
}
shader main(float x = 0.5, out float d)
{
    float y = x * x;
    DifferentialPair<float> p = diffPair(y);
    bwd_diff(blend)(p, 2.0, 5, 1.0);
    d = p.d;
}
";

/// The lines that a stage marks.
fn marked_lines(file: &File, stage: &str, mark: char) -> Vec<usize> {
    let out = shade(&["dump", "--stage", stage, &file.path()]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let shown = text(&out.stdout);
    let source = shown.lines().skip(2).enumerate();
    source.filter(|(_, l)| l.starts_with(&format!("  {mark} | "))).map(|(i, _)| i + 1).collect()
}

#[test]
fn what_gradients_go_through_and_read_is_marked() {
    let file = File::new("gain.ssl", GAIN);
    // What lies between `x` and the sum, and nothing else.
    assert_eq!(marked_lines(&file, "adjoint", 'c'), [3, 4, 12, 13, 14]);
    // exp reads e, and a product the other factor: sin k, gain(…), 1 - x. A sum reads nothing. The loop's counter says how many
    // rounds the sweep has.
    assert_eq!(marked_lines(&file, "needed", 'r'), [3, 11, 12, 13, 14]);
}

#[test]
fn why_a_value_has_a_cotangent_is_explained_from_both_ends() {
    let file = File::new("gain.ssl", GAIN);
    let path = file.path();
    let why = |name: &str| -> Value {
        let out = shade(&["dump", "--stage", "adjoint", "--why", name, "--json", &path]);
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        let said: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        said["answers"].clone()
    };
    for (name, verdict, read) in [
        ("e", "passes", true),
        ("gain.t", "passes", false),
        ("blend.x", "passes", true),
        ("idle", "not_asked", false),
        ("own", "independent", true),
        ("y", "not_swept", false),
    ] {
        let answers = why(name);
        let first = (answers[0]["verdict"].as_str(), answers[0]["read"].as_bool());
        assert_eq!(first, (Some(verdict), Some(read)), "{name}: {answers}");
    }
    let e = &why("e")[0];
    let asked = places(&e["asked_for_by"]);
    assert_eq!(asked[0], "23:5 gradient of `blend`");
    assert_eq!(asked[asked.len() - 2..], ["13:20 call of `gain`", "4:12 *"]);
    let leads = places(&e["leads_to"]);
    assert_eq!(leads, ["3:15 exp", "3:19 -", "1:18 parameter `t` of `gain`", "6:19 parameter `x` of `blend`"]);
    // Why a function has a sweep of its own.
    let gain = &why("gain")[0];
    assert_eq!(gain["parts"].as_array().map(Vec::len), Some(0));
    assert_eq!(places(&gain["asked_for_by"]).last().map(String::as_str), Some("13:20 call of `gain`"));
    let out = shade(&["dump", "--stage", "adjoint", "--why", "nowhere", &path]);
    assert!(!out.status.success() && text(&out.stderr).contains("no variable `nowhere`"), "{}", text(&out.stderr));
    let out = shade(&["dump", "--stage", "tape", "--why", "e", &path]);
    assert!(!out.status.success() && text(&out.stderr).contains("`adjoint`"), "{}", text(&out.stderr));
}

/// Implementations of an interface share the words of its values, so what is said of a word is said of each of them.
#[test]
fn words_of_an_interfaces_value_say_whose_members_they_are() {
    let file = File::new(
        "shared.ssl",
        "interface IMaterial { float eval(float x); }
struct Matte : IMaterial { int tag; float albedo; float eval(float x) { return albedo * x; } }
struct Plain : IMaterial { float level; float2 more; float eval(float _x) { return level + more.y; } }
shader main(float k = 0.5, int kind = 0, out float r)
{
    IMaterial m = Matte(3, k);
    if (kind > 0) m = Plain(global_value<position>.x, float2(k));
    r = ddx(m.eval(2.0));
}
",
    );
    // In `Matte` the shared float has no derivative; in `Plain` it has, and so has the word from there on.
    let merged = "m.float0 (Matte.albedo, Plain.level):7 carries x";
    let all = verdicts(&why(&file, "m", &[]));
    assert!(all.contains(&merged.to_owned()), "{all:?}");
    let alone = "m.float2 (Plain.more.y):7";
    assert!(all.iter().any(|v| v.contains("m.float2 (Plain.more.y)") && !v.contains("carries x")), "{alone}: {all:?}");
    // A word is asked for by its number.
    let one = verdicts(&why(&file, "m.float0", &[]));
    assert!(one.iter().all(|v| v.starts_with("m.float0 (Matte.albedo, Plain.level)")), "{one:?}");
    assert!(!one.is_empty());
    // The calls show where the call is dispatched.
    let answered = why(&file, "m.float0", &[]);
    let last = answered["answers"].as_array().and_then(|a| a.last()).expect("an answer");
    let chain = places(&last["asked_for_by"][0]);
    assert!(chain.iter().any(|p| p.ends_with("call of `IMaterial.eval`")), "{chain:?}");
}
