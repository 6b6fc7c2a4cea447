//! Bad scene files: each gives the diagnostic that it should, at the line that is at fault.

mod reading;
mod silent;
mod sources;

use renderer::scene::{self, Loaded, codes};
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::examples;
use ssl_compiler::modules::SearchPath;
use std::sync::atomic::{AtomicUsize, Ordering};

const CAMERA: &str = "[camera]\nposition = [0, 0, 3]\nlook_at = [0, 0, 0]\n";
const MATTE: &str = "[materials.matte]\nsource = 'shader m(color albedo = color(0.5, 0.5, 0.5), out closure c) { c = make_closure<Lambert>(albedo, global_value<normal>); }'\n";

/// A scene of a text, in a folder of its own with other files.
fn load_with(name: &str, text: &str, files: &[(&str, &str)]) -> Loaded {
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("renderer-scenes-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    for (name, text) in files.iter().chain([&(name, text)]) {
        std::fs::write(folder.join(name), text).expect("as above");
    }
    let loaded = scene::load(&folder.join(name), BackendKind::default(), &SearchPath::on_disk(Vec::new()));
    std::fs::remove_dir_all(&folder).expect("as above");
    loaded
}

fn load(name: &str, text: &str) -> Loaded {
    load_with(name, text, &[])
}

