//! Target and mask of a view, from their files.
//!
//! Alpha of a target is the weight of its pixels, and its color is unpremultiplied. A mask multiplies this weight by its own
//! luminance times its own alpha. In a crop, pixels outside of the data window have the weight 0.

use crate::scene::MAX_SIDE;
use formats::picture::{Floats, open};
use glam::Vec3;
use kernels::jobs::codes;
use kernels::jobs::reading::Context;
use ssl_compiler::input;
use toml::Spanned;

/// Of a file that is read.
const MOST_BYTES: u64 = 1 << 32;

/// Of a picture; they take 4 GiB while it is read.
const MOST_PIXELS: u64 = 1 << 28;

/// A picture in linear light, rows from the top.
pub struct Read {
    pub pixels: Vec<Vec3>,
    /// How much each pixel counts, where not all count 1.
    pub weights: Option<Vec<f32>>,
    pub size: (u32, u32),
    /// The file holds display values, and not light.
    pub is_shown: bool,
}

impl Read {
    /// Multiplies weights by a mask.
    pub fn weigh(&mut self, mask: Vec<f32>) {
        self.weights = Some(match self.weights.take() {
            Some(own) => own.into_iter().zip(mask).map(|(a, b)| a * b).collect(),
            None => mask,
        });
    }

    /// Whether some pixel has a weight, and all pixels with a weight are finite. Pixels of weight 0 become black.
    pub fn check(
        &mut self,
        target: &Spanned<String>,
        mask: Option<&Spanned<String>>,
        context: &mut Context,
    ) -> Option<()> {
        if let Some(weights) = &self.weights {
            if weights.iter().all(|w| *w == 0.0) {
                let path = context.path(target);
                let beside = if mask.is_some() { " beside its mask" } else { "" };
                let message = format!("no pixel of `{}` counts{beside}: its alpha is 0 everywhere", path.display());
                let hint = "alpha says how much a pixel counts; save the target without alpha if all are to count";
                context.error(&codes::BAD_DATA, target.span(), message, hint);
                return None;
            }
            let of_none = self.pixels.iter_mut().zip(weights).filter(|(_, weight)| **weight == 0.0);
            of_none.for_each(|(pixel, _)| *pixel = Vec3::ZERO);
        }
        let Some((x, y, pixel)) = not_finite(&self.pixels, self.size.0) else { return Some(()) };
        let message = format!("`{}` has {pixel} at pixel ({x}, {y})", context.path(target).display());
        let hint = "light is finite; mend the picture, or let a mask be black there";
        context.error(&codes::BAD_DATA, target.span(), message, hint);
        None
    }
}

/// The first pixel that is not finite: its column, its row and its value.
pub fn not_finite(pixels: &[Vec3], width: u32) -> Option<(usize, usize, Vec3)> {
    let at = pixels.iter().position(|pixel| !pixel.is_finite())?;
    let width = width.max(1) as usize;
    Some((at % width, at / width, pixels[at]))
}

/// The target of a name; `None` after reporting a fault.
pub fn picture(name: &Spanned<String>, context: &mut Context) -> Option<Read> {
    let floats = floats(name, "target", context)?;
    let [width, height] = floats.size;
    let (mut pixels, mut weights) = (Vec::with_capacity(floats.pixels.len()), Vec::with_capacity(floats.pixels.len()));
    for index in 0..floats.pixels.len() {
        let (color, weight) = floats.covered(index);
        pixels.push(Vec3::from(color));
        weights.push(weight);
    }
    let weights = Some(weights).filter(|weights| weights.iter().any(|w| *w != 1.0));
    Some(Read { pixels, weights, size: (width, height), is_shown: floats.is_shown })
}

/// The weights of the mask of a name, which is as large as its target; `None` after reporting a fault.
pub fn mask(name: &Spanned<String>, size: (u32, u32), context: &mut Context) -> Option<Vec<f32>> {
    let floats = floats(name, "mask", context)?;
    let [width, height] = floats.size;
    if (width, height) != size {
        let message = format!("the mask has {width}×{height} pixels, and the target {}×{}", size.0, size.1);
        context.error(&codes::BAD_DATA, name.span(), message, "make them equally large");
        return None;
    }
    let weight = |index: usize| {
        let (color, alpha) = floats.covered(index);
        crate::math::luminance(Vec3::from(color)) * alpha
    };
    let weights: Vec<f32> = (0..floats.pixels.len()).map(weight).collect();
    let file = context.path(name).display().to_string();
    let refuse = |message: String, hint: &str, context: &mut Context| {
        context.error(&codes::BAD_DATA, name.span(), message, hint);
        None
    };
    if let Some(at) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        let message = format!("the mask `{file}` has {} {}", weights[at], place(at, size));
        return refuse(message, "a weight is 0 or more: black counts nothing, and white counts whole", context);
    }
    if weights.iter().all(|w| *w == 0.0) {
        let message = format!("the mask `{file}` is black, or transparent, everywhere: no pixel counts");
        return refuse(message, "let it be white where the target counts", context);
    }
    Some(weights)
}

fn place(index: usize, (width, _): (u32, u32)) -> String {
    let width = width.max(1) as usize;
    format!("at pixel ({}, {})", index % width, index / width)
}

/// A picture of a view as it is; `what` it is to be.
fn floats(name: &Spanned<String>, what: &str, context: &mut Context) -> Option<Floats> {
    let path = context.path(name);
    if let Err(e) = input::open(&path, MOST_BYTES) {
        context.unreadable(name, &e);
        return None;
    }
    let read = open(&path, false).map_err(|e| format!("is no picture that can be read: {e}")).and_then(|rows| {
        let [width, height] = rows.picture().whole();
        if width.max(height) > MAX_SIDE {
            return Err(format!("has {width}×{height} pixels, and a side of a {what} has {MAX_SIDE} at most"));
        }
        if u64::from(width) * u64::from(height) > MOST_PIXELS {
            return Err(format!("has {width}×{height} pixels, and a {what} has {MOST_PIXELS} at most"));
        }
        Floats::read(rows, false).map_err(|e| format!("is no picture that can be read: {e}"))
    });
    let hint =
        "targets and masks are pictures with light (.exr, .hdr), or as they are shown (.png, .jpg, .tif, .tga, .bmp)";
    read.map_err(|why| context.error(&codes::BAD_DATA, name.span(), format!("`{}` {why}", path.display()), hint)).ok()
}
