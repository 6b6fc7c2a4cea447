//! The tables of lobes as functions of the host, for lobes that are written in SSL: each takes a place in its table, coordinates from 0
//! to 1. Their partials are those of what the table is between its nodes, and have none themselves.

use super::{energy, sheen};
use ssl_compiler::runtime::externals::ExternalValue;
use ssl_compiler::runtime::{External, ExternalRegistry};

/// The functions that files of the renderer's library call.
pub fn functions() -> ExternalRegistry {
    let mut all = ExternalRegistry::new();
    offer(&mut all, "bsdf_table_boundary", |at| energy::BOUNDARY.at(at), |at, axis| energy::BOUNDARY.slope(at, axis));
    offer_boundary_stretched(&mut all);
    offer(&mut all, "bsdf_table_sheen", |at| sheen::ALBEDOS.at(at), |at, axis| sheen::ALBEDOS.slope(at, axis));
    offer(&mut all, "bsdf_table_round", |at| energy::ROUND.at(at), |at, axis| energy::ROUND.slope(at, axis));
    offer(
        &mut all,
        "bsdf_table_stretched",
        |at| energy::STRETCHED.at(at),
        |at, axis| energy::STRETCHED.slope(at, axis),
    );
    offer(
        &mut all,
        "bsdf_table_dielectric_into",
        |at| energy::INTO.at(at).to_array(),
        |at, axis| energy::INTO.slope(at, axis).to_array(),
    );
    offer(
        &mut all,
        "bsdf_table_dielectric_out_of",
        |at| energy::OUT_OF.at(at).to_array(),
        |at, axis| energy::OUT_OF.slope(at, axis).to_array(),
    );
    all
}

fn offer<const N: usize, V: ExternalValue + 'static>(
    all: &mut ExternalRegistry,
    name: &str,
    value: impl Fn([f32; N]) -> V + Send + Sync + 'static,
    slope: impl Fn([f32; N], usize) -> V + Copy + Send + Sync + 'static,
) where
    [f32; N]: ExternalValue,
{
    let by = |axis: usize| format!("{name}_by_{axis}");
    (0..N).for_each(|axis| all.register(External::of(&by(axis), move |at: [f32; N]| slope(at, axis))));
    let function = External::of(name, value);
    all.register((0..N).fold(function, |function, axis| function.derivative(axis, &by(axis))));
}

/// SSL has no vectors of five.
fn offer_boundary_stretched(all: &mut ExternalRegistry) {
    const NAME: &str = "bsdf_table_boundary_stretched";
    let place = |amplitude: f32, [x, y, z, w]: [f32; 4]| [amplitude, x, y, z, w];
    let by = |axis: usize| format!("{NAME}_by_{axis}");
    for axis in 0..5 {
        let slope = move |amplitude, rest| energy::BOUNDARY_STRETCHED.slope(place(amplitude, rest), axis);
        all.register(External::of(&by(axis), slope));
    }
    let function = External::of(NAME, move |amplitude, rest| energy::BOUNDARY_STRETCHED.at(place(amplitude, rest)));
    all.register((0..5).fold(function, |function, axis| function.derivative(axis, &by(axis))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssl_compiler::runtime::externals::Rule;

    #[test]
    fn every_table_has_a_partial_by_each_coordinate() {
        let all = functions();
        for (id, function) in all.list().iter().enumerate().filter(|(_, f)| !f.name.contains("_by_")) {
            for component in 0..function.takes().len() {
                assert!(matches!(all.rule(id as u32, component), Rule::Function(_)), "{}", function.name);
            }
        }
    }
}
