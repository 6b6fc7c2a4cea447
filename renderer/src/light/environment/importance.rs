//! Directions sampled by how much light arrives from them at a surface, and their density: the luminance of an image of
//! the whole sphere times the cosine at a surface that faces one way.
//!
//! If lobes look for the same light, light sampling leaves to them what is the same from everywhere. It samples only
//! what stands out above the mean, and the smaller that is, the less often it samples at all (Karlík et al., "MIS
//! Compensation", 2019, whose tables lose a constant likewise). An even sky costs no shadow rays, and the noise of both
//! together is less than with tables of all light.
//!
//! Cells of equal angles are gathered in some hundred regions. For each class of normals there is a table of what
//! arrives from each region, so that a wall in the shade does not look for the sun behind it. Within a region, cells
//! are sampled by their luminance alone. (Clarberg et al., "Wavelet importance sampling" (2005), have the product of
//! light and scattering on every level; here the scattering is a cosine, and two levels suffice.) If anything is
//! sampled, a hundredth of the samples goes to all directions alike: what means hide within a cell can be drawn.

use super::cells::{Cells, Values};
use super::facing::{CLASSES, class, class_of, mean_cosine};
use super::grid::{Cell, Grid};
use super::latlong::LatLong;
use crate::math::lanes::{Row, Row3, lanes_of, wide};
use crate::math::uniform_cone;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;
use std::f32::consts::TAU;

/// Draws directions by their share of the light.
pub struct Importance {
    within: Cells,
    /// The columns and rows of cells in a region; those at the right and lower edge may have fewer.
    region: [u32; 2],
    regions_across: u32,
    /// For each region, its cells.
    cells: Vec<Grid>,
    /// For each class of normals, then for what faces no way, or all.
    facings: Vec<Facing>,
}

/// What is drawn for surfaces that face one way.
struct Facing {
    /// How often anything is.
    often: f32,
    /// The regions.
    regions: Grid,
}

/// Who else looks for the light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Lobes do.
    Lobes,
    /// Nobody does.
    Nobody,
}

/// How often something is drawn, times the share of what is to be drawn in all that arrives; at most always.
const OFTEN: f32 = 3.0;

/// The share of draws that go everywhere alike.
const EVEN: f32 = 0.01;

/// No direction is drawn with less, per steradian, while anything is.
pub const LEAST_DENSITY: f32 = EVEN / (2.0 * TAU);

/// Regions along u and along θ, at most.
const REGIONS: [usize; 2] = [16, 8];

/// Parts of a region, along u and along θ each, whose cosines are told apart.
const PARTS: usize = 4;

