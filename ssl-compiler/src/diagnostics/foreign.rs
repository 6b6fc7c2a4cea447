//! What a word of another shading language is called in this one: a table, grouped by the kind of answer.
//!
//! It does not know what a host offers: the caller checks that a translated name exists.

/// What a word of another shading language is in this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// A type of this language.
    Type(&'static str),
    /// A function of this language.
    Function(&'static str),
    /// A global, with what is taken of it.
    Global(&'static str, &'static str),
    /// A closure that a host may have.
    Closure(&'static str),
    /// How to say it, in words.
    Phrase(&'static str),
}

/// The meaning of a word of OSL, GLSL, HLSL or C here.
pub fn foreign(word: &str) -> Option<Foreign> {
    use Foreign::{Closure, Function, Global, Phrase, Type};
    fn find(table: &[(&[&str], &'static str)], word: &str) -> Option<&'static str> {
        table.iter().find(|(words, _)| words.contains(&word)).map(|(_, meaning)| *meaning)
    }
    if let Some((_, global, part)) = GLOBALS.iter().find(|(words, ..)| words.contains(&word)) {
        return Some(Global(global, part));
    }
    find(TYPES, word)
        .map(Type)
        .or_else(|| find(FUNCTIONS, word).map(Function))
        .or_else(|| find(CLOSURES, word).map(Closure))
        .or_else(|| find(PHRASES, word).map(Phrase))
}

/// A replacement for something of another language that has types between `<` and `>`.
pub(crate) fn foreign_generic(word: &str) -> Option<&'static str> {
    let table: Table = GENERIC;
    table.iter().find(|(words, _)| words.contains(&word)).map(|(_, hint)| *hint)
}

/// A replacement for an attribute of another language.
pub(crate) fn foreign_attribute(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let table: Table = ATTRIBUTES;
    table.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, hint)| *hint)
}

const GENERIC: Table = &[
    (
        &["static_cast", "reinterpret_cast", "dynamic_cast", "const_cast", "bit_cast"],
        "write the type: `float(x)`, `int(x)`",
    ),
    (
        &["std::vector", "std::array", "std::list", "std::span", "std::initializer_list"],
        "arrays have sizes that are constants: `float list[8];`",
    ),
    (
        &[
            "StructuredBuffer",
            "RWStructuredBuffer",
            "Buffer",
            "RWBuffer",
            "ByteAddressBuffer",
            "AppendStructuredBuffer",
        ],
        "a kernel takes buffers: `kernel name(in buffer<float> a, out buffer<float> b) { b = 2.0 * a[index]; }`",
    ),
    (
        &["ConstantBuffer", "ParameterBlock", "cbuffer"],
        "what the host sets is a parameter of the shader: `shader main(float amount = 1.0, out closure result) { … }`",
    ),
    (
        &["Texture2D", "RWTexture2D", "Texture2DArray", "TextureCube", "Texture3D", "Sampler2D", "sampler2D"],
        "a texture and how it is sampled are one thing: declare `texture2d map;` and sample it, `texture2d_sample<map>(u, v)`",
    ),
    (&["vector", "array"], "write `float3` for three floats, `float list[8]` for an array"),
    (
        &["Optional", "std::optional", "Tuple", "std::pair", "std::tuple"],
        "write a struct with the members that you need",
    ),
    (&["std::min", "std::max", "std::clamp", "std::swap"], "write it without `std::` and without `<…>`"),
];

const ATTRIBUTES: Table = &[
    (&["unroll"], "write `[ForceUnroll]`"),
    (&["loop", "branch", "flatten", "fastopt", "allow_uav_condition"], "remove it: the compiler decides"),
    (
        &["numthreads", "shader", "wavesize"],
        "a kernel is written `kernel name(…) { … }`, and the host says for how many points",
    ),
    (
        &["backwarddifferentiable", "forwarddifferentiable", "treatasdifferentiable"],
        "write `[Differentiable]`, or leave it out: every function can be differentiated",
    ),
    (&["nodiff", "nodiffthis"], "write `no_diff` before the parameter or the value"),
    (&["forceinline", "inline", "noinline", "export", "public", "nodiscard", "maybe_unused", "readonly"], "remove it"),
];

pub(crate) type Table = &'static [(&'static [&'static str], &'static str)];

const TYPES: Table = &[(&["boolean", "_Bool"], "bool"), (&["colour", "rgb"], "color")];

pub(crate) const FUNCTIONS: Table = &[
    (&["blend"], "mix"),
    (&["remainder"], "fmod"),
    (&["dFdx", "Dx", "ddx_fine", "ddx_coarse", "dFdxFine", "dFdxCoarse"], "ddx"),
    (&["dFdy", "Dy", "ddy_fine", "ddy_coarse", "dFdyFine", "dFdyCoarse"], "ddy"),
    (&["fabsf"], "abs"),
    (&["powf", "power"], "pow"),
    (&["sqrtf"], "sqrt"),
    (&["sinf"], "sin"),
    (&["cosf"], "cos"),
    (&["tanf"], "tan"),
    (&["atan2f"], "atan2"),
    (&["expf"], "exp"),
    (&["logf"], "log"),
    (&["floorf"], "floor"),
    (&["ceilf"], "ceil"),
    (&["roundEven", "rint", "nearbyint"], "round"),
    (&["fminf", "fmin"], "min"),
    (&["fmaxf", "fmax"], "max"),
    (&["mad"], "fma"),
    (&["rcp_sqrt", "invsqrt"], "rsqrt"),
    (&["print", "puts", "warning", "error", "debugPrintfEXT"], "printf"),
    (&["len", "array_length", "arrayLength", "countof", "_countof", "ARRAY_SIZE"], "arraylength"),
    (&["bitCount", "countbits"], "popcount"),
    (&["bitfieldReverse", "reversebits"], "reverse_bits"),
    (&["floatBitsToInt"], "float_bits"),
    (&["intBitsToFloat"], "bits_float"),
];

/// Globals by the names that they have in OSL, RSL, GLSL and Blender.
const GLOBALS: &[(&[&str], &str, &str)] = &[
    (&["P", "worldPos", "fragPosition", "vPosition"], "position", ""),
    (&["N", "vNormal"], "normal", ""),
    (&["Ng"], "gnormal", ""),
    (&["u"], "uvw", ".x"),
    (&["v"], "uvw", ".y"),
    (&["uv", "texcoord", "TexCoord", "st", "vUv"], "uvw", ".xy"),
    (&["I"], "I", ""),
    (&["dPdu", "T", "U"], "tangent", ""),
    (&["dPdv"], "bitangent", ""),
    (&["Cs"], "color", ""),
    (&["gl_FrontFacing"], "backfacing", ""),
    (&["iTime", "u_time"], "time", ""),
];

const CLOSURES: Table = &[
    (&["diffuse", "lambert", "diffuse_bsdf"], "Lambert"),
    (&["oren_nayar", "oren_nayar_diffuse_bsdf", "burley_diffuse_bsdf"], "OrenNayar"),
    (&["reflection", "mirror"], "Mirror"),
    (&["microfacet", "cooktorrance", "ggx"], "Glossy"),
    (&["phong", "phong_ramp"], "Phong"),
    (&["ward", "anisotropic", "microfacet_aniso"], "AnisotropicConductor"),
    (&["ashikhmin_shirley"], "AshikhminShirley"),
    (&["metal", "conductor_bsdf", "microfacet_conductor"], "Conductor"),
    (&["glass", "refraction", "microfacet_refraction"], "Dielectric"),
    (&["dielectric_bsdf", "microfacet_dielectric"], "RoughDielectric"),
    (&["generalized_schlick_bsdf"], "Schlick"),
    (&["sheen", "sheen_bsdf", "ashikhmin_velvet", "velvet"], "Sheen"),
    (&["translucent", "translucent_bsdf"], "Translucent"),
    (&["transparent", "transparent_bsdf"], "Transparent"),
    (&["clearcoat", "coat"], "Coat"),
    (&["emission", "emissive", "uniform_edf", "surface_emission"], "Emission"),
    (&["subsurface", "subsurface_bssrdf", "subsurface_random_walk"], "OpenPbr"),
    (&["principled", "principled_bsdf"], "Principled"),
    (&["openpbr_surface", "standard_surface"], "OpenPbr"),
];

const PHRASES: Table = &[
    (
        &["texture", "texture2D", "tex2D", "tex", "sample", "Sample"],
        "declare the texture at file level, `texture2d map;`, and sample it: `texture2d_sample<map>(u, v)`",
    ),
    (
        &["tex2Dlod", "textureLod", "SampleLevel"],
        "the slot stands in angle brackets: declare `texture2d map;` and write `texture2d_sample_level<map>(uv, level)`",
    ),
    (
        &["tex2Dgrad", "textureGrad", "SampleGrad"],
        "the slot stands in angle brackets: declare `texture2d map;` and write `texture2d_sample_grad<map>(uv, duvdx, duvdy)`",
    ),
    (
        &["texelFetch"],
        "write `texture2d_sample_level<map>(uv, 0)`; texel (x, y) has its middle at `(float2(x, y) + 0.5) / texture2d_size<map>()`",
    ),
    (
        &["texture3d", "environment", "textureCube", "texCUBE"],
        "textures are pictures over (u, v): `texture2d map;` and `texture2d_sample<map>(u, v)`",
    ),
    (
        &[
            "texture2d_sample",
            "texture2d_sample_alpha",
            "texture2d_sample4",
            "texture2d_sample_level",
            "texture2d_size",
        ],
        "the slot stands in angle brackets: declare `texture2d map;` and write `texture2d_sample<map>(u, v)`",
    ),
    (&["global_value"], "the name stands in angle brackets: `global_value<normal>`"),
    (&["make_closure"], "the name stands in angle brackets: `make_closure<Lambert>(…)`"),
    (
        &["discard", "clip"],
        "a surface cannot leave out points: add a closure that lets light pass, such as `Transparent`",
    ),
    (&["holdout"], "there is no holdout; a closure that lets light pass, such as `Transparent`, shows what is behind"),
    (&["background"], "the environment is a part of the scene, not of a shader"),
    (&["debug"], "hand the value out by an `out` parameter, or print it with `printf`"),
    (
        &["layer"],
        "layers are closures that take what lies under them, such as `make_closure<Coat>(…, base)`; `+` adds closures side by side",
    ),
    (
        &["hair", "hair_diffuse", "hair_reflection", "hair_transmission", "chiang_hair_bsdf"],
        "there is no closure for hair; `Cloth` and `Sheen` are made for fibres",
    ),
    (&["diffuse_toon", "glossy_toon"], "there is no closure for toon shading"),
    (
        &["Ci", "Oi", "gl_FragColor", "fragColor", "FragColor", "gl_FragData"],
        "a shader hands out what it declares: add a parameter, `out closure result`, and give that a value",
    ),
    (
        &["gl_FragCoord", "gl_PointCoord", "SV_Position"],
        "shaders do not know their pixel: use `global_value<uvw>` or `global_value<position>`",
    ),
    (&["gl_Position"], "surfaces are not moved by shaders"),
    (&["NULL", "nullptr"], "there are no pointers; variables start at zero"),
    (&["PI", "pi", "TAU"], "write `M_PI`, or `M_2PI` for twice as much"),
    (&["NAN", "nan"], "compute it where it is needed: `0.0 / 0.0`; `isnan(x)` finds it"),
    (
        &["format", "concat", "substr", "sprintf", "to_string"],
        "strings are names and cannot be built; `printf` prints values",
    ),
    (
        &["strlen", "getchar", "startswith", "endswith", "regex_search", "regex_match", "stoi", "stof", "split"],
        "strings are names: `==`, `!=` and `switch` tell them apart, nothing looks into them",
    ),
    (
        &["isconnected", "isconstant"],
        "a shader does not know where its inputs come from: give the parameter a default, or add a `bool` parameter that says so",
    ),
    (
        &["getattribute"],
        "declare it, `globals { float name; }`, and read `global_value<name>`: shapes and the renderer give it its value",
    ),
    (
        &["setmessage", "getmessage"],
        "shaders do not send messages; parameters, `out` parameters and connections of a graph carry values",
    ),
    (&["raytype"], "there is no type of rays: `global_value<ray_depth> == 0` holds for what the camera sees"),
    (&["trace", "occlusion"], "shaders cast no rays; the renderer lights what the closures describe"),
    (&["backfacing"], "write `global_value<backfacing>`"),
    (&["getmatrix"], "write `matrix(\"from\", \"to\")`, which gives the matrix"),
    (
        &["gettextureinfo", "textureSize", "GetDimensions"],
        "`texture2d_size<map>()` is how many texels `texture2d map;` has along u and v; what else is needed must be a parameter",
    ),
    (
        &["surfacearea", "Dz", "dPdtime", "dtime", "Ps", "Pl", "Nl"],
        "the host offers no such value; what is known of each point are its globals, `global_value<NAME>`",
    ),
    (&["dict_find", "dict_next", "dict_value"], "there are no dictionaries; give the values as parameters"),
    (
        &["pointcloud_search", "pointcloud_get", "pointcloud_write"],
        "there are no point clouds; give the values as a texture or as variables of the shape",
    ),
    (&["exit"], "write `return;`, which ends the shader"),
    (&["assert"], "state it in a test: `test \"…\" { … expect(…); }`"),
    (&["wavelength_color"], "colors have three channels; `blackbody(kelvin)` gives those of hot bodies"),
    (&["not"], "write `!x`"),
    (&["any", "all"], "there are no vectors of bools: combine comparisons with `&&`, `||` and `!`"),
    (
        &["lessThan", "lessThanEqual", "greaterThan", "greaterThanEqual", "equal", "notEqual"],
        "there are no vectors of bools: compare component by component; `==` of two vectors holds where all components are equal",
    ),
    (
        &["mul", "matrixCompMult"],
        "write `m * v` with a float4, `m * n`, or `transform(m, p)` for points, vectors and normals",
    ),
    (&["outerProduct"], "write the matrix out: `matrix(…)` takes 16 numbers, row by row"),
    (&["fwidthFine", "fwidthCoarse"], "write `fwidth(x)`"),
    (&["rcp"], "write `1.0 / x`"),
    (&["rand", "random", "drand48"], "noise is random by place: `hashnoise(p)` or `cellnoise(p)`, from 0 to 1"),
    (&["sizeof"], "`arraylength(list)` is the number of elements of an array; bytes do not show"),
    (&["malloc", "free", "new"], "there is no memory to ask for; arrays have sizes that are constants"),
    (
        &["auto", "let", "var", "val", "def", "fn", "func", "function"],
        "write the type: `float x = 1.0;`, `float f(float x) { … }`",
    ),
    (&["goto"], "use `if`, loops, `break`, `continue` and `return`"),
    (
        &["class", "union", "interface", "namespace", "using", "template", "operator", "virtual"],
        "there are structs, functions and files that import each other",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_stands_there_once() {
        let of = |table: Table| table.iter().flat_map(|(words, _)| words.iter().copied()).collect::<Vec<_>>();
        let globals = GLOBALS.iter().flat_map(|(words, ..)| words.iter().copied());
        let mut seen = BTreeSet::new();
        for word in [TYPES, FUNCTIONS, CLOSURES, PHRASES].into_iter().flat_map(of).chain(globals) {
            assert!(seen.insert(word), "{word}");
        }
    }
}
