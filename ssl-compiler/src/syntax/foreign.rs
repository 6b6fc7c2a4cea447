//! Type names of other languages: what SSL has instead, or why it has none.

/// What stands in for a type that SSL does not have.
pub(crate) struct Foreign {
    /// The type of SSL to use.
    pub instead: &'static str,
    pub hint: &'static str,
    /// Whether the other type can stand in its place as it is.
    pub alike: bool,
    /// It asks for double precision, which has a reason of its own.
    pub double: bool,
}

pub(crate) const NO_DOUBLE: &str =
    "shaders compute in float, so that they give the same bits on every back end; write `float` and `1.0`";
const INTEGERS: &str = "integers have 32 bits and a sign; write `int`";
const INT_VECTORS: &str = "there are no vectors of integers; use a vector of floats, or an array such as `int v[3]`";
const BOOL_VECTORS: &str = "there are no vectors of bools; compare component by component, or use `bool v[3]`";
const SMALL_MATRICES: &str = "matrices are 4×4: use `matrix`, the upper left part of which turns and scales vectors";

/// Words that form the name of one type together, as in `unsigned int`.
const COMPOUND: &[&str] = &["unsigned", "signed", "long", "short"];

pub(crate) fn is_compound(word: &str) -> bool {
    COMPOUND.contains(&word)
}

/// Whether a word may go on the name of a type that a compound word started.
pub(crate) fn continues(word: &str) -> bool {
    is_compound(word) || matches!(word, "int" | "char" | "double" | "float")
}

/// The type that `name` is in some other language, unless it is one of SSL.
pub(crate) fn find(name: &str) -> Option<Foreign> {
    let plain = |instead, hint| Some(Foreign { instead, hint, alike: true, double: false });
    let unlike = |instead, hint| Some(Foreign { instead, hint, alike: false, double: false });
    let double = |instead, hint| Some(Foreign { instead, hint, alike: true, double: true });
    match name {
        "double" | "float64_t" => return double("float", NO_DOUBLE),
        "half" | "fixed" | "float16_t" | "min16float" | "float32_t" => {
            return plain("float", "floats have 32 bits; write `float`");
        }
        "unsigned" | "signed" | "uint" | "char" | "uchar" | "long" | "short" | "ushort" | "ulong" | "byte"
        | "dword" | "size_t" | "int8_t" | "int16_t" | "int32_t" | "int64_t" | "uint8_t" | "uint16_t" | "uint32_t"
        | "uint64_t" => return plain("int", INTEGERS),
        "sampler2D" | "Texture2D" | "sampler" | "image2D" | "SamplerState" | "texture_2d" => {
            return plain("texture2d", "a texture and how it is sampled are one thing; write `texture2d`");
        }
        "BSDF" | "EDF" | "bsdf" | "edf" | "surfaceshader" => return plain("closure", "write `closure`"),
        "matrix4" | "matrix44" | "Matrix44" => return plain("matrix", "write `matrix`"),
        _ => {}
    }
    let (base, size) = name.split_at(name.find(|c: char| c.is_ascii_digit())?);
    let vector = |size: &str| match size {
        "2" => Some(("float2", "write `float2`")),
        "3" => Some(("float3", "write `float3`")),
        "4" => Some(("float4", "write `float4`")),
        _ => None,
    };
    match (base, size) {
        ("mat" | "float" | "half" | "Matrix", "4x4") | ("mat", "4") => plain("matrix", "write `matrix`"),
        ("dmat" | "double", "4x4") | ("dmat", "4") => double("matrix", NO_DOUBLE),
        ("mat" | "float" | "half" | "dmat" | "double", _) if is_matrix_size(base, size) => {
            plain("matrix", SMALL_MATRICES)
        }
        ("vec" | "half" | "Vec", _) => vector(size).and_then(|(instead, hint)| plain(instead, hint)),
        ("dvec" | "double", _) => vector(size).and_then(|(instead, _)| double(instead, NO_DOUBLE)),
        ("ivec" | "uvec" | "int" | "uint", _) => vector(size).and_then(|(instead, _)| unlike(instead, INT_VECTORS)),
        ("bvec" | "bool", _) => vector(size).and_then(|(instead, _)| unlike(instead, BOOL_VECTORS)),
        _ => None,
    }
}

/// `mat3`, `mat2x3`, `float3x3` …
fn is_matrix_size(base: &str, size: &str) -> bool {
    let digit = |b: u8| (b'1'..=b'4').contains(&b);
    match size.as_bytes() {
        [n] => base.ends_with("mat") && digit(*n),
        [n, b'x', m] => digit(*n) && digit(*m),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::types::Type;

    #[test]
    fn names_of_other_languages_lead_to_types_of_this_one() {
        for (name, instead) in [
            ("mat4", "matrix"),
            ("float4x4", "matrix"),
            ("mat2x3", "matrix"),
            ("float3x3", "matrix"),
            ("double", "float"),
            ("half", "float"),
            ("unsigned", "int"),
            ("vec3", "float3"),
            ("dvec2", "float2"),
            ("ivec4", "float4"),
            ("bool3", "float3"),
            ("sampler2D", "texture2d"),
            ("half4", "float4"),
            ("double3", "float3"),
        ] {
            assert_eq!(find(name).map(|f| f.instead), Some(instead), "{name}");
            assert!(Type::from_name(name).is_none() && Type::from_name(instead).is_some(), "{name}");
        }
        for name in ["vec", "vec5", "float5", "mat5", "x4", "wave", "", "float3x5", "table2"] {
            assert!(find(name).is_none(), "{name}");
        }
    }
}
