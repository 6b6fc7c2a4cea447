//! What no kernel can do, as launches of a job. Derivatives do not pass through these.

use crate::buffer::{Arrangement, Buffer, Element};
use crate::launch::{self, Box2, Sorter, TileLists};
use ssl_compiler::runtime::{BufferRole, ParameterValue};
use ssl_compiler::types::Scalar;

/// An operation with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Tiles { width: u32, height: u32, side: u32 },
    Sort { floats: bool },
    PrefixSum,
    SuffixSum,
    Offsets,
    Compact,
    Histogram { bins: u32 },
}

use Operation::*;

impl Operation {
    pub fn named(name: &str) -> Option<Operation> {
        match name {
            "tiles" => Some(Tiles { width: 0, height: 0, side: 16 }),
            "sort" => Some(Sort { floats: false }),
            "sort_floats" => Some(Sort { floats: true }),
            "prefix_sum" => Some(PrefixSum),
            "suffix_sum" => Some(SuffixSum),
            "offsets" => Some(Offsets),
            "compact" => Some(Compact),
            "histogram" => Some(Histogram { bins: 0 }),
            _ => None,
        }
    }

    /// The names that its buffers have of themselves: what it reads, then what it writes.
    pub fn ports(self) -> Vec<(&'static str, BufferRole, Element)> {
        let (floats, int) = (Element::floats, Element::int);
        let reads = |name, element| (name, BufferRole::In, element);
        let writes = |name, element| (name, BufferRole::Out, element);
        match self {
            Tiles { .. } => vec![reads("bounds", floats(4)), writes("starts", int()), writes("boxes", int())],
            Sort { floats: false } => vec![reads("keys", int()), writes("order", int())],
            Sort { floats: true } => vec![reads("keys", floats(1)), writes("order", int())],
            PrefixSum | SuffixSum => vec![reads("terms", floats(1)), writes("sums", floats(1))],
            Offsets => vec![reads("counts", int()), writes("offsets", int())],
            Compact => vec![reads("wanted", Element::new(&[Scalar::Bool])), writes("kept", int())],
            Histogram { .. } => vec![reads("keys", int()), writes("counts", int())],
        }
    }

    /// The names of its numbers.
    pub fn values(self) -> &'static [&'static str] {
        match self {
            Tiles { .. } => &["width", "height", "side"],
            Histogram { .. } => &["bins"],
            _ => &[],
        }
    }

    /// Those that have no default.
    pub fn needed(self) -> &'static [&'static str] {
        match self {
            Tiles { .. } => &["width", "height"],
            _ => self.values(),
        }
    }

    /// Whether the value fits.
    pub fn set(&mut self, name: &str, value: &ParameterValue) -> bool {
        let ParameterValue::Int(value @ 1..) = *value else { return false };
        let slot = match (self, name) {
            (Tiles { width, .. }, "width") => width,
            (Tiles { height, .. }, "height") => height,
            (Tiles { side, .. }, "side") => side,
            (Histogram { bins }, "bins") => bins,
            _ => return false,
        };
        *slot = value as u32;
        true
    }

    /// The lengths of what it writes, for what it reads; `None` where the elements decide.
    pub fn lengths(self, read: Option<usize>) -> Vec<Option<usize>> {
        match self {
            Tiles { width, height, side } => {
                let [across, down] = launch::Tiles::covering(width, height, side.max(1)).count.map(|n| n as usize);
                vec![(across * down).checked_add(1).filter(|_| across > 0 && down > 0), None]
            }
            Sort { .. } | PrefixSum | SuffixSum => vec![read],
            Offsets => vec![read.map(|n| n + 1)],
            Compact => vec![None],
            Histogram { bins } => vec![(bins > 0).then_some(bins as usize)],
        }
    }

    /// The memory that it takes for each element that it reads, besides its results.
    pub fn bytes_of_an_element(self) -> usize {
        match self {
            // A box, and one entry at least.
            Tiles { .. } => 16 + ENTRY,
            Sort { .. } => 32,
            _ => 0,
        }
    }

    /// The work of a node. It refuses to take more than so many bytes for what only the elements decide.
    pub fn work(
        self,
        limit: Option<usize>,
    ) -> impl FnMut(&[&Buffer], &mut [Buffer]) -> Result<(), String> + Send + 'static {
        let mut state = State::default();
        move |reads, writes| {
            let ([read, ..], Some((first, others))) = (reads, writes.split_first_mut()) else { return Ok(()) };
            match self {
                Tiles { width, height, side } => {
                    let tiles = launch::Tiles::covering(width, height, side);
                    state.tiles(tiles, read, first, others.first_mut(), limit)
                }
                Sort { floats } => state.sort(read, floats, first),
                PrefixSum | SuffixSum => {
                    let to = of_length(first, read.len())?;
                    let run = if self == PrefixSum { launch::prefix_sum } else { launch::suffix_sum };
                    let terms: Vec<f32> = read.words().iter().map(|word| f32::from_bits(*word)).collect();
                    let mut sums = vec![0.0; terms.len()];
                    run(&terms, &mut sums);
                    to.iter_mut().zip(sums).for_each(|(to, sum)| *to = sum.to_bits());
                    Ok(())
                }
                Offsets => {
                    let mut offsets = Vec::new();
                    launch::offsets(read.words(), &mut offsets).map_err(|e| e.to_string())?;
                    fill(first, &offsets)
                }
                Compact => {
                    let (wanted, mut kept) = (read.words(), Vec::new());
                    launch::compact(wanted.len(), |i| wanted[i as usize] != 0, &mut kept);
                    fill(first, &kept)
                }
                Histogram { bins } => {
                    let mut counts = vec![0; bins as usize];
                    launch::histogram(read.words(), &mut counts);
                    fill(first, &counts)
                }
            }
        }
    }
}

