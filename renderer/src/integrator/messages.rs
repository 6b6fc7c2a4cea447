//! What shaders printed with `printf` while a picture was rendered: every distinct message once, with the first place
//! that printed it.
//!
//! Which place is the first, and which messages are kept if there are too many, depends only on pixel, sample, bounce
//! and order, and not on threads.

use std::collections::HashMap;

/// Distinct messages that are kept.
pub const MAX_MESSAGES: usize = 1000;

/// Where something was said, in the order in which messages are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessagePlace {
    pub y: u32,
    pub x: u32,
    pub sample: u32,
    pub bounce: u32,
    /// Which message of the batch.
    pub order: u32,
}

/// What a shader said at a vertex of a path.
pub struct PathMessage {
    pub path: u32,
    pub bounce: u32,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub place: MessagePlace,
    pub text: String,
    /// How often it was said.
    pub count: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Messages {
    by_text: HashMap<String, (MessagePlace, u64)>,
    /// How much was said in all.
    pub total: u64,
    /// Distinct messages were dropped, so that counts of others may fall short.
    pub overflowed: bool,
}

impl Messages {
    pub fn add(&mut self, place: MessagePlace, text: String, count: u64) {
        let known = self.by_text.entry(text).or_insert((place, 0));
        known.0 = known.0.min(place);
        known.1 += count;
        self.total += count;
        // In lots, since finding the last one looks at all.
        if self.by_text.len() >= 2 * MAX_MESSAGES {
            self.shrink();
        }
    }

    pub fn merge(&mut self, other: Messages) {
        self.overflowed |= other.overflowed;
        let said: u64 = other.by_text.values().map(|(_, count)| count).sum();
        self.total += other.total - said;
        for (text, (place, count)) in other.by_text {
            self.add(place, text, count);
        }
    }

    /// Distinct messages so far.
    pub fn len(&self) -> usize {
        self.by_text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_text.is_empty()
    }

    fn shrink(&mut self) {
        if self.by_text.len() <= MAX_MESSAGES {
            return;
        }
        let mut places: Vec<MessagePlace> = self.by_text.values().map(|(place, _)| *place).collect();
        places.sort_unstable();
        let last = places[MAX_MESSAGES - 1];
        self.by_text.retain(|_, (place, _)| *place <= last);
        self.overflowed = true;
    }

    /// The messages in the order of their places.
    pub fn list(mut self) -> Vec<Message> {
        self.shrink();
        let one = |(text, (place, count)): (String, (MessagePlace, u64))| Message { place, text, count };
        let mut list: Vec<Message> = self.by_text.into_iter().map(one).collect();
        list.sort_unstable_by_key(|m| m.place);
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_does_not_depend_on_the_order() {
        let place = |i: u32| MessagePlace { y: i % 70, x: i % 13, sample: 0, bounce: 0, order: i };
        let said: Vec<(MessagePlace, String)> =
            (0..5000).map(|i| (place(i), format!("message {}", i % 2500))).collect();
        let collect = |said: &mut dyn Iterator<Item = &(MessagePlace, String)>| {
            let mut all = Messages::default();
            said.for_each(|(place, text)| all.add(*place, text.clone(), 1));
            all
        };
        let forward = collect(&mut said.iter());
        let mut halves = collect(&mut said[2500..].iter().rev());
        halves.merge(collect(&mut said[..2500].iter()));
        assert_eq!((forward.total, halves.total), (5000, 5000));
        let places = |m: Messages| m.list().into_iter().map(|m| (m.place, m.text)).collect::<Vec<_>>();
        let (a, b) = (places(forward), places(halves));
        assert_eq!(a.len(), MAX_MESSAGES);
        assert_eq!(a, b);
    }
}
