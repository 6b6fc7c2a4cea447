//! The session that hosts embed: what it keeps, what it forgets, and how it refuses.

use ssl_compiler::diagnostics::codes;
use ssl_compiler::{
    Block, Closure, Compiler, External, Files, GlobalsLayout, Orders, ParameterBlock, Row, ShaderRequest, Type,
};
use ssl_tests::{HitGlobals, Lambert};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const TWO: &str = "shader one(out float r) { r = 1.0; } shader two(float x = 3.0, out float r) { r = x * x; }";

/// A file system in memory that counts what is read.
#[derive(Clone, Default)]
struct Memory {
    files: HashMap<PathBuf, &'static str>,
    read: Arc<AtomicUsize>,
}

impl Memory {
    fn with(files: &[(&str, &'static str)]) -> Memory {
        Memory { files: files.iter().map(|(path, text)| (path.into(), *text)).collect(), ..Memory::default() }
    }
}

impl Files for Memory {
    fn identity(&self, path: &Path) -> Option<PathBuf> {
        self.files.contains_key(path).then(|| path.to_owned())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read.fetch_add(1, Ordering::Relaxed);
        self.files.get(path).map(|text| text.as_bytes().to_vec()).ok_or(io::ErrorKind::NotFound.into())
    }
}

fn result(shader: &ssl_compiler::Shader, globals: &[Row], parameters: &ParameterBlock) -> f32 {
    let mut outputs = shader.new_outputs();
    assert!(shader.run(&mut Block::new(globals, parameters, &mut outputs)).is_clean());
    shader.interface().output("r").expect("the shader has `r`").read(&outputs, 5)[0]
}

#[test]
fn a_file_is_checked_once_and_a_request_gives_one_shader() {
    let mut compiler = Compiler::new();
    let file = compiler.add_source("two.ssl", TWO);
    let (first, again) = (compiler.compile(file, "two").unwrap(), compiler.compile(file, "two").unwrap());
    assert!(Arc::ptr_eq(&first, &again));
    assert!(!Arc::ptr_eq(&first, &compiler.compile(file, "one").unwrap()));
    assert!(Arc::ptr_eq(&compiler.program(file), &compiler.program(file)));
    assert_eq!(compiler.program(file).shaders().unwrap(), ["one", "two"]);
    assert_eq!(result(&first, &[], &first.new_parameters()), 9.0);

    let mut given = first.new_parameters();
    given.set(first.interface(), "x", &5.0_f32.into()).unwrap();
    let baked = ShaderRequest { bake: Some(given), .."two".into() };
    let inside = compiler.compile(file, baked.clone()).unwrap();
    assert!(!Arc::ptr_eq(&first, &inside) && Arc::ptr_eq(&inside, &compiler.compile(file, baked).unwrap()));
    assert_eq!(result(&inside, &[], &first.new_parameters()), 25.0);
}

#[test]
fn what_is_offered_later_makes_the_session_forget() {
    let mut compiler = Compiler::new();
    let file = compiler
        .add_source("later.ssl", "float wave(float x); shader main(out float r) { r = wave(global_value<t>); }");
    let refused = compiler.check(file).unwrap_err();
    assert!(refused.diagnostics().has_errors());
    compiler.add_global("t", Type::Float, Orders::Value).unwrap();
    compiler.register_external(External::of("wave", |x: f32| x + 0.5));
    let shader = compiler.compile(file, None).unwrap();
    assert_eq!(result(&shader, &[Row::splat(0.25)], &shader.new_parameters()), 0.75);
    // A shader that was given out goes on as it is.
    compiler.register_external(External::of("wave", |x: f32| x - 0.5));
    let other = compiler.compile(file, None).unwrap();
    assert_eq!(result(&other, &[Row::splat(0.25)], &other.new_parameters()), -0.25);
    assert_eq!(result(&shader, &[Row::splat(0.25)], &shader.new_parameters()), 0.75);
    assert!(compiler.add_global("t", Type::Int, Orders::Value).is_err());
}

#[test]
fn a_file_may_declare_an_offered_global_in_its_own_type() {
    let mut compiler = Compiler::new();
    compiler.offer_global("wear", Type::Float, Orders::First);
    let plain = compiler.add_source("plain.ssl", "shader main(out float r) { r = global_value<wear>; }");
    let own =
        compiler.add_source("own.ssl", "globals { int wear; } shader main(out float r) { r = global_value<wear>; }");
    let ty = |file, compiler: &mut Compiler| {
        let shader = compiler.compile(file, None).unwrap();
        let globals: &GlobalsLayout = &shader.interface().globals;
        globals.find("wear").expect("it is declared").1.ty.clone()
    };
    assert_eq!(ty(plain, &mut compiler), Type::Float);
    assert_eq!(ty(own, &mut compiler), Type::Int);
}

#[test]
fn an_error_shows_its_place_and_is_an_error_of_the_standard_library() {
    let mut compiler = Compiler::new();
    compiler.set_globals(HitGlobals::layout());
    compiler.register_closure::<Lambert>();
    let file = compiler.add_source("broken.ssl", "shader main(out closure c)\n{\n    c = make_closure<Lambart>();\n}");
    let error: Box<dyn std::error::Error + Send + Sync> = compiler.compile(file, "main").err().unwrap().into();
    let text = error.to_string();
    assert!(text.contains("broken.ssl:3:22") && text.contains("Lambert"), "{text}");
    let missing = compiler.add_source("two.ssl", TWO);
    let error = compiler.compile(missing, "too").err().unwrap();
    assert_eq!(error.diagnostics().list[0].code, &codes::NO_SHADER);
    let line = error.into_diagnostics().to_string();
    assert_eq!(line, "error[E0301]: there is no shader `too`; did you mean `two`?");
}

#[test]
fn warnings_come_with_the_shader() {
    let mut compiler = Compiler::new();
    let file = compiler.add_source("warned.ssl", "shader main(out float r) { float unused = 1.0; r = 2.0; }");
    let warned = compiler.check(file).unwrap();
    assert_eq!(warned.list.len(), 1);
    let shader = compiler.compile(file, "main").unwrap();
    assert_eq!(shader.warnings().list[0].code, warned.list[0].code);
}

#[test]
fn files_come_from_where_the_host_says_and_are_read_once() {
    let memory = Memory::with(&[
        ("a/main.ssl", "import \"part.ssl\"; import \"far.ssl\"; shader main(out float r) { r = near() + far(); }"),
        ("a/part.ssl", "float near() { return 1.0; }"),
        ("lib/far.ssl", "float far() { return 2.0; }"),
    ]);
    let read = Arc::clone(&memory.read);
    let mut compiler = Compiler::new();
    compiler.include("lib").set_files(memory);
    let file = compiler.add_file("a/main.ssl").unwrap();
    let shader = compiler.compile(file, "main").unwrap();
    assert_eq!(result(&shader, &[], &shader.new_parameters()), 3.0);
    assert_eq!(compiler.add_file("a/main.ssl").unwrap(), file);
    assert_eq!(read.load(Ordering::Relaxed), 3);
    assert_eq!(compiler.add_file("a/none.ssl").unwrap_err().kind(), io::ErrorKind::NotFound);
    compiler.clear();
    assert!(compiler.sources().files().is_empty());
    compiler.add_file("a/main.ssl").unwrap();
    // The one that is missing was asked for, too.
    assert_eq!(read.load(Ordering::Relaxed), 5);
}

#[test]
fn a_lowered_shader_says_what_a_compiled_one_says() {
    let mut compiler = Compiler::new();
    compiler.set_globals(HitGlobals::layout());
    let lambert = compiler.register_closure::<Lambert>();
    assert_eq!(compiler.closures().find("Lambert").map(|(id, _)| id), Some(lambert));
    let source = "shader main(color tint = 0.5, out float r, out closure c) {
        r = ddx(global_value<uvw>.x); c = make_closure<Lambert>(tint, global_value<normal>); }";
    let file = compiler.add_source("main.ssl", source);
    let lowered = compiler.lower(file, "main").unwrap();
    let compiled = compiler.compile(file, "main").unwrap();
    let interface = compiled.interface();
    assert_eq!(lowered.interface.globals_read, interface.globals_read);
    assert_eq!(lowered.interface.output_rows, interface.output_rows);
    assert_eq!(lowered.interface.parameters[0].name, "tint");
    // Only the lobes of a type, and none of the plain outputs.
    let none = ShaderRequest { lobes: Some(vec![]), ..ShaderRequest::default() };
    assert!(compiler.compile(file, none).unwrap().interface().globals_read.is_empty());
}

#[test]
fn tests_of_a_file_run_on_every_back_end() {
    let mut compiler = Compiler::new();
    compiler.set_globals(HitGlobals::layout());
    let source = "shader main(out float r) { r = ddx(global_value<uvw>.x * 2.0); }
        test \"twice\" { uvw = dual(float3(0.0), float3(1.0, 0.0, 0.0), float3(0.0)); run main(); expect(r, 2.0); }
        test \"wrong\" { run main(); expect(r, 1.0); }";
    let file = compiler.add_source("main.ssl", source);
    let reports = compiler.test(file).unwrap();
    let passed: Vec<_> = reports.iter().map(|r| (r.name.as_str(), r.passed())).collect();
    let each = ssl_compiler::BackendKind::ALL.len();
    assert_eq!(passed, [vec![("twice", true); each], vec![("wrong", false); each]].concat());
}

#[test]
fn several_threads_compile_one_program() {
    let mut compiler = Compiler::new();
    let file = compiler.add_source("two.ssl", TWO);
    let program = compiler.program(file);
    let shaders: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| program.compile("two").unwrap())).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(shaders.iter().all(|s| Arc::ptr_eq(s, &shaders[0])));
}

