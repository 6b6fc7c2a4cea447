//! What the bench of swapped shaders measures is right.

use ssl_benches::swaps::Swaps;
use ssl_compiler::BackendKind;

#[test]
fn derivatives_under_swapped_shaders_are_those_by_hand() {
    for &backend in BackendKind::ALL {
        let mut swaps = Swaps::new(backend.into(), 8).unwrap_or_else(|e| panic!("{e}"));
        for _ in 0..4 {
            let [_, slope] = swaps.swap().unwrap_or_else(|e| panic!("{e}"));
            let wanted = swaps.slope();
            assert!((f64::from(slope) - wanted).abs() < 1e-5 * wanted.abs(), "{backend:?}: {slope}, by hand {wanted}");
        }
    }
}
