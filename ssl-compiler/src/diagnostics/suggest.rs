//! The name that was meant: the nearest by spelling, or what another shading language's word is here.
//!
//! Neither knows what there is: the caller gives the candidates and checks that a translated name exists.

/// The name among `candidates` that `wanted` was most likely meant to be.
///
/// Names that differ only in case and underscores come first; then the optimal string alignment distance
/// counts, up to a third of the length. Among equals the first of the alphabet is taken, so that the answer
/// does not depend on the order of the candidates.
pub fn closest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = folded(wanted);
    let limit = match wanted.chars().count() {
        // One letter says too little to guess from.
        0 | 1 => 0,
        n => (n / 3).max(1),
    };
    candidates
        .into_iter()
        .filter(|c| *c != wanted && c.len() <= wanted.len() + 3 * limit + 8)
        .map(|c| (if folded(c) == plain { 0 } else { edit_distance(wanted, c) }, c))
        .filter(|(d, c)| *d <= limit && (*d == 0 || c.chars().count() > 1))
        .min()
        .map(|(_, c)| c)
}

fn folded(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

/// Insertions, deletions, substitutions and swaps of neighbours that lead from one to the other, letters of
/// either case being the same.
fn edit_distance(a: &str, b: &str) -> usize {
    let lower = |s: &str| s.chars().take(64).map(|c| c.to_ascii_lowercase()).collect::<Vec<char>>();
    let (a, b) = (lower(a), lower(b));
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// What a word of another shading language is in this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    Type(&'static str),
    Function(&'static str),
    /// A global, with what is taken of it.
    Global(&'static str, &'static str),
    Closure(&'static str),
    /// How to say it, in words.
    Phrase(&'static str),
}

/// The meaning of a word of OSL, GLSL, HLSL or C here.
pub fn foreign(word: &str) -> Option<Foreign> {
    use Foreign::{Closure, Function, Global, Phrase, Type};
    Some(match word {
        "boolean" | "_Bool" => Type("bool"),
        "colour" | "rgb" => Type("color"),
        "lerp" | "blend" => Function("mix"),
        "frac" => Function("fract"),
        "mod" | "remainder" => Function("fmod"),
        "inversesqrt" => Function("rsqrt"),
        "dFdx" | "Dx" | "ddx_fine" | "ddx_coarse" | "dFdxFine" => Function("ddx"),
        "dFdy" | "Dy" | "ddy_fine" | "ddy_coarse" | "dFdyFine" => Function("ddy"),
        "fabs" | "fabsf" => Function("abs"),
        "powf" => Function("pow"),
        "sqrtf" => Function("sqrt"),
        "sinf" => Function("sin"),
        "cosf" => Function("cos"),
        "expf" => Function("exp"),
        "logf" => Function("log"),
        "floorf" => Function("floor"),
        "fminf" | "fmin" => Function("min"),
        "fmaxf" | "fmax" => Function("max"),
        "linearstep" => Function("smoothstep"),
        "texture" | "texture2D" | "tex2D" | "textureLod" | "tex" | "sample" | "Sample" => {
            Phrase("declare the texture at file level, `texture2d map;`, and sample it: `texture2d_sample<map>(u, v)`")
        }
        "discard" | "clip" => Phrase("a surface cannot leave out points; a shader that makes no closure is black"),
        "diffuse" | "oren_nayar" => Closure("Lambert"),
        "reflection" => Closure("Mirror"),
        "microfacet" | "ward" | "phong" => Closure("Glossy"),
        "emission" | "emissive" => Closure("Emission"),
        "P" | "worldPos" | "fragPosition" | "gl_Position" => Global("position", ""),
        "N" => Global("normal", ""),
        "Ng" => Global("gnormal", ""),
        "u" => Global("uvw", ".x"),
        "v" => Global("uvw", ".y"),
        "uv" | "texcoord" | "TexCoord" | "st" => Global("uvw", ".xy"),
        "I" => Global("I", ""),
        "dPdu" | "T" => Global("tangent", ""),
        "dPdv" => Global("bitangent", ""),
        "Cs" => Global("color", ""),
        "gl_FrontFacing" => Global("backfacing", ""),
        "NULL" | "nullptr" => Phrase("there are no pointers; variables start at zero"),
        "M_PI" | "PI" => Phrase("write `const float pi = 3.14159265;` at file level"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn suggests_the_nearest_name() {
        assert_eq!(closest("positon", ["normal", "position"]), Some("position"));
        assert_eq!(closest("lenght", ["length", "log"]), Some("length"));
        assert_eq!(closest("frobnicate", ["length", "log"]), None);
    }

    #[test]
    fn case_and_underscores_count_less_than_letters() {
        assert_eq!(closest("smooth_step", ["smoothstep", "step"]), Some("smoothstep"));
        assert_eq!(closest("BaseColor", ["basecolo", "base_color"]), Some("base_color"));
        assert_eq!(closest("n", ["N", "m"]), Some("N"));
        assert_eq!(closest("u", ["v", "w"]), None);
    }

    #[test]
    fn the_order_of_candidates_does_not_matter() {
        assert_eq!(closest("aux", ["auy", "auw"]), closest("aux", ["auw", "auy"]));
    }
}
