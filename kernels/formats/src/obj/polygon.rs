//! Cuts polygons into triangles. A polygon comes as the fan about its first corner. The fan stays where it covers the polygon and
//! nothing else, as it does if the polygon is convex. Elsewhere ears are cut off one by one (Meisters 1975, "Polygons have ears"),
//! in the plane of the polygon. A polygon that crosses itself has no right cut; it still gets as many triangles.

use glam::{DVec2, DVec3, Vec3};
use std::collections::VecDeque;

/// How much of the polygon's area a triangle of a fan may cover the wrong way round: rounding puts corners that are meant to lie on
/// a straight edge a little beside it.
const SLACK: f64 = 1e-6;

/// Cuts a polygon anew if its fan does not fit. `fan` holds the numbers of the corners, and `position` gives those, which are finite.
pub fn cut(fan: &mut [[u32; 3]], position: impl Fn(u32) -> Vec3) {
    let at = |corner: u32| position(corner).as_dvec3();
    let product = |&[a, b, c]: &[u32; 3]| (at(b) - at(a)).cross(at(c) - at(a));
    // Newell's normal, as long as twice the area.
    let normal: DVec3 = fan.iter().map(product).sum();
    let least = -SLACK * normal.length_squared();
    if fan.iter().all(|triangle| product(triangle).dot(normal) >= least) {
        return;
    }
    let first = fan.iter().take(1).flat_map(|[a, b, _]| [*a, *b]);
    let corners: Vec<u32> = first.chain(fan.iter().map(|[_, _, c]| *c)).collect();
    let flat = flattened(normal);
    let ears = Outline::new(corners.iter().map(|corner| flat(at(*corner))).collect()).ears();
    for (triangle, ear) in fan.iter_mut().zip(ears) {
        *triangle = ear.map(|i| corners[i]);
    }
}

/// Two of the three coordinates of a plane's points, so that they run counter-clockwise about the normal. Turning the plane would
/// round; as it is, f64 tells exactly on which side of a line through two corners another one lies, unless they are far apart.
fn flattened(normal: DVec3) -> impl Fn(DVec3) -> DVec2 {
    let DVec3 { x, y, z } = normal.abs();
    let (u, v, left_out) = match () {
        () if x >= y && x >= z => (1, 2, 0),
        () if y >= z => (2, 0, 1),
        () => (0, 1, 2),
    };
    let (u, v) = if normal[left_out] < 0.0 { (v, u) } else { (u, v) };
    move |p| DVec2::new(p[u], p[v])
}

/// What is left of a polygon, counter-clockwise.
struct Outline {
    points: Vec<DVec2>,
    /// The corner before and the one after each.
    before: Vec<usize>,
    after: Vec<usize>,
    is_cut_off: Vec<bool>,
    /// The corners that are not convex at first, by growing x, or y if the polygon is longer that way. If any corner lies in a
    /// triangle, one of these does.
    notches: Vec<usize>,
    /// 0 for x, 1 for y.
    axis: usize,
}

impl Outline {
    fn new(points: Vec<DVec2>) -> Outline {
        let count = points.len();
        let before = (0..count).map(|i| (i + count - 1) % count).collect();
        let after = (0..count).map(|i| (i + 1) % count).collect();
        let low = points.iter().fold(DVec2::INFINITY, |low, p| low.min(*p));
        let size = points.iter().fold(DVec2::NEG_INFINITY, |high, p| high.max(*p)) - low;
        let axis = usize::from(size.y > size.x);
        let mut outline = Outline { points, before, after, is_cut_off: vec![false; count], notches: Vec::new(), axis };
        outline.notches = (0..count).filter(|i| !outline.is_convex(*i)).collect();
        outline.notches.sort_by(|a, b| outline.points[*a][axis].total_cmp(&outline.points[*b][axis]));
        outline
    }

