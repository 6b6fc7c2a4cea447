//! The numbers of a glTF material within the ranges that the schemas give them. Beyond them a surface would gain energy, or
//! stand in a shader as a number that is none.

use crate::geometry::gltf::document::Material;
use glam::Vec3;

pub struct Factors {
    /// With alpha.
    pub base_color: [f32; 4],
    pub metallic: f32,
    pub roughness: f32,
    /// The radiance, by factor and strength.
    pub emission: Vec3,
    /// The alpha below which there is nothing; 0 where none is cut off.
    pub cutoff: f32,
    pub transmission: f32,
    /// 0 stands for a surface that reflects all light.
    pub ior: f32,
}

/// What a number may be.
struct Range {
    least: f32,
    most: f32,
    words: &'static str,
}

const SHARE: Range = Range { least: 0.0, most: 1.0, words: "from 0 to 1" };
/// The same bound as that of the emission of shapes in scenes.
const NOT_NEGATIVE: Range = Range { least: 0.0, most: 1e9, words: "from 0 to 1e9" };
/// The square of a larger one may be infinite.
const IOR: Range = Range { least: 1.0, most: 1e6, words: "0, or from 1 to 1e6" };

/// Those of a material. Each that is out of its range becomes the nearest number within; `said` gets a sentence about it for the
/// user, in which the material is called `name`.
pub fn of(material: &Material, name: &str, said: &mut Vec<String>) -> Factors {
    let (pbr, more) = (&material.pbr_metallic_roughness, &material.extensions);
    let mut within = |key: &str, x: f32, range: &Range| {
        let nearest = x.clamp(range.least, range.most);
        if nearest != x {
            let words = range.words;
            let sentence = format!("`{key}` {x} of {name}, which must be {words}: {nearest} takes its place");
            // The channels of a color may say the same.
            if said.last() != Some(&sentence) {
                said.push(sentence);
            }
        }
        nearest
    };
    let factor = Vec3::from(material.emissive_factor.map(|x| within("emissiveFactor", x, &SHARE)));
    let strength = within("emissiveStrength", more.emissive_strength.emissive_strength, &NOT_NEGATIVE);
    let cutoff = within("alphaCutoff", material.alpha_cutoff.unwrap_or(0.5), &NOT_NEGATIVE);
    Factors {
        base_color: pbr.base_color_factor.map(|x| within("baseColorFactor", x, &SHARE)),
        metallic: within("metallicFactor", pbr.metallic_factor, &SHARE),
        roughness: within("roughnessFactor", pbr.roughness_factor, &SHARE),
        emission: factor * strength,
        cutoff: if material.alpha_mode.as_deref() == Some("MASK") { cutoff } else { 0.0 },
        transmission: within("transmissionFactor", more.transmission.transmission_factor, &SHARE),
        ior: if more.ior.ior == 0.0 { 0.0 } else { within("ior", more.ior.ior, &IOR) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(material: &str) -> (Factors, Vec<String>) {
        let mut said = Vec::new();
        let factors = of(&serde_json::from_str(material).expect("a well-formed material"), "it", &mut said);
        (factors, said)
    }

    #[test]
    fn what_is_in_range_stays() {
        for ior in [0.0, 1.0, 1.5, 2.4] {
            let (factors, said) = found(&format!(
                r#"{{"pbrMetallicRoughness": {{"baseColorFactor": [0, 0.5, 1, 0.25], "metallicFactor": 0, "roughnessFactor": 1}},
                    "emissiveFactor": [0, 0.5, 1], "alphaMode": "MASK", "alphaCutoff": 1.5, "extensions": {{
                    "KHR_materials_emissive_strength": {{"emissiveStrength": 20}}, "KHR_materials_ior": {{"ior": {ior}}},
                    "KHR_materials_transmission": {{"transmissionFactor": 1}}}}}}"#
            ));
            assert!(said.is_empty(), "{said:?}");
            assert_eq!((factors.base_color, factors.metallic, factors.roughness), ([0.0, 0.5, 1.0, 0.25], 0.0, 1.0));
            assert_eq!((factors.emission, factors.cutoff), (Vec3::new(0.0, 10.0, 20.0), 1.5));
            assert_eq!((factors.transmission, factors.ior), (1.0, ior));
        }
    }

    #[test]
    fn what_is_out_of_range_is_said_and_becomes_the_nearest() {
        let pbr = |factor: &str| format!(r#"{{"pbrMetallicRoughness": {{{factor}}}}}"#);
        let extension = |name: &str, factor: &str| format!(r#"{{"extensions": {{"{name}": {{{factor}}}}}}}"#);
        type Number = fn(&Factors) -> f32;
        let cases: [(String, &str, Number, f32); 12] = [
            (pbr(r#""metallicFactor": 7"#), "`metallicFactor` 7 of it", |f| f.metallic, 1.0),
            (pbr(r#""roughnessFactor": -1"#), "`roughnessFactor` -1", |f| f.roughness, 0.0),
            (pbr(r#""roughnessFactor": 1e39"#), "`roughnessFactor` inf", |f| f.roughness, 1.0),
            (pbr(r#""baseColorFactor": [1, 2, 0, 1]"#), "`baseColorFactor` 2", |f| f.base_color[1], 1.0),
            (pbr(r#""baseColorFactor": [1, 1, 0, -1]"#), "`baseColorFactor` -1", |f| f.base_color[3], 0.0),
            (r#"{"emissiveFactor": [0, 0, 3]}"#.to_owned(), "`emissiveFactor` 3", |f| f.emission.z, 1.0),
            (r#"{"alphaMode": "MASK", "alphaCutoff": -1}"#.to_owned(), "`alphaCutoff` -1", |f| f.cutoff, 0.0),
            (
                extension("KHR_materials_emissive_strength", r#""emissiveStrength": -2"#),
                "`emissiveStrength` -2",
                |f| f.emission.x,
                0.0,
            ),
            (
                extension("KHR_materials_transmission", r#""transmissionFactor": 1.5"#),
                "`transmissionFactor` 1.5",
                |f| f.transmission,
                1.0,
            ),
            (extension("KHR_materials_ior", r#""ior": 0.5"#), "`ior` 0.5", |f| f.ior, 1.0),
            (extension("KHR_materials_ior", r#""ior": -3"#), "`ior` -3", |f| f.ior, 1.0),
            (extension("KHR_materials_ior", r#""ior": 1e30"#), "must be 0, or from 1 to", |f| f.ior, 1e6),
        ];
        for (material, words, number, expected) in cases {
            let (factors, said) = found(&material);
            assert!(said.len() == 1 && said[0].contains(words), "{material}: {said:?}");
            assert_eq!(number(&factors), expected, "{material}");
        }
    }
}
