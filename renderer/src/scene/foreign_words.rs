//! Words for keys that mean what others say: second spellings of our own, and those of other renderers.

/// Other spellings of keys, which mean the same: the table, that one, ours.
pub const ALIASES: &[(&str, &str, &str)] =
    &[("integrator", "spp", "samples"), ("integrator", "min_spp", "min_samples")];

/// A key of a table by any of its spellings.
pub fn spelled<'a>(table: &str, key: &'a str) -> &'a str {
    ALIASES.iter().find(|(t, other, _)| *t == table && *other == key).map_or(key, |(.., ours)| ours)
}

/// Words of other renderers for keys: the table, theirs, ours.
const FOREIGN: &[(&str, &str, &str)] = &[
    ("", "render", "integrator"),
    ("", "world", "environment"),
    ("", "background", "environment"),
    ("", "objects", "shapes"),
    ("camera", "eye", "position"),
    ("camera", "origin", "position"),
    ("camera", "from", "position"),
    ("camera", "target", "look_at"),
    ("camera", "to", "look_at"),
    ("camera", "angle", "fov"),
    ("camera", "field_of_view", "fov"),
    ("camera", "lens_radius", "aperture"),
    ("camera", "focal_distance", "focus_distance"),
    ("integrator", "depth", "max_depth"),
    ("integrator", "bounces", "max_depth"),
    ("integrator", "max_bounces", "max_depth"),
    ("environment", "color", "radiance"),
    ("environment", "map", "file"),
    ("environment", "image", "file"),
    ("environment", "filename", "file"),
    ("environment", "strength", "scale"),
    ("environment", "rotation", "rotate"),
    ("texture", "path", "file"),
    ("texture", "image", "file"),
    ("texture", "filename", "file"),
    ("material", "code", "source"),
    ("material", "shader", "source"),
    ("material", "params", "parameters"),
    ("shape", "position", "translate"),
    ("shape", "center", "translate"),
    ("shape", "translation", "translate"),
    ("shape", "rotation", "rotate"),
    ("shape", "radiance", "emission"),
    ("shape", "emissive", "emission"),
    ("shape", "filename", "file"),
    ("shape", "mesh", "file"),
    ("shape", "transform", "matrix"),
    ("light", "from", "position"),
    ("light", "to", "look_at"),
    ("light", "target", "look_at"),
    ("light", "power", "intensity"),
    ("light", "strength", "intensity"),
];

/// The key of a table that a word of another renderer stands for.
pub fn translated(table: &str, theirs: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(t, word, _)| *t == table && *word == theirs).map(|(.., ours)| *ours)
}

/// What to do instead of giving a table of a type a key that belongs to others.
pub fn instead(table: &str, kind: &str, key: &str) -> Option<&'static str> {
    match (table, kind, key) {
        ("shape", "sphere", "rotate" | "scale") => {
            Some("a sphere takes `translate` and `radius`; in a group, an instance can turn and stretch it")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::{ROOT, table};
    use super::*;

    #[test]
    fn words_of_other_renderers_lead_to_keys_that_there_are() {
        for (of, theirs, ours) in FOREIGN {
            let known: Vec<&str> = match *of {
                "" => ROOT.iter().map(|(key, _)| *key).collect(),
                name => table(name).keys.iter().map(|k| k.name).collect(),
            };
            assert!(known.contains(ours) && !known.contains(theirs), "{of}: {theirs}");
        }
    }
}
