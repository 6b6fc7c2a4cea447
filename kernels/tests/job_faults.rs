//! Jobs that are wrong: what is said, and where.

use crate::job_files;
use job_files::{SMALL, changed, options, refused, scene};
use kernels::jobs;
use ssl_compiler::diagnostics::render;

#[test]
fn mistakes_are_found_where_they_are() {
    for (from, to, code, expected) in [
        ("steps = 1\n", "", "J0002", "the job has no `steps`"),
        ("[loss]\nbuffer = 'sum'\n", "", "J0002", "the job has no `loss`"),
        ("[[fit]]\nbuffer = 'x'\nmethod = 'sgd'\nrate = 0.125\n", "", "J0002", "the job has no `fit`"),
        ("values = [3.0, -1.0]", "constant = 1\nlength = 'n'\n[values]\nn = -3", "J0004", "`n` is -3"),
        (
            "[buffers.t]",
            "[values]\nn = nan\n[buffers.t]",
            "J0004",
            "`n` in `values` of the job is NaN; it must be finite",
        ),
        ("steps = 1", "stepz = 1", "J0002", "did you mean `steps`?"),
        ("steps = 1", "steps = -1", "J0004", "must be from 0 to"),
        ("steps = 1", "steps = 'one'", "J0002", "takes a whole number, and this is a text"),
        ("rate = 0.125", "rate = nan", "J0004", "it must be finite"),
        ("rate = 0.125", "rate = -1.0", "J0004", "`rate` must be 0 or more"),
        ("rate = 0.125", "rate = 0.125\nmomentum = 1.0", "J0004", "`momentum` must be at least 0 and below 1"),
        ("rate = 0.125", "rate = 0.125\nlow = 1.0\nhigh = 0.5", "J0004", "leave no room"),
        ("kernel = 'twice'", "kernel = 'twise'", "J0003", "did you mean `twice`?"),
        ("kernel = 'twice'\nover = 'x'", "kernel = 'twice'", "J0005", "add `over`"),
        ("kernel = 'twice'", "", "J0005", "either a `kernel` or a `run`"),
        ("kernel = 'twice'", "run = 'shuffle'", "J0002", "there are"),
        ("over = 'x'\n[[", "over = 'z'\n[[", "J0003", "no launch has a buffer `z`"),
        ("over = 'x'\n[[", "over = [3, 0]\n[[", "J0004", "`twice` runs over no points"),
        ("buffer = 'sum'", "buffer = 'som'", "J0003", "did you mean `sum`?"),
        ("buffer = 'sum'", "of = 'y'", "J0005", "either a `buffer`, or `of`"),
        ("buffer = 'sum'", "of = 'y'\ntarget = 't'\ntype = 'l3'", "J0002", "there are l1, l2, log, relative"),
        ("buffer = 'x'\nmethod", "buffer = 'y'\nmethod", "J0005", "launches make it"),
        ("method = 'sgd'", "method = 'sgd'\nbeta1 = 0.5", "J0005", "means nothing for `sgd`"),
        ("values = [3.0, -1.0]", "values = [[3.0, 1.0]]", "J0007", "these are 2 numbers"),
        ("values = [3.0, -1.0]", "constant = 1.0", "J0005", "add `length`"),
        ("values = [3.0, -1.0]", "constant = 1.0\nlength = 0", "J0004", "no elements"),
        ("values = [3.0, -1.0]", "constant = 1.0\nlength = 'n'", "J0003", "`n` is no count"),
        ("values = [3.0, -1.0]", "uniform = [1.0, 0.0]\nlength = 2", "J0004", "1 is above 0"),
        ("values = [3.0, -1.0]", "file = 'no-such-file.npy'", "J0001", "there is no file"),
        ("[buffers.t]\nvalues = [3.0, -1.0]", "", "J0007", "nothing gives `t`"),
        ("[buffers.t]", "[buffers.y]\nconstant = 0\n[buffers.t]", "J0007", "has a start, and `twice` gives it"),
        ("[buffers.t]", "[buffers.u]\nconstant = 0\n[buffers.t]", "J0003", "no launch has a buffer `u`"),
        ("[buffers.t]", "[values]\nn = 1\n[buffers.t]", "J0003", "nothing takes the value `n`"),
        ("file = 'x.npy'", "file = 'x.txt'", "J0012", "does not end in"),
        ("file = 'x.npy'", "file = '../x.npy'", "J0012", "out of the output folder"),
        ("file = 'x.npy'", "file = 'x.png'", "J0012", "no width and height"),
        ("y = 2.0 * x[index]", "y = 2.0 * z[index]", "E0", "z"),
        ("source = '''", "file = 'a.ssl'\nsource = '''", "J0005", "either a `file` or a `source`"),
        ("kernel = 'apart'", "kernel = 'apart'\nbuffers = { q = 'x' }", "J0003", "has no buffer `q`"),
        ("kernel = 'apart'", "kernel = 'apart'\nvalues = { q = 1 }", "J0003", "has no parameter `q`"),
        ("sum[0] +=", "sum[index] +=", "J0005", "how many elements `sum` has is not said, and `apart` adds to many"),
        ("sum[0] +=", "sum[int(d)] +=", "J0005", "`length = \"x.length\"`"),
        ("[loss]", "[loss", "J0002", "not well-formed"),
    ] {
        let said = refused(&changed(from, to));
        assert!(said.contains(code) && said.contains(expected), "{to}: {said}");
        assert!(said.contains(".toml:") || !said.contains("-->"), "{to}: {said}");
    }
}

