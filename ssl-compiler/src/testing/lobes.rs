//! The lobes of a closure output, and whether one is as expected.

use super::compare::Tolerance;
use super::reproduce;
use crate::runtime::{Row, ShaderInterface, read3};
use crate::types::Scalar;

/// One lobe of an output, at lane 0.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub closure: String,
    /// The type of the layer that it lies under.
    pub under: Option<String>,
    pub weight: Vec<f64>,
    pub parameters: Vec<(String, Scalar, Vec<f64>)>,
}

/// The lobes of an output that have a weight.
pub(super) fn lobes(interface: &ShaderInterface, rows: &[Row], output: &str) -> Vec<Found> {
    let closures = &interface.closure_types;
    let mut list = Vec::new();
    for lobe in interface.lobes.iter().filter(|l| l.output == output) {
        let weight = read3(rows, lobe.weight_row, 0);
        // A lobe without weight is none.
        if weight == [0.0; 3] {
            continue;
        }
        let ty = closures.get(lobe.closure);
        let mut at = lobe.parameter_row;
        let mut parameters = Vec::new();
        for p in &ty.parameters {
            let (Some(n), Some(scalar)) = (p.ty.components(), p.ty.component_scalar()) else { continue };
            let value = |row: &Row| match scalar {
                Scalar::Float => f64::from(row.0[0]),
                _ => f64::from(row.int(0)),
            };
            parameters.push((p.name.to_string(), scalar, rows[at..at + n].iter().map(value).collect()));
            at += n;
        }
        let under = lobe.layer.map(|l| closures.get(interface.lobes[l.lobe].closure).name.to_string());
        list.push(Found { closure: ty.name.to_string(), under, weight: weight.map(f64::from).to_vec(), parameters });
    }
    list
}

/// What a lobe should be; what is not here may be anything.
pub(super) struct Wanted {
    pub weight: Option<Vec<f64>>,
    pub parameters: Vec<(String, Vec<f64>)>,
    pub tolerance: Tolerance,
}

impl Wanted {
    /// Where a lobe differs: what of it, what was expected, what was found.
    pub fn differences(&self, lobe: &Found) -> Vec<(String, String, String)> {
        let mut list = Vec::new();
        let mut compare = |name: &str, scalar: Scalar, wanted: &[f64], found: &[f64]| {
            let at = |i: usize| if wanted.len() == 1 { wanted[0] } else { wanted.get(i).copied().unwrap_or(f64::NAN) };
            let fits = found.iter().enumerate().all(|(i, &x)| self.tolerance.accepts(x, at(i), scalar));
            if !fits {
                list.push((name.to_owned(), reproduce::numbers(wanted), reproduce::numbers(found)));
            }
        };
        if let Some(weight) = &self.weight {
            compare("weight", Scalar::Float, weight, &lobe.weight);
        }
        for (name, wanted) in &self.parameters {
            if let Some((_, scalar, found)) = lobe.parameters.iter().find(|(n, _, _)| n == name) {
                compare(name, *scalar, wanted, found);
            }
        }
        list
    }
}

/// What there is, in a few words.
pub(super) fn inventory(lobes: &[Found]) -> String {
    if lobes.is_empty() {
        return "no lobe".to_owned();
    }
    let one = |l: &Found| {
        let under = l.under.as_ref().map_or(String::new(), |u| format!(" under {u}"));
        format!("{}{under} of weight {}", l.closure, reproduce::numbers(&l.weight))
    };
    lobes.iter().map(one).collect::<Vec<_>>().join(", ")
}