/// An entry of a list, which is there three times: while the lists are made, in them, and in the result.
const ENTRY: usize = 12;

/// What is kept from one run to the next.
#[derive(Default)]
struct State {
    boxes: Vec<Box2>,
    lists: TileLists,
    sorter: Sorter,
    pairs: Vec<(u64, u32)>,
}

impl State {
    fn tiles(
        &mut self,
        tiles: launch::Tiles,
        bounds: &Buffer,
        starts: &mut Buffer,
        boxes: Option<&mut Buffer>,
        limit: Option<usize>,
    ) -> Result<(), String> {
        let (words, length) = (bounds.words(), bounds.len());
        let at = |index: usize, scalar: usize| match bounds.arrangement() {
            Arrangement::Rows => f32::from_bits(words[4 * index + scalar]),
            Arrangement::Columns => f32::from_bits(words[scalar * length + index]),
        };
        let one = |i: usize| Box2 { min: [at(i, 0), at(i, 1)], max: [at(i, 2), at(i, 3)] };
        self.boxes.clear();
        self.boxes.extend((0..length).map(one));
        let entries = tiles.entries(&self.boxes);
        let needed = entries.saturating_mul(ENTRY as u64);
        if limit.is_some_and(|limit| needed > limit as u64) {
            let mb = needed >> 20;
            return Err(format!("{entries} tiles are touched, whose lists would take {mb} MB more; see `--memory`"));
        }
        self.lists.fill(tiles, &self.boxes).map_err(|e| e.to_string())?;
        fill(starts, &self.lists.starts)?;
        boxes.map_or(Ok(()), |boxes| fill(boxes, &self.lists.boxes))
    }

    fn sort(&mut self, keys: &Buffer, floats: bool, order: &mut Buffer) -> Result<(), String> {
        let key = |word: u32| match floats {
            // Of the bits of floats, those with a sign stand in the opposite order.
            true if word >> 31 == 1 => !word,
            true => word | 1 << 31,
            false => word ^ 1 << 31,
        };
        self.pairs.clear();
        self.pairs.extend(keys.words().iter().zip(0..).map(|(word, index)| (u64::from(key(*word)), index)));
        self.sorter.sort(&mut self.pairs);
        let to = of_length(order, self.pairs.len())?;
        to.iter_mut().zip(&self.pairs).for_each(|(to, pair)| *to = pair.1);
        Ok(())
    }
}

