//! The camera of a scene.

use super::context::Context;
use super::models::gltf::{self, CameraProjection};
use super::schema::CameraTable;
use super::setup::View;
use super::{codes, nearby};
use crate::camera::Projection;
use glam::{DVec3, Vec3};
use toml::Spanned;

/// Why a camera cannot stand as it is to stand.
pub struct ViewFault {
    /// The key to change, `look_at` or `up`.
    pub key: &'static str,
    pub message: &'static str,
    pub hint: &'static str,
}

impl View {
    /// What keeps a camera from standing so, if anything.
    pub fn fault(&self) -> Option<ViewFault> {
        let forward = self.target - self.position;
        if forward == Vec3::ZERO {
            let message = "the camera looks at where it stands";
            return Some(ViewFault { key: "look_at", message, hint: "`look_at` must differ from `position`" });
        }
        let along = forward.normalize_or_zero().cross(self.up.normalize_or_zero()).length() < 1e-5;
        along.then_some(ViewFault {
            key: "up",
            message: "the camera's up vector lies along its line of sight",
            hint: "choose another `up`, such as [0, 0, -1] when looking down",
        })
    }
}

/// Where it stands and how it sees, for a film so many times as wide as high; what is wrong is said.
pub fn view(table: &CameraTable, aspect: f32, context: &mut Context) -> View {
    if let Some(file) = &table.file {
        return of_file(table, file, aspect, context);
    }
    if let Some(name) = &table.name {
        let message = "`name` chooses a camera of a file, and there is none";
        context.error(&codes::CONFLICT, name.span(), message, "add `file = \"….glb\"`");
    }
    let (Some(_), Some(look_at)) = (&table.position, &table.look_at) else {
        let key = if table.position.is_none() { "position" } else { "look_at" };
        let hint = format!("add `{key} = [x, y, z]`, or `file = \"….glb\"` for the camera of a glTF file");
        let message = format!("the camera has no `{key}`");
        if !table.spoiled {
            context.error(&codes::CONFLICT, table.at.span(), message, hint);
        }
        return View { projection: projection(table, None, 1.0, context), ..ANYWHERE };
    };
    let position = context.vector(&table.position, "camera's position", Vec3::ZERO);
    let target = context.vector(&table.look_at, "camera's target", Vec3::NEG_Z);
    let up = context.vector(&table.up, "camera's up vector", Vec3::Y);
    let projection = projection(table, None, target.distance(position), context);
    let view = View { position, target, up, projection };
    if let Some(ViewFault { key, message, hint }) = view.fault() {
        let up = table.up.as_ref().filter(|_| key == "up");
        context.error(&codes::CONFLICT, up.unwrap_or(look_at).span(), message, hint);
    }
    view
}

const ANYWHERE: View =
    View { position: Vec3::ZERO, target: Vec3::NEG_Z, up: Vec3::Y, projection: Projection::Panoramic };

