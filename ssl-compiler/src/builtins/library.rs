//! The part of the standard library that needs no import: which functions each file of `std/` offers
//! as built-ins.
//!
//! A file is read only where one of its names is called, so what nobody uses costs nothing. Signatures
//! and documentation stand in the file itself.

/// One file of the standard library.
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
    "color.ssl": "luminance" "rgb_to_hsv" "hsv_to_rgb" "rgb_to_hsl" "hsl_to_rgb" "rgb_to_xyz" "xyz_to_rgb" "blackbody"
        "srgb_to_linear" "linear_to_srgb" "color_saturation" "color_contrast" "color_hue";
    "patterns.ssl": "checker" "stripes" "triangle_wave" "brick" "brick_place" "brick_value" "hexagons" "hexagon_center"
        "hexagon_edge" "hexagon_value" "polka_dots" "rings" "cracks";
    "noise/hash.ssl": "hash" "cellnoise" "cellnoise_float3" "pcellnoise" "hashnoise" "hashnoise_float3";
    "noise/gradient.ssl": ;
    "noise/perlin.ssl": "perlin" "perlin_float3" "pperlin" "pperlin_float3" "uperlin" "uperlin_float3" "puperlin"
        "puperlin_float3";
    "noise/simplex.ssl": "simplex" "simplex_float3" "usimplex" "usimplex_float3";
    "noise/fractal.ssl": "fbm" "fbm_float3" "turbulence" "turbulence_float3" "ridged";
    "noise/filtered.ssl": "fbm_filtered";
    "noise/cellular.ssl": "cellular_f1" "cellular_f2" "cellular_f2_f1" "cellular_value" "cellular_color" "pcellular_f1"
        "pcellular_f2" "pcellular_f2_f1" "pcellular_value" "pcellular_color";
    "noise/osl.ssl": "noise" "snoise" "pnoise" "psnoise";
    "noise/gabor.ssl": "gabor" "ugabor" "gabor_float3";
}

/// The file whose function may be called by this name.
pub fn providing(function: &str) -> Option<&'static LibraryFile> {
    LIBRARY.iter().find(|f| f.functions.contains(&function))
}

/// The file that an import names, with or without `std/` before it.
pub fn file(path: &str) -> Option<&'static LibraryFile> {
    let name = path.strip_prefix("std/").unwrap_or(path);
    LIBRARY.iter().find(|f| f.name == name)
}

/// All names that may be called without an import.
pub fn names<'a>() -> impl Iterator<Item = &'a str> {
    LIBRARY.iter().flat_map(|f| f.functions.iter().copied())
}
