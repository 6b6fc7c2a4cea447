//! The keys of jobs that fit scenes. The check, its messages and the published JSON Schema come from here.

use kernels::jobs::reading::Kind::{Above, Choice, Flag, Integer, Number, Numbers, Tables, Text};
use kernels::jobs::reading::{CORRECTIONS, Kind, METHODS, MOST_STEPS, SCHEDULE, SHAPES, Table, key};
use serde_json::Value;

/// How pictures can be compared.
pub const LOSSES: &[&str] = &["l1", "l2", "relative", "log", "ssim"];

const MOST: i64 = crate::scene::MAX_SAMPLES as i64;

/// More would leave nothing of the largest picture.
const MOST_HALVINGS: i64 = crate::scene::MAX_SIDE.ilog2() as i64;

/// The whole file first.
pub const TABLES: &[Table] = &[
    Table {
        name: "job",
        required: &["steps", "views", "fit"],
        keys: &[
            key("steps", Integer(1, MOST_STEPS), "how often the optimisers change what is fitted"),
            key("seed", Integer(0, u32::MAX as i64), "of the random numbers, 0 if not given"),
            key("samples", Integer(1, MOST), "samples a pixel of the picture in each step, 16 if not given"),
            key(
                "gradient_samples",
                Integer(1, MOST),
                "samples a pixel of the gradient in each step, as many as `samples` if not given",
            ),
            key("every", Integer(1, MOST_STEPS), "after how many steps pictures are written; at the end if not given"),
            key(
                "halvings",
                Integer(1, MOST_HALVINGS),
                "how often the sides of the pictures are halved at the beginning; they then double stage by stage",
            ),
            key(
                "coarse_steps",
                Integer(1, MOST_STEPS),
                "the steps of each stage before the whole size; with `halvings`, all stages last equally long if not given",
            ),
            key("views", Tables("view"), "from where the scene is seen, and what is to be seen there"),
            key("loss", Kind::Table("loss"), "how pictures are compared"),
            key("fit", Tables("fit"), "what is fitted, and how"),
        ],
    },
    Table {
        name: "view",
        required: &["target"],
        keys: &[
            key("target", Text, "a picture (.exr, .hdr, .png, .jpg): what is to be seen"),
            key("mask", Text, "a picture of the same size: how much each pixel counts"),
            key("position", Numbers, "where the camera is, that of the scene if not given"),
            key("look_at", Numbers, "what it looks at, that of the scene if not given"),
            key("up", Numbers, "what is up for it, that of the scene if not given"),
            key("weight", Above(0.0), "how much the view counts, 1 if not given"),
        ],
    },
    Table {
        name: "loss",
        required: &[],
        keys: &[key("type", Choice(LOSSES), "how pictures are compared, l2 if not given")],
    },
    Table {
        name: "fit",
        required: &["parameters", "rate"],
        keys: &[
            key("parameters", Text, "what is fitted, by name; `*` stands for any text without dots"),
            key("rate", Number, "the length of a step"),
            key(
                "start",
                Numbers,
                "the value that all begin with, or one for each component; that of the scene if not given",
            ),
            key("method", Choice(METHODS), "adam if not given"),
            key("decay", Number, "how strongly values are drawn to 0"),
            key("momentum", Number, "sgd: how much of the velocity stays, 0 if not given"),
            key("nesterov", Flag, "sgd: go along the velocity of the next step"),
            key("beta1", Number, "adam: how much of the first moment stays, 0.9 if not given"),
            key("beta2", Number, "adam: how much of the second moment stays, 0.999 if not given"),
            key("epsilon", Above(0.0), "adam: added to the root of the second moment, 1e-8 if not given"),
            key("correction", Choice(CORRECTIONS), "adam: how moments are divided, by_step if not given"),
            key("shape", Choice(SHAPES), "how a value follows from the number that moves, plain if not given"),
            key(
                "smooth",
                Above(0.0),
                "of textures and vertices: how much the squared differences of neighbours add to the loss",
            ),
            key(
                "attached",
                Above(0.0),
                "let directions follow the values: the slope between pictures this far below and above, with the same random numbers",
            ),
            key("low", Number, "the lower bound, what the shader says if not given"),
            key("high", Number, "the upper bound, what the shader says if not given"),
            key("schedule", Kind::Table("schedule"), "how the rates change from step to step"),
        ],
    },
    SCHEDULE,
];

/// The JSON Schema of such jobs.
pub fn schema() -> Value {
    kernels::jobs::reading::schema(TABLES, "Scene job", "What of a scene is fitted to which pictures.")
}
