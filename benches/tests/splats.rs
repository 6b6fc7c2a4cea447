//! Splats that our kernels fit are as near to the picture, step by step, as those of the program written by hand.

use ssl_benches::root;
use ssl_benches::splats::{Fit, Kernels, Problem, by_hand};
use ssl_benches::yardstick::Yardstick;
use ssl_compiler::BackendKind;

const STEPS: usize = 20;

#[test]
fn a_fit_is_as_near_as_one_by_hand() {
    let yardstick = match Yardstick::compile("splats") {
        Ok(yardstick) => yardstick,
        Err(why) => return ssl_tests::skip(why),
    };
    let picture = root().join("docs/src/images/first-light.png");
    // Neither side is a whole number of tiles.
    let problem = Problem::of_picture(&picture, (40, 24), 100).expect("the picture ships");
    let folder = std::env::temp_dir().join(format!("ssl-splats-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let hand = by_hand(&yardstick, &problem, STEPS, &folder).expect("the program takes it");
    std::fs::remove_dir_all(&folder).expect("as above");
    let mut kernels = Kernels::compile(BackendKind::Cranelift, &problem).expect("the kernels ship");
    let mut fit = Fit::new(&mut kernels, &problem).expect("there is memory");
    let (mut step, mut nearness) = (0, Vec::new());
    for (at, theirs) in hand.psnr {
        while step < at {
            fit.step().expect("nothing ends early");
            step += 1;
        }
        let ours = fit.psnr().expect("as above");
        // Four rows of ours look at a blob together: those that it no longer reaches, too. And steps of Adam are as long for
        // gradients that are nearly zero, so differences grow.
        assert!((ours - theirs).abs() < if at == 0 { 0.01 } else { 0.05 }, "step {at}: {ours} and {theirs}");
        println!("step {at}: {ours} and {theirs}");
        nearness.push(ours);
    }
    assert_eq!(step, STEPS);
    assert!(nearness[nearness.len() - 1] > nearness[0] + 2.0, "{nearness:?}");
}
