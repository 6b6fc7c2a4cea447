//! How much light rough surfaces scatter once, which lobes need to make up for the rest. A lobe by itself does not follow light that
//! meets several microfacets before it leaves, so it darkens with roughness.
//!
//! Tables hold the directional albedos of light that is scattered once. Their nodes are means over visible normals and stand in
//! `energy.bin`, which `energy_tests.rs` computes.
//!
//! Directions are looked up where facets are stretched to a roughness of 1. Small slopes scatter the same share towards
//! all directions that are stretched to the same one. So tables vary slowly down to the least roughness.

use crate::math::Table;
use glam::Vec2;
use std::sync::LazyLock;

/// The reflectance of facets that mirror everything. Its coordinates are the height of the direction, which is even
/// about both ends, and the roughness above the least. `oracles/energy.rs` computes both.
pub static ROUND: LazyLock<Table<2, f32>> = LazyLock::new(|| ROUND_NODES.table().even_along([true, false]));

/// The reflectance of anisotropic facets, by height, the angle from the rougher axis, the larger roughness, and the
/// smaller one over it.
pub static STRETCHED: LazyLock<Table<4, f32>> =
    LazyLock::new(|| STRETCHED_NODES.table().even_along([true, true, false, false]));

/// The reflectance and transmittance of facets of a dielectric, by height, roughness and the index's reflectance, seen
/// from the lower index.
pub static INTO: LazyLock<Table<3, Vec2>> = LazyLock::new(|| glass(0));
/// The same shares, seen from the higher index. Nodes for directions crowd about the critical angle, the closer the smoother
/// facets are.
pub static OUT_OF: LazyLock<Table<3, Vec2>> = LazyLock::new(|| glass(2));

/// The root of the mean that Fresnel's equations give over the facets of a dielectric's boundary that reflect. A facet's weight
/// is its reflection as a mirror. The coordinates are the root of the amplitude over the largest amplitude, the root of the
/// cosine, and the roughness above the least.
pub static BOUNDARY: LazyLock<Table<3, f32>> = LazyLock::new(|| BOUNDARY_NODES.table());
/// The same root for anisotropic facets. The coordinates are amplitude, cosine, azimuth from the rougher axis, larger
/// roughness, and the smaller one over it.
pub static BOUNDARY_STRETCHED: LazyLock<Table<5, f32>> =
    LazyLock::new(|| BOUNDARY_STRETCHED_NODES.table().even_along([false, false, true, false, false]));

/// The amplitude that a boundary with an index of 10 reflects straight on: (η − 1)/(η + 1).
pub const LARGEST_AMPLITUDE: f32 = 9.0 / 11.0;

/// The nodes of tables in the file: the first coordinate runs fastest.
pub(super) struct Nodes<const N: usize> {
    pub from: usize,
    pub sizes: [usize; N],
}

pub(super) const ROUND_NODES: Nodes<2> = Nodes { from: 0, sizes: [32, 24] };
pub(super) const STRETCHED_NODES: Nodes<4> = Nodes { from: ROUND_NODES.end(), sizes: [24, 7, 14, 12] };
/// The reflectance and transmittance into glass, then out of it.
pub(super) const GLASS_NODES: [Nodes<3>; 4] = {
    const FIRST: usize = STRETCHED_NODES.end();
    const SIZES: [usize; 3] = [32, 20, 28];
    const COUNT: usize = SIZES[0] * SIZES[1] * SIZES[2];
    [
        Nodes { from: FIRST, sizes: SIZES },
        Nodes { from: FIRST + COUNT, sizes: SIZES },
        Nodes { from: FIRST + 2 * COUNT, sizes: SIZES },
        Nodes { from: FIRST + 3 * COUNT, sizes: SIZES },
    ]
};

pub(super) const BOUNDARY_NODES: Nodes<3> = Nodes { from: GLASS_NODES[3].end(), sizes: [16, 32, 24] };
pub(super) const BOUNDARY_STRETCHED_NODES: Nodes<5> = Nodes { from: BOUNDARY_NODES.end(), sizes: [10, 12, 11, 16, 7] };

/// Shares from 0 to 1 in steps of 1/65535, two bytes each, the lower first.
pub(super) static STORED: &[u8] = include_bytes!("energy.bin");

pub(super) fn stored(node: usize) -> f32 {
    f32::from(u16::from_le_bytes([STORED[2 * node], STORED[2 * node + 1]])) / f32::from(u16::MAX)
}

impl<const N: usize> Nodes<N> {
    pub const fn end(&self) -> usize {
        let (mut count, mut axis) = (1, 0);
        while axis < N {
            count *= self.sizes[axis];
            axis += 1;
        }
        self.from + count
    }

    fn values(&self) -> Vec<f32> {
        (self.from..self.end()).map(stored).collect()
    }

    fn table(&self) -> Table<N, f32> {
        Table::from_nodes(self.sizes, self.values())
    }
}

fn glass(first: usize) -> Table<3, Vec2> {
    let [reflected, refracted] = [first, first + 1].map(|i| GLASS_NODES[i].values());
    let both = reflected.into_iter().zip(refracted).map(|(x, y)| Vec2::new(x, y)).collect();
    Table::from_nodes(GLASS_NODES[first].sizes, both).even_along([true, false, false])
}
