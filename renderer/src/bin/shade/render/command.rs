//! The command that renders a picture again, for the picture's file: the options that decide what it shows, in one
//! order, and no others.

use super::arguments::{Arguments, Threshold};
use renderer::accel::Structure;
use renderer::texture::MipMode;

/// `scene` is the name of the scene's file.
pub fn words(arguments: &Arguments, scene: &str) -> String {
    let a = arguments;
    let mut words = vec!["shade".to_owned(), "render".to_owned(), scene.to_owned()];
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([format!("--{name}"), value]);
        }
    };
    option("spp", a.spp.map(|n| n.to_string()));
    option("seed", a.seed.map(|n| n.to_string()));
    option("max-depth", a.max_depth.map(|n| n.to_string()));
    option("adaptive", a.adaptive.map(|t| if let Threshold::At(t) = t { t.to_string() } else { "off".to_owned() }));
    option("min-spp", a.min_spp.map(|n| n.to_string()));
    option("size", a.size.map(|(width, height)| format!("{width}x{height}")));
    option("crop", a.crop.map(|c| format!("{},{},{},{}", c.x0, c.y0, c.x1, c.y1)));
    option("exposure", a.develop.exposure.map(|x| x.to_string()));
    option("aov", a.aov.as_ref().map(|names| names.join(",")));
    a.set.list().into_iter().for_each(|s| option("set", Some(format!("{}={}", s.path, s.value))));
    let mip = MipMode::NAMED.iter().find(|(_, mode)| *mode == a.mip && a.mip != MipMode::default());
    option("mip", mip.map(|(name, _)| (*name).to_owned()));
    option("mip-bias", (a.mip_bias != 0.0).then(|| a.mip_bias.to_string()));
    let structure = Structure::NAMED.iter().find(|(_, s)| *s == a.accel && a.accel != Structure::default());
    option("accel", structure.map(|(name, _)| (*name).to_owned()));
    option("view", a.view.clone());
    option("gradient", a.gradient.clone());
    option("attached", a.attached.map(|step| step.to_string()));
    words.extend(a.derivatives.words());
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_same_words() {
        for (word, expected) in [("a-b_c.toml", "a-b_c.toml"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''")] {
            assert_eq!(quoted(word), expected);
        }
    }
}
