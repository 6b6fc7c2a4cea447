//! Inputs that fuzzing once broke something with, and a few that reach far: each target takes all of its own.

use ssl_tests::fuzz::TARGETS;
use ssl_tests::{files, folder};

#[test]
fn what_once_broke_something_is_mended() {
    for (name, target) in TARGETS {
        let inputs = files(&folder("fuzz").join(name), &["input"]);
        assert!(!inputs.is_empty(), "{name} has no inputs");
        for path in inputs {
            println!("{}", path.display());
            target(&std::fs::read(&path).expect("the file is readable"));
        }
    }
}