#[test]
fn what_the_loss_does_not_depend_on_cannot_be_fitted() {
    let said = refused(&changed("sum[0] += d * d + 0.5 * x[index]", "sum[0] += t[index]"));
    assert!(said.contains("J0008") && said.contains("`sum` does not depend on `x`"), "{said}");
    // A condition has no derivative.
    let said = refused(&changed("d * d + 0.5 * x[index]", "x[index] > d ? 1.0 : t[index]"));
    assert!(said.contains("J0008"), "{said}");
}

/// A launch that gives the gradient of `twice`, in place of the compiler.
const OWN: &str = "
[[launches]]
kernel = 'doubled'
over = 'x'
gradient_of = 'twice'
[loss]";

fn with_own(kernel: &str, launch: &str) -> String {
    changed("[loss]", launch).replacen("source = '''", &format!("source = '''\nkernel doubled({kernel}"), 1)
}

#[test]
fn gradients_that_launches_give_are_checked() {
    let right =
        "in buffer<float> cotangent_y, add buffer<float> gradient_x) { gradient_x[index] += cotangent_y[index]; }";
    let three = right.replace("cotangent_y", "cotangent_y3");
    for (kernel, launch, code, expected) in [
        (right, OWN.replace("'twice'", "'twise'"), "J0003", "did you mean `twice`?"),
        (right, OWN.replace("'twice'", "'doubled'"), "J0003", "no launch of a kernel is named `doubled`"),
        (right, OWN.replace("'twice'", "'apart'"), "J0007", "`apart` does not write `y`"),
        (&three, OWN.to_owned(), "J0003", "no launch has a buffer `y3`"),
        (
            &right.replace("in buffer<float>", "in buffer<float2>").replace("y[index]", "y[index].x"),
            OWN.to_owned(),
            "J0007",
            "one of the gradient of `y` is",
        ),
        (
            &right.replace("gradient_x", "slope_x"),
            OWN.replace("[loss]", "[buffers.slope_x]\nlength = 2\n[loss]"),
            "J0005",
            "`doubled` gives no gradient",
        ),
        (
            "in buffer<float> cotangent_y, out buffer<float> gradient_x) { gradient_x = cotangent_y[index]; }",
            OWN.to_owned(),
            "J0007",
            "`gradient_x` is an `out` buffer",
        ),
        (
            right,
            OWN.replace("'x'\n", "'x'\nbuffers = { gradient_x = ['x', 't'] }\n"),
            "J0007",
            "`gradient_x` is one buffer of `doubled`",
        ),
        (right, OWN.replace("'x'\n", "'x'\nbuffers = { gradient_x = 't' }\n"), "J0007", "`twice` does not read `t`"),
        (
            right,
            OWN.replace("kernel = 'doubled'\nover = 'x'", "run = 'offsets'"),
            "J0005",
            "`offsets` gives no gradient",
        ),
    ] {
        let said = refused(&with_own(kernel, &launch));
        assert!(said.contains(code) && said.contains(expected), "{kernel} {launch}: {said}");
    }
    let of_constant =
        "in buffer<float> cotangent_sum, add buffer<float> gradient_t) { gradient_t[index] += cotangent_sum[0]; }";
    let said = refused(&with_own(of_constant, &OWN.replace("'twice'", "'apart'")));
    assert!(said.contains("J0008") && said.contains("the gradient of `t`, which has none"), "{said}");
    let (fit, steps) = ("[[fit]]\nbuffer = 'x'\nmethod = 'sgd'\nrate = 0.125\n", "steps = 1\n");
    let twins = with_own(right, OWN)
        .replace("[loss]", "[[launches]]\nkernel = 'twice'\nover = 'x'\nbuffers = { y = 'z' }\n[loss]");
    assert!(refused(&twins).contains("several launches are named `twice`"));
    let drawn = with_own(right, OWN).replace("[loss]\nbuffer = 'sum'\n", "").replace(fit, "").replace(steps, "");
    assert!(refused(&drawn).contains("a job without a loss has no gradients"));
}

#[test]
fn parameters_have_the_ranges_that_their_kernels_say() {
    let ranged = changed("out buffer<float> y)", "int layers <<< min = 1, max = 8 >>>, out buffer<float> y)");
    for (value, expected) in
        [("0", "`layers` is 0, below its `min` of 1"), ("9", "`layers` is 9, above its `max` of 8")]
    {
        let said = refused(&ranged.replacen("[buffers.t]", &format!("[values]\nlayers = {value}\n[buffers.t]"), 1));
        assert!(said.contains("J0004") && said.contains(expected) && said.contains("from 1 to 8"), "{said}");
    }
    for (path, setting, expected) in [
        ("raster/texture.toml", "layers=0", "give it a value from 1 to 8"),
        ("raster/hair.toml", "strands=-3", "give it a value of at least 1"),
    ] {
        let loaded = jobs::load(&scene(path), &options(&[setting]));
        let said = render::text(&loaded.diagnostics, &loaded.sources, false);
        assert!(loaded.job.is_none() && said.contains("J0004") && said.contains(expected), "{said}");
    }
}

