//! Every number of the scene schema with values that nobody means: 0, the smallest, huge ones, NaN and infinities. Each scene
//! is refused with a reason or rendered to a picture of numbers, within bounds of time and memory.
//!
//! The keys come from the schema, so that new ones are tried as soon as they are there.

use renderer::film::{Aov, Tile, develop};
use renderer::render::{RenderError, RenderOptions, render};
use renderer::scene::{self, LoadOptions, Loaded, json_schema};
use serde_json::{Value as Json, json};
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::render::text;
use ssl_compiler::modules::SearchPath;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use toml::{Table, Value};

/// On one of several threads, in a debug build, on a busy machine; and of the process.
const MOST_TIME: Duration = Duration::from_secs(60);
const MOST_BYTES: u64 = 2 << 30;

const ODD: [f64; 17] = [
    0.0,
    -0.0,
    1e-45,
    -1e-45,
    1e-38,
    1e-20,
    1e-9,
    -1.0,
    1e9,
    -1e9,
    1e15,
    1e30,
    3.4e38,
    1e300,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];
const ODD_INTEGERS: [i64; 8] = [0, -1, 1, 255, 1 << 15, 1 << 20, u32::MAX as i64, i64::MAX];

/// A scene in which all is as it should be; `UNIT` is its folder.
const BASE: &str = r#"
[camera]
position = [0.3, 1, 4]
look_at = [0, 0.4, 0]
[film]
width = 5
height = 3
[integrator]
samples = 2
max_depth = 3
[environment]
type = "constant"
[variables]
wear = 0.5
[materials.m]
parameters = { gain = 0.5, tint = [0.7, 0.6, 0.5] }
source = '''
globals { float wear; }
shader m(float gain = 1.0, color tint = color(1.0), out closure result)
{
    const float3 p = global_value<uvw>;
    const float3 at = global_value<position>;
    const float lines = 0.5 + 0.5 * sin(8.0 * p.x) * exp(-filterwidth(p.x)) + 0.1 * fract(at.y);
    result = make_closure<Lambert>(gain * lines * tint + 0.01 * global_value<wear>, global_value<normal>)
        + 0.3 * make_closure<Glossy>(tint, normalize(global_value<normal> + 0.1 * global_value<tangent>), 0.3);
}
'''
[[groups.g.shapes]]
type = "sphere"
material = "m"
radius = 0.5
[[shapes]]
type = "rectangle"
material = "m"
scale = [6, 1, 6]
[[shapes]]
type = "disk"
material = "m"
translate = [0, 3, 0]
rotate = [180, 0, 0]
emission = [3, 3, 3]
"#;

/// What must stand in a table of a type beside the key that is tried.
fn needed(table: &str, kind: &str, key: &str) -> Json {
    match (table, kind, key) {
        ("camera", _, "width") => {
            json!({"type": "orthographic", "position": [0.3, 1, 4], "look_at": [0, 0.4, 0]})
        }
        ("camera", ..) => json!({"position": [0.3, 1, 4], "look_at": [0, 0.4, 0]}),
        ("film", ..) => json!({"width": 5, "height": 3}),
        ("integrator", _, "distance") => json!({"samples": 2, "type": "ao"}),
        ("integrator", _, "min_samples" | "min_spp") => json!({"samples": 32, "adaptive": 0.5}),
        ("integrator", _, "spp") => json!({}),
        ("integrator", ..) => json!({"samples": 2}),
        ("shape", "obj", _) => json!({"material": "m", "file": "square.obj"}),
        ("shape", "gltf", _) => json!({"material": "m", "file": "square.gltf"}),
        ("shape", "instance", _) => json!({"group": "g"}),
        ("shape", "quad", _) => json!({"material": "m", "corners": [[-1, 0, 1], [1, 0, 1], [-1, 1, 1]]}),
        ("shape", "curves", _) => json!({"material": "m", "strands": STRAND.clone()}),
        ("shape", ..) => json!({"material": "m"}),
        ("light", "distant", _) => json!({"direction": [0.1, -1, 0.2]}),
        ("light", kind, key) => {
            let mut light = json!({"position": [1, 2, 1]});
            if kind == "spot" || key == "look_at" {
                light["look_at"] = json!([0, 0, 0]);
            }
            if ["roll", "look_at", "direction"].contains(&key) {
                light["ies"] = json!("lamp.ies");
            }
            if key == "direction" {
                light.as_object_mut().map(|light| light.remove("look_at"));
            }
            light
        }
        _ => json!({}),
    }
}

