//! The rasteriser beside the path tracer: the same mesh, material, camera and lamps, and light that comes straight from the lamps.

use crate::shade;
use shade::{shade, text};
use ssl_tests::temporary::Folder;
use std::path::Path;

const SIDE: usize = 96;

/// What shades in both, as the body of a closure's or a struct's list.
struct Material {
    name: &'static str,
    members: &'static str,
    closure: &'static str,
}

const MATERIALS: [Material; 2] = [
    Material {
        name: "Lambert",
        members: "color(0.7, 0.5, 0.3), normal(0.0)",
        closure: "make_closure<Lambert>(color(0.7, 0.5, 0.3), global_value<normal>)",
    },
    Material {
        name: "Principled",
        members: "color(0.8, 0.3, 0.1), 0.3, 0.4, 0.0, 0.5, 0.0, 0.2, 0.5, 0.0, 0.5, 0.7, 0.0, 1.5, normal(0.0), vector(0.0)",
        closure: "make_closure<Principled>(base_color = color(0.8, 0.3, 0.1), metallic = 0.3, roughness = 0.4, \
                  specular = 0.5, sheen = 0.2, sheen_tint = 0.5, clearcoat = 0.5, clearcoat_gloss = 0.7, ior = 1.5)",
    },
];

/// A distant and a point light.
const LAMPS: &str = "[[lights]]\ntype = \"distant\"\ndirection = [-0.5, -1.0, -0.8]\nirradiance = [2.0, 1.8, 1.6]\n\
                     [[lights]]\ntype = \"point\"\nposition = [-2.0, 1.0, 3.0]\nintensity = [3.0, 4.0, 6.0]\n";

/// A ball of triangles with the normals of the sphere, so that nobody has to guess them.
fn ball() -> String {
    const RINGS: usize = 24;
    const SEGMENTS: usize = 32;
    let (mut places, mut faces) = (vec![[0.0, 1.0, 0.0]], String::new());
    for ring in 1..RINGS {
        let down = std::f64::consts::PI * ring as f64 / RINGS as f64;
        places.extend((0..SEGMENTS).map(|segment| {
            let around = std::f64::consts::TAU * segment as f64 / SEGMENTS as f64;
            [down.sin() * around.cos(), down.cos(), down.sin() * around.sin()]
        }));
    }
    places.push([0.0, -1.0, 0.0]);
    // Counted from 1; the poles have one place each.
    let at = |ring: usize, segment: usize| match ring {
        0 => 1,
        RINGS => 2 + (RINGS - 1) * SEGMENTS,
        _ => 2 + (ring - 1) * SEGMENTS + segment % SEGMENTS,
    };
    let mut face = |corners: [usize; 3]| {
        let [a, b, c] = corners.map(|i| format!("{i}//{i}"));
        faces += &format!("f {a} {b} {c}\n");
    };
    for (ring, segment) in (0..RINGS).flat_map(|ring| (0..SEGMENTS).map(move |segment| (ring, segment))) {
        let (a, b) = (at(ring, segment), at(ring, segment + 1));
        let (c, d) = (at(ring + 1, segment), at(ring + 1, segment + 1));
        if ring > 0 {
            face([a, b, d]);
        }
        if ring + 1 < RINGS {
            face([a, d, c]);
        }
    }
    let list = |kind: &str| places.iter().map(|[x, y, z]| format!("{kind} {x:.7} {y:.7} {z:.7}\n")).collect::<String>();
    list("v") + &list("vn") + &faces
}

fn scene(material: &Material) -> String {
    format!(
        "[camera]\nposition = [0.5, 1.0, 4.5]\nlook_at = [0, 0, 0]\nfov = 36\n\
         [film]\nwidth = {SIDE}\nheight = {SIDE}\nfilter = \"center\"\n\
         [integrator]\ntype = \"whitted\"\nsamples = 1\n{LAMPS}\
         [materials.m]\nsource = 'shader m(out closure c) {{ c = {}; }}'\n\
         [[shapes]]\ntype = \"obj\"\nfile = \"ball.obj\"\nmaterial = \"m\"\n",
        material.closure,
    )
}

