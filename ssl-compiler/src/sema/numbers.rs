//! The numbers of a program's strings, formats and texture slots, found by their text.

use crate::runtime::string_id;
use std::collections::HashMap;

/// Where each text stands in its list of the program.
#[derive(Default)]
pub(super) struct Numbers {
    strings: HashMap<String, usize>,
    /// The first string of each identity that strings have when the shader runs.
    ids: HashMap<i32, usize>,
    formats: HashMap<String, usize>,
    textures: HashMap<String, usize>,
}

impl Numbers {
    pub fn of_string(&mut self, text: &str, list: &mut Vec<String>) -> usize {
        let number = number(&mut self.strings, text, list);
        self.ids.entry(string_id(text)).or_insert(number);
        number
    }

    /// The first string that has an identity; `own` where there is none.
    pub fn first_with_id(&self, id: i32, own: usize) -> usize {
        self.ids.get(&id).copied().unwrap_or(own)
    }

    pub fn of_format(&mut self, text: &str, list: &mut Vec<String>) -> usize {
        number(&mut self.formats, text, list)
    }

    pub fn of_texture(&mut self, slot: &str, list: &mut Vec<String>) -> usize {
        number(&mut self.textures, slot, list)
    }
}

/// The number of a text, which is added where it is new.
fn number(known: &mut HashMap<String, usize>, text: &str, list: &mut Vec<String>) -> usize {
    if let Some(&number) = known.get(text) {
        return number;
    }
    list.push(text.to_owned());
    known.insert(text.to_owned(), list.len() - 1);
    list.len() - 1
}
