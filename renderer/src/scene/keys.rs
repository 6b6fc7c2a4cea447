//! The keys of scene files: which keys each table has, of what kind, and what they mean. The reader's checks, its
//! messages and the published JSON Schema come from here.

/// What stands behind a key.
#[derive(Clone, Copy)]
pub enum Kind {
    Text,
    Flag,
    /// Within bounds; `Above` leaves the lower one out.
    Number,
    Above(f64),
    /// A number above 0, or `off`.
    Threshold,
    Integer(i64, i64),
    Choice(&'static [&'static str]),
    /// So many numbers.
    Numbers(usize),
    /// So many lists of so many numbers.
    Rows(usize, usize),
    /// Three channels of 0 or more, or one number for all of them.
    Color,
    /// So many factors, or one number for all of them.
    Factors(usize),
    Integers(usize),
    /// Lists of points with radii.
    Strands,
    Texts,
    /// Names with texts.
    Names,
    /// Names of lights to include or to exclude.
    Links,
    /// A number, or up to four; anything that a shader takes.
    Variables,
    Values,
}

pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// Types of the table that it belongs to; all if there are none.
    pub of: &'static [&'static str],
    pub what: &'static str,
}

const fn key(name: &'static str, kind: Kind, what: &'static str) -> Key {
    Key { name, kind, of: &[], what }
}

const fn only(of: &'static [&'static str], name: &'static str, kind: Kind, what: &'static str) -> Key {
    Key { name, kind, of, what }
}

/// A table of the file: its keys, those that must be there, and its types if it has some.
pub struct Table {
    pub name: &'static str,
    pub keys: &'static [Key],
    pub required: &'static [&'static str],
    pub types: &'static [&'static str],
}

impl Table {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|k| k.name == name)
    }

    /// The keys that a table of a type takes; of all types if `None`.
    pub fn keys_of(&self, one: Option<&str>) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().filter(move |k| k.of.is_empty() || one.is_none_or(|one| k.of.contains(&one)))
    }

    pub fn has_types(&self) -> bool {
        !self.types.is_empty()
    }
}

