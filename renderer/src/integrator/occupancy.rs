//! How full blocks of shaders and look-ups are: a block of one lane costs nearly what one of sixteen costs.

use ssl_compiler::runtime::LANES;

/// What runs in blocks of up to 16 lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole shaders, at the hits of paths.
    Surfaces,
    /// The emission of points that light sampling drew.
    Emission,
    /// What surfaces let pass of shadow rays.
    Opacity,
    /// Look-ups of an environment's image.
    Environment,
}

impl Kind {
    pub const ALL: [(Kind, &'static str); 4] = [
        (Kind::Surfaces, "surfaces"),
        (Kind::Emission, "emission"),
        (Kind::Opacity, "opacity"),
        (Kind::Environment, "environment"),
    ];
}

/// Blocks, and the lanes of them that were active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    pub blocks: u64,
    pub lanes: u64,
}

impl Blocks {
    /// Active lanes of a block, on average; 0 if there were no blocks.
    pub fn mean(self) -> f64 {
        self.lanes as f64 / self.blocks.max(1) as f64
    }
}

/// The blocks of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy([Blocks; Kind::ALL.len()]);

impl Occupancy {
    /// A block with so many active lanes.
    pub fn block(&mut self, kind: Kind, lanes: usize) {
        self.0[kind as usize].blocks += 1;
        self.0[kind as usize].lanes += lanes as u64;
    }

    /// So many lanes, one block after the other filled with them.
    pub fn filled(&mut self, kind: Kind, lanes: usize) {
        self.0[kind as usize].blocks += lanes.div_ceil(LANES) as u64;
        self.0[kind as usize].lanes += lanes as u64;
    }

    pub fn of(&self, kind: Kind) -> Blocks {
        self.0[kind as usize]
    }

    pub fn add(&mut self, other: &Occupancy) {
        for (all, more) in self.0.iter_mut().zip(other.0) {
            all.blocks += more.blocks;
            all.lanes += more.lanes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_fill_blocks() {
        let mut occupancy = Occupancy::default();
        occupancy.filled(Kind::Environment, 0);
        assert_eq!((occupancy.of(Kind::Environment), occupancy.of(Kind::Environment).mean()), (Blocks::default(), 0.0));
        occupancy.filled(Kind::Environment, 33);
        occupancy.block(Kind::Environment, 5);
        let mut twice = occupancy;
        twice.add(&occupancy);
        assert_eq!(twice.of(Kind::Environment), Blocks { blocks: 8, lanes: 76 });
        assert_eq!(twice.of(Kind::Environment).mean(), 9.5);
        assert_eq!(twice.of(Kind::Surfaces), Blocks::default());
    }
}
