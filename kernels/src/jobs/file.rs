//! A job file as written. Values that may be refused later keep their place. `at` is no key; the check supplies it.

#![allow(missing_docs, reason = "what each key means stands beside the keys")]

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

pub type Place = Spanned<()>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFile {
    #[expect(dead_code, reason = "all tables have it")]
    pub at: Place,
    pub file: Option<Spanned<String>>,
    pub source: Option<Spanned<String>>,
    #[serde(default)]
    pub steps: u64,
    #[serde(default)]
    pub seed: u64,
    pub fuel: Option<u32>,
    pub tape_rows: Option<u32>,
    #[serde(default)]
    pub values: Values,
    #[serde(default)]
    pub buffers: BTreeMap<String, BufferTable>,
    pub launches: Vec<LaunchTable>,
    #[serde(default)]
    pub ramps: Vec<RampTable>,
    /// There if something is fitted.
    pub loss: Option<LossTable>,
    #[serde(default)]
    pub fit: Vec<FitTable>,
    #[serde(default)]
    pub write: Vec<WriteTable>,
}

pub type Values = BTreeMap<String, Spanned<Given>>;

/// A parameter's value.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Given {
    Bool(bool),
    Int(i64),
    Float(f64),
    Vector(Vec<f64>),
    /// A string, or a reference such as `target.width`.
    Text(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Count {
    Number(u64),
    Name(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Numbers {
    One(f64),
    List(Vec<f64>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Over {
    Buffer(String),
    Counts(Vec<Count>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Bound {
    One(String),
    /// What is read, and what gets the result.
    Two([String; 2]),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferTable {
    pub at: Place,
    pub length: Option<Spanned<Count>>,
    pub layout: Option<String>,
    pub file: Option<Spanned<String>>,
    pub part: Option<Spanned<String>>,
    #[serde(default)]
    pub raw: bool,
    pub size: Option<Spanned<Numbers>>,
    pub constant: Option<Spanned<Numbers>>,
    pub uniform: Option<Spanned<[Numbers; 2]>>,
    pub normal: Option<Spanned<[Numbers; 2]>>,
    pub values: Option<Spanned<Vec<Numbers>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchTable {
    pub at: Place,
    pub kernel: Option<Spanned<String>>,
    pub file: Option<Spanned<String>>,
    pub run: Option<Spanned<String>>,
    pub over: Option<Spanned<Over>>,
    #[serde(default)]
    pub buffers: BTreeMap<String, Spanned<Bound>>,
    #[serde(default)]
    pub values: Values,
    pub name: Option<String>,
    pub gradient_of: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RampTable {
    #[expect(dead_code, reason = "all tables have it")]
    pub at: Place,
    pub value: Spanned<String>,
    pub points: Spanned<Vec<Numbers>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossTable {
    pub at: Place,
    pub buffer: Option<Spanned<String>>,
    pub channels: Option<Spanned<f64>>,
    pub of: Option<Spanned<String>>,
    pub target: Option<Spanned<String>>,
    #[serde(rename = "type")]
    pub kind: Option<Spanned<String>>,
    pub every: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitTable {
    pub at: Place,
    /// What is fitted: a buffer, or in other jobs what their parameters are named by.
    #[serde(alias = "parameters")]
    pub buffer: Spanned<String>,
    pub rate: f32,
    /// In jobs without buffers, the value that all begin with.
    pub start: Option<Spanned<Numbers>>,
    pub method: Option<String>,
    pub decay: Option<f32>,
    pub momentum: Option<Spanned<f32>>,
    pub nesterov: Option<Spanned<bool>>,
    pub beta1: Option<Spanned<f32>>,
    pub beta2: Option<Spanned<f32>>,
    pub epsilon: Option<Spanned<f32>>,
    pub correction: Option<Spanned<String>>,
    pub shape: Option<String>,
    /// In jobs whose parameters are images, how strongly neighbouring texels are drawn together.
    pub smooth: Option<f32>,
    /// In jobs that fit scenes, how far to both sides of a value pictures are compared, in place of a derivative.
    pub attached: Option<Spanned<f32>>,
    pub low: Option<f32>,
    pub high: Option<f32>,
    pub schedule: Option<ScheduleTable>,
    #[serde(default)]
    pub groups: Vec<GroupTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupTable {
    pub at: Place,
    pub members: Vec<Spanned<String>>,
    pub rate: Option<f32>,
    pub decay: Option<f32>,
    pub shape: Option<String>,
    pub low: Option<f32>,
    pub high: Option<f32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleTable {
    pub at: Place,
    #[serde(rename = "type")]
    pub kind: String,
    pub last: Option<f64>,
    pub steps: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteTable {
    #[expect(dead_code, reason = "all tables have it")]
    pub at: Place,
    pub buffer: Spanned<String>,
    pub file: Spanned<String>,
    pub every: Option<u64>,
    #[serde(default)]
    pub raw: bool,
    pub mesh: Option<Spanned<String>>,
}
