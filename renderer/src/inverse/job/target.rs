//! What a view of a job says: from where the scene is seen, and the pictures of what is to be seen there.

use super::file::ViewTable;
use super::target_picture::{Read, mask, picture};
use crate::camera::Projection;
use crate::film::undeveloped;
use crate::scene::{PLACES, Scene, View, ViewFault, is_place};
use glam::Vec3;
use kernels::jobs::codes;
use kernels::jobs::reading::Context;
use toml::Spanned;

/// From where the scene is seen, and what is to be seen there.
pub struct Target {
    pub view: View,
    pub size: (u32, u32),
    /// Of light, exposed as it is if the target is.
    pub pixels: Vec<Vec3>,
    /// How much each pixel counts: by its own alpha and by the mask.
    pub mask: Option<Vec<f32>>,
    pub weight: f32,
    /// It is as shown on a screen, by the film's exposure.
    pub(super) is_shown: bool,
}

impl Target {
    /// A hash of what is to be seen, from where, and of how much that counts.
    pub(super) fn fingerprint(&self) -> u64 {
        let View { position, target, up, projection } = &self.view;
        let pixels = self.pixels.iter().chain([position, target, up]).flat_map(|vector| vector.to_array());
        let numbers = pixels.chain(self.mask.iter().flatten().copied()).chain([self.weight]);
        let mut bytes: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
        bytes.extend(format!("{projection:?}").bytes());
        xxhash_rust::xxh3::xxh3_64_with_seed(&bytes, u64::from(self.size.0) << 32 | u64::from(self.size.1))
    }
}

/// A view with its pictures, whose sides can be halved so often; `None` after saying what is wrong.
pub(super) fn target(table: &ViewTable, scene: &Scene, halvings: u32, context: &mut Context) -> Option<Target> {
    let view = view(table, scene, context);
    let Read { mut pixels, weights, size, is_shown } = pictures(table, halvings, context)?;
    if is_shown {
        pixels.iter_mut().for_each(|pixel| *pixel = undeveloped(*pixel, scene.film.tone));
    }
    Some(Target { view: view?, size, pixels, mask: weights, weight: table.weight.unwrap_or(1.0), is_shown })
}

/// Says what is wrong with a view, as far as that does not depend on the scene.
pub(super) fn check(table: &ViewTable, halvings: u32, context: &mut Context) {
    let given = |of: &Option<Spanned<Vec<f32>>>, what, context: &mut Context| {
        let place = place(of, what, Vec3::ZERO, context);
        place.filter(|_| of.is_some())
    };
    let position = given(&table.position, "camera's position", context);
    let target = given(&table.look_at, "camera's target", context);
    let up = given(&table.up, "camera's up vector", context);
    if let (Some(position), Some(target)) = (position, target) {
        // Without an own one, any that is not along the line of sight stands for that of the scene.
        let up = up.unwrap_or_else(|| (target - position).any_orthogonal_vector());
        let view = View { position, target, up, projection: Projection::Panoramic };
        if let Some(fault) = view.fault() {
            tell(&fault, table, context);
        }
    }
    pictures(table, halvings, context);
}

/// The picture of a view, with the weights of its mask, too, if there is one.
fn pictures(table: &ViewTable, halvings: u32, context: &mut Context) -> Option<Read> {
    let mut read = picture(&table.target, context)?;
    let size = read.size;
    let unit = 1 << halvings;
    if !size.0.is_multiple_of(unit) || !size.1.is_multiple_of(unit) {
        let message = format!("{}×{} pixels cannot be halved so often as `halvings` says", size.0, size.1);
        let hint = format!("let the sides of targets be multiples of {unit}, or take fewer `halvings`");
        context.error(&codes::BAD_DATA, table.target.span(), message, hint);
        return None;
    }
    if let Some(name) = &table.mask {
        read.weigh(mask(name, size, context)?);
    }
    read.check(&table.target, table.mask.as_ref(), context)?;
    Some(read)
}

/// From where the scene is seen. What a scene would be refused for is refused here, too.
fn view(table: &ViewTable, scene: &Scene, context: &mut Context) -> Option<View> {
    let View { position, target, up, projection } = scene.view;
    let position = place(&table.position, "camera's position", position, context);
    let target = place(&table.look_at, "camera's target", target, context);
    let up = place(&table.up, "camera's up vector", up, context);
    let view = View { position: position?, target: target?, up: up?, projection };
    let fault = view.fault();
    if let Some(fault) = &fault {
        tell(fault, table, context);
    }
    fault.is_none().then_some(view)
}

/// Says what keeps a camera from standing as a view says.
fn tell(fault: &ViewFault, table: &ViewTable, context: &mut Context) {
    // The key itself may be the scene's, and then another one of the view is at odds with it.
    let up = table.up.as_ref();
    let keys = [up.filter(|_| fault.key == "up"), table.look_at.as_ref(), table.position.as_ref(), up];
    let at = keys.into_iter().flatten().next().map_or(table.at.span(), Spanned::span);
    context.error(&codes::CONFLICT, at, fault.message, fault.hint);
}

/// Three numbers of a view, or those of the scene; `None` after saying what is wrong.
fn place(given: &Option<Spanned<Vec<f32>>>, what: &str, otherwise: Vec3, context: &mut Context) -> Option<Vec3> {
    let Some(list) = given else { return Some(otherwise) };
    let [x, y, z] = list.get_ref()[..] else {
        let message = format!("the {what} has three numbers, and this has {}", list.get_ref().len());
        context.error(&codes::BAD_NUMBER, list.span(), message, "write [x, y, z]");
        return None;
    };
    if ![x, y, z].into_iter().all(is_place) {
        context.error(&codes::BAD_NUMBER, list.span(), format!("the {what} is [{x}, {y}, {z}]"), PLACES);
        return None;
    }
    Some(Vec3::new(x, y, z))
}