/// Codes and lines of the findings, and their text.
fn findings(name: &str, text: &str) -> (Vec<(&'static str, usize)>, String) {
    findings_with(name, text, &[])
}

fn findings_with(name: &str, text: &str, files: &[(&str, &str)]) -> (Vec<(&'static str, usize)>, String) {
    let loaded = load_with(name, text, files);
    let line = |d: &ssl_compiler::diagnostics::Diagnostic| {
        d.span.map_or(0, |s| loaded.sources.get(s.file).line_column(s.start).0)
    };
    let list = loaded.diagnostics.list.iter().map(|d| (d.code.id, line(d))).collect();
    let rendered = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    assert_eq!(loaded.scene.is_none(), loaded.diagnostics.has_errors(), "{rendered}");
    (list, rendered)
}

/// The text of a scene with all fixes made that its findings offer.
fn fixed(name: &str, text: &str) -> String {
    let loaded = load(name, text);
    let mut fixes: Vec<_> = loaded.diagnostics.list.iter().flat_map(|d| &d.fixes).collect();
    fixes.sort_by_key(|fix| std::cmp::Reverse(fix.span.start));
    let mut text = text.to_owned();
    fixes.iter().for_each(|fix| text.replace_range(fix.span.range(), &fix.text));
    text
}

/// Appends to a good camera and material, which take five lines.
fn after_preamble(name: &str, text: &str) -> (Vec<(&'static str, usize)>, String) {
    findings(name, &format!("{CAMERA}{MATTE}{text}"))
}

#[test]
fn bad_scenes_are_told_where_and_why() {
    let cases: &[(&str, &str, (&str, usize), &str)] = &[
        ("unknown-key", "[film]\nwidht = 3\n", ("S0002", 7), "widht"),
        ("wrong-type", "[film]\nwidth = \"wide\"\n", ("S0002", 7), "this is a text"),
        ("not-toml", "[film\n", ("S0002", 6), ""),
        ("material", "[[shapes]]\ntype = \"sphere\"\nmaterial = \"mate\"\n", ("S0003", 8), "did you mean `matte`?"),
        ("shape-type", "[[shapes]]\ntype = \"spere\"\nmaterial = \"matte\"\n", ("S0005", 7), "did you mean `sphere`?"),
        ("radius", "[[shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\nradius = -1.0\n", ("S0004", 9), "-1"),
        ("nan", "[[shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\nradius = nan\n", ("S0004", 9), "NaN"),
        ("flat", "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"matte\"\nscale = [1, 0, 1]\n", ("S0004", 9), "scale"),
        (
            "key-of-other",
            "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"matte\"\nradius = 1\n",
            ("S0006", 9),
            "radius",
        ),
        ("no-file", "[[shapes]]\ntype = \"obj\"\nmaterial = \"matte\"\n", ("S0006", 7), "needs a file"),
        ("no-material", "[[shapes]]\ntype = \"disk\"\n", ("S0006", 7), "material"),
        ("no-corners", "[[shapes]]\ntype = \"quad\"\nmaterial = \"matte\"\n", ("S0006", 7), "corners"),
        (
            "corners-on-a-line",
            "[[shapes]]\ntype = \"quad\"\nmaterial = \"matte\"\ncorners = [[0, 0, 0], [1, 1, 0], [2, 2, 0]]\n",
            ("S0004", 9),
            "not on one line",
        ),
        ("no-strands", "[[shapes]]\ntype = \"curves\"\nmaterial = \"matte\"\n", ("S0006", 7), "strands"),
        (
            "short-strand",
            "[[shapes]]\ntype = \"curves\"\nmaterial = \"matte\"\nstrands = [[[0, 0, 0, 0.1], [0, 1, 0, 0.1]]]\n",
            ("S0007", 9),
            "at least 4 points",
        ),
        ("no-group", "[[shapes]]\ntype = \"instance\"\n", ("S0006", 7), "group"),
        (
            "group",
            "[[groups.tree.shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\n[[shapes]]\ntype = \"instance\"\ngroup = \"tre\"\n",
            ("S0003", 11),
            "did you mean `tree`?",
        ),
        (
            "flat-group",
            "[[groups.t.shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\n[[shapes]]\ntype = \"instance\"\ngroup = \"t\"\nmatrix = [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]\n",
            ("S0004", 12),
            "inverse",
        ),
        (
            "placed-twice",
            "[[groups.t.shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\n[[shapes]]\ntype = \"instance\"\ngroup = \"t\"\nmatrix = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]\nscale = [2, 2, 2]\n",
            ("S0006", 13),
            "`matrix`",
        ),
        (
            "circle",
            "[[groups.a.shapes]]\ntype = \"instance\"\ngroup = \"b\"\n[[groups.b.shapes]]\ntype = \"instance\"\ngroup = \"a\"\n",
            ("S0018", 10),
            "contains itself",
        ),
        (
            "material-of-instance",
            "[[groups.a.shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\n[[shapes]]\ntype = \"instance\"\ngroup = \"a\"\nmaterial = \"matte\"\n",
            ("S0006", 12),
            "`sphere`",
        ),
        ("gone", "[[shapes]]\ntype = \"obj\"\nmaterial = \"matte\"\nfile = \"gone.obj\"\n", ("S0007", 9), "gone.obj"),
        ("huge", "[film]\nwidth = 99999999\n", ("S0004", 7), "32768"),
        ("zero", "[integrator]\nsamples = 0\n", ("S0004", 7), "from 1"),
        ("parameter", "[materials.b]\nfile = 'gone.ssl'\n", ("S0001", 7), "gone.ssl"),
        ("dark", "[environment]\ntype = \"constant\"\nradiance = [-1, 0, 0]\n", ("S0004", 8), "radiance"),
        ("light", "[[lights]]\ntype = \"sun\"\n", ("S0005", 7), "`distant`"),
        (
            "light-key",
            "[[lights]]\ntype = \"point\"\nposition = [0, 1, 0]\nirradiance = [1, 1, 1]\n",
            ("S0006", 9),
            "`distant`",
        ),
        ("light-needs", "[[lights]]\ntype = \"distant\"\n", ("S0006", 7), "direction"),
        ("light-nowhere", "[[lights]]\ntype = \"distant\"\ndirection = [0, 0, 0]\n", ("S0004", 8), "no length"),
        ("spot-needs", "[[lights]]\ntype = \"spot\"\nposition = [0, 1, 0]\n", ("S0006", 7), "look_at"),
        (
            "spot-aimed-twice",
            "[[lights]]\ntype = \"spot\"\nposition = [0, 1, 0]\ndirection = [0, -1, 0]\nlook_at = [0, 0, 0]\n",
            ("S0006", 10),
            "keep one of them",
        ),
        (
            "spot-cone",
            "[[lights]]\ntype = \"spot\"\nposition = [0, 1, 0]\ndirection = [0, -1, 0]\ncone_angle = 400\n",
            ("S0004", 10),
            "360",
        ),
        (
            "spot-inner",
            "[[lights]]\ntype = \"spot\"\nposition = [0, 1, 0]\ndirection = [0, -1, 0]\ninner_angle = 61\n",
            ("S0004", 10),
            "60",
        ),
        ("spot-type", "[[lights]]\ntype = \"spt\"\n", ("S0005", 7), "did you mean `spot`?"),
        ("point-roll", "[[lights]]\ntype = \"point\"\nposition = [0, 1, 0]\nroll = 3\n", ("S0006", 9), "`ies`"),
        (
            "point-aim",
            "[[lights]]\ntype = \"point\"\nposition = [0, 1, 0]\ndirection = [0, 1, 0]\n",
            ("S0006", 9),
            "the same to all sides",
        ),
        ("angle", "[[lights]]\ntype = \"distant\"\ndirection = [0, -1, 0]\nangle = 180\n", ("S0004", 9), "below 180"),
        (
            "temperature",
            "[[lights]]\ntype = \"point\"\nposition = [0, 1, 0]\ntemperature = 900\n",
            ("S0004", 9),
            "temperature",
        ),
        (
            "profile",
            "[[lights]]\ntype = \"point\"\nposition = [0, 1, 0]\nies = \"gone.ies\"\n",
            ("S0027", 9),
            "gone.ies",
        ),
        (
            "measured",
            "[materials.paint]\nsource = \"shader m(int paint, out closure c) { c = make_closure<Measured>(paint, color(1), global_value<normal>); }\"\nmeasured = { paint = \"gone.binary\" }\n",
            ("S0028", 8),
            "gone.binary",
        ),
        ("sun-height", "[environment]\ntype = \"daylight\"\nelevation = -5\n", ("S0004", 8), "from 0 to 90"),
        (
            "sun-twice",
            "[environment]\ntype = \"daylight\"\nelevation = 5\nsun_direction = [0, 1, 0]\n",
            ("S0006", 8),
            "`sun_direction`",
        ),
        ("sun-below", "[environment]\ntype = \"daylight\"\nsun_direction = [0, -1, 0]\n", ("S0004", 8), "horizon"),
        ("haze", "[environment]\ntype = \"daylight\"\nturbidity = 1\n", ("S0004", 8), "from 2 to 10"),
        ("haze-of-sky", "[environment]\ntype = \"sky\"\nturbidity = 3\n", ("S0006", 8), "`daylight`"),
        ("daylight", "[environment]\ntype = \"dailight\"\n", ("S0005", 7), "did you mean `daylight`?"),
        ("sky", "[environment]\ntype = \"blue\"\n", ("S0005", 7), "`sky`"),
    ];
    for (name, text, expected, part) in cases {
        let (list, rendered) = after_preamble(&format!("{name}.toml"), text);
        assert!(list.contains(expected), "{name}: {list:?}\n{rendered}");
        assert!(rendered.contains(part), "{name}:\n{rendered}");
    }
}

#[test]
fn examples_on_the_pages_do_what_they_say() {
    for code in codes::ALL {
        let example = examples::find(codes::EXAMPLES, code.id).unwrap_or_else(|| panic!("{} has no example", code.id));
        if example.language == "text" {
            continue;
        }
        assert_eq!(example.language, "toml", "{}", code.id);
        for (text, expected) in [(example.wrong, &[code.id][..]), (example.right, &[])] {
            let (list, rendered) = findings(&format!("{}.toml", code.id), text);
            let ids: Vec<&str> = list.iter().map(|(id, _)| *id).collect();
            assert_eq!(ids, expected, "{text}\n{rendered}");
        }
    }
}

/// Groups in groups, to the deepest that there may be and one further.
#[test]
fn groups_nest_to_their_limit() {
    let chain = |levels: u32| {
        let mut text = "[[groups.g0.shapes]]\ntype = \"sphere\"\nmaterial = \"matte\"\n".to_owned();
        for level in 1..levels {
            text += &format!("[[groups.g{level}.shapes]]\ntype = \"instance\"\ngroup = \"g{}\"\n", level - 1);
        }
        text + &format!("[[shapes]]\ntype = \"instance\"\ngroup = \"g{}\"\n", levels - 1)
    };
    assert_eq!(after_preamble("deep.toml", &chain(64)).0, []);
    for levels in [65, 5000] {
        let (list, rendered) = after_preamble("deeper.toml", &chain(levels));
        assert!(list.iter().any(|(code, _)| *code == "S0018"), "{rendered}");
        assert!(rendered.contains("64 levels"), "{rendered}");
    }
}

#[test]
fn cameras_that_cannot_see_are_refused() {
    let (list, _) = findings("where.toml", "[camera]\nposition = [0, 1, 0]\nlook_at = [0, 1, 0]\n");
    assert!(list.contains(&("S0006", 3)), "{list:?}");
    let (list, _) = findings("up.toml", "[camera]\nposition = [0, 1, 0]\nlook_at = [0, 0, 0]\n");
    assert!(list.contains(&("S0006", 3)), "{list:?}");
    let cases = [
        ("fov = 180\n", ("S0004", 4), "180"),
        ("aperture = -0.1\n", ("S0004", 4), "aperture"),
        ("focus_distance = 0\n", ("S0004", 4), "focus distance"),
        ("type = \"ortographic\"\n", ("S0005", 4), "did you mean `orthographic`?"),
        ("type = \"orthographic\"\nfov = 30\n", ("S0006", 5), "it belongs to `perspective`"),
        ("type = \"orthographic\"\nwidth = -1\n", ("S0004", 5), "width"),
        ("type = \"panoramic\"\nwidth = 1\n", ("S0006", 5), "it belongs to `orthographic`"),
    ];
    for (text, finding, said) in cases {
        let (list, rendered) = findings("camera.toml", &format!("{CAMERA}{text}"));
        assert!(list.contains(&finding) && rendered.contains(said), "{text}: {rendered}");
    }
    assert_eq!(
        findings("lens.toml", &format!("{CAMERA}aperture = 0\n")).0,
        [("S0011", 0)],
        "but for shapes, all is well"
    );
}

#[test]
fn a_missing_texture_is_a_warning() {
    let (list, rendered) = after_preamble("texture.toml", "[textures.t]\nfile = \"gone.png\"\n");
    assert!(list.contains(&("S0008", 7)), "{list:?}\n{rendered}");
}

#[test]
fn json_scenes_have_places_too() {
    let text = "{\n  \"camera\": {\"position\": [0, 0, 3], \"look_at\": [0, 0, 0]},\n  \"shapes\": [\n    {\"type\": \"sphere\", \"material\": \"nothing\"}\n  ]\n}\n";
    let (list, rendered) = findings("scene.json", text);
    assert!(list.contains(&("S0003", 4)), "{list:?}\n{rendered}");
    let (list, _) = findings("broken.json", "{\n  \"camera\": {,}\n}\n");
    assert_eq!(list, [("S0002", 2)]);
}
