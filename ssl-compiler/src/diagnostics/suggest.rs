//! The name that the author probably meant: the nearest by spelling. The caller gives the candidates.

/// The name among `candidates` that `wanted` was most likely meant to be.
///
/// Names that differ only in case and underscores come first; then the optimal string alignment distance
/// counts, up to a third of the length. Among equals the first of the alphabet is taken, so that the answer
/// does not depend on the order of the candidates.
pub fn closest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain: Vec<char> = folded(wanted).collect();
    let limit = match wanted.chars().count() {
        // A text of that length is no slip of the pen, and no name to repeat.
        n if n > 4 * MAX_LETTERS => return None,
        // One letter says too little to guess from.
        0 | 1 => 0,
        n => (n / 3).max(1),
    };
    let same = |c: &str| folded(c).eq(plain.iter().copied());
    let lower = Letters::of(wanted);
    candidates
        .into_iter()
        .filter(|c| *c != wanted && c.len() <= wanted.len() + 3 * limit + 8)
        .filter_map(|c| Some((if same(c) { 0 } else { lower.distance(&Letters::of(c), limit)? }, c)))
        .filter(|(d, c)| *d == 0 || c.chars().count() > 1)
        .min()
        .map(|(_, c)| c)
}

fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase())
}

/// Letters of a name that are looked at.
const MAX_LETTERS: usize = 64;

/// A name in lower case, where no memory need be asked for: there may be thousands.
struct Letters {
    list: [char; MAX_LETTERS],
    length: usize,
}

impl Letters {
    fn of(name: &str) -> Letters {
        let mut letters = Letters { list: ['\0'; MAX_LETTERS], length: 0 };
        for (to, c) in letters.list.iter_mut().zip(name.chars()) {
            *to = c.to_ascii_lowercase();
            letters.length += 1;
        }
        letters
    }

    /// Insertions, deletions, substitutions and swaps of neighbours that lead from one to the other, letters of
    /// either case being the same; `None` for more than `limit`.
    fn distance(&self, other: &Letters, limit: usize) -> Option<usize> {
        let (a, b) = (&self.list[..self.length], &other.list[..other.length]);
        if a.len().abs_diff(b.len()) > limit {
            return None;
        }
        // The row of this letter and those of the two before, by turns.
        let mut rows = [[0usize; MAX_LETTERS + 1]; 3];
        (0..=b.len()).for_each(|j| rows[0][j] = j);
        for i in 1..=a.len() {
            let (now, before, earlier) = (i % 3, (i + 2) % 3, (i + 1) % 3);
            rows[now][0] = i;
            for j in 1..=b.len() {
                let cost = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (rows[before][j] + 1).min(rows[now][j - 1] + 1).min(rows[before][j - 1] + cost);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[earlier][j - 2] + 1);
                }
                rows[now][j] = best;
            }
            // Every way goes through one of two rows that follow each other, and never comes down.
            let least = |row: usize| rows[row][..=b.len()].iter().min().copied().unwrap_or(0);
            if least(now) > limit && least(before) > limit {
                return None;
            }
        }
        Some(rows[a.len() % 3][b.len()]).filter(|d| *d <= limit)
    }
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
