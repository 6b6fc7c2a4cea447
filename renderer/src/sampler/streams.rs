//! Points of the streams of a block together. The hashes of a point are long chains of multiplications; of many streams side
//! by side they take little more time than those of one.

use super::Sampler;
use crate::math::lanes::wide;
use glam::Vec2;
use ssl_compiler::runtime::LANES;

/// The streams of the lanes of a block.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    keys: [u32; LANES],
    reversed: [u32; LANES],
}

impl Streams {
    /// Of as many samplers as a block has lanes at most; the points of the other lanes mean nothing.
    pub fn new(samplers: impl Iterator<Item = Sampler>) -> Streams {
        let mut streams = Streams { keys: [0; LANES], reversed: [0; LANES] };
        for (lane, sampler) in samplers.take(LANES).enumerate() {
            (streams.keys[lane], streams.reversed[lane]) = (sampler.key, sampler.reversed);
        }
        streams
    }

    /// Of each stream the point of a pair of dimensions, as [`Sampler::next_2d`] gives it.
    pub fn points(&self, pair: u32) -> [Vec2; LANES] {
        points_of(self, pair)
    }
}

wide! {
    fn points_of(streams: &Streams, pair: u32) -> [Vec2; LANES] {
        let (mut x, mut y) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let point = Sampler { key: streams.keys[lane], reversed: streams.reversed[lane], pair }.point();
            (x[lane], y[lane]) = (point.x, point.y);
        }
        std::array::from_fn(|lane| Vec2::new(x[lane], y[lane]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_the_points_of_their_samplers() {
        let samplers = |count: u32| (0..count).map(|i| Sampler::new(5, (i, 40 - i), i * i));
        for (count, pair) in [(16, 0), (16, 7), (3, 2), (0, 1)] {
            let points = Streams::new(samplers(count)).points(pair);
            for (lane, mut sampler) in samplers(count).enumerate() {
                sampler.start_at(pair);
                assert_eq!(sampler.next_2d(), points[lane], "{count} {pair} {lane}");
            }
        }
    }
}