/// The words of a buffer of single scalars, which gets a length.
fn of_length(buffer: &mut Buffer, length: usize) -> Result<&mut [u32], String> {
    if buffer.len() != length {
        let made = Buffer::new(buffer.element().clone(), buffer.arrangement(), length);
        *buffer = made.map_err(|e| e.to_string())?;
    }
    Ok(buffer.words_mut())
}

fn fill(buffer: &mut Buffer, words: &[u32]) -> Result<(), String> {
    of_length(buffer, words.len())?.copy_from_slice(words);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(operation: Operation, read: Buffer) -> Result<Vec<Vec<u32>>, String> {
        run_within(operation, read, None)
    }

    fn run_within(operation: Operation, read: Buffer, limit: Option<usize>) -> Result<Vec<Vec<u32>>, String> {
        let writes = operation.ports().into_iter().filter(|(_, role, _)| *role == BufferRole::Out);
        let empty = |(_, _, element)| Buffer::new(element, Arrangement::Rows, 0).expect("nothing needs no memory");
        let mut writes: Vec<Buffer> = writes.map(empty).collect();
        operation.work(limit)(&[&read], &mut writes)?;
        let expected = operation.lengths(Some(read.len()));
        for (written, length) in writes.iter().zip(expected) {
            assert!(length.is_none_or(|length| length == written.len()), "{operation:?}");
        }
        Ok(writes.iter().map(|buffer| buffer.words().to_vec()).collect())
    }

    fn ints(values: &[i32]) -> Buffer {
        Buffer::from_values(Arrangement::Rows, values).expect("there is memory")
    }

    fn floats(values: &[f32]) -> Buffer {
        Buffer::from_values(Arrangement::Rows, values).expect("there is memory")
    }

    #[test]
    fn keys_of_both_kinds_are_sorted_with_their_signs() {
        assert_eq!(run(Sort { floats: false }, ints(&[5, -7, 0, -7])), Ok(vec![vec![1, 3, 2, 0]]));
        let keys = floats(&[0.5, -2.0, f32::INFINITY, -0.25, 0.0]);
        assert_eq!(run(Sort { floats: true }, keys), Ok(vec![vec![1, 3, 4, 0, 2]]));
    }

    #[test]
    fn sums_counts_and_lists() {
        let bits = |list: &[f32]| list.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
        assert_eq!(run(PrefixSum, floats(&[1.0, 2.0, 4.0])).map(|r| r[0].len()), Ok(3));
        assert_eq!(run(SuffixSum, floats(&[1.0, 2.0, 4.0])), Ok(vec![bits(&[7.0, 6.0, 4.0])]));
        assert_eq!(run(Offsets, ints(&[2, 0, 3])), Ok(vec![vec![0, 2, 2, 5]]));
        assert_eq!(run(Histogram { bins: 3 }, ints(&[2, 0, 2, 9])), Ok(vec![vec![1, 0, 2]]));
        let wanted = Buffer::from_values(Arrangement::Rows, &[true, false, true]).expect("there is memory");
        assert_eq!(run(Compact, wanted), Ok(vec![vec![0, 2]]));
    }

    #[test]
    fn boxes_are_listed_by_tile_within_the_memory() {
        let bounds = [[0.0f32, 0.0, 20.0, 10.0], [17.0, 17.0, 18.0, 18.0]];
        let tiles = Tiles { width: 32, height: 32, side: 16 };
        for arrangement in [Arrangement::Rows, Arrangement::Columns] {
            let bounds = Buffer::from_values(arrangement, &bounds).expect("there is memory");
            assert_eq!(run(tiles, bounds), Ok(vec![vec![0, 1, 2, 2, 3], vec![0, 0, 1]]));
        }
        let bounds = Buffer::from_values(Arrangement::Rows, &bounds).expect("there is memory");
        assert!(run_within(tiles, bounds, Some(3 * ENTRY - 1)).is_err_and(|e| e.starts_with("3 tiles")));
    }
}
