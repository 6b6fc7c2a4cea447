//! Programs that end while their shaders are still on their way to better code.

use ssl_tests::rooms::{LAMP, MATTE, materials, room};
use ssl_tests::temporary::Folder;
use std::process::Command;

/// The lobes of the renderer live as long as the program, so nobody waits for their code when a scene goes. The second command finds
/// some code that the first has kept, and ends while the rest is compiled. Four at a time, as compiling then takes longest.
#[test]
fn a_small_render_may_end_before_its_shaders_have_better_code() {
    let folder = Folder::new("ending");
    let scene = folder.write("room.toml", &room(&materials(MATTE, MATTE, LAMP), 2, ""));
    let render = |cache: &str, output: &str| {
        let mut shade = Command::new(env!("CARGO_BIN_EXE_shade"));
        shade.args(["render", &scene, "--spp", "2", "--gradient", "materials.floor.tint", "-o", &folder.file(output)]);
        let out = shade.env("XDG_CACHE_HOME", folder.file(cache)).output().expect("it runs");
        assert!(out.status.success(), "{cache}: {} {}", out.status, String::from_utf8_lossy(&out.stderr));
    };
    let rounds = &|worker: usize| {
        for round in 0..4 {
            let cache = format!("cache-{worker}-{round}");
            render(&cache, &format!("{worker}.exr"));
            render(&cache, &format!("{worker}.png"));
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|worker| drop(scope.spawn(move || rounds(worker)))));
}
