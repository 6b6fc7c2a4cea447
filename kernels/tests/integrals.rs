//! Kernels whose points are integrals that jump.

use kernels::sums::Sums;
use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch};
use ssl_compiler::{BackendKind, Compiler, GradientRequest, ShaderRequest};

const WIDTH: usize = 8;

/// The kernel that ships, on a small grid with many samples.
fn draw(backend: BackendKind, gradient: Option<GradientRequest>) -> Kernel {
    let text = include_str!("../../scenes/integrals/triangle.ssl")
        .replace("int width", &format!("int width = {WIDTH}"))
        .replace("int samples = 16", "int samples = 256");
    let mut compiler = Compiler::new();
    compiler.set_target(backend);
    let file = compiler.add_source("triangle.ssl", text);
    let request = ShaderRequest { gradient, ..ShaderRequest::default() };
    Kernel::new(compiler.program(file).compile(request).unwrap()).unwrap()
}

/// The picture's sum is the triangle's area, in pixels. The area's derivative by a vertex is half of the opposite side,
/// turned by a right angle: in the plane of the picture, ½ (b.y − c.y, c.x − b.x) for a.
#[test]
fn a_picture_of_a_triangle_has_gradients_by_its_vertices() {
    let [a, b, c] = [[0.2f32, 0.15], [0.85, 0.4], [0.35, 0.9]];
    let shape = Buffer::from_values(Arrangement::Rows, &[[a[0], a[1], b[0], b[1], c[0], c[1]]]).unwrap();
    let grid = Grid::plane(WIDTH as u32, WIDTH as u32);
    let pixels = (WIDTH * WIDTH) as f32;
    let half = |from: [f32; 2], to: [f32; 2]| [0.5 * (from[1] - to[1]), 0.5 * (to[0] - from[0])];
    let expected = [half(b, c), half(c, a), half(a, b)].concat();
    let area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    for backend in [BackendKind::Interpreter, BackendKind::Cranelift] {
        let mut image = Buffer::new(Element::floats(1), Arrangement::Columns, WIDTH * WIDTH).unwrap();
        let list = &mut [Binding::Read(shape.view()), Binding::Write(image.view_mut())];
        let status = Launch::new().run(&draw(backend, None), grid, list, &Control::default()).unwrap();
        assert!(status.is_clean(), "{status:?}");
        let sum: f32 = image.values::<f32>().unwrap().iter().sum();
        assert!((sum / pixels - area).abs() < 1e-3, "{backend:?}: {} and {area}", sum / pixels);

        let gradient = draw(backend, Some(GradientRequest::of_all().by_buffers(["shape"])));
        let ones = Buffer::from_values(Arrangement::Columns, &[1.0f32; WIDTH * WIDTH]).unwrap();
        let mut by_shape = Sums::new(&Element::floats(6), 1).unwrap();
        let list = &mut [Binding::Read(shape.view()), Binding::Read(ones.view()), Binding::Add(&by_shape)];
        let status = Launch::new().run(&gradient, grid, list, &Control::default()).unwrap();
        assert!(status.is_clean(), "{status:?}");
        let mut found = Buffer::new(Element::floats(6), Arrangement::Rows, 1).unwrap();
        by_shape.write(found.view_mut()).unwrap();
        for (found, expected) in found.values::<[f32; 6]>().unwrap()[0].iter().zip(&expected) {
            assert!((found / pixels - expected).abs() < 5e-3, "{backend:?}: {} and {expected}", found / pixels);
        }
    }
}
