use ssl_compiler::runtime::*;
use ssl_compiler::source::SourceMap;
use ssl_compiler::types::Type;
use ssl_compiler::*;

#[test]
fn first() {
    let text = r#"
float eval_practical(float x1, float x2)
{
    const float u = x1 * x2 / (x1 + 1.f);
    return (sin(u) + log(1.f + u) - exp(x2)) * (u - tanh(x2));
}
void func(float x, float y, out float ox, out float oy) { ox = x; oy = y; }
shader main(out float v, out float dx, out float g0, out float sum, out float d2)
{
    v = eval_practical(global_value<x1>, global_value<x2>);
    dx = ddx(v);
    float ox, oy;
    func(global_value<x1>, 1.0, ox, oy);
    g0 = ddx(ox);
    float a[10];
    for (int i = 0; i < 10; ++i) { if (i == 7) continue; a[i] = i; }
    sum = 0;
    int j = 0;
    while (true) { if (j >= 10) break; sum += a[j]; j++; }
    float x = global_value<x1>;
    d2 = ddx(ddx(x * x * x));
}
"#;
    let mut sources = SourceMap::new();
    let file = sources.add("a.ssl", text);
    let mut layout = GlobalsLayout::new();
    layout.add("x1", Type::Float, Orders::First).unwrap();
    layout.add("x2", Type::Float, Orders::First).unwrap();
    let closures = ClosureRegistry::new();
    for backend in BackendKind::ALL {
        let options = CompileOptions { backend, ..CompileOptions::new(&layout, &closures) };
        let shader = match compile(&sources, file, None, &options) {
            Ok((s, _)) => s,
            Err(d) => panic!("{}", diagnostics::render::text(&d, &sources, false)),
        };
        println!("{}", shader.module());
        let mut globals = vec![Row::ZERO; layout.rows()];
        globals[0] = Row::splat(1.5);
        globals[1] = Row::splat(1.0);
        globals[3] = Row::splat(0.5);
        let parameters = ParameterBlock::new(shader.interface());
        let mut outputs = vec![Row::ZERO; shader.interface().output_rows];
        let status = shader.run(&mut Block { globals: &globals, parameters: &parameters, host: &NoTextures, outputs: &mut outputs, mask: 0xffff, fuel: 1 << 20 });
        println!("{backend:?} {:?} {:?}", outputs.iter().map(|r| r.0[5]).collect::<Vec<_>>(), status.first_error());
        println!("{:?}", shader.timings());
    }
}