impl Importance {
    /// `values` of luminance, `columns` in each row; negative values and NaN count as 0.
    pub fn new(map: &LatLong, columns: usize, values: Values<'_>, others: Others) -> Importance {
        let luminance = values.numbers();
        // Of the brightest, so that no sum is too large.
        let brightest = luminance.iter().copied().filter(|l| l.is_finite()).fold(f32::MIN_POSITIVE, f32::max);
        let clean = |x: f32| if x.is_finite() { x.max(0.0) / brightest } else { 0.0 };
        let mut within = Cells::new(columns, values);
        // The light from each cell: all of it, and the part to draw.
        let mut light: Vec<f32> = luminance.iter().copied().map(clean).collect();
        let all = within.powers(&light);
        let mean = all.iter().map(|&p| f64::from(p)).sum::<f64>() / within.power_of_one();
        let above = if others == Others::Lobes { mean as f32 } else { 0.0 };
        light.iter_mut().for_each(|l| *l = (*l - above).max(0.0));
        let power = within.powers(&light);
        within.draw_by(light);
        let rows = within.rows as usize;

        let region = [columns.div_ceil(REGIONS[0]), rows.div_ceil(REGIONS[1])];
        let across = columns.div_ceil(region[0]);
        let whole = Span { left: 0, right: columns, top: 0, bottom: rows };
        let spans: Vec<Span> = whole.cut(region).collect();
        let cells = spans.iter().map(|s| {
            let weights: Vec<f32> =
                s.rows().flat_map(|y| power[y * columns + s.left..y * columns + s.right].to_vec()).collect();
            Grid::new(s.right - s.left, &weights)
        });
        let parts: Vec<Vec<Part>> = spans
            .iter()
            .map(|s| {
                let size = [(s.right - s.left).div_ceil(PARTS), (s.bottom - s.top).div_ceil(PARTS)];
                s.cut(size).map(|part| part.seen(map, &within, [&all, &power])).collect()
            })
            .collect();
        let facing = |cosine: &dyn Fn(&Part) -> f32| {
            let sum =
                |of: &Vec<Part>, which: usize| of.iter().map(|part| part.power[which] * cosine(part)).sum::<f32>();
            let drawn: Vec<f32> = parts.iter().map(|of| sum(of, 1)).collect();
            let all: f32 = parts.iter().map(|of| sum(of, 0)).sum();
            let share = if all > 0.0 { drawn.iter().sum::<f32>() / all } else { 0.0 };
            let often = match others {
                Others::Nobody => 1.0,
                // Less is rounding.
                Others::Lobes if share < 1e-5 => 0.0,
                Others::Lobes => (OFTEN * share).min(1.0),
            };
            Facing { often, regions: Grid::new(across, &drawn) }
        };
        let of_class = |number: usize| {
            let (normal, angle) = class(number);
            facing(&|part| mean_cosine(part.axis.dot(normal), part.angle + angle))
        };
        let facings = (0..CLASSES).map(of_class).chain([facing(&|_| 1.0)]).collect();
        let (cells, region) = (cells.collect(), region.map(|side| side as u32));
        Importance { within, region, regions_across: across as u32, cells, facings }
    }

    /// For each of the lanes a direction and its density per steradian, by a point of the unit square and the normal of the surface,
    /// which is 0 for what is lit from all sides. None where the light is left to others this time.
    pub fn sample(&self, map: &LatLong, lanes: u32, normals: &Row3, u: &[Vec2; LANES]) -> DrawnDirections {
        let mut drawn = DrawnDirections::default();
        draw(self, map, lanes, normals, u, &mut drawn);
        if drawn.lanes != 0 {
            // As for a direction that others drew: shares of the light add up to 1 to the bit.
            drawn.pdf = self.pdf(map, drawn.lanes, normals, &drawn.wi);
        }
        drawn
    }

    /// The densities, per steradian, with which `sample` draws the directions `d`.
    pub fn pdf(&self, map: &LatLong, lanes: u32, normals: &Row3, d: &Row3) -> Row {
        let mut pdf = [0.0; LANES];
        densities(self, map, lanes, normals, d, &mut pdf);
        pdf
    }

    /// The cells of a region.
    #[inline(always)]
    fn cells_of(&self, [across, down]: Cell) -> &Grid {
        &self.cells[(down * self.regions_across + across) as usize]
    }
}

/// Directions that lanes drew, and their densities per steradian.
#[derive(Default)]
pub struct DrawnDirections {
    /// A bit for each lane that has one. What the others have means nothing.
    pub lanes: u32,
    pub wi: Row3,
    pub pdf: Row,
}