/// What stands behind a key of the file itself, by the name of its table.
#[derive(Clone, Copy)]
pub enum Holds {
    /// `[camera]`
    One(&'static str),
    /// `[materials.NAME]`
    Named(&'static str),
    /// `[[shapes]]`
    List(&'static str),
    /// `[[groups.NAME.shapes]]`
    Groups,
    Variables,
}

pub const ROOT: &[(&str, Holds)] = &[
    ("camera", Holds::One("camera")),
    ("film", Holds::One("film")),
    ("integrator", Holds::One("integrator")),
    ("environment", Holds::One("environment")),
    ("textures", Holds::Named("texture")),
    ("materials", Holds::Named("material")),
    ("groups", Holds::Groups),
    ("shapes", Holds::List("shape")),
    ("lights", Holds::List("light")),
    ("variables", Holds::Variables),
];

/// What the scene's own variables are for.
pub const VARIABLES: &str = "numbers for shaders of shapes that have none of the same name";

/// The table of a name that stands in `ROOT`.
pub fn table(name: &str) -> &'static Table {
    TABLES.iter().find(|t| t.name == name).unwrap_or(&TABLES[0])
}

/// Whether there are tables of this kind by names: `[materials.NAME]`.
pub fn is_named(table: &str) -> bool {
    ROOT.iter().any(|(_, holds)| matches!(holds, Holds::Named(name) if *name == table))
}

/// Whether a scene may have a key at this path, such as `camera.position` or `shapes.pot.translate`, for any name of
/// its table.
pub fn is_key(path: &str) -> bool {
    let mut steps = path.split('.');
    let holds = steps.next().and_then(|root| ROOT.iter().find(|(name, _)| *name == root)).map(|(_, holds)| holds);
    let (name, key) = match holds {
        Some(Holds::One(name)) => (name, steps.next()),
        Some(Holds::Named(name) | Holds::List(name)) => (name, steps.nth(1)),
        Some(Holds::Groups | Holds::Variables) | None => return false,
    };
    key.is_some_and(|key| table(name).key(key).is_some()) && steps.next().is_none()
}

/// A name as TOML writes it in the head of a table.
pub fn quoted(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { format!("{name:?}") }
}

const SHAPES: &[&str] = &["obj", "gltf", "rectangle", "quad", "disk", "sphere", "curves", "instance"];
const BODIES: &[&str] = &["obj", "gltf", "rectangle", "quad", "disk", "sphere", "curves"];
const TURNED: &[&str] = &["obj", "gltf", "rectangle", "quad", "disk", "curves", "instance"];
const MODELS: &[&str] = &["obj", "gltf"];
const PUNCTUAL: &[&str] = &["point", "spot"];

use Kind::*;

pub const TABLES: &[Table] = &[
    Table {
        name: "camera",
        required: &[],
        types: &[],
        keys: &[
            key("position", Numbers(3), "where it stands"),
            key("look_at", Numbers(3), "the point in the middle of the picture"),
            key("up", Numbers(3), "upwards in the picture, [0, 1, 0] if not given"),
            key("file", Text, "a glTF file whose camera it is, instead of `position` and `look_at`"),
            key("name", Text, "which camera of the file, the first one if not given"),
            key("type", Choice(&["perspective", "orthographic", "panoramic"]), "how it sees"),
            key("fov", Above(0.0), "perspective: horizontal angle of view in degrees, below 180; 40 if not given"),
            key("aperture", Number, "perspective: the radius of the lens; all is sharp with 0"),
            key(
                "focus_distance",
                Above(0.0),
                "perspective: what is so far away is sharp; that of `look_at` if not given",
            ),
            key("width", Above(0.0), "orthographic: what the picture shows across, in scene units; 2 if not given"),
        ],
    },
    Table {
        name: "film",
        required: &[],
        types: &[],
        keys: &[
            key("width", Integer(1, 32768), "pixels, 1280 if not given"),
            key("height", Integer(1, 32768), "pixels, 720 if not given"),
            key("filter", Choice(&["box", "tent", "gaussian", "center"]), "how samples make a pixel"),
            key("exposure", Number, "stops; PNG only"),
            key("tone", Choice(&["clamp", "filmic"]), "from light to the screen; PNG only"),
            key("crop", Integers(4), "left, top, right and bottom: only these pixels are rendered"),
            key("aovs", Texts, "layers beside the light"),
        ],
    },
    Table {
        name: "integrator",
        required: &[],
        types: &[],
        keys: &[
            key("type", Choice(&["path", "direct", "ao", "whitted"]), "which paths of light count"),
            key("samples", Integer(1, 1 << 20), "a pixel, 64 if not given"),
            key("adaptive", Threshold, "samples only where a tile is noisier than this, below 1, or \"off\""),
            key("min_samples", Integer(2, 1 << 20), "with adaptive: that every pixel gets, 16 if not given"),
            key("max_depth", Integer(0, 1024), "bounces, 8 if not given"),
            key("seed", Integer(0, u32::MAX as i64), "of the random numbers"),
            key("distance", Above(0.0), "ao: how far occlusion reaches"),
            key("roulette", Flag, "whether paths that carry little may end at random, true if not given"),
            key(
                "caustics",
                Choice(&["paths", "guided", "photons"]),
                "how light behind mirrors and glass is found, \"paths\" if not given",
            ),
            key(
                "clamp_direct",
                Above(0.0),
                "the most that light brings at once by one bounce at most; unlimited if not given",
            ),
            key(
                "clamp_indirect",
                Above(0.0),
                "the most that light brings at once by more bounces; unlimited if not given",
            ),
            key("regularize", Number, "the least roughness, 0 to 1, of lobes that a path meets after a rough bounce"),
            key("noise", Choice(&["white", "blue"]), "how the errors of neighbouring pixels go together"),
            key("sampling", Choice(&["both", "lights", "lobes"]), "who looks for light that both could find"),
            key("light_choice", Choice(&["tree", "power"]), "by what one of many lights is drawn"),
            key(
                "bent_normals",
                Choice(&["conserve", "drop"]),
                "what becomes of light that interpolated normals would lose",
            ),
        ],
    },
    Table {
        name: "environment",
        required: &["type"],
        types: &["constant", "sky", "daylight", "image"],
        keys: &[
            only(&["constant"], "radiance", Color, "from everywhere"),
            only(&["sky"], "zenith", Color, "radiance straight up"),
            only(&["sky"], "horizon", Color, "radiance level"),
            only(&["sky"], "ground", Color, "radiance straight down"),
            only(&["daylight"], "elevation", Number, "of the sun, degrees from 0 to 90; 45 if not given"),
            only(&["daylight"], "azimuth", Number, "of the sun, degrees from −z over +x; 0 if not given"),
            only(&["daylight"], "sun_direction", Numbers(3), "towards the sun, instead of the angles"),
            only(&["daylight"], "turbidity", Number, "haze, from 2 to 10; 3 if not given"),
            only(&["daylight"], "ground_albedo", Color, "of the ground below the horizon; 0.2 if not given"),
            only(&["daylight"], "sun", Flag, "whether the sun itself shines, true if not given"),
            only(&["daylight"], "sun_angle", Above(0.0), "diameter of the sun's disk in degrees, 0.53 if not given"),
            only(&["image"], "file", Text, "a latitude-longitude image"),
            only(&["image", "daylight"], "scale", Color, "times the image, or times the sky and its sun"),
            key("rotate", Number, "degrees about y"),
            key("name", Text, "by which shapes link to it"),
        ],
    },
    Table {
        name: "texture",
        required: &["file"],
        types: &[],
        keys: &[
            key("file", Text, "an image or a tiled file, or a set of them named with <UDIM>"),
            key("raw", Flag, "do not decode sRGB"),
            key("wrap", Choice(&["black", "clamp", "repeat", "mirror"]), "what lies outside the unit square"),
        ],
    },
    Table {
        name: "material",
        required: &[],
        types: &[],
        keys: &[
            key("file", Text, "an .ssl file"),
            key("source", Text, "the text of a shader"),
            key("graph", Text, "a graph's .toml file"),
            key("entry", Text, "which shader of the file, if it has several"),
            key("parameters", Values, "values for the shader's parameters, by name"),
            key("textures", Names, "textures of the scene for the shader's slots, by name"),
            key("measured", Names, "files of measured materials (MERL) for the shader's int parameters, by name"),
        ],
    },
    Table {
        name: "shape",
        required: &["type"],
        types: SHAPES,
        keys: &[
            only(BODIES, "material", Text, "name of a material; files with materials of their own do without"),
            only(MODELS, "materials", Names, "other materials for parts of the file, by the file's names"),
            only(&["instance"], "group", Text, "name of the group that it places"),
            only(&["obj", "gltf", "curves"], "file", Text, "from the folder of the scene"),
            only(&["obj"], "smooth", Flag, "false gives every face of an OBJ file its own normal"),
            only(
                &["obj"],
                "crease_angle",
                Number,
                "degrees up to which computed normals are smooth over an edge of an OBJ file, 0 to 180; 180 if not given",
            ),
            only(&["curves"], "basis", Choice(&["bspline", "bezier"]), "what the points mean"),
            only(&["curves"], "strands", Strands, "points [x, y, z, radius], strand by strand"),
            only(&["disk", "sphere"], "radius", Above(0.0), "1 if not given"),
            only(&["quad"], "corners", Rows(3, 3), "[a, b, c]: u runs from a to b, v from a to c"),
            only(&["rectangle", "quad"], "uv_repeat", Factors(2), "how often the texture coordinates run over it"),
            key("translate", Numbers(3), "after scale and rotation"),
            only(TURNED, "rotate", Numbers(3), "degrees about x, then y, then z"),
            only(TURNED, "scale", Factors(3), "factors along x, y and z"),
            only(&["instance"], "matrix", Rows(3, 4), "instead of translate, rotate and scale"),
            only(BODIES, "emission", Color, "radiance that the front sends out"),
            key(
                "variables",
                Variables,
                "numbers for shaders, by name; for `obj`, also files (.npy) with a row a vertex",
            ),
            only(BODIES, "name", Text, "as a light, by which shapes link to it"),
            only(BODIES, "lights", Links, "the named lights that light it, or that do not; all light it if not given"),
        ],
    },
    Table {
        name: "light",
        required: &["type"],
        types: &["distant", "point", "spot"],
        keys: &[
            key("direction", Numbers(3), "from the light into the scene; of a luminaire, its nadir"),
            only(PUNCTUAL, "look_at", Numbers(3), "instead of a direction, a point that the light is aimed at"),
            only(&["distant"], "irradiance", Color, "on a surface that faces the light"),
            only(&["distant"], "angle", Number, "diameter in degrees, below 180; the sun's is 0.53; 0 if not given"),
            only(PUNCTUAL, "position", Numbers(3), "where it stands"),
            only(PUNCTUAL, "intensity", Color, "power per steradian; times the profile"),
            only(&["spot"], "cone_angle", Above(0.0), "between opposite edges in degrees, below 360; 60 if not given"),
            only(&["spot"], "inner_angle", Number, "the angle within which all goes out; four fifths if not given"),
            only(PUNCTUAL, "ies", Text, "a luminaire's profile, an IES LM-63 file"),
            only(PUNCTUAL, "normalize", Flag, "count the profile's strongest intensity as 1, not in candela"),
            only(PUNCTUAL, "roll", Number, "of the luminaire about its direction, in degrees"),
            key("temperature", Above(0.0), "color of a black body, from 1667 to 25000 kelvins"),
            key("name", Text, "by which shapes link to it"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::super::schema::SceneFile;
    use super::*;

    /// The keys that the typed data has where this text stands, which ends in a key that it does not have.
    fn known_to_the_reader(text: &str) -> Vec<String> {
        let error = toml::from_str::<SceneFile>(text).expect_err("there is no such key").message().to_owned();
        let (_, list) = error.split_once("expected ").unwrap_or_else(|| panic!("{text}: {error}"));
        let mut names: Vec<String> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        names.retain(|n| n != "at" && n != "spoiled");
        names.sort();
        names
    }

    #[test]
    fn the_keys_are_those_of_the_reader() {
        for (table, before) in [
            ("camera", "[camera]\n"),
            ("film", "[film]\n"),
            ("integrator", "[integrator]\n"),
            ("environment", "[environment]\n"),
            ("texture", "[textures.t]\n"),
            ("material", "[materials.m]\n"),
            ("shape", "[[shapes]]\n"),
            ("light", "[[lights]]\n"),
        ] {
            let mut names: Vec<String> = super::table(table).keys.iter().map(|k| k.name.to_owned()).collect();
            names.extend(super::table(table).has_types().then(|| "type".to_owned()));
            names.sort();
            assert_eq!(names, known_to_the_reader(&format!("{before}no_such_key = 1\n")), "{table}");
        }
        let mut names: Vec<String> = ROOT.iter().map(|(key, _)| (*key).to_owned()).collect();
        names.sort();
        assert_eq!(names, known_to_the_reader("no_such_key = 1\n"));
    }

    #[test]
    fn paths_of_keys_are_known() {
        for (path, known) in [
            ("camera.position", true),
            ("shapes.pot.translate", true),
            ("lights.sun.direction", true),
            ("materials.gold.file", true),
            ("materials.gold.base_color", false),
            ("camera", false),
            ("camera.position.x", false),
            ("nothing.position", false),
            ("", false),
        ] {
            assert_eq!(super::is_key(path), known, "{path}");
        }
    }

    /// Where the reader takes one of a few words, so does the schema.
    #[test]
    fn the_words_are_those_of_the_reader() {
        for (table, name, before) in [
            ("integrator", "type", "[integrator]\n"),
            ("integrator", "sampling", "[integrator]\n"),
            ("integrator", "light_choice", "[integrator]\n"),
            ("integrator", "bent_normals", "[integrator]\n"),
            ("integrator", "noise", "[integrator]\n"),
            ("film", "filter", "[film]\n"),
            ("film", "tone", "[film]\n"),
            ("texture", "wrap", "[textures.t]\nfile = \"t.png\"\n"),
        ] {
            let Some(Choice(words)) = super::table(table).key(name).map(|k| k.kind) else {
                panic!("`{name}` is a choice")
            };
            let mut words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            words.sort();
            assert_eq!(words, known_to_the_reader(&format!("{before}{name} = \"no_such_word\"\n")), "{name}");
        }
    }
}
