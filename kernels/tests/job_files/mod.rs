//! Job files for tests, and what is set in them.

pub mod kept;
pub mod written;

use kernels::jobs::{self, Options};
use ssl_compiler::diagnostics::render;
pub use written::{Written, options, scene};

/// A small version of the splats.
pub const SMALL: [&str; 6] =
    ["count=40", "size=4e-3", "buffers.target.size=[48, 32]", "steps=6", "loss.every=2", "write.0.every=3"];

/// d/dx of Σ w (2x − t)² is 8 w x − 4 w t, through two kernels and a buffer that both read.
pub const CHAIN: &str = "
source = '''
kernel twice(in buffer<float> x, out buffer<float> y) { y = 2.0 * x[index]; }
kernel apart(in buffer<float> y, in buffer<float> t, in buffer<float> x, add buffer<float> sum) {
    const float d = y[index] - t[index];
    sum[0] += d * d + 0.5 * x[index];
}
'''
steps = 1
[buffers.x]
values = [1.0, 2.0]
[buffers.t]
values = [3.0, -1.0]
[[launches]]
kernel = 'twice'
over = 'x'
[[launches]]
kernel = 'apart'
over = 'x'
[loss]
buffer = 'sum'
[[fit]]
buffer = 'x'
method = 'sgd'
rate = 0.125
[[write]]
buffer = 'x'
file = 'x.npy'
";

/// Replaces a line of a job that is right.
pub fn changed(from: &str, to: &str) -> String {
    assert!(CHAIN.contains(from), "{from}");
    CHAIN.replacen(from, to, 1)
}

/// What is wrong with a job.
#[track_caller]
pub fn refused(text: &str) -> String {
    let line = std::panic::Location::caller().line();
    let file = Written::new(&format!("{line}-{:x}.toml", text.len()), text);
    let loaded = jobs::load(&file.0, &Options::default());
    let said = render::text(&loaded.diagnostics, &loaded.sources, false);
    match loaded.job {
        None => said,
        Some(job) => match job.build(None) {
            Ok(_) => panic!("nothing is wrong with\n{text}"),
            Err((found, sources)) => render::text(&found, &sources, false),
        },
    }
}
