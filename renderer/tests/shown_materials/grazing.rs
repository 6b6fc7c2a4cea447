//! A plane to the horizon, and one seen from far above. Patterns must neither alias there nor change their mean.

use super::{MATERIALS, layer, load, picture, table};

const WIDTH: usize = 32;
const HEIGHT: usize = 20;

/// A plane of 2000 units, with texture coordinates by the unit, under this camera.
fn plane(material: &str, table: &str, camera: &str) -> String {
    format!(
        "[camera]\n{camera}\n[film]\nwidth = {WIDTH}\nheight = {HEIGHT}\nfilter = \"box\"\n\
         [integrator]\nmax_depth = 0\n[environment]\ntype = \"constant\"\n{table}\
         [[shapes]]\ntype = \"quad\"\nmaterial = \"{material}\"\nuv_repeat = [2000, 2000]\n\
         corners = [[-1000, 0, 1000], [1000, 0, 1000], [-1000, 0, -1000]]\n"
    )
}

/// By how much one sample a pixel differs from 64 of them over the far half, from the horizon to about six units: the root
/// of the mean square, of each of the layers. The two differ by what the shader lets through that is finer than a pixel.
fn far_errors(material: &str, table: &str, layers: &[&str]) -> Vec<f32> {
    let camera = "position = [0.3, 1, 0.2]\nlook_at = [0.3, 0.68, -0.8]\nfov = 50";
    let mut scene = load(&plane(material, table, camera));
    let [one, converged] = [1, 64].map(|samples| picture(&mut scene, samples, layers));
    let error = |name: &&str| {
        let values = [&one, &converged].map(|p| &layer(p, name).values);
        let half = values[0].len() / 2;
        let squares = values[0][..half].iter().zip(&values[1][..half]).map(|(a, b)| (a - b) * (a - b));
        (squares.sum::<f32>() / half as f32).sqrt()
    };
    layers.iter().map(error).collect()
}

#[test]
fn no_material_aliases_at_the_horizon() {
    let hard = "[materials.hard]\nsource = '''\nshader hard(out closure c)\n{\n    \
                const float squares = checker(2.0 * global_value<uvw>.xy);\n    \
                c = make_closure<Lambert>(color(squares), global_value<normal>);\n}\n'''\n";
    let aliases = far_errors("hard", hard, &["albedo"])[0];
    assert!(aliases > 0.3, "what is not filtered would be seen: {aliases}");
    for name in MATERIALS {
        // What a film reflects it does not let through, so its albedo tells nothing.
        let seen = if name == "soap_film" { "reflected" } else { "albedo" };
        let errors = far_errors(name, &table(name), &[seen, "normal"]);
        assert!(errors.iter().all(|e| *e < 0.02), "{name}: {errors:?} of {seen} and the normal");
    }
}

/// The mean albedo straight from above.
fn mean(material: &str, parameters: &str) -> [f32; 3] {
    let camera = "type = \"orthographic\"\nposition = [0, 9, 0]\nlook_at = [0, 0, 0]\nup = [0, 0, -1]\nwidth = 40";
    let table = format!("{}parameters = {{ {parameters} }}\n", table(material));
    let mut scene = load(&plane(material, &table, camera));
    let picture = picture(&mut scene, 16, &["albedo"]);
    let values = &layer(&picture, "albedo").values;
    let channel = |c: usize| values.iter().skip(c).step_by(3).sum::<f32>() / (values.len() / 3) as f32;
    [0, 1, 2].map(channel)
}

#[test]
fn patterns_much_finer_than_pixels_keep_their_mean() {
    // First with details of many pixels each, then of a hundredth.
    for (name, seen, unseen) in [
        ("bricks", "width = 3.2, height = 2.0", "width = 0.016, height = 0.01"),
        ("marble", "scale = 0.06", "scale = 60"),
        ("terrazzo", "scale = 0.15", "scale = 100"),
        ("wet_ground", "scale = 0.05", "scale = 100"),
    ] {
        let [near, far] = [seen, unseen].map(|parameters| mean(name, parameters));
        let apart = near.iter().zip(far).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);

        assert!(apart < 0.03, "{name}: {near:?} near, {far:?} far away");
    }
}
