//! Views that show what the renderer did instead of light: values as they are, or false colors.

use super::palette::{emission_color, fault_color, level_color, lobe_color, nothing, number_color};
use super::path::Path;
use super::watch::WatchedLookUps;
use crate::bsdf::Bsdf;
use crate::film::ToneCurve;
use crate::geometry::Wanted;
use crate::material::{HitValues, Shaded, ShadingPoint};
use crate::math::max_channel;
use crate::scene::Scene;
use glam::Vec3;
use ssl_compiler::diagnostics::closest;
use ssl_compiler::runtime::Order;
use ssl_compiler::types::{Type, VectorKind};

/// What to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The mip level of the look-ups: of several the finest. Mirrors are followed while nothing but them is met.
    MipLevel,
    /// Of the look-ups the longest step that a pixel makes in a texture. Mirrors are followed as above.
    Footprint,
    /// The kinds of lobes of the first hit, by their shares of the light.
    Lobe,
    /// Nanoseconds in which shaders ran for the samples of the pixel, over whole paths.
    Time,
    /// Where whole paths came to NaN or infinity.
    Nan,
    /// A global at the first hit, or a partial of it, by its number in the scene's layout.
    Global { field: usize, order: Order },
}

/// A hit that may be shown.
pub struct Shown<'a> {
    pub point: &'a ShadingPoint,
    pub shaded: &'a Shaded,
    pub bsdf: &'a Bsdf<'a>,
    /// What the shader did in this lane.
    pub seen: (&'a WatchedLookUps, usize),
    /// There is nothing but mirrors, and the path may follow them.
    pub mirrors: bool,
}

/// Views that do not depend on the scene.
const FIXED: [(&str, View); 5] = [
    ("mip-level", View::MipLevel),
    ("footprint", View::Footprint),
    ("lobe", View::Lobe),
    ("shader-time", View::Time),
    ("nan", View::Nan),
];

impl View {
    /// The view of that name: one of those that there always are, a global, or `ddx:` or `ddy:` and a global that has
    /// partials. The error lists them all.
    pub fn named(name: &str, values: &HitValues) -> Result<View, String> {
        if let Some((_, view)) = FIXED.iter().find(|(n, _)| *n == name) {
            return Ok(*view);
        }
        let (order, global) = match name.split_once(':') {
            Some(("ddx", global)) => (Order::Ddx, global),
            Some(("ddy", global)) => (Order::Ddy, global),
            _ => (Order::Value, name),
        };
        let layout = values.layout();
        // The layer is called so; a variable of the scene of that name comes first.
        let global = if global == "uv" && layout.find(global).is_none() { "uvw" } else { global };
        if let Some((field, f)) = layout.find(global)
            && f.row(0, order).is_some()
            && f.ty != Type::Matrix
        {
            return Ok(View::Global { field, order });
        }
        let fields = || layout.fields().iter().filter(|f| f.ty != Type::Matrix);
        let partial = |f: &&ssl_compiler::runtime::GlobalField| f.row(0, Order::Ddx).is_some();
        let plain: Vec<&str> = FIXED.iter().map(|(n, _)| *n).chain(fields().map(|f| f.name.as_str())).collect();
        let varying: Vec<&str> = fields().filter(partial).map(|f| f.name.as_str()).collect();
        let near = closest(name, plain.iter().copied()).map_or(String::new(), |n| format!("did you mean `{n}`? "));
        let (plain, varying) = (plain.join(", "), varying.join(", "));
        Err(format!("{near}There are {plain}; and ddx: or ddy: before {varying}"))
    }

    /// How its picture is shown on a screen.
    pub fn tone(self, values: &HitValues) -> ToneCurve {
        match self {
            View::Time => ToneCurve::Scaled,
            View::Global { order: Order::Ddx | Order::Ddy, .. } => ToneCurve::Signed,
            View::Global { field, .. } => match values.layout().field(field).ty {
                Type::Vector(VectorKind::Color) | Type::Bool | Type::Int => ToneCurve::Clamp,
                _ => ToneCurve::Signed,
            },
            _ => ToneCurve::Clamp,
        }
    }

    /// Whether paths are traced to their end, as without it.
    pub fn is_of_whole_paths(self) -> bool {
        matches!(self, View::Time | View::Nan)
    }

    /// Whether it must be known which textures shaders look up.
    pub fn watches_look_ups(self) -> bool {
        matches!(self, View::MipLevel | View::Footprint)
    }

    /// The partials that it shows.
    pub fn wanted(self) -> Wanted {
        match self {
            View::Global { order: Order::Ddx | Order::Ddy, .. } => Wanted::ALL,
            _ => Wanted::default(),
        }
    }

    /// What is shown of a hit; `None` where it shows what is met further on.
    pub fn of_hit(self, scene: &Scene, hit: &Shown<'_>) -> Option<Vec3> {
        let (seen, lane) = hit.seen;
        match self {
            View::MipLevel | View::Footprint if seen.level[lane].is_none() && hit.mirrors => None,
            View::MipLevel => Some(level_color(seen.level[lane])),
            View::Footprint => Some(level_color(seen.footprint[lane].map(f32::log2))),
            View::Lobe => Some(lobes(hit)),
            View::Global { field, order } => Some(self.global(scene, hit, field, order)),
            View::Time | View::Nan => None,
        }
    }

    fn global(self, scene: &Scene, hit: &Shown<'_>, field: usize, order: Order) -> Vec3 {
        let value = scene.values.at(field, order, hit.point, scene.surroundings()).unwrap_or_default();
        match (&scene.values.layout().field(field).ty, &value[..]) {
            (Type::Int, &[number]) => number_color(number as i32),
            (_, &[one]) => Vec3::splat(one),
            (_, &[x, y]) => Vec3::new(x, y, 0.0),
            (_, &[x, y, z, ..]) => Vec3::new(x, y, z),
            _ => Vec3::ZERO,
        }
    }

    /// What is shown of the environment, whose image is read at `level`.
    pub fn of_environment(self, level: Option<f32>) -> Vec3 {
        match self {
            View::MipLevel => level_color(level),
            View::Footprint | View::Lobe => nothing(),
            _ => Vec3::ZERO,
        }
    }

    /// What is shown of a whole path.
    pub fn of_path(self, path: &Path) -> Vec3 {
        match self {
            View::Time => Vec3::splat(path.nanoseconds),
            View::Nan if path.faulty => fault_color(),
            View::Nan => nothing(),
            _ => path.radiance,
        }
    }
}

/// The colors of lobes and emission, mixed by how much light they are of: emission by its radiance, at most as much as all
/// lobes together could be.
fn lobes(hit: &Shown<'_>) -> Vec3 {
    let emission = max_channel(hit.shaded.emission).clamp(0.0, 1.0);
    let share = |l: &crate::bsdf::Weighted<'_>| max_channel((l.weight * l.lobe.directional_albedo(hit.bsdf.wo)).abs());
    let total = hit.bsdf.all().map(|l| share(&l)).sum::<f32>() + emission;
    if total <= 0.0 {
        return nothing();
    }
    let lobes: Vec3 = hit.bsdf.all().map(|l| lobe_color(l.lobe) * share(&l)).sum();
    (lobes + emission_color() * emission) / total
}