    /// As many triangles as the polygon has corners, less two.
    fn ears(mut self) -> Vec<[usize; 3]> {
        let count = self.points.len();
        let mut ears = Vec::with_capacity(count);
        // What becomes of an ear that is cut off can make ears of its neighbours alone, so they are looked at again. They wait behind
        // the others: to cut off neighbours in turn would make triangles thin.
        let (mut queue, mut waiting): (VecDeque<usize>, _) = ((0..count).collect(), vec![1; count]);
        let (mut some, mut found) = (0, true);
        while ears.len() + 3 < count {
            let Some(corner) = queue.pop_front() else {
                // Only a polygon that touches itself comes to this, or one that crosses itself and is cut as it comes.
                if !found {
                    ears.push(self.cut_off(some));
                    some = self.after[some];
                    continue;
                }
                queue.extend((0..count).filter(|i| !self.is_cut_off[*i]));
                queue.iter().for_each(|i| waiting[*i] = 1);
                found = false;
                continue;
            };
            waiting[corner] -= 1;
            if waiting[corner] > 0 || self.is_cut_off[corner] || !self.is_ear(corner) {
                continue;
            }
            let ear @ [before, _, after] = self.cut_off(corner);
            ears.push(ear);
            queue.extend([before, after]);
            waiting[before] += 1;
            waiting[after] += 1;
            (some, found) = (after, true);
        }
        ears.push([self.before[some], some, self.after[some]]);
        ears
    }

    /// Leaves a corner out; the triangle that it made with its neighbours.
    fn cut_off(&mut self, corner: usize) -> [usize; 3] {
        let (before, after) = (self.before[corner], self.after[corner]);
        (self.after[before], self.before[after], self.is_cut_off[corner]) = (after, before, true);
        [before, corner, after]
    }

    /// Twice the area of a triangle, negative if its corners run clockwise.
    fn turn(&self, [a, b, c]: [usize; 3]) -> f64 {
        (self.points[b] - self.points[a]).perp_dot(self.points[c] - self.points[a])
    }

    fn is_convex(&self, corner: usize) -> bool {
        self.turn([self.before[corner], corner, self.after[corner]]) > 0.0
    }

    /// Whether a corner and its neighbours make a triangle that is part of the polygon.
    fn is_ear(&self, corner: usize) -> bool {
        let triangle = [self.before[corner], corner, self.after[corner]];
        let x = triangle.map(|i| self.points[i][self.axis]);
        let (low, high) = (x[0].min(x[1]).min(x[2]), x[0].max(x[1]).max(x[2]));
        let first = self.notches.partition_point(|i| self.points[*i][self.axis] < low);
        let mut near = self.notches[first..].iter().take_while(|i| self.points[**i][self.axis] <= high);
        self.is_convex(corner) && !near.any(|i| self.reaches_into(*i, triangle))
    }

    /// Whether a corner lies in a triangle of others. If it lies where one of them does, as at the end of a slit that leads to a
    /// hole, it counts if an edge goes from it into the triangle.
    fn reaches_into(&self, corner: usize, triangle: [usize; 3]) -> bool {
        if triangle.contains(&corner) || self.is_cut_off[corner] || self.is_convex(corner) {
            return false;
        }
        let [a, b, c] = triangle;
        for [tip, right, left] in [[a, b, c], [b, c, a], [c, a, b]] {
            if self.points[corner] == self.points[tip] {
                let inwards = |end: usize| self.turn([tip, right, end]) > 0.0 && self.turn([tip, end, left]) > 0.0;
                return inwards(self.before[corner]) || inwards(self.after[corner]);
            }
        }
        [[a, b, corner], [b, c, corner], [c, a, corner]].into_iter().all(|side| self.turn(side) >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fan(corners: usize) -> Vec<[u32; 3]> {
        (2..corners as u32).map(|i| [0, i - 1, i]).collect()
    }

    /// The triangles of a polygon in some plane, beginning with some corner, and the areas of those.
    fn cut_up(outline: &[(f32, f32)], plane: usize, begin: usize) -> (Vec<[u32; 3]>, Vec<f32>) {
        let [u, v, n] =
            [[Vec3::X, Vec3::Y, Vec3::Z], [Vec3::Z, Vec3::X, Vec3::Y], [Vec3::Z, Vec3::Y, Vec3::NEG_X]][plane];
        let mut positions: Vec<Vec3> = outline.iter().map(|(x, y)| u * *x + v * *y + n).collect();
        positions.rotate_left(begin);
        let mut triangles = fan(positions.len());
        cut(&mut triangles, |corner| positions[corner as usize]);
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| positions[i as usize]);
            0.5 * (b - a).cross(c - a).dot(n)
        };
        let areas = triangles.iter().map(area).collect();
        (triangles, areas)
    }