static STRAND: LazyLock<Json> =
    LazyLock::new(|| json!([[[-0.5, 0, 1, 0.1], [-0.2, 0.5, 1, 0.1], [0.2, 0.7, 1, 0.1], [0.5, 1, 1, 0.05]]]));

/// A good value of a key: where bounds of it are not all of what makes one good, that is said here.
fn good(table: &str, key: &str, schema: &Json) -> Option<Json> {
    Some(match (table, key) {
        ("film", "crop") => json!([1, 0, 4, 2]),
        ("integrator", "adaptive") => json!(0.5),
        ("environment", "turbidity") => json!(3.0),
        ("camera", "up") | ("environment", "sun_direction") => json!([0.1, 1, 0.2]),
        ("camera", "fov") | ("light", "cone_angle") => json!(50.0),
        ("light", "temperature") => json!(6500.0),
        ("light", "direction") => json!([0.1, -1, 0.2]),
        ("material", "parameters") => json!({"gain": 0.5, "tint": [0.5, 0.5, 0.5]}),
        ("shape", "corners") => json!([[-1, 0, 1], [1, 0, 1], [-1, 1, 1]]),
        ("shape", "matrix") => json!([[1, 0.1, 0, 0], [0, 1, 0, 0], [0, 0, 1.2, 1]]),
        ("shape", "strands") => STRAND.clone(),
        (_, "variables") => json!({"wear": 0.5}),
        _ => plain(schema)?,
    })
}

/// A value of numbers that a schema takes, if it takes numbers.
fn plain(schema: &Json) -> Option<Json> {
    match schema["type"].as_str()? {
        "number" => Some(json!(1.0)),
        "integer" => Some(json!(schema["minimum"].as_i64().unwrap_or(1).max(1))),
        "array" => {
            let item = plain(&schema["items"])?;
            Some(Json::Array(vec![item; schema["minItems"].as_u64()? as usize]))
        }
        _ => None,
    }
}

/// One scene to try.
struct Case {
    what: String,
    scene: Table,
}

fn base() -> Table {
    toml::from_str(BASE).expect("it is well-formed")
}

/// The base with a table in it that has one more key.
fn with(table: &str, kind: Option<&str>, key: &str, value: Value) -> Table {
    let mut scene = base();
    let own = match kind {
        Some(kind) => needed(table, kind, key),
        None => needed(table, "", key),
    };
    let Ok(Value::Table(mut own)) = Value::try_from(own) else { panic!("it is a table") };
    if let Some(kind) = kind {
        own.insert("type".to_owned(), kind.into());
    }
    own.insert(key.to_owned(), value.clone());
    let list = |name: &str, scene: &mut Table, own| {
        let list = scene.entry(name).or_insert(Value::Array(Vec::new()));
        list.as_array_mut().expect("a list").push(Value::Table(own));
    };
    match table {
        "shape" => list("shapes", &mut scene, own),
        "light" => list("lights", &mut scene, own),
        "material" => {
            scene["materials"]["m"].as_table_mut().expect("a table").insert(key.to_owned(), value);
        }
        "scene" => {
            scene.insert(key.to_owned(), value);
        }
        _ => {
            scene.insert(table.to_owned(), Value::Table(own));
        }
    }
    scene
}

