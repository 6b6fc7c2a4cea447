//! Small scenes for tests of inverse rendering: a room with a floor, a ball and a lamp, whose materials are given.

use crate::temporary::Folder;

/// A room with a floor, a ball and a lamp, whose materials are given.
pub fn room(materials: &str, max_depth: u32, more: &str) -> String {
    format!(
        "[camera]\nposition = [0, 1.5, 5]\nlook_at = [0, 0.6, 0]\nfov = 45\n[film]\nwidth = 7\nheight = 5\n\
         [integrator]\nsamples = 16\nmax_depth = {max_depth}\nroulette = false\n{more}\
         [environment]\ntype = \"constant\"\nradiance = [0.3, 0.4, 0.5]\n{materials}\n\
         [[shapes]]\ntype = \"rectangle\"\nmaterial = \"floor\"\nscale = [8, 1, 8]\n\
         [[shapes]]\ntype = \"sphere\"\nmaterial = \"ball\"\ntranslate = [0, 0.8, 0]\nradius = 0.8\n\
         [[shapes]]\ntype = \"rectangle\"\nmaterial = \"lamp\"\ntranslate = [0.5, 3, 1]\nscale = [1, 1, 1]\n"
    )
}

pub const MATTE: &str = "shader matte(color tint = color(0.7, 0.5, 0.3), out closure c)\n{\n    \
    c = tint * make_closure<Lambert>(color(0.9), global_value<normal>);\n}\n";

/// A BSDF in the language, with a member that is changed before it is used, about a bumped normal.
pub const DUST: &str = "import \"bsdf.ssl\";\nstruct Dust : IBsdf\n{\n    color albedo;\n    float k;\n    normal n;\n    \
    color eval(vector wo, vector wi) { return albedo * (wi.z / (4.0 * M_PI * (k * wo.z + wi.z))); }\n    \
    float pdf(vector _wo, vector wi) { return wi.z * M_1_PI; }\n    \
    BsdfSample sample(vector wo, float2 u)\n    {\n        const vector wi = bsdf_cosine_hemisphere(u);\n        \
    return bsdf_sample(wi, eval(wo, wi), pdf(wo, wi));\n    }\n    \
    color rho(vector _wo) { return albedo * 0.2; }\n    normal shading_normal() { return n; }\n    \
    [mutating] void prepare(vector _wo, bool _inside) { albedo = albedo * albedo; k = 1.0 + k; }\n}\n\
    shader dust(color albedo = color(0.9, 0.8, 0.7), float k = 0.3, float weight = 0.8, out closure c)\n{\n    \
    c = weight * make_closure<Dust>(albedo * global_value<uvw>.x, k * k, global_value<normal>);\n}\n";

pub const LAMP: &str = "shader lamp(color radiance = color(6.0, 5.0, 4.0), float power = 1.5, out closure c)\n{\n    \
    c = power * make_closure<Emission>(radiance);\n}\n";

/// Its weight alone depends on the parameter, so the paths stay where they are.
pub const MIRROR: &str = "shader mirror(color tint = color(0.9, 0.8, 0.7), out closure c)\n{\n    \
    c = tint * make_closure<Mirror>(color(1.0), global_value<normal>);\n}\n";

pub const GLASS: &str = "shader glass(color tint = color(0.9, 0.8, 0.7), out closure c)\n{\n    \
    c = tint * make_closure<Dielectric>(color(1.0), global_value<normal>, 1.5);\n}\n";

pub fn materials(floor: &str, ball: &str, lamp: &str) -> String {
    [("floor", floor), ("ball", ball), ("lamp", lamp)]
        .map(|(name, source)| format!("[materials.{name}]\nsource = '''\n{source}'''\n"))
        .concat()
}

pub const PICTURED: &str = "texture2d picture;\nshader pictured(out closure c)\n{\n    \
    const float3 at = global_value<uvw>;\n    \
    c = texture2d_sample<picture>(3.0 * at.x, 2.0 * at.y).rgb * make_closure<Lambert>(color(1.0), global_value<normal>);\n}\n";

/// A picture of light, other numbers in each texel.
fn write_picture(path: &str, width: u32, height: u32) {
    let number = |x: u32, y: u32, c: u32| 0.3 + 0.5 * ((7 * x + 5 * y + 3 * c) as f32).sin().abs();
    let texel = |x, y| image::Rgb([0, 1, 2].map(|c| number(x, y, c)));
    image::Rgb32FImage::from_fn(width, height, texel).save(path).expect("the folder can be written");
}

/// The same room with a texture on the floor, one on the lamp, or around all.
pub fn pictured(folder: &Folder, floor: &str, lamp: &str, depth: u32, more: &str) -> String {
    let picture = folder.file("picture.exr");
    write_picture(&picture, 4, 3);
    let bound = |name: &str| format!("[materials.{name}]\ntextures = {{ picture = \"seen\" }}\n");
    let mut scene = room(&materials(floor, GLASS, lamp), depth, more).replace("samples = 16", "samples = 4");
    for (name, source) in [("floor", floor), ("lamp", lamp)] {
        if source.starts_with("texture2d") {
            scene = scene.replace(&format!("[materials.{name}]\n"), &bound(name));
        }
    }
    format!("{scene}[textures.seen]\nfile = '{picture}'\n")
}
