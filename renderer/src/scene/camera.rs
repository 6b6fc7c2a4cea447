//! The camera of a scene.

use super::View;
use super::codes;
use super::context::Context;
use super::schema::CameraTable;
use crate::camera::Projection;
use glam::Vec3;
use ssl_compiler::diagnostics::closest;
use toml::Spanned;

/// Where it stands and how it sees; what is wrong is said.
pub fn view(table: &CameraTable, context: &mut Context) -> View {
    let position = context.vector(&Some(table.position.clone()), "camera's position", Vec3::ZERO);
    let target = context.vector(&Some(table.look_at.clone()), "camera's target", Vec3::NEG_Z);
    let up = context.vector(&table.up, "camera's up vector", Vec3::Y);
    let view = View { position, target, up, projection: projection(table, target.distance(position), context) };
    let forward = view.target - view.position;
    if forward == Vec3::ZERO {
        let message = "the camera looks at where it stands";
        context.error(&codes::CONFLICT, table.look_at.span(), message, "`look_at` must differ from `position`");
    } else if forward.normalize_or_zero().cross(view.up.normalize_or_zero()).length() < 1e-5 {
        let span = table.up.as_ref().map_or(table.look_at.span(), |up| up.span());
        let message = "the camera's up vector lies along its line of sight";
        context.error(&codes::CONFLICT, span, message, "choose another `up`, such as [0, 0, -1] when looking down");
    }
    view
}

const KINDS: [&str; 3] = ["perspective", "orthographic", "panoramic"];

/// `distance` is that of the target: what is looked at is in focus.
fn projection(table: &CameraTable, distance: f32, context: &mut Context) -> Projection {
    let kind = table.kind.as_ref().map_or("perspective", |k| k.get_ref().as_str());
    if let Some(given) = table.kind.as_ref().filter(|_| !KINDS.contains(&kind)) {
        let near = closest(kind, KINDS).map_or(String::new(), |k| format!("; did you mean `{k}`?"));
        let hint = format!("it must be `perspective`, `orthographic` or `panoramic`{near}");
        context.error(&codes::BAD_CHOICE, given.span(), format!("there is no camera type `{kind}`"), hint);
    }
    check_keys(table, kind, context);
    match kind {
        "orthographic" => Projection::Orthographic { width: context.number(&table.width, "width", 0.0..1e9, 2.0) },
        "panoramic" => Projection::Panoramic,
        _ => Projection::Perspective {
            fov: context.number(&table.fov, "field of view", 0.0..180.0, 40.0),
            // None is a lens without width.
            aperture: match &table.aperture {
                Some(zero) if *zero.get_ref() == 0.0 => 0.0,
                aperture => context.number(aperture, "aperture", 0.0..1e9, 0.0),
            },
            focus: context.number(&table.focus_distance, "focus distance", 0.0..1e9, distance),
        },
    }
}

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
            && KINDS.contains(&kind)
        {
            let message = format!("`{key}` means nothing for a camera of type `{kind}`");
            context.error(&codes::CONFLICT, value.span(), message, format!("it belongs to `{of}`"));
        }
    }
}
