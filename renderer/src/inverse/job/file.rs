//! A job file as written. Values that may be refused later keep their place. `at` is no key; the check supplies it.

use kernels::jobs::reading::{FitTable, Place};
use serde::Deserialize;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFile {
    pub at: Place,
    pub steps: u64,
    #[serde(default)]
    pub seed: u32,
    pub samples: Option<u32>,
    pub gradient_samples: Option<u32>,
    pub every: Option<u64>,
    pub halvings: Option<Spanned<u32>>,
    pub coarse_steps: Option<u64>,
    pub views: Vec<ViewTable>,
    pub loss: Option<LossTable>,
    pub fit: Vec<FitTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewTable {
    pub at: Place,
    pub target: Spanned<String>,
    pub mask: Option<Spanned<String>>,
    pub position: Option<Spanned<Vec<f32>>>,
    pub look_at: Option<Spanned<Vec<f32>>>,
    pub up: Option<Spanned<Vec<f32>>>,
    pub weight: Option<f32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossTable {
    #[expect(dead_code, reason = "all tables have it")]
    pub at: Place,
    #[serde(rename = "type")]
    pub kind: Option<String>,
}
