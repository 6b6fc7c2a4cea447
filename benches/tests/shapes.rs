//! The picture of soft shapes and its gradient are those of the program written by hand, however a kernel chooses among shapes.

use ssl_benches::shapes::{Choice, Problem, Shapes, by_hand};
use ssl_benches::yardstick::Yardstick;
use ssl_compiler::BackendKind;

#[test]
fn the_gradient_is_the_one_by_hand() {
    let yardstick = match Yardstick::compile("shapes") {
        Ok(yardstick) => yardstick,
        Err(why) => return ssl_tests::skip(why),
    };
    // Rows are no whole number of blocks, and there are more disks than boxes.
    let problem = Problem::random(21, 9);
    let folder = std::env::temp_dir().join(format!("ssl-shapes-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let (hand, _) = by_hand(&yardstick, &problem, &folder).expect("the program takes it");
    std::fs::remove_dir_all(&folder).expect("as above");
    assert_eq!(hand.gradient.len(), problem.numbers.len());
    for backend in BackendKind::ALL.iter().copied() {
        for choice in [Choice::Method, Choice::Branch] {
            let mut shapes = Shapes::new(backend, choice, &problem).expect("the kernels ship");
            let ours = shapes.found().expect("nothing ends early");
            assert!((ours.sum - hand.sum).abs() < 1e-5 * hand.sum, "{backend:?} {choice:?}: {} {}", ours.sum, hand.sum);
            for (i, (ours, hand)) in ours.gradient.iter().zip(&hand.gradient).enumerate() {
                let size = hand.iter().fold(0.0f32, |most, x| most.max(x.abs()));
                for (k, (ours, hand)) in ours.iter().zip(hand).enumerate() {
                    let close = (ours - hand).abs() <= 1e-4 * size;
                    assert!(close, "{backend:?} {choice:?}: number {k} of shape {i}: {ours} and {hand}");
                }
            }
        }
    }
}