/// Where the numbers of a value stand.
fn leaves(value: &Value, path: &mut Vec<Place>, found: &mut Vec<Vec<Place>>) {
    match value {
        Value::Float(_) | Value::Integer(_) => found.push(path.clone()),
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                path.push(Place::Item(i));
                leaves(item, path, found);
                path.pop();
            }
        }
        Value::Table(items) => {
            for (name, item) in items {
                path.push(Place::Key(name.clone()));
                leaves(item, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

#[derive(Clone, Debug)]
enum Place {
    Item(usize),
    Key(String),
}

fn at<'v>(value: &'v mut Value, path: &[Place]) -> &'v mut Value {
    path.iter().fold(value, |value, place| match place {
        Place::Item(i) => &mut value[*i],
        Place::Key(name) => &mut value[name.as_str()],
    })
}

/// All scenes of a key, the first of which is good.
fn cases(table: &str, kind: Option<&str>, key: &str, schema: &Json) -> Vec<Case> {
    // An image would have to be converted for each.
    if kind == Some("image") {
        return Vec::new();
    }
    let Some(good) = good(table, key, schema) else { return Vec::new() };
    let integers = schema["type"] == "integer" || schema["items"]["type"] == "integer";
    let good = Value::try_from(good).expect("TOML has these");
    let mut places = Vec::new();
    leaves(&good, &mut Vec::new(), &mut places);
    let odd: Vec<Value> = match integers {
        true => ODD_INTEGERS.map(Value::Integer).to_vec(),
        false => ODD.map(Value::Float).to_vec(),
    };
    let name = format!("{table}.{} {key}", kind.unwrap_or(""));
    let case =
        |value: Value| Case { what: format!("{name} = {}", short(&value)), scene: with(table, kind, key, value) };
    let mut all = vec![case(good.clone())];
    for (number, odd) in odd.iter().enumerate() {
        let mut every = good.clone();
        places.iter().for_each(|place| *at(&mut every, place) = odd.clone());
        all.push(case(every));
        // One component at a time, each with a sixth of the values.
        for (i, place) in places.iter().enumerate().filter(|_| places.len() > 1) {
            if (i + number) % 6 == 0 {
                let mut one = good.clone();
                *at(&mut one, place) = odd.clone();
                all.push(case(one));
            }
        }
    }
    all
}

/// A value as people write it.
fn short(value: &Value) -> String {
    match value {
        Value::Float(x) => format!("{x:e}"),
        Value::Array(items) => format!("[{}]", items.iter().map(short).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// What each thread is at, since when.
static AT_WORK: LazyLock<Mutex<HashMap<usize, (Instant, String)>>> = LazyLock::new(Mutex::default);

/// Ends the process where a case takes too long, which nothing else could.
fn watch() {
    loop {
        std::thread::sleep(Duration::from_millis(20));
        let at_work = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
        let late = at_work.values().find(|(begin, _)| begin.elapsed() > MOST_TIME);
        if late.is_some() || memory() > MOST_BYTES {
            let cases: Vec<&String> = at_work.values().map(|(_, what)| what).collect();
            eprintln!("too long, or too much memory ({} MB): {cases:#?}", memory() >> 20);
            std::process::abort();
        }
    }
}

/// What the process takes, where the system says so.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * 4096)
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn folder(name: &str) -> Folder {
    let path = std::env::temp_dir().join(format!("shade-odd-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).expect("the temporary folder can be written");
    let square = "v -1 0 1\nv 1 0 1\nv 1 1 1\nv -1 1 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n";
    let lamp = "IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 3 1 1 1 0 0 0 1 1 10\n0 45 90\n0\n100 50 0\n";
    // Three corners, and the numbers of them.
    let bytes: Vec<u8> =
        [-1.0_f32, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let gltf = json!({"asset": {"version": "2.0"}, "buffers": [{"uri": "square.bin", "byteLength": bytes.len()}],
        "bufferViews": [{"buffer": 0, "byteLength": bytes.len()}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "nodes": [{"mesh": 0}]})
    .to_string();
    let files: [(&str, &[u8]); 4] = [
        ("square.obj", square.as_bytes()),
        ("lamp.ies", lamp.as_bytes()),
        ("square.bin", &bytes),
        ("square.gltf", gltf.as_bytes()),
    ];
    for (name, contents) in files {
        std::fs::write(path.join(name), contents).expect("the temporary folder can be written");
    }
    Folder(path)
}

/// What is wrong with how a scene is taken, if anything is.
fn wrong(case: &Case, folder: &Path, thread: usize) -> Option<String> {
    let path = folder.join(format!("scene{thread}.toml"));
    let scene_text = toml::to_string(&case.scene).expect("it is a table");
    std::fs::write(&path, scene_text).expect("the temporary folder can be written");
    let loaded = scene::load(&path, LoadOptions::from(BackendKind::Interpreter), &SearchPath::on_disk(Vec::new()));
    let said = text(&loaded.diagnostics, &loaded.sources, false);
    let Loaded { scene: Some(mut scene), .. } = loaded else {
        return (!said.contains("error[")).then(|| format!("refused without a reason: {said}"));
    };
    let film = (scene.film.width, scene.film.height);
    let window = Tile { x0: 0, y0: 0, x1: film.0.min(5), y1: film.1.min(3) };
    let options = RenderOptions {
        crop: scene.film.crop.is_none().then_some(window),
        range: (scene.integrator.samples > 64).then_some(0..1),
        threads: Some(1),
        aovs: Some(vec![Aov::Albedo, Aov::Normal, Aov::Depth, Aov::Position, Aov::Uv]),
        ..RenderOptions::default()
    };
    let output = match render(&mut scene, &options, &AtomicBool::new(false), &|_| ()) {
        Ok(output) => output,
        Err(RenderError::Options(why) | RenderError::Machine(why)) => {
            return why.is_empty().then(|| "no reason".into());
        }
        Err(e) => return Some(e.to_string()),
    };
    let told = output.diagnostics.list.iter().any(|d| d.code.id == "S0014" || d.message.contains("number"));
    if output.statistics.non_finite_samples > 0 && !told {
        return Some("samples were no numbers, and nobody says so".to_owned());
    }
    if let Some(pixel) = output.picture.pixels.iter().find(|p| !p.is_finite()) {
        return Some(format!("a pixel is {pixel}"));
    }
    if let Some(layer) = output.picture.layers.iter().find(|l| l.values.iter().any(|v| v.is_nan())) {
        return Some(format!("the layer {} has NaN", layer.aov.name()));
    }
    let bytes = develop(&output.picture, scene.film.exposure, scene.film.tone);
    (bytes.len() != output.picture.pixels.len() * 3).then(|| "it cannot be seen".to_owned())
}

/// All numeric keys: the table, its type, the key, and its schema.
fn keys() -> Vec<(String, Option<String>, String, Json)> {
    let schema = json_schema::schema();
    let mut keys = Vec::new();
    let mut object = |table: &str, object: &Json| {
        let kind = object["properties"]["type"]["const"].as_str().map(str::to_owned);
        for (key, schema) in object["properties"].as_object().expect("it has properties") {
            keys.push((table.to_owned(), kind.clone(), key.clone(), schema.clone()));
        }
    };
    for (table, definition) in schema["$defs"].as_object().expect("it has definitions") {
        match definition["oneOf"].as_array() {
            Some(types) => types.iter().for_each(|one| object(table, one)),
            None => object(table, definition),
        }
    }
    object("scene", &schema);
    keys
}

#[test]
fn odd_numbers_are_refused_or_rendered() {
    let folder = folder("keys");
    let keys = keys();
    let cases: Vec<(bool, Case)> = keys
        .iter()
        .flat_map(|(table, kind, key, schema)| cases(table, kind.as_deref(), key, schema).into_iter().enumerate())
        .map(|(i, case)| (i == 0, case))
        .collect();
    assert!(cases.iter().filter(|(good, _)| *good).count() > 60, "the schema has numbers");
    std::thread::spawn(watch);
    let failed = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    // Threads of their own: what waits for others on those of a pool begins another scene meanwhile.
    let work = &|thread: usize| {
        while let Some((good, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begun = (Instant::now(), case.what.clone());
            AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).insert(thread, begun);
            let mut why = match std::panic::catch_unwind(AssertUnwindSafe(|| wrong(case, &folder.0, thread))) {
                Ok(why) => why,
                Err(why) => Some(format!("it panics: {:?}", why.downcast_ref::<String>())),
            };
            if *good && why.is_none() {
                why = refused(case, &folder.0, thread);
            }
            AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).remove(&thread);
            if let Some(why) = why {
                failed.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{}: {why}", case.what));
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|thread| drop(scope.spawn(move || work(thread)))));
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(failed.is_empty(), "{} of {} scenes:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

/// A good scene must not be refused: the odd ones would then be tried for nothing.
fn refused(case: &Case, folder: &Path, thread: usize) -> Option<String> {
    let path = folder.join(format!("scene{thread}.toml"));
    let loaded = scene::load(&path, LoadOptions::from(BackendKind::Interpreter), &SearchPath::on_disk(Vec::new()));
    loaded.scene.is_none().then(|| format!("{}: {}", case.what, text(&loaded.diagnostics, &loaded.sources, false)))
}

/// What once went on for ever: a matrix that is all but singular, and coordinates at the ends of what is allowed.
#[test]
fn placements_at_the_edge_end() {
    let folder = folder("edges");
    std::thread::spawn(watch);
    for matrix in [
        "[[1e-45, 0.1, 0, 2], [0, 1, 0, 0], [0, 0, 1.2, 1]]",
        "[[1e-9, 0.1, 0, 2], [0, 1e-9, 0, 0], [0, 0, 1.2e-9, 1e9]]",
        "[[1e9, 1e9, 0, 1e9], [0, 1e9, 0, 0], [0, 1e-9, 1.2e-9, 1e9]]",
    ] {
        let matrix = toml::from_str::<Table>(&format!("m = {matrix}")).expect("it is well-formed")["m"].clone();
        let case = Case { what: matrix.to_string(), scene: with("shape", Some("instance"), "matrix", matrix) };
        AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).insert(999, (Instant::now(), case.what.clone()));
        assert_eq!(wrong(&case, &folder.0, 999), None, "{}", case.what);
        AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).remove(&999);
    }
}
