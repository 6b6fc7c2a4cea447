//! Random kernels: they read elements of buffers at any index, write their own, and add to others.

use super::{Flavour, Generator, Held, Random, Ty};

/// What is declared beside the declarations of all programs: elements that are structs, and functions that take buffers.
const ELEMENTS: &str = "\
struct Cell { float w; float3 c; int m; bool on; };
struct Total { float w; float3 c; int count; };
float near(in buffer<float> a, int i) { return 0.5 * a[i] + a[i + 1]; }
void note(add buffer<Total> totals, int i, float w) { totals[i].w += w; totals[i + 1].count -= i; }
";

/// What stands for the globals of shaders, which points of a grid do not have.
const IN_PLACE_OF_GLOBALS: [(&str, &str); 4] = [
    ("global_value<ga>", "0.37"),
    ("global_value<gb>", "-1.25"),
    ("global_value<gc>", "0.8"),
    ("global_value<gi>", "5"),
];

/// What stands for textures where derivatives are compared: those of a texture have none.
const IN_PLACE_OF_TEXTURES: [(&str, &str); 3] = [
    ("texture2d_sample<tex>(", "glance("),
    ("texture2d_sample_alpha<tex>(", "0.5 * dim("),
    ("texture2d_sample4<tex>(", "stare("),
];
const GLANCES: &str = "\
float dim(float x, float y) { return sin(x) * y; }
color glance(float x, float y) { return color(x, cos(y), x * y); }
float4 stare(float x, float y) { return float4(y, x * y, sin(x), 0.5); }
";

/// A file whose only kernel is called `main`. The functions of a smooth one stay of moderate size.
pub fn kernel(random: Random, size: usize, smooth: bool) -> String {
    let mut g = Generator::new(random, Flavour { smooth, nested_derivatives: false });
    g.out.push_str(ELEMENTS);
    g.functions(size);
    g.variables.clear();
    g.result = None;
    g.buffers = true;
    g.budget = 3 + size;
    g.line("kernel main(in buffer<float> a, in buffer<float3> b, in buffer<int> n, in buffer<Cell> cells,");
    g.line("    inout buffer<float> s, out buffer<float4> o, out buffer<int> k,");
    g.line("    add buffer<float> sums, add buffer<Total> totals)");
    g.line("{");
    g.depth += 1;
    for (name, ty) in [("s", Ty::Float), ("o", Ty::Float4), ("k", Ty::Int)] {
        g.variables.push((name.to_owned(), ty, true));
    }
    for (name, ty, value) in
        [("x", Ty::Float, "a[index]"), ("v", Ty::Vector, "b[n[index]]"), ("j", Ty::Int, "n[index]")]
    {
        g.line(&format!("{} = {value};", ty.declare(name)));
        g.variables.push((name.to_owned(), ty, true));
    }
    g.variables.push(("index".to_owned(), Ty::Int, false));
    g.statements();
    g.addition();
    g.depth -= 1;
    g.line("}");
    replaced(g.out, &IN_PLACE_OF_GLOBALS)
}

/// A file with a kernel `primal`, and with a kernel `forward` that computes its derivative along tangents of the elements
/// (`a_dot`, `b_dot` and `s_dot`) in forward mode. The floats go through one smooth function; where they are read and added
/// to depends on integers alone.
pub fn kernel_and_derivative(random: Random, size: usize) -> String {
    smooth_pair(random, size, None)
}

/// As [`kernel_and_derivative`], with functions through some of whose parameters no derivative goes.
pub fn held_kernel_and_derivative(random: Random, size: usize, held: Held) -> String {
    smooth_pair(random, size, Some(held))
}

fn smooth_pair(random: Random, size: usize, held: Option<Held>) -> String {
    let mut g = Generator::new(random, Flavour { smooth: true, nested_derivatives: false });
    g.held = held;
    g.out.push_str(GLANCES);
    g.functions(size);
    let parameters = [("t", Ty::Float4), ("u", Ty::Float), ("v", Ty::Vector)];
    g.variables = parameters.map(|(name, ty)| (name.to_owned(), ty, true)).into();
    (g.result, g.budget) = (Some(Ty::Float4), 3 + size);
    g.line("float4 body(float4 t, float u, float3 v)\n{");
    g.depth += 1;
    g.statements();
    // Of moderate size, whatever came before, as the loop hands it back.
    let value = g.expr(Ty::Float4, 3);
    g.line(&format!("float4 next = {value};"));
    g.line("return 0.5 * t + float4(sin(next.x), cos(next.y), tanh(next.z), sin(u + v.x + next.w));");
    g.depth -= 1;
    g.line("}");
    let script = Script::new(&mut g);
    g.out.push_str(&script.primal());
    g.out.push_str(&script.forward());
    replaced(g.out, IN_PLACE_OF_GLOBALS.iter().chain(&IN_PLACE_OF_TEXTURES))
}

fn replaced<'a>(text: String, list: impl IntoIterator<Item = &'a (&'a str, &'a str)>) -> String {
    list.into_iter().fold(text, |text, (word, other)| text.replace(word, other))
}