    /// An arrow, an L, a C, a comb with corners on straight edges, and a square with a hole that a slit leads to.
    const CONCAVE: [(&[(f32, f32)], f32); 5] = [
        (&[(-0.5, -0.5), (0.0, 0.0), (0.5, -0.5), (0.0, 0.9)], 0.45),
        (&[(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)], 3.0),
        (&[(0.0, 0.0), (3.0, 0.0), (3.0, 1.0), (1.0, 1.0), (1.0, 2.0), (3.0, 2.0), (3.0, 3.0), (0.0, 3.0)], 7.0),
        (
            &[
                (0.0, 0.0),
                (2.0, 0.0),
                (4.0, 0.0),
                (4.0, 2.0),
                (3.0, 1.0),
                (2.0, 2.0),
                (1.0, 1.0),
                (0.0, 2.0),
                (0.0, 1.0),
            ],
            6.0,
        ),
        (
            &[
                (0.0, 0.0),
                (4.0, 0.0),
                (4.0, 4.0),
                (0.0, 4.0),
                (0.0, 0.0),
                (1.0, 1.0),
                (1.0, 3.0),
                (3.0, 3.0),
                (3.0, 1.0),
                (1.0, 1.0),
            ],
            12.0,
        ),
    ];

    /// No triangle lies outside, which would add to the sum, or the wrong way round.
    #[test]
    fn triangles_cover_concave_polygons_once() {
        for (outline, area) in CONCAVE {
            for (plane, begin) in (0..3).flat_map(|plane| (0..outline.len()).map(move |begin| (plane, begin))) {
                let (triangles, areas) = cut_up(outline, plane, begin);
                assert_eq!(triangles.len(), outline.len() - 2);
                let sum: f32 = areas.iter().sum();
                assert!((sum - area).abs() < 1e-5 && areas.iter().all(|a| *a >= 0.0), "{outline:?} {begin}: {areas:?}");
            }
        }
    }

    /// That of a convex polygon, with corners on its edges, and that of a concave one about the right corner.
    #[test]
    fn fans_that_fit_stay() {
        let octagon = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (2.0, 1.0), (2.0, 2.0), (1.0, 2.0), (0.0, 2.0), (0.0, 1.0)];
        for begin in 0..8 {
            assert_eq!(cut_up(&octagon, 0, begin).0, fan(8));
        }
        assert_eq!(cut_up(CONCAVE[0].0, 0, 1).0, fan(4));
        assert_ne!(cut_up(CONCAVE[0].0, 0, 0).0, fan(4));
        // A quad that is bent has no plane, and is cut as it always was.
        let bent = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.5), Vec3::Y];
        let mut triangles = fan(4);
        cut(&mut triangles, |corner| bent[corner as usize]);
        assert_eq!(triangles, fan(4));
    }

    /// Polygons that have no area, or cross themselves, end, and have as many triangles as others.
    #[test]
    fn odd_polygons_are_cut_somehow() {
        let star = |n: usize| (0..n).map(move |i| (i * (n / 2)) as f32 / n as f32 * std::f32::consts::TAU);
        let stars = [5, 7, 999].map(|n| star(n).map(|a| (a.cos(), a.sin())).collect::<Vec<_>>());
        let bow = vec![(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.5)];
        let there_and_back = vec![(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.5, 0.0), (0.5, 1.0), (0.5, 0.0)];
        for outline in stars.into_iter().chain([bow, there_and_back, vec![(1.0, 1.0); 9]]) {
            let (triangles, _) = cut_up(&outline, 0, 0);
            assert_eq!(triangles.len(), outline.len() - 2);
            // Each corner still belongs to a triangle.
            assert!((0..outline.len() as u32).all(|i| triangles.as_flattened().contains(&i)));
        }
        cut(&mut [], |_| Vec3::ZERO);
    }
}
