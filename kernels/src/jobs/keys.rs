//! The keys of job files: which keys each table has, of what kind, and what they mean. The check, its messages and the
//! published JSON Schema come from here.

#![allow(missing_docs, reason = "names and kinds of keys say what they are")]

/// What stands behind a key.
#[derive(Clone, Copy)]
pub enum Kind {
    Text,
    Flag,
    Number,
    /// A number above a bound.
    Above(f64),
    /// Within bounds.
    Integer(i64, i64),
    Choice(&'static [&'static str]),
    /// A whole number, or the name of one.
    Count,
    /// A number, or one for each scalar.
    Numbers,
    /// Two of these: from, to.
    Ends,
    /// A list of these: one for each element.
    Elements,
    /// A buffer, or one to three counts.
    Over,
    Texts,
    /// Names with a buffer each, or with two: which is read, and which gets the result.
    Buffers,
    /// Names with numbers, truth values or texts.
    Values,
    /// One table.
    Table(&'static str),
    /// A list of tables.
    Tables(&'static str),
    /// Tables with names.
    Named(&'static str),
}

pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// For messages and the schema.
    pub what: &'static str,
}

pub struct Table {
    pub name: &'static str,
    pub required: &'static [&'static str],
    pub keys: &'static [Key],
}

impl Table {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// A key of a table.
pub const fn key(name: &'static str, kind: Kind, what: &'static str) -> Key {
    Key { name, kind, what }
}

use Kind::*;

pub const MOST_STEPS: i64 = 1 << 40;
const MOST: i64 = i32::MAX as i64;

/// What may stand in place of kernels: what no kernel can do.
pub const RUNS: &[&str] =
    &["tiles", "sort", "sort_floats", "prefix_sum", "suffix_sum", "offsets", "compact", "histogram"];
pub const LOSSES: &[&str] = &["l1", "l2", "relative", "log"];
pub const SHAPES: &[&str] = &["plain", "softplus", "sigmoid", "exp"];
pub const METHODS: &[&str] = &["adam", "sgd"];
pub const CORRECTIONS: &[&str] = &["by_step", "constant", "none"];
pub const SCHEDULES: &[&str] = &["constant", "exponential", "cosine", "warm_up"];
pub const PARTS: &[&str] = &["positions", "faces", "uvs", "uv_faces", "normals", "normal_faces", "edges"];
pub const LAYOUTS: &[&str] = &["rows", "columns"];

/// The table of schedules, which jobs of other kinds have as well.
pub const SCHEDULE: Table = Table {
    name: "schedule",
    required: &["type"],
    keys: &[
        key("type", Choice(SCHEDULES), "how the factor of the rates goes"),
        key("last", Number, "exponential, cosine: the factor at the end"),
        key("steps", Integer(1, MOST_STEPS), "how long it takes to get there, all steps of the job if not given"),
    ],
};

/// The whole file first.
pub const TABLES: &[Table] = &[
    Table {
        name: "job",
        required: &["launches"],
        keys: &[
            key("file", Text, "the .ssl file that has the kernels"),
            key("source", Text, "the text of the kernels, instead of a file"),
            key("steps", Integer(0, MOST_STEPS), "how often the optimisers change what is fitted"),
            key("seed", Integer(0, i64::MAX), "of the random numbers, 0 if not given"),
            key("fuel", Integer(1, u32::MAX as i64), "what a point may spend on loops and calls"),
            key("tape_rows", Integer(1, u32::MAX as i64), "how many rows the tape of a point may have"),
            key("values", Values, "values of the kernels' parameters, by their names"),
            key("buffers", Named("buffer"), "what buffers hold at the start, and how they lie in memory"),
            key("launches", Tables("launch"), "what runs, and over which points"),
            key("ramps", Tables("ramp"), "values that change from step to step"),
            key("loss", Table("loss"), "what is to become small; a job without `steps`, `loss` and `fit` only writes"),
            key("fit", Tables("fit"), "what is fitted, and how"),
            key("write", Tables("write"), "what is written, and when"),
        ],
    },
    Table {
        name: "buffer",
        required: &[],
        keys: &[
            key("length", Count, "the number of elements"),
            key("layout", Choice(LAYOUTS), "how it lies in memory, rows if not given; no result depends on it"),
            key("file", Text, "a picture (.png, .jpg, .exr, .hdr), an array (.npy), words (.raw) or a mesh (.obj)"),
            key("part", Choice(PARTS), "what to take from an .obj"),
            key("raw", Flag, "do not decode the sRGB of a picture"),
            key(
                "size",
                Numbers,
                "[width, height]: scale the picture of a file to so many pixels, or make one of so many",
            ),
            key("constant", Numbers, "the value of all elements, or one for each of their scalars"),
            key(
                "uniform",
                Ends,
                "[low, high]: random numbers between these; both may be lists with one for each scalar",
            ),
            key("normal", Ends, "[mean, deviation]: random numbers with a normal distribution; both may be lists"),
            key("values", Elements, "the elements themselves"),
        ],
    },
    Table {
        name: "launch",
        required: &[],
        keys: &[
            key("kernel", Text, "a kernel of the file"),
            key("file", Text, "the .ssl file that has the kernel, if it is not the job's own"),
            key("run", Choice(RUNS), "instead of a kernel, something that no kernel can do"),
            key(
                "over",
                Over,
                "the points: a buffer, for one point an element, or [width], [width, height] or all three",
            ),
            key("buffers", Buffers, "buffers that have other names here than in the kernel"),
            key("values", Values, "values of parameters, for this launch alone"),
            key("name", Text, "for messages and for `gradient_of`, that of the kernel if not given"),
            key("gradient_of", Text, "the launch whose gradient this one gives, in place of the compiler"),
        ],
    },
    Table {
        name: "ramp",
        required: &["value", "points"],
        keys: &[
            key("value", Text, "the name of a value under `values`"),
            key("points", Elements, "[step, value], in the order of the steps; between them the value goes straight"),
        ],
    },
    Table {
        name: "loss",
        required: &[],
        keys: &[
            key("buffer", Text, "a buffer of one float that launches make"),
            key("channels", Above(0.0), "with `buffer`: it is so many times the mean of squares, for the PSNR"),
            key("of", Text, "instead of `buffer`: what is compared with the target"),
            key("target", Text, "the target"),
            key("type", Choice(LOSSES), "how the two are compared, l2 if not given"),
            key(
                "every",
                Integer(1, MOST_STEPS),
                "after how many steps the loss is found and written down, 10 if not given",
            ),
        ],
    },
    Table {
        name: "fit",
        required: &["buffer", "rate"],
        keys: &[
            key("buffer", Text, "what is fitted: a buffer of floats with a start"),
            key("rate", Number, "the length of a step"),
            key("method", Choice(METHODS), "adam if not given"),
            key("decay", Number, "how strongly values are drawn to 0"),
            key("momentum", Number, "sgd: how much of the velocity stays, 0 if not given"),
            key("nesterov", Flag, "sgd: go along the velocity of the next step"),
            key("beta1", Number, "adam: how much of the first moment stays, 0.9 if not given"),
            key("beta2", Number, "adam: how much of the second moment stays, 0.999 if not given"),
            key("epsilon", Above(0.0), "adam: added to the root of the second moment, 1e-8 if not given"),
            key("correction", Choice(CORRECTIONS), "adam: how moments are divided, by_step if not given"),
            key(
                "shape",
                Choice(SHAPES),
                "how a value follows from the number that the optimiser moves, plain if not given",
            ),
            key("low", Number, "the lower bound of the values"),
            key("high", Number, "the upper bound of the values"),
            key("schedule", Table("schedule"), "how the rates change from step to step"),
            key("groups", Tables("group"), "members with rates and shapes of their own"),
        ],
    },
    Table {
        name: "group",
        required: &["members"],
        keys: &[
            key("members", Texts, "members of the elements, such as \"at\" or \"at.x\""),
            key("rate", Number, "the length of a step, that of the fit if not given"),
            key("decay", Number, "how strongly values are drawn to 0, that of the fit if not given"),
            key(
                "shape",
                Choice(SHAPES),
                "how a value follows from the number that the optimiser moves, plain if not given",
            ),
            key("low", Number, "the lower bound of the values"),
            key("high", Number, "the upper bound of the values"),
        ],
    },
    SCHEDULE,
    Table {
        name: "write",
        required: &["buffer", "file"],
        keys: &[
            key("buffer", Text, "what is written"),
            key(
                "file",
                Text,
                "in the output folder: .npy, .raw, .png, .exr, .obj or .glb; `{step}` stands for the step",
            ),
            key("every", Integer(1, MOST_STEPS), "after how many steps; only at the end if not given"),
            key("raw", Flag, "do not encode a .png as sRGB"),
            key("mesh", Text, "the .obj whose faces and texture coordinates a written .obj or .glb has"),
        ],
    },
];

pub const MOST_LENGTH: i64 = MOST;

/// The table of this name; the first is that of the whole file.
pub fn table(tables: &'static [Table], name: &str) -> &'static Table {
    // Names of tables stand beside the tables and in what reads them, and tests go through all of them.
    tables.iter().find(|table| table.name == name).unwrap_or(&tables[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_that_a_key_holds_is_there() {
        for key in TABLES.iter().flat_map(|table| table.keys) {
            if let Table(name) | Tables(name) | Named(name) = key.kind {
                assert!(TABLES.iter().any(|table| table.name == name), "{name}");
            }
        }
    }
}