/// What the two kernels have in common.
struct Script {
    attribute: &'static str,
    /// Expressions: the rounds of the loop, where elements are read, and where they are added to.
    rounds: String,
    reads: [String; 4],
    adds: [String; 2],
    /// In which rounds something is added.
    when: String,
}

impl Script {
    fn new(g: &mut Generator) -> Script {
        g.result = None;
        let attribute = g.random.pick(&["", "[Checkpoint(keep)] ", "[Checkpoint(every = 2)] ", "[Checkpoint(log)] "]);
        let names = |list: &[&str]| list.iter().map(|name| ((*name).to_owned(), Ty::Int, false)).collect();
        g.variables = names(&["index", "i"]);
        let rounds = format!("({}) & 3", g.expr(Ty::Int, 2));
        let (first, second) = (g.expr(Ty::Int, 2), g.expr(Ty::Int, 2));
        let last = g.expr(Ty::Int, 2);
        g.variables = names(&["index", "i", "j"]);
        let reads = [g.expr(Ty::Int, 2), g.expr(Ty::Int, 2), first, second];
        Script { attribute, rounds, reads, adds: [g.expr(Ty::Int, 2), last], when: g.expr(Ty::Bool, 2) }
    }

    fn primal(&self) -> String {
        let Script { attribute, rounds, reads: [r0, r1, r2, r3], adds: [a0, a1], when } = self;
        format!(
            "kernel primal(in buffer<float> a, in buffer<float3> b, in buffer<int> n, inout buffer<float4> s,
    out buffer<float> o, add buffer<float4> sums, add buffer<float> one)
{{
    float4 t = s;
    int i = n[index];
    int rounds = {rounds};
    {attribute}for (int j = 0; j < rounds; ++j) {{
        t = body(t, a[{r0}], b[{r1}]);
        if ({when}) sums[{a0}] += 0.5 * t;
    }}
    o = t.x * a[{r2}] + b[{r3}].z;
    one[0] += o;
    sums[{a1}].yz -= t.xw;
    s = t;
}}
"
        )
    }

    fn forward(&self) -> String {
        let Script { rounds, reads: [r0, r1, r2, r3], adds: [a0, a1], when, .. } = self;
        format!(
            "kernel forward(in buffer<float> a, in buffer<float3> b, in buffer<int> n, in buffer<float4> s_in,
    in buffer<float> a_dot, in buffer<float3> b_dot, in buffer<float4> s_dot,
    out buffer<float4> s, out buffer<float> o, add buffer<float4> sums, add buffer<float> one)
{{
    DifferentialPair<float4> t = diffPair(s_in[index], s_dot[index]);
    int i = n[index];
    int rounds = {rounds};
    for (int j = 0; j < rounds; ++j) {{
        int p = {r0};
        int q = {r1};
        t = fwd_diff(body)(t, diffPair(a[p], a_dot[p]), diffPair(b[q], b_dot[q]));
        if ({when}) sums[{a0}] += 0.5 * t.d;
    }}
    int p = {r2};
    int q = {r3};
    o = t.d.x * a[p] + t.p.x * a_dot[p] + b_dot[q].z;
    one[0] += o;
    sums[{a1}].yz -= t.d.xw;
    s = t.d;
}}
"
        )
    }
}

impl Generator {
    /// An element of a buffer, or what else only kernels have.
    pub(super) fn element(&mut self, ty: Ty) -> Option<String> {
        // An index may itself be read from a buffer, and no deeper.
        if !self.buffers || self.reading > 1 || !self.random.chance(25) {
            return None;
        }
        let form = match ty {
            Ty::Float => self.random.pick(&["a[#]", "a[#]", "b[#].y", "cells[#].w", "cells[#].c.x", "near(a, #)"]),
            Ty::Vector => self.random.pick(&["b[#]", "cells[#].c"]),
            Ty::Float2 => "b[#].zx",
            Ty::Int => self.random.pick(&["n[#]", "cells[#].m", "index_x", "index_y", "a.length"]),
            Ty::Bool => "cells[#].on",
            _ => return None,
        };
        self.reading += 1;
        let index = self.expr(Ty::Int, 1);
        self.reading -= 1;
        Some(form.replace('#', &index))
    }

    /// A statement that adds to an element.
    pub(super) fn addition(&mut self) {
        let index = self.expr(Ty::Int, 2);
        let (form, ty) = [
            ("sums[#] += @;", Ty::Float),
            ("sums[#] -= @;", Ty::Float),
            ("totals[#].w += @;", Ty::Float),
            ("totals[#].c += @;", Ty::Vector),
            ("totals[#].c.zx -= @;", Ty::Float2),
            ("totals[#].count += @;", Ty::Int),
            ("note(totals, #, @);", Ty::Float),
        ][self.random.below(7)];
        let value = self.expr(ty, 2);
        self.line(&form.replace('#', &index).replace('@', &value));
    }
}