#[test]
fn values_from_the_command_line_are_shown_there() {
    let path = scene("splats/photo.toml");
    let said = |list: &[&str]| {
        let loaded = jobs::load(&path, &options(list));
        assert!(loaded.job.is_none(), "{list:?}");
        render::text(&loaded.diagnostics, &loaded.sources, false)
    };
    let unknown = said(&["sise=1e-3"]);
    assert!(unknown.contains("the command line:1:1") && unknown.contains("did you mean `size`?"), "{unknown}");
    assert!(said(&["buffers.blobs.lenght=3"]).contains("did you mean `length`?"));
    assert!(said(&["target=nothing.png"]).contains("there is no file `nothing.png`"));
    assert!(said(&["count=0"]).contains("no elements"));
    assert!(said(&["count=1e3"]).contains("`count` is 1000, and counts something"));
    assert!(said(&["fit.1.rate=1"]).contains("`fit` has no `1`"));
}

#[test]
fn values_that_settings_leave_without_use_are_no_mistake() {
    for list in [["buffers.blobs.length=50"], ["\"buffers\".blobs.'length'=50"]] {
        let loaded = jobs::load(&scene("splats/photo.toml"), &options(&[&SMALL[1..], &list].concat()));
        assert!(loaded.diagnostics.is_empty(), "{}", render::text(&loaded.diagnostics, &loaded.sources, false));
    }
}

/// A head that promises 3 · 10⁸ pixels is refused by that size, or by the length of the file where this cannot hold
/// them.
#[test]
fn what_takes_too_much_memory_is_refused_before_it_is_decoded() {
    let chunk = |name: &[u8], data: &[u8]| {
        let body = [name, data].concat();
        let mut crc = u32::MAX;
        for byte in &body {
            crc ^= u32::from(*byte);
            (0..8).for_each(|_| crc = crc >> 1 ^ (0xedb8_8320 & 0u32.wrapping_sub(crc & 1)));
        }
        [&(data.len() as u32).to_be_bytes()[..], &body, &(!crc).to_be_bytes()].concat()
    };
    let sides = [30_000u32.to_be_bytes(), 10_000u32.to_be_bytes()].concat();
    let head = chunk(b"IHDR", &[&sides[..], &[8, 2, 0, 0, 0]].concat());
    let png =
        |data: &[u8]| [b"\x89PNG\r\n\x1a\n".to_vec(), head.clone(), chunk(b"IDAT", data), chunk(b"IEND", &[])].concat();
    let path = std::env::temp_dir().join(format!("ssl-jobs-{}-large.png", std::process::id()));
    // Deflate makes 9 · 10⁸ bytes no shorter than this.
    std::fs::write(&path, png(&[0; 900_000])).expect("it can be written");
    let options = options(&[&format!("target={}", path.display())]);
    let said = |memory| {
        let options = jobs::Options { memory: Some(memory), ..options.clone() };
        let loaded = jobs::load(&scene("splats/photo.toml"), &options);
        assert!(loaded.job.is_none());
        render::text(&loaded.diagnostics, &loaded.sources, false)
    };
    let refused = said(100 << 20);
    assert!(refused.contains("J0010") && refused.contains("takes 9155 MB"), "{refused}");
    assert!(refused.contains("there may be 100 MB"), "{refused}");
    assert!(said(usize::MAX).contains("J0006"));
    std::fs::write(&path, png(&[])).expect("it can be written");
    assert!(said(100 << 20).contains("shorter than an image of the size that it says"));
    std::fs::remove_file(&path).expect("it is there");
}

#[test]
fn files_that_hold_no_elements_are_told() {
    let npy = |shape: &str, data: &[f32]| {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
        let data: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
        [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &data].concat()
    };
    let path = std::env::temp_dir().join(format!("ssl-jobs-{}-target.npy", std::process::id()));
    let said = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("it can be written");
        let loaded = jobs::load(&scene("splats/photo.toml"), &options(&[&format!("target={}", path.display())]));
        assert!(loaded.job.is_none());
        render::text(&loaded.diagnostics, &loaded.sources, false)
    };
    let mut picture = [0.5; 12];
    picture[7] = f32::NAN;
    let nan = said(&npy("(2, 2, 3)", &picture));
    assert!(nan.contains("J0006") && nan.contains("has NaN at pixel (0, 1), number 1"), "{nan}");
    assert!(said(&npy("(0, 0, 3)", &[])).contains("has no elements"));
    assert!(said(&npy("(2, 6)", &[0.5; 12])).contains("has the shape [2, 6]"));
    assert!(said(b"not an array").contains("is no .npy file"));
    std::fs::remove_file(&path).expect("it is there");
}