/// That of a glTF file. Keys of the table that say how it sees go before what the file says.
fn of_file(table: &CameraTable, file: &Spanned<String>, aspect: f32, context: &mut Context) -> View {
    let placed = [("position", &table.position), ("look_at", &table.look_at), ("up", &table.up)];
    if let Some((key, Some(given))) = placed.into_iter().find(|(_, given)| given.is_some()) {
        let message = format!("both `file` and `{key}` say where the camera stands");
        context.error(&codes::CONFLICT, given.span(), message, "keep one of them");
    }
    let path = context.path(file.get_ref());
    let camera = match gltf::camera(&path, table.name.as_ref().map(|n| n.get_ref().as_str())) {
        Ok(camera) => camera,
        Err(why) => {
            let at = table.name.as_ref().unwrap_or(file).span();
            let hint = "the file must be glTF 2.0 with a camera; without `name` its first one counts";
            let message = format!("`{}` cannot be used: {why}", path.display());
            context.error(&codes::BAD_CAMERA, at, message, nearby::hint(&path, hint));
            return ANYWHERE;
        }
    };
    let position = camera.to_world.translation.as_vec3();
    let along = |v: DVec3| camera.to_world.transform_vector3(v).normalize_or(v).as_vec3();
    let (target, up) = (position + along(DVec3::NEG_Z), along(DVec3::Y));
    // Films are measured by their width.
    let own = match camera.projection {
        CameraProjection::Perspective { fov } => {
            let across = ((0.5 * fov).to_radians().tan() * aspect).atan().to_degrees() * 2.0;
            Projection::Perspective { fov: across, aperture: 0.0, focus: 1.0 }
        }
        CameraProjection::Orthographic { width } => Projection::Orthographic { width },
    };
    let usable = match own {
        Projection::Perspective { fov, .. } => fov > 0.0 && fov < 180.0,
        Projection::Orthographic { width } => width > 0.0 && width < 1e9,
        Projection::Panoramic => true,
    };
    if !usable || !position.is_finite() {
        let message = format!("the camera of `{}` cannot be used", path.display());
        context.error(&codes::BAD_CAMERA, file.span(), message, "its angle of view or its place is no usable number");
    }
    View { position, target, up, projection: projection(table, Some(own), 1.0, context) }
}

/// `own` is that of a file, which counts where the table says nothing. `distance` is that of the target: what is looked at
/// is in focus.
fn projection(table: &CameraTable, own: Option<Projection>, distance: f32, context: &mut Context) -> Projection {
    let of_file = match own {
        Some(Projection::Orthographic { .. }) => "orthographic",
        _ => "perspective",
    };
    let kind = table.kind.as_ref().map_or(of_file, |k| k.get_ref().as_str());
    let (own_fov, own_width) = match own {
        Some(Projection::Perspective { fov, .. }) => (fov, 2.0),
        Some(Projection::Orthographic { width }) => (40.0, width),
        _ => (40.0, 2.0),
    };
    check_keys(table, kind, context);
    match kind {
        "orthographic" => {
            Projection::Orthographic { width: context.number(&table.width, "width", 0.0..1e9, own_width) }
        }
        "panoramic" => Projection::Panoramic,
        _ => Projection::Perspective {
            fov: field_of_view(table, own_fov, context),
            // None is a lens without width.
            aperture: match &table.aperture {
                Some(zero) if *zero.get_ref() == 0.0 => 0.0,
                aperture => context.number_within(aperture, "aperture", 0.0..=1e9, 0.0),
            },
            focus: context.number(&table.focus_distance, "focus distance", 0.0..1e9, distance),
        },
    }
}

/// In degrees. One that is likely in radians is spoken of.
fn field_of_view(table: &CameraTable, own: f32, context: &mut Context) -> f32 {
    let fov = context.number(&table.fov, "field of view", 0.0..180.0, own);
    if let Some(given) = table.fov.as_ref().filter(|_| RADIANS.contains(&fov)) {
        let message = format!("the field of view is {fov} degrees, which is very narrow");
        let hint = format!("it is in degrees: {fov} radians are `fov = {:.1}`", fov.to_degrees());
        context.warn(&codes::UNLIKELY, given.span(), message, hint);
    }
    fov
}

/// Angles of view that look like radians: from about 10 to below 180 degrees.
const RADIANS: std::ops::Range<f32> = 0.17..std::f32::consts::PI;

/// Says which keys belong to another type.
fn check_keys(table: &CameraTable, kind: &str, context: &mut Context) {
    let keys: [(&str, &str, &Option<Spanned<f32>>); 4] = [
        ("fov", "perspective", &table.fov),
        ("aperture", "perspective", &table.aperture),
        ("focus_distance", "perspective", &table.focus_distance),
        ("width", "orthographic", &table.width),
    ];
    for (key, of, value) in keys {
        if let Some(value) = value
            && of != kind
        {
            let message = format!("`{key}` means nothing for a camera of type `{kind}`");
            context.error(&codes::CONFLICT, value.span(), message, format!("it belongs to `{of}`"));
        }
    }
}
