//! Tables of functions that vary slowly.

/// The entry before a place from 0 to 1 in a table of at least two, and how far it is from there to the next, 0 to 1.
pub fn between(at: f32, entries: usize) -> (usize, f32) {
    let scaled = at.clamp(0.0, 1.0) * (entries - 1) as f32;
    let entry = (scaled as usize).min(entries - 2);
    (entry, scaled - entry as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lie_between_entries() {
        assert_eq!(between(0.0, 5), (0, 0.0));
        assert_eq!(between(0.3125, 5), (1, 0.25));
        assert_eq!(between(1.0, 5), (3, 1.0));
        assert_eq!(between(7.0, 5), (3, 1.0));
        assert_eq!(between(-1.0, 2), (0, 0.0));
    }
}
