//! Fits are the same bytes for any number of threads and on each back end, after as many steps as `SSL_FIT_STEPS` says: a few
//! here, and 200 in `cargo xtask ci`.

use kernels::jobs::{self, FitError, Options, Watch};
use ssl_compiler::{BackendKind, OptLevel, Target};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

#[derive(Default)]
struct Files(BTreeMap<String, Vec<u8>>);

impl Watch for Files {
    fn result(&mut self, name: &str, bytes: &[u8]) -> Result<(), FitError> {
        self.0.insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }
}

fn fit(list: &[String], backend: BackendKind, threads: usize) -> BTreeMap<String, Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/splats/photo.toml");
    let settings = list.iter().map(|text| text.parse().expect("NAME=VALUE")).collect();
    let target = Target { backend, opt: OptLevel::O2, ..Target::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(16 << 20).build();
    pool.expect("threads can be had").install(|| {
        let loaded = jobs::load(&path, &Options { settings, target, ..Options::default() });
        let job = loaded.job.expect("the job ships");
        let mut fit = job.build(None).unwrap_or_else(|_| panic!("there is memory"));
        let mut files = Files::default();
        fit.run(&AtomicBool::new(false), &mut files).expect("nothing stops it");
        files.0
    })
}

#[test]
fn blobs_are_the_same_bytes_after_many_steps() {
    let steps: u64 = std::env::var("SSL_FIT_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let job = |count: u32, size: f32, picture: [u32; 2], steps: u64| {
        let [width, height] = picture;
        [
            format!("count={count}"),
            format!("size={size}"),
            format!("buffers.target.size=[{width}, {height}]"),
            format!("steps={steps}"),
        ]
    };
    let large = job(600, 1e-3, [96, 70], steps);
    let one = fit(&large, BackendKind::Cranelift, 1);
    let compiled = BackendKind::ALL.iter().filter(|backend| **backend != BackendKind::Interpreter);
    for &backend in compiled {
        for threads in [1, 2, 4] {
            assert!(fit(&large, backend, threads) == one, "{} on {threads} threads", backend.name());
        }
    }
    // The interpreter takes a hundred times as long.
    let small = job(30, 5e-3, [20, 18], steps.min(20));
    let one = fit(&small, BackendKind::Cranelift, 2);
    assert!(fit(&small, BackendKind::Interpreter, 2) == one, "the interpreter");
}