wide! {
    /// Draws for some lanes. The densities are still to be found.
    fn draw(
        importance: &Importance,
        map: &LatLong,
        lanes: u32,
        normals: &Row3,
        u: &[Vec2; LANES],
        drawn: &mut DrawnDirections,
    ) {
        let mut classes = [0; LANES];
        for lane in 0..LANES {
            classes[lane] = class_of(normals.get(lane));
        }
        let (mut even, mut turns, mut theta) = (0, [0.0; LANES], [0.0; LANES]);
        for lane in lanes_of(lanes) {
            let (facing, u) = (&importance.facings[classes[lane] as usize], u[lane]);
            if u.y >= facing.often {
                continue;
            }
            drawn.lanes |= 1 << lane;
            let y = u.y / facing.often;
            if y < EVEN {
                even |= 1 << lane;
                continue;
            }
            let u = Vec2::new(u.x, ((y - EVEN) / (1.0 - EVEN)).clamp(0.0, 1.0_f32.next_down()));
            let (region, _, u) = facing.regions.sample(u);
            let ([column, row], _, u) = importance.cells_of(region).sample(u);
            let [width, height] = importance.region;
            let cell = [region[0] * width + column, region[1] * height + row];
            (turns[lane], theta[lane]) = importance.within.place(cell, u);
        }
        for lane in 0..LANES {
            drawn.wi.set(lane, map.direction(turns[lane], theta[lane]));
        }
        for lane in lanes_of(even) {
            let often = importance.facings[classes[lane] as usize].often;
            drawn.wi.set(lane, uniform_cone(Vec2::new(u[lane].x, u[lane].y / often / EVEN), 2.0));
        }
    }
}

wide! {
    /// Those of directions of some lanes.
    fn densities(importance: &Importance, map: &LatLong, lanes: u32, normals: &Row3, d: &Row3, pdf: &mut Row) {
        let (mut classes, mut us, mut downs) = ([0; LANES], [0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            classes[lane] = class_of(normals.get(lane));
            let uv = map.uv(d.get(lane));
            (us[lane], downs[lane]) = (uv.x, 1.0 - uv.y);
        }
        for lane in lanes_of(lanes) {
            let facing = &importance.facings[classes[lane] as usize];
            let [width, height] = importance.region;
            let ([column, row], within) = importance.within.find(Vec2::new(us[lane], downs[lane]));
            let region = [column / width, row / height];
            let cell = [column - region[0] * width, row - region[1] * height];
            let p = facing.regions.probability(region) * importance.cells_of(region).probability(cell);
            pdf[lane] = facing.often * (LEAST_DENSITY + (1.0 - EVEN) * p * within);
        }
    }
}

/// Some columns and rows of cells.
#[derive(Clone, Copy)]
struct Span {
    left: usize,
    right: usize,
    top: usize,
    bottom: usize,
}

/// What arrives from some cells, and a cone that they lie in.
struct Part {
    /// All of it, and what is to be drawn.
    power: [f32; 2],
    axis: Vec3,
    angle: f32,
}

impl Span {
    fn rows(&self) -> std::ops::Range<usize> {
        self.top..self.bottom
    }

    /// Pieces of so many columns and rows, or what is left, in rows.
    fn cut(self, [width, height]: [usize; 2]) -> impl Iterator<Item = Span> {
        let Span { left, right, top, bottom } = self;
        (top..bottom).step_by(height).flat_map(move |top| {
            (left..right).step_by(width).map(move |left| Span {
                left,
                right: (left + width).min(right),
                top,
                bottom: (top + height).min(bottom),
            })
        })
    }

    fn seen(&self, map: &LatLong, cells: &Cells, power: [&[f32]; 2]) -> Part {
        let at = |x: f32, y: f32| cells.direction(map, x, y);
        let columns = cells.columns as usize;
        let [left, right, top, bottom] = [self.left, self.right, self.top, self.bottom].map(|i| i as f32);
        let (x, y) = (0.5 * (left + right), 0.5 * (top + bottom));
        let axis = at(x, y);
        let outline =
            [(left, top), (right, top), (left, bottom), (right, bottom), (x, top), (x, bottom), (left, y), (right, y)];
        let angle = outline.map(|(x, y)| at(x, y).angle_between(axis)).into_iter().fold(0.0, f32::max);
        let line =
            |power: &[f32], y: usize| power[y * columns + self.left..y * columns + self.right].iter().sum::<f32>();
        Part { power: power.map(|power| self.rows().map(|y| line(power, y)).sum()), axis, angle }
    }
}
