//! Fireflies: pixels that one sample in thousands made much brighter than all around. A fit would spread them over its
//! neighbours.

use super::planes::Planes;
use super::regression::LIGHT;

/// Pixels to either side that a pixel is compared with.
const RADIUS: usize = 2;
/// So many other pixels as bright make a highlight.
const HIGHLIGHT: usize = 3;
/// So many times as bright as the others is a firefly.
const BRIGHTER: f32 = 3.0;
/// The least error of a firefly, as a share of its value: about four of 16 samples bring all of a pixel's light.
const UNCERTAIN: f32 = 0.5;

/// The picture and its variance, with fireflies as bright as the third brightest of the pixels around them.
pub fn calm(light: &Planes, variance: &Planes) -> (Planes, Planes) {
    let (width, height) = light[0].size();
    let (mut calm, mut certain) = (light.clone(), variance.clone());
    let largest = |planes: &Planes| planes[0].zip(&planes[1], f32::max).zip(&planes[2], f32::max);
    let (values, squares) = (largest(light), largest(variance));
    let mut around = Vec::new();
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let own = values.get(x, y);
        if own <= 0.0 || squares.get(x, y) < UNCERTAIN * UNCERTAIN * own * own {
            continue;
        }
        let near = |at: usize, end: usize| at.saturating_sub(RADIUS)..(at + RADIUS + 1).min(end);
        around.clear();
        for row in near(y, height) {
            around
                .extend(near(x, width).filter(|column| (*column, row) != (x, y)).map(|column| values.get(column, row)));
        }
        around.sort_unstable_by(f32::total_cmp);
        let Some(limit) = around.len().checked_sub(HIGHLIGHT).map(|at| around[at].max(0.0)) else { continue };
        if own > BRIGHTER * limit {
            let share = limit / own;
            for c in 0..LIGHT {
                calm[c].set(x, y, light[c].get(x, y) * share);
                certain[c].set(x, y, variance[c].get(x, y) * share * share);
            }
        }
    }
    calm.extend();
    certain.extend();
    (calm, certain)
}
