//! A report as text.

use super::report::{Bounds, Light, Report, Shape, Texture};

pub fn of(r: &Report) -> String {
    let mut out = format!("{}\n", r.scene);
    let mut line = |name: &str, text: String| out += &format!("  {name:<12} {text}\n");
    line("bounds", r.bounds.as_ref().map_or("nothing is there".to_owned(), bounds));
    let c = &r.camera;
    let angle = c.fov.map(|fov| format!(", {fov}° across")).or(c.width.map(|width| format!(", {width} across")));
    let (at, towards) = (triple(&c.position), triple(&c.look_at));
    line("camera", format!("{} at {at} towards {towards}{}", c.kind, angle.unwrap_or_default()));
    let layers = if r.film.aovs.is_empty() { String::new() } else { format!(", layers {}", r.film.aovs.join(", ")) };
    line("film", format!("{}×{}, exposure {}{layers}", r.film.width, r.film.height, r.film.exposure));
    let i = &r.integrator;
    line("integrator", format!("{} samples per pixel, max_depth {}, seed {}", i.samples, i.max_depth, i.seed));
    let n = &r.counts;
    let primitives: Vec<String> =
        n.primitives.iter().map(|(kind, n)| count(*n, kind.trim_end_matches('s').replace('_', " ").as_str())).collect();
    let groups = format!("{}, {}, {} placed", count(n.groups, "group"), count(n.instances, "instance"), n.placed);
    line("counts", format!("{} of {}; {groups}", count(n.shapes, "shape"), or_nothing(primitives.join(", "))));
    line("environment", r.environment.to_owned());
    section(&mut out, "shapes", r.shapes.iter().map(shape));
    let material =
        |m: &super::report::Material| format!("{} {}, on {}", m.material_id, m.name, count(m.shapes, "shape"));
    section(&mut out, "materials", r.materials.iter().map(material));
    section(&mut out, "textures", r.textures.iter().map(texture));
    section(&mut out, "lights", r.lights.iter().map(light));
    out
}

fn section(out: &mut String, name: &str, lines: impl ExactSizeIterator<Item = String>) {
    *out += &format!("{name}: {}\n", lines.len());
    lines.for_each(|line| *out += &format!("  {line}\n"));
}

fn or_nothing(text: String) -> String {
    if text.is_empty() { "nothing".to_owned() } else { text }
}

fn shape(s: &Shape) -> String {
    let what = match (s.places, &s.material) {
        (Some(group), _) => format!("of group {group}"),
        (None, Some(material)) => format!("of {} in `{material}`", count(s.primitives, "primitive")),
        (None, None) => format!("of {}", count(s.primitives, "primitive")),
    };
    let group = if s.group == 0 { String::new() } else { format!(", in group {}", s.group) };
    let place = s.bounds.as_ref().map_or(String::new(), |b| format!(", {}", bounds(b)));
    format!("{} {} {what}{group}{place}", s.object_id, s.kind)
}

fn texture(t: &Texture) -> String {
    let bytes = match t.bytes {
        n if n < 1 << 20 => format!("{} KB", n.div_ceil(1 << 10)),
        n => format!("{:.1} MB", n as f64 / f64::from(1 << 20)),
    };
    let channels = count(t.channels, "channel");
    format!(
        "{}: {}×{}, {channels} of {}, {}, {} levels, {bytes}",
        t.file, t.width, t.height, t.sample, t.color, t.levels
    )
}

fn light(l: &Light) -> String {
    let mut out = l.object_id.map_or(l.kind.to_owned(), |id| format!("{} {id}", l.kind));
    if let Some(group) = l.group.filter(|group| *group != 0) {
        out += &format!(" in group {group}");
    }
    for (name, value) in [("at", &l.position), ("towards", &l.direction), ("strength", &l.strength)] {
        if let Some(value) = value {
            out += &format!(" {name} {}", triple(value));
        }
    }
    if l.strength.is_none() {
        out += ", as its shader says";
    }
    out
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn bounds(b: &Bounds) -> String {
    format!("from {} to {}", triple(&b.least), triple(&b.most))
}

fn triple([x, y, z]: &[f32; 3]) -> String {
    format!("({x}, {y}, {z})")
}
