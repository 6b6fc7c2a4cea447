//! Which channels of an EXR make a picture, by their names.

use super::Alpha;
use std::collections::HashSet;

/// The channels with these names that make a picture: red, green, blue (and alpha), gray (and alpha), positions, or the
/// first four; `None` is black. Where no channel without a layer is a color, the first layer that has one counts. Names
/// in lower case and whole words (`red`) count where no name is as the format has it, if all three colors are there.
pub fn choose(names: &[&str]) -> (Vec<Option<u16>>, Alpha) {
    let by_usual_names = || {
        let usual: Vec<String> = names.iter().map(|name| usual(name)).collect();
        let found = named(&usual.iter().map(String::as_str).collect::<Vec<_>>())?;
        // Of `a`, `b` and `c`, the second is not blue.
        found.0.iter().all(Option::is_some).then_some(found)
    };
    named(names).or_else(by_usual_names).unwrap_or_else(|| (first_channels(names.len()), Alpha::None))
}

/// A channel's name as the format has it, behind its layer.
fn usual(name: &str) -> String {
    let (layer, channel) = name.rsplit_once('.').map_or(("", name), |(layer, channel)| (layer, channel));
    let channel = match channel.to_ascii_lowercase().as_str() {
        "r" | "red" => "R",
        "g" | "green" => "G",
        "b" | "blue" => "B",
        "a" | "alpha" => "A",
        "gray" | "grey" | "luminance" => "Y",
        _ => channel,
    };
    if layer.is_empty() { channel.to_owned() } else { format!("{layer}.{channel}") }
}

/// `None` if no name is known.
fn named(names: &[&str]) -> Option<(Vec<Option<u16>>, Alpha)> {
    // A list of channels is shorter than the header, which is at most 1 MiB: numbers beyond 16 bits are left out.
    let find = |name: &str| names.iter().position(|n| *n == name).and_then(|i| u16::try_from(i).ok());
    let plain = ["R", "G", "B", "Y"].into_iter().any(|name| find(name).is_some());
    let layer = if plain { None } else { first_layer(names) };
    let named = |name: &str| match layer {
        Some(layer) => find(&format!("{layer}.{name}")),
        None => find(name),
    };
    // Positions and normals, in alphabetical order.
    if let [Some(x), Some(y), Some(z)] = ["X", "Y", "Z"].map(named) {
        return Some((vec![Some(x), Some(y), Some(z)], Alpha::None));
    }
    let (alpha, kind) = match named("A") {
        Some(a) => (vec![Some(a)], Alpha::Associated),
        None => (Vec::new(), Alpha::None),
    };
    let rgb = ["R", "G", "B"].map(named);
    let colors = match named("Y") {
        _ if rgb.iter().flatten().count() > 0 => rgb.to_vec(),
        y => vec![Some(y?)],
    };
    Some((colors.into_iter().chain(alpha).collect(), kind))
}

/// The first four of so many channels. Two are red and green, since a texture of two channels is gray and alpha.
fn first_channels(count: usize) -> Vec<Option<u16>> {
    match count {
        2 => vec![Some(0), Some(1), None],
        count => (0..count.min(4)).map(|i| Some(i as u16)).collect(),
    }
}

/// The first layer with a color, a gray or positions: a layer without them may stand before it, as `depth.Z` before
/// `diffuse.R`. Where there is none, the first.
fn first_layer<'a>(names: &[&'a str]) -> Option<&'a str> {
    let known: HashSet<&str> = names.iter().copied().collect();
    let has = |layer: &str, name: &str| known.contains(format!("{layer}.{name}").as_str());
    let shows = |layer: &str| {
        let any = ["R", "G", "B", "Y"].into_iter().any(|name| has(layer, name));
        any || ["X", "Y", "Z"].into_iter().all(|name| has(layer, name))
    };
    let layers = || names.iter().filter_map(|n| n.rsplit_once('.')).map(|(layer, _)| layer);
    layers().find(|layer| shows(layer)).or_else(|| layers().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_found_by_their_names_in_the_first_layer() {
        let order = |names: &[&str]| choose(names).0.into_iter().map(|c| c.map_or(-1, i32::from)).collect::<Vec<_>>();
        assert_eq!(order(&["A", "B", "G", "R"]), [3, 2, 1, 0]);
        assert_eq!(order(&["diffuse.A", "diffuse.B", "diffuse.G", "diffuse.R"]), [3, 2, 1, 0]);
        assert_eq!(order(&["B", "G", "R", "glow.B", "glow.G", "glow.R"]), [2, 1, 0]);
        assert_eq!(order(&["X", "Y", "Z"]), [0, 1, 2]);
        assert_eq!(order(&["N.X", "N.Y", "N.Z"]), [0, 1, 2]);
        // Of several layers, the first that has a color.
        assert_eq!(order(&["depth.Z", "diffuse.B", "diffuse.G", "diffuse.R"]), [3, 2, 1]);
        assert_eq!(order(&["depth.Z", "glow.A", "glow.Y", "other.R"]), [2, 1]);
        assert_eq!(order(&["depth.Z", "N.X", "N.Y", "N.Z"]), [1, 2, 3]);
        assert_eq!(order(&["A", "Y"]), [1, 0]);
        // Where no name is known, the first four; one alone is gray, and two are red and green.
        assert_eq!(order(&["depth"]), [0]);
        assert_eq!(order(&["a.depth", "b.depth"]), [0, 1, -1]);
        assert_eq!(order(&["forward.u", "forward.v"]), [0, 1, -1]);
        assert_eq!(order(&["a", "b", "c"]), [0, 1, 2]);
        assert_eq!(order(&["a", "b", "c", "d", "e"]), [0, 1, 2, 3]);
        assert_eq!(order(&["uv.x", "uv.y"]), [0, 1, -1]);
    }

    /// Files have channels by the alphabet, in which blue comes first.
    #[test]
    fn names_in_lower_case_and_whole_words_are_known() {
        let order = |names: &[&str]| choose(names).0.into_iter().map(|c| c.map_or(-1, i32::from)).collect::<Vec<_>>();
        assert_eq!(choose(&["a", "b", "g", "r"]), (vec![Some(3), Some(2), Some(1), Some(0)], Alpha::Associated));
        assert_eq!(order(&["blue", "green", "red"]), [2, 1, 0]);
        assert_eq!(order(&["Alpha", "Blue", "Green", "Red"]), [3, 2, 1, 0]);
        assert_eq!(order(&["sky.b", "sky.g", "sky.r"]), [2, 1, 0]);
        assert_eq!(order(&["gray"]), [0]);
        assert_eq!(order(&["n.x", "n.y", "n.z"]), [0, 1, 2]);
        // Names as the format has them come first.
        assert_eq!(order(&["id.b", "id.g", "id.r", "sky.B", "sky.G", "sky.R"]), [5, 4, 3]);
    }
}
