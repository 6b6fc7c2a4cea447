//! Which members of implementations share each word of an interface's value, for people who ask what is known of it.

use super::Checker;
use super::interface_values::Words;
use crate::types::{Type, VectorKind};

/// Members that are named for one word.
const SHOWN: usize = 4;

/// The words of one implementation, by name.
#[derive(Default)]
struct Named {
    floats: Vec<String>,
    ints: Vec<String>,
}

impl Checker<'_> {
    /// For each member of a value, that of its number first: `Matte.albedo, Plain.level`.
    pub(super) fn shared_words(&self, implementations: &[Type], words: Words) -> Vec<String> {
        let mut all = vec![Vec::new(); 1 + words.floats + words.ints];
        for ty in implementations {
            let mut named = Named::default();
            self.name_words(ty, &self.name_of(ty), words, &mut named);
            let numbered = named.floats.into_iter().take(words.floats).enumerate().map(|(i, name)| (1 + i, name));
            let ints = named.ints.into_iter().take(words.ints).enumerate();
            for (i, name) in numbered.chain(ints.map(|(i, name)| (1 + words.floats + i, name))) {
                all[i].push(name);
            }
        }
        let shown = |list: Vec<String>| {
            let more = if list.len() > SHOWN { ", …" } else { "" };
            format!("{}{more}", list[..list.len().min(SHOWN)].join(", "))
        };
        all.into_iter().map(shown).collect()
    }

    /// The names of the words of a value, in the order in which they are counted.
    fn name_words(&self, ty: &Type, path: &str, most: Words, named: &mut Named) {
        if named.floats.len() > most.floats || named.ints.len() > most.ints {
            return;
        }
        match ty {
            Type::Float => named.floats.push(path.to_owned()),
            Type::Int | Type::Bool => named.ints.push(path.to_owned()),
            Type::Vector(kind) => {
                let letters = if *kind == VectorKind::Color { "rgb" } else { "xyzw" };
                named.floats.extend(letters.chars().take(kind.len()).map(|c| format!("{path}.{c}")));
            }
            Type::Matrix => named.floats.extend((0..16).map(|i| format!("{path}[{}][{}]", i / 4, i % 4))),
            Type::Array(element, n) => {
                let most_elements = most.floats + most.ints + 1;
                for i in 0..(*n as usize).min(most_elements) {
                    self.name_words(element, &format!("{path}[{i}]"), most, named);
                }
            }
            Type::Struct(id) => {
                for field in &self.program.types.get(*id).fields {
                    self.name_words(&field.ty, &format!("{path}.{}", field.name), most, named);
                }
            }
            Type::String | Type::Closure | Type::Texture2d | Type::Buffer { .. } | Type::Error | Type::Void => {}
        }
    }
}
