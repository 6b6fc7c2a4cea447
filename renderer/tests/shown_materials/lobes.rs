//! The files of `scenes/lobes`, which show what each lobe looks like over one of its parameters.

use super::{layer, load, picture, scenes};
use renderer::material::ShadingLanguage;

/// Five squares in a row, over the range that the shader reads, in each of which a mirror would show the light.
fn row(file: &std::path::Path) -> String {
    let mut text = format!(
        "[camera]\ntype = \"orthographic\"\nposition = [0, 4, 2]\nlook_at = [0, 0, 0]\nwidth = 10\n\
         [film]\nwidth = 20\nheight = 4\n[environment]\ntype = \"sky\"\n[integrator]\nmax_depth = 2\n\
         [[lights]]\ntype = \"distant\"\ndirection = [0, -4, 2]\nangle = 8\n\
         [materials.shown]\nfile = '{}'\n",
        file.display()
    );
    for (i, amount) in [0.0, 0.25, 0.5, 0.75, 1.0].iter().enumerate() {
        text += &format!(
            "[[shapes]]\ntype = \"rectangle\"\nmaterial = \"shown\"\nscale = [2, 1, 2]\n\
             translate = [{}, 0, 0]\nvariables = {{ amount = {amount:?} }}\n",
            2 * i as i32 - 4
        );
    }
    text
}

#[test]
fn every_lobe_is_shown_over_a_parameter() {
    let language = ShadingLanguage::new();
    // Of measured materials there is none to ship: a file takes 17 MB, and who measured it keeps the rights.
    for closure in language.closures().types().iter().filter(|c| c.name != "Measured") {
        let name = &closure.name;
        let shows = |text: &str| text.starts_with(&format!("// `{name}`"));
        let mut files = std::fs::read_dir(scenes().join("lobes")).expect("it ships").flatten().map(|e| e.path());
        let file = files.find(|f| shows(&std::fs::read_to_string(f).expect("text")));
        let file = file.unwrap_or_else(|| {
            panic!("add a file to `scenes/lobes` that shows `{name}` and begins with \"// `{name}`\"; see those there")
        });
        let mut scene = load(&row(&file));
        let picture = picture(&mut scene, 16, &["object_id"]);
        let ids = &layer(&picture, "object_id").values;
        let of =
            |id: f32| ids.iter().zip(&picture.pixels).filter(move |(i, _)| **i == id).map(|(_, p)| p.element_sum());
        let [first, last] = [0.0, 4.0].map(|id| of(id).sum::<f32>());
        assert!(
            (first - last).abs() > 0.01 * first.max(last),
            "{name} looks the same at both ends: {first} and {last}"
        );
    }
}
