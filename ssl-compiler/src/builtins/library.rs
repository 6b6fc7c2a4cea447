//! The part of the standard library that needs no import: which functions each file of `std/` offers
//! as built-ins.
//!
//! The compiler reads a file only if a program calls one of its names, so unused files cost nothing. Signatures and
//! documentation stand in the file itself.

/// One file of the standard library, or of what a host adds to it.
pub struct LibraryFile {
    /// Behind `std/`.
    pub name: &'static str,
    pub text: &'static str,
    /// Its functions that may be called without an import; the others need one.
    pub functions: &'static [&'static str],
}

macro_rules! library {
    ($($name:literal: $($function:literal)*;)*) => {
        pub static LIBRARY: &[LibraryFile] = &[$(LibraryFile {
            name: $name,
            text: include_str!(concat!("../../std/", $name)),
            functions: &[$($function),*],
        }),*];
    };
}

library! {
    "math.ssl": "sincos" "logb" "smooth_linearstep" "bias" "gain" "smooth_min" "smooth_max" "rotate2d" "rotate3d";
    "geometry.ssl": "fresnel" "fresnel_dielectric" "schlick" "area" "calculatenormal" "distance_to_segment";
    "antialias.ssl": "filterwidth" "fwidth" "aastep" "pulse" "smooth_stripes" "smooth_checker" "smooth_brick";
    "bump.ssl": "bump" "displacement_normal";
    "normals.ssl": "normal_map" "to_tangent" "from_tangent";
    "color.ssl": "luminance" "rgb_to_hsv" "hsv_to_rgb" "rgb_to_hsl" "hsl_to_rgb" "rgb_to_xyz" "xyz_to_rgb" "blackbody"
        "srgb_to_linear" "linear_to_srgb" "color_saturation" "color_contrast" "color_hue";
    "metals.ssl": "metal_eta" "metal_k";
    "patterns.ssl": "checker" "stripes" "triangle_wave" "brick" "brick_place" "brick_value" "hexagons" "hexagon_center"
        "hexagon_edge" "hexagon_value" "polka_dots" "rings" "cracks";
    "openpbr.ssl": ;
    "principled.ssl": ;
    "bsdf.ssl": ;
    "raster/geometry.ssl": ;
    "raster/layers.ssl": ;
    "raster/blending.ssl": ;
    "raster/mesh.ssl": ;
    "raster/shading.ssl": ;
    "raster/prefilter.ssl": ;
    "raster/hair.ssl": ;
    "raster/skin.ssl": ;
    "raster/shadows.ssl": ;
    "raster/textures.ssl": ;
    "raster/mips.ssl": ;
    "raster/inverse_uv.ssl": ;
    "noise/hash.ssl": "hash" "cellnoise" "cellnoise_float3" "pcellnoise" "pcellnoise_float3" "hashnoise"
        "hashnoise_float3";
    "noise/gradient.ssl": ;
    "noise/perlin.ssl": "perlin" "perlin_float3" "pperlin" "pperlin_float3" "uperlin" "uperlin_float3" "puperlin"
        "puperlin_float3";
    "noise/simplex.ssl": "simplex" "simplex_float3" "usimplex" "usimplex_float3";
    "noise/simplex_periodic.ssl": "psimplex" "psimplex_float3" "pusimplex" "pusimplex_float3";
    "noise/fractal.ssl": "fbm" "fbm_float3" "turbulence" "turbulence_float3" "ridged" "ridged_float3";
    "noise/filtered.ssl": "fbm_filtered";
    "noise/cellular.ssl": "cellular_f1" "cellular_f2" "cellular_f2_f1" "cellular_value" "cellular_color" "pcellular_f1"
        "pcellular_f2" "pcellular_f2_f1" "pcellular_value" "pcellular_color";
    "noise/osl.ssl": "noise" "snoise" "pnoise" "psnoise";
    "noise/gabor.ssl": "gabor" "ugabor" "gabor_float3" "ugabor_float3";
    "noise/gabor_periodic.ssl": "pgabor" "pugabor" "pgabor_float3" "pugabor_float3";
}

/// The file whose function may be called by this name.
pub fn providing(function: &str) -> Option<&'static LibraryFile> {
    // It stands for several functions of one file.
    let function = if function == "transformc" { "rgb_to_hsv" } else { function };
    LIBRARY.iter().find(|f| f.functions.contains(&function))
}

/// What `noise` and `pnoise` call for a kind of noise that is named, as in Open Shading Language.
const KINDS: &[(&str, &str, Option<&str>)] = &[
    ("perlin", "perlin", Some("pperlin")),
    ("uperlin", "uperlin", Some("puperlin")),
    ("snoise", "perlin", Some("pperlin")),
    ("noise", "uperlin", Some("puperlin")),
    ("cell", "cellnoise", Some("pcellnoise")),
    ("hash", "hashnoise", None),
    ("simplex", "simplex", Some("psimplex")),
    ("usimplex", "usimplex", Some("pusimplex")),
    ("gabor", "gabor", Some("pgabor")),
];

/// The function for a kind of noise; `None` where `function` is neither `noise` nor `pnoise`, or has no such kind.
pub fn noise_of_kind(function: &str, kind: &str) -> Option<&'static str> {
    let (_, plain, periodic) = KINDS.iter().find(|(name, ..)| *name == kind)?;
    match function {
        "noise" => Some(plain),
        "pnoise" => *periodic,
        _ => None,
    }
}

/// A function of the file that a call with a text in front needs: `noise("simplex", …)`, `color("hsv", …)`.
pub fn needed_with(function: &str, first: &str) -> Option<&'static str> {
    match function {
        "color" => Some("rgb_to_hsv"),
        _ => noise_of_kind(function, first),
    }
}

/// The kinds that `noise` or `pnoise` has.
pub fn noise_kinds(function: &str) -> impl Iterator<Item = &'static str> + Clone {
    KINDS.iter().map(|(kind, ..)| *kind).filter(move |kind| noise_of_kind(function, kind).is_some())
}

/// The file that an import names, with or without `std/` before it.
pub fn file(path: &str) -> Option<&'static LibraryFile> {
    file_among(LIBRARY, path)
}

/// Likewise of these files.
pub fn file_among(files: &'static [LibraryFile], path: &str) -> Option<&'static LibraryFile> {
    let name = path.strip_prefix("std/").unwrap_or(path);
    files.iter().find(|f| f.name == name)
}

/// All names that may be called without an import.
pub fn names<'a>() -> impl Iterator<Item = &'a str> {
    LIBRARY.iter().flat_map(|f| f.functions.iter().copied())
}
