//! Shaders that are swapped under an integral whose derivative is compiled once: the experiment of section 10.3 of Potto
//! (Michel and others, 2024), where 90 conditions are the geometry of a scene.

use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch};
use ssl_compiler::{Compiler, OpenInterface, Program, Target};
use ssl_tests::memory::Memory;
use std::error::Error;
use std::sync::Arc;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const SHADE: &str = "interface IShade { [Differentiable] float at(float x); }";

/// The integrand with so many conditions, and a kernel that gives value and derivative at 1,000 samples.
fn scene(conditions: usize) -> String {
    let n = conditions as f64;
    let sum: String = (1..=conditions).map(|i| format!(" + (x < {:?} * t ? s : 0.0)", i as f64 / n)).collect();
    format!(
        "import \"shade.ssl\";\n\
         float seen(IShade shade, float t)\n\
         {{\n\
             return integral(x in [0.0, 1.0]; samples = 1000) {{ float s = shade.at(x); return 0.0{sum}; }};\n\
         }}\n\
         kernel measure(in buffer<IShade> shades, in buffer<float> edges, out buffer<float> value, out buffer<float> slope)\n\
         {{\n\
             DifferentialPair<float> both = fwd_diff(seen)(diffPair(shades[index]), diffPair(edges[index], 1.0));\n\
             value = both.p;\n\
             slope = both.d;\n\
         }}\n"
    )
}

/// One shader of many: it fades, and every third one jumps at a place of its own.
fn shader(number: usize) -> String {
    let step = if number.is_multiple_of(3) { " + (x < place ? 1.0 : 0.0)" } else { "" };
    format!(
        "import \"shade.ssl\";\n\
         struct Shader{number} : IShade\n\
         {{\n\
             float bright; float fade; float place;\n\
             float at(float x) {{ return bright * exp(-fade * x) + {number}.0 * x{step}; }}\n\
         }}\n"
    )
}

/// The program, and what was linked to it.
pub struct Swaps {
    compiler: Compiler,
    scene: Arc<Program>,
    kernel: Kernel,
    launch: Launch,
    conditions: usize,
    linked: usize,
}

/// The shaders that there are.
pub const SHADERS: usize = 49;

const MEMBERS: [f32; 3] = [0.75, 1.5, 0.3047];
const EDGE: f32 = 0.9;

impl Swaps {
    /// Compiles the scene.
    ///
    /// # Errors
    /// It does not compile.
    pub fn new(target: Target, conditions: usize) -> Outcome<Swaps> {
        let mut compiler = Compiler::new();
        compiler.set_target(target);
        compiler.open_interface(OpenInterface { name: "IShade".to_owned(), floats: MEMBERS.len(), ints: 0 });
        let mut files = vec![("shade.ssl".to_owned(), SHADE.to_owned()), ("scene.ssl".to_owned(), scene(conditions))];
        files.extend((1..=SHADERS).map(|i| (format!("shader{i}.ssl"), shader(i))));
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        compiler.set_files(Memory::of(&files));
        let file = compiler.add_file("scene.ssl")?;
        let scene = compiler.program(file);
        let kernel = Kernel::new(scene.compile("measure")?)?;
        Ok(Swaps { compiler, scene, kernel, launch: Launch::new(), conditions, linked: 0 })
    }

    /// Compiles and links the next shader, and takes value and derivative under it.
    ///
    /// # Errors
    /// It does not compile, the launch fails, or there are no more shaders.
    pub fn swap(&mut self) -> Outcome<[f32; 2]> {
        self.linked += 1;
        let name = format!("shader{}.ssl", self.linked);
        let file = self.compiler.add_file(&name)?;
        let linked = self.scene.link(&self.compiler.program(file))?;
        let kind = linked.first().ok_or("nothing was linked")?.kind;
        let element = Element::of_parameter(&self.kernel.shader().interface().buffers[0]);
        let mut shades = Buffer::new(element, Arrangement::Rows, 1)?;
        shades.words_mut()[0] = kind as u32;
        shades.words_mut()[1..].iter_mut().zip(MEMBERS).for_each(|(word, x)| *word = x.to_bits());
        let edges = Buffer::from_values(Arrangement::Rows, &[EDGE])?;
        let mut found = [(); 2].map(|()| Buffer::new(Element::floats(1), Arrangement::Rows, 1));
        let [Ok(value), Ok(slope)] = &mut found else { return Err("there is no memory".into()) };
        let bindings = &mut [
            Binding::Read(shades.view()),
            Binding::Read(edges.view()),
            Binding::Write(value.view_mut()),
            Binding::Write(slope.view_mut()),
        ];
        let status = self.launch.run(&self.kernel, Grid::line(1), bindings, &Control::default())?;
        match status.is_clean() {
            true => Ok([value.values::<f32>()?[0], slope.values::<f32>()?[0]]),
            false => Err(format!("the kernel did not run in full: {status:?}").into()),
        }
    }

    /// The derivative under the shader that was linked last: each condition moves by its share of the edge.
    pub fn slope(&self) -> f64 {
        let n = self.conditions as f64;
        let [bright, fade, place] = MEMBERS.map(f64::from);
        let number = self.linked;
        let at = |x: f64| {
            let step = if number.is_multiple_of(3) && x < place { 1.0 } else { 0.0 };
            bright * (-fade * x).exp() + number as f64 * x + step
        };
        (1..=self.conditions).map(|i| i as f64 / n).map(|share| share * at(share * f64::from(EDGE))).sum()
    }
}
