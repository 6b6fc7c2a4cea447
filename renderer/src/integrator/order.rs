//! Puts paths in order, and cuts what is in order into blocks. Their numbers are small and many, so marking each takes less time than comparing them.

use ssl_compiler::runtime::LANES;

/// Where the block that starts at `begin` ends: at most 16 items of one key.
pub fn block_end<T>(items: &[T], begin: usize, key: impl Fn(&T) -> u32) -> usize {
    let same = items[begin..].iter().take(LANES).take_while(|item| key(item) == key(&items[begin]));
    begin + same.count()
}

/// Memory of these, used over and over.
#[derive(Default)]
pub struct Order {
    marks: Vec<u64>,
    begins: Vec<u32>,
}

impl Order {
    /// Sorts numbers that are all different and below `bound`.
    pub fn sort(&mut self, numbers: &mut Vec<u32>, bound: usize) {
        self.marks.clear();
        self.marks.resize(bound.div_ceil(64), 0);
        for number in numbers.drain(..) {
            self.marks[number as usize / 64] |= 1 << (number % 64);
        }
        for (word, mut marks) in self.marks.iter().copied().enumerate() {
            while marks != 0 {
                numbers.push(word as u32 * 64 + marks.trailing_zeros());
                marks &= marks - 1;
            }
        }
    }

    /// Puts items into the order of their keys, which are below `bound`; those of one key stay in their order. What is in
    /// `sorted` is lost.
    pub fn sort_by_key<T: Copy>(
        &mut self,
        items: &mut Vec<T>,
        sorted: &mut Vec<T>,
        bound: usize,
        key: impl Fn(&T) -> u32,
    ) {
        if items.is_sorted_by_key(&key) {
            return;
        }
        sorted.clear();
        // Of more keys than that most would be counted in vain.
        if bound > 8 * items.len() {
            sorted.extend_from_slice(items);
            sorted.sort_by_key(&key);
        } else {
            self.begins.clear();
            self.begins.resize(bound + 1, 0);
            items.iter().for_each(|item| self.begins[key(item) as usize + 1] += 1);
            for i in 0..bound {
                self.begins[i + 1] += self.begins[i];
            }
            // Any items: each is written over by the one that belongs there.
            sorted.extend_from_slice(items);
            for item in items.iter() {
                let place = &mut self.begins[key(item) as usize];
                sorted[*place as usize] = *item;
                *place += 1;
            }
        }
        std::mem::swap(items, sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;

    #[test]
    fn both_orders_are_those_of_a_sort() {
        let mut order = Order::default();
        let mut sampler = Sampler::new(3, (0, 0), 0);
        let mut random = |most: u32| (sampler.next_1d() * most as f32) as u32;
        for round in 0..200 {
            let bound = 1 + random(if round % 2 == 0 { 2000 } else { 70 });
            let mut numbers: Vec<u32> = (0..bound).filter(|_| random(3) == 0).collect();
            let expected = numbers.clone();
            for i in (1..numbers.len()).rev() {
                numbers.swap(i, random(i as u32 + 1) as usize);
            }
            order.sort(&mut numbers, bound as usize);
            assert_eq!(numbers, expected);
            // Of few keys and of many.
            let keys = [1, 2, 7, 100, 100_000][round % 5];
            let mut items: Vec<(u32, usize)> = (0..random(300) as usize).map(|i| (random(keys), i)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            order.sort_by_key(&mut items, &mut vec![(9, 9); 3], keys as usize, |item| item.0);
            assert_eq!(items, expected);
        }
    }
}