fn kernels(material: &Material) -> String {
    let Material { name, members, .. } = material;
    format!(
        "import \"bsdfs/{}.ssl\";\nimport \"std/raster/blending.ssl\";\nimport \"std/raster/shading.ssl\";
kernel shine(in buffer<Fragment> fragments, in buffer<int> face, in buffer<point> positions, in buffer<float3> normals,
    in buffer<Face> faces, in buffer<Camera> cameras, out buffer<color> shaded)
{{
    shaded = color(0.0);
    if (face[index] >= 0) {{
        const Face corners = faces[face[index]];
        const float3 w = fragments[index].weights;
        const point p = interpolate<point>(positions, corners, w);
        const vector n = normalize(interpolate<float3>(normals, corners, w));
        const vector v = normalize(cameras[0].position - p);
        const {name} m = {{{members}}};
        const Directional sun = {{vector(0.5, 1.0, 0.8), color(2.0, 1.8, 1.6)}};
        const Point lamp = {{point(-2.0, 1.0, 3.0), color(3.0, 4.0, 6.0)}};
        shaded = lit_by<{name}>(sun, m, n, p, v) + lit_by<{name}>(lamp, m, n, p, v);
    }}
}}
",
        name.to_lowercase()
    )
}

/// The launches from the vertices to the fragments are those of a job that ships.
fn job() -> String {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/raster/pear.toml");
    let shipped = std::fs::read_to_string(shipped).expect("it ships");
    let from = shipped.find("# Which pieces").expect("its first launch");
    let to = shipped.find("[[launches]]\nkernel = \"textured\"").expect("what shades");
    let mesh = |part: &str| format!("[buffers.{part}]\nfile = \"ball.obj\"\npart = \"{part}\"\n");
    format!(
        "file = \"shine.ssl\"\n[values]\nwidth = {SIDE}\nheight = {SIDE}\nrows = {SIDE}\nviews = 1\nlayers = 1\n\
         [buffers.cameras]\nvalues = [[0.5, 1.0, 4.5, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 36.0]]\n\
         {}{}{}{}\
         [[launches]]\nkernel = \"shine\"\nover = [\"width\", \"rows\", \"layers\"]\n\
         [[launches]]\nfile = \"std/raster/blending.ssl\"\nkernel = \"blend\"\nover = [\"width\", \"rows\"]\n\
         [[write]]\nbuffer = \"image\"\nfile = \"image.exr\"\n[[write]]\nbuffer = \"silhouette\"\nfile = \"silhouette.png\"\nraw = true\n",
        mesh("positions"),
        mesh("faces"),
        mesh("normals"),
        &shipped[from..to],
    )
}

fn picture(path: &str) -> Vec<[f32; 3]> {
    let picture = image::open(path).unwrap_or_else(|e| panic!("{path}: {e}")).into_rgb32f();
    picture.pixels().map(|pixel| pixel.0).collect()
}

/// Both shade with the same BSDF at the same points. What is left is the rounding of halfs in the files, and a few pixels at the border of
/// shadow, where the path tracer's rays see that the faces are flat.
#[test]
fn direct_light_is_the_path_tracers() {
    for material in &MATERIALS {
        let folder = Folder::new("raster-beside-paths");
        for (name, text) in [
            ("scene.toml", scene(material)),
            ("shine.ssl", kernels(material)),
            ("job.toml", job()),
            ("ball.obj", ball()),
        ] {
            std::fs::write(folder.file(name), text).expect("the folder was made");
        }
        let traced = folder.file("traced.exr");
        let said = shade(&["render", &folder.file("scene.toml"), "-o", &traced]);
        assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
        let out = folder.file("out");
        let said = shade(&["fit", &folder.file("job.toml"), "-o", &out]);
        assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
        let (traced, drawn) = (picture(&traced), picture(&format!("{out}/image.exr")));
        let whole = picture(&format!("{out}/silhouette.png"));
        let inside = (0..SIDE * SIDE).filter(|at| whole[*at][0] >= 1.0);
        let mut apart: Vec<f32> =
            inside.map(|at| (0..3).map(|c| (traced[at][c] - drawn[at][c]).abs()).fold(0.0, f32::max)).collect();
        apart.sort_by(f32::total_cmp);
        let bright = drawn.iter().flatten().copied().fold(0.0, f32::max);
        let name = material.name;
        assert!(apart.len() > SIDE * SIDE / 8 && bright > 0.3, "{name}: {} pixels, {bright}", apart.len());
        let most = apart[apart.len() * 98 / 100];
        assert!(most < 3e-3 * bright, "{name}: a fiftieth of the pixels is {most} apart of {bright}");
    }
}
