//! Expectations of lobes whose type is a struct of the file itself.

use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{Session, run_file};
use ssl_tests::{Host, messages};

/// Two closures of the file, of which one is called as one of the host's, and one that no shader makes.
const SHADERS: &str = "import \"bsdf.ssl\";
    struct Tint { color of; };
    struct Dust : IBsdf
    {
        Tint tint;
        color albedo;
        float grains = 3.0;
        closure base;
        color eval(vector _wo, vector wi) { return albedo * wi.z; }
        float pdf(vector _wo, vector wi) { return wi.z; }
        BsdfSample sample(vector wo, float2 u) { return bsdf_sample(vector(u, 1.0), eval(wo, vector(u, 1.0)), 0.5); }
        color rho(vector _wo) { return albedo; }
    };
    struct Lambert : IBsdf
    {
        float fuzz;
        color eval(vector _wo, vector wi) { return color(fuzz * wi.z); }
        float pdf(vector _wo, vector wi) { return wi.z; }
        BsdfSample sample(vector wo, float2 u) { return bsdf_sample(vector(u, 1.0), eval(wo, vector(u, 1.0)), 0.5); }
        color rho(vector _wo) { return color(fuzz); }
    };
    struct Unused { float x; };
    shader main(float grey = 0.5, out closure c, out float r)
    {
        c = 0.25 * make_closure<Dust>(Tint(color(1.0)), color(grey, 0.25, 0.125), base = make_closure<Lambert>(0.75));
        r = grey;
    }\n";

/// What the failures of a test with this body say; nothing where it passes.
fn failures(body: &str) -> Vec<String> {
    let host = Host::default();
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", format!("{SHADERS}test \"t\" {{ run main(); {body} }}\n"));
    match run_file(&Session::new(&host.globals, &host.closures), &mut sources, file) {
        Ok((reports, _)) => reports.into_iter().flat_map(|r| r.failures).map(|f| f.message).collect(),
        Err(diagnostics) => vec![messages(&diagnostics)],
    }
}

// rule: tests.lobe accept
#[test]
fn lobes_of_own_types_are_expected() {
    for passes in [
        "expect_lobe(c, Dust);",
        "expect_lobe(c, Dust, weight = 0.25, albedo = color(0.5, 0.25, 0.125), grains = 3);",
        "expect_lobe(c, Dust, grains = 2.5, abs = 0.5); expect_lobe(c, Lambert, under = Dust, fuzz = 0.75);",
    ] {
        assert_eq!(failures(passes), Vec::<String>::new(), "{passes}");
    }
    for (fails, words) in [
        ("expect_lobe(c, Dust, weight = 1);", "weight expected 1, found (0.25,0.25,0.25)"),
        ("expect_lobe(c, Dust, grains = 4);", "grains expected 4, found 3"),
        ("expect_lobe(c, Dust, under = Lambert);", "expected a lobe Dust under Lambert, found"),
        ("expect_lobe(c, Dust, base = 1);", "no parameter `base`"),
        // The file's own goes before the host's, as where closures are made.
        ("expect_lobe(c, Lambert, normal = {0, 1, 0});", "no parameter `normal`"),
        ("expect_lobe(c, Unused);", "no shader makes a closure `Unused`"),
        ("expect_lobe(c, float);", "there is no closure `float`"),
        ("expect(r, Dust);", "the type `Dust` is not a value"),
        ("expect_lobe(c, Dust, weight = Dust);", "the type `Dust` is not a value"),
    ] {
        let found = failures(fails);
        assert!(!found.is_empty() && found.iter().all(|m| m.contains(words)), "{fails}: {found:?}");
    }
}

// rule: tests.lobes accept
#[test]
fn lobes_of_own_types_are_counted() {
    let passes = "expect_lobes(c, 2); expect_lobes(c, 1, Dust); expect_lobes(c, 1, Lambert);";
    assert_eq!(failures(passes), Vec::<String>::new());
    let found = failures("expect_lobes(c, 2, Dust);");
    assert!(
        found.iter().all(|m| m.contains("expected 2 lobes of type Dust, found 1")) && !found.is_empty(),
        "{found:?}"
    );
}
