//! Which lights light which shapes. Lights may have names, and shapes have lists of lights that light them, or that do
//! not.

/// A name of a light, by its number in the scene; 0 for those that have none.
pub type LightName = u32;

/// The lists of a scene. Shapes know theirs by its number; 0 is that of all lights.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// From number 1.
    lists: Vec<LinkList>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkList {
    /// These light the shape, and no others.
    Include(Vec<LightName>),
    /// All others do.
    Exclude(Vec<LightName>),
}

impl Links {
    /// The number of a list, which is that of an equal one if there is one.
    pub fn add(&mut self, list: LinkList) -> u32 {
        let known = self.lists.iter().position(|l| *l == list);
        let index = known.unwrap_or_else(|| {
            self.lists.push(list);
            self.lists.len() - 1
        });
        index as u32 + 1
    }

    /// How many lists there are, that of all lights among them.
    pub fn count(&self) -> u32 {
        self.lists.len() as u32 + 1
    }

    /// Whether a light of a name lights the shapes of a list.
    pub fn lights(&self, list: u32, name: LightName) -> bool {
        match list.checked_sub(1).and_then(|i| self.lists.get(i as usize)) {
            None => true,
            Some(LinkList::Include(names)) => names.contains(&name),
            Some(LinkList::Exclude(names)) => !names.contains(&name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_take_in_or_leave_out_what_they_name() {
        let mut links = Links::default();
        let (only, but) = (links.add(LinkList::Include(vec![1, 3])), links.add(LinkList::Exclude(vec![1, 3])));
        assert_eq!((only, but, links.add(LinkList::Include(vec![1, 3])), links.count()), (1, 2, 1, 3));
        for name in 0..5 {
            let named = name == 1 || name == 3;
            assert_eq!(
                (links.lights(only, name), links.lights(but, name), links.lights(0, name)),
                (named, !named, true)
            );
        }
    }
}