#[test]
fn the_rows_of_a_field_are_where_the_layout_says() {
    let layout = HitGlobals::layout();
    let mut globals = HitGlobals::default();
    globals.normal()[2][1].0[7] = 1.5;
    globals.object_id()[0][0].set_int(3, 42);
    let first = |name: &str| layout.find(name).expect("the struct has it").1.first_row;
    assert_eq!(globals.rows()[first("normal") + 2 * 3 + 1].0[7], 1.5);
    assert_eq!(globals.rows()[first("object_id")].int(3), 42);
    assert_eq!(globals.rows().len(), layout.rows());
    assert_eq!(Lambert::closure_type().name, "Lambert");
}

/// A shader that knows an interface and one type that conforms; a host adds more.
// rule: interfaces.values accept
#[test]
fn a_host_adds_implementations_to_a_program() {
    const SHAPES: &str = "interface IShape { float area(); static const int CORNERS = 0; }";
    const USER: &str = "import \"shapes.ssl\";
        struct Dot : IShape { float area() { return 0.5; } }
        interface IPaint { float ink(); }
        shader own(out float r) { IShape s; r = s.area(); }
        shader others(out float r) { IPaint p; r = p.ink(); }";
    const BLOB: &str = "import \"user.ssl\"; struct Blob : IShape, IPaint
        { float area() { return 7.0; } float ink() { return 3.0 + float(CORNERS); } }";
    const DROP: &str = "import \"user.ssl\"; struct Drop : IPaint { float ink() { return 4.0; } }";
    let files = [("shapes.ssl", SHAPES), ("user.ssl", USER), ("blob.ssl", BLOB), ("drop.ssl", DROP)];
    let mut compiler = Compiler::new();
    compiler.set_files(Memory::with(&files));
    let user = compiler.add_file("user.ssl").unwrap();
    let (blob, drop) = (compiler.add_file("blob.ssl").unwrap(), compiler.add_file("drop.ssl").unwrap());
    let run = |compiler: &mut Compiler, entry: &str| {
        let shader = compiler.compile(user, entry).unwrap();
        result(&shader, &[], &shader.new_parameters())
    };
    // Nothing in the program paints, so a value holds nothing.
    assert_eq!(run(&mut compiler, "others"), 0.0);
    // A value holds the type that conforms first: the program's own before the host's, and these in their order.
    compiler.set_implementations(&[blob, drop]);
    assert_eq!([run(&mut compiler, "own"), run(&mut compiler, "others")], [0.5, 3.0]);
    let kept = compiler.compile(user, "others").unwrap();
    compiler.set_implementations(&[drop, blob]);
    assert_eq!([run(&mut compiler, "own"), run(&mut compiler, "others")], [0.5, 4.0]);
    // What was given out stays, and the same list keeps what was made for it.
    assert_eq!(result(&kept, &[], &kept.new_parameters()), 3.0);
    let program = compiler.program(user);
    compiler.set_implementations(&[drop, blob]);
    assert!(Arc::ptr_eq(&program, &compiler.program(user)));
    // A file that the program reads anyway joins it once.
    compiler.set_implementations(&[user, drop]);
    assert_eq!(run(&mut compiler, "others"), 4.0);
}

#[test]
fn what_is_wrong_with_an_added_implementation_lies_in_its_file() {
    let mut compiler = Compiler::new();
    compiler.set_files(Memory::with(&[
        ("user.ssl", "interface IPaint { float ink(); } shader main(out float r) { IPaint p; r = p.ink(); }"),
        ("half.ssl", "import \"user.ssl\"; struct Half : IPaint { float x; };"),
    ]));
    let user = compiler.add_file("user.ssl").unwrap();
    let half = compiler.add_file("half.ssl").unwrap();
    let refused = compiler.set_implementations(&[half]).compile(user, "main").err().expect("it lacks a method");
    let found = refused.into_diagnostics();
    let first = found.list.iter().find(|d| d.code.id == codes::CONFORMANCE.id).expect("that is said");
    assert_eq!(first.span.map(|span| span.file), Some(half));
}
