//! The numbers of one sample, and the shaders of a test run with them.

use super::appended::Wide;
use super::called::Input;
use super::inputs::{Leaf, Part};
use super::source::Names;
use crate::interp::{self, Cell, Outcome};
use crate::jit::Shader;
use crate::runtime::block::DEFAULT_FUEL;
use crate::runtime::{
    Block, GlobalsLayout, HostServices, Listener, Order, ParameterBlock, ParameterValue, Row, ShaderInterface,
};
use crate::source::Span;
use crate::testing::numeric::{Seeds, seeds_for};
use crate::testing::run::{Run, Wrong, rows_of};
use crate::testing::texture::TestTextures;
use crate::types::Type;

/// The numbers of one sample.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// By parameter and leaf.
    pub inputs: Vec<Vec<f64>>,
    pub cotangents: Vec<f64>,
}

impl Point {
    /// Draws what the inputs leave open.
    pub fn draw(run: &mut Run<'_, '_>, inputs: &[Input]) -> Point {
        let draws = &mut run.draws;
        let mut leaf = |(part, leaf): (&Part, &Leaf)| match *part {
            Part::Fixed(x) => x,
            Part::Range(low, high) => draws.between(low, high, matches!(leaf.ty, Type::Int | Type::Bool)),
        };
        let inputs = inputs.iter().map(|i| i.parts.iter().zip(&i.leaves).map(&mut leaf).collect()).collect();
        Point { inputs, cotangents: Vec::new() }
    }
}

/// The words of a shader's parameters, and the floats among them in f64.
#[derive(Clone)]
pub(super) struct Words {
    block: ParameterBlock,
    floats: Vec<f64>,
}

impl Words {
    pub fn set(&mut self, interface: &ShaderInterface, name: &str, ty: &Type, x: f64) {
        // What no code reads has no word.
        let Some(p) = interface.parameters.iter().find(|p| p.name == name) else { return };
        self.floats[p.first_word] = x;
        self.block.words[p.first_word] = match ty {
            Type::Float => (x as f32).to_bits(),
            Type::Bool => u32::from(x != 0.0),
            _ => x as i64 as u32,
        };
    }
}

/// A shader at a point, read by the interpreter in f64.
struct Read<'a> {
    seeds: &'a Seeds,
    words: &'a Words,
}

impl interp::Inputs<f64> for Read<'_> {
    fn global(&self, field: usize, component: usize, order: Order) -> f64 {
        match order {
            Order::Value => self.seeds.values[field][component],
            Order::Ddx => self.seeds.partials[0][field][component],
            Order::Ddy => self.seeds.partials[1][field][component],
            // Globals move on straight lines.
            Order::Dxx | Order::Dxy | Order::Dyy => 0.0,
        }
    }

    fn global_bits(&self, field: usize, component: usize) -> u32 {
        self.seeds.values[field][component] as i32 as u32
    }

    fn parameter(&self, word: usize) -> u32 {
        self.words.block.words[word]
    }

    fn float_parameter(&self, word: usize) -> f64 {
        self.words.floats[word]
    }
}

/// What all runs at a point share.
pub(super) struct Setting<'a> {
    pub inputs: &'a [Input],
    pub names: &'a Names,
    pub seeds: Seeds,
    pub layout: GlobalsLayout,
    textures: TestTextures,
    /// The texture that each parameter gets.
    patterns: Vec<Option<u32>>,
}

impl<'a> Setting<'a> {
    pub fn new(run: &Run<'_, '_>, inputs: &'a [Input], names: &'a Names) -> Setting<'a> {
        let mut textures = TestTextures::default();
        let patterns = inputs.iter().map(|i| i.texture.map(|p| textures.add(p))).collect();
        Setting { inputs, names, seeds: run.seeds.clone(), layout: run.layout.clone(), textures, patterns }
    }

    /// Takes globals of another layout, which has those of the test among its own; the others are 0.
    pub fn laid_out(self, layout: GlobalsLayout) -> Setting<'a> {
        let mut seeds = seeds_for(&layout);
        for (old, field) in self.layout.fields().iter().enumerate() {
            let Some((new, _)) = layout.find(&field.name) else { continue };
            seeds.values[new].clone_from(&self.seeds.values[old]);
            for (to, from) in seeds.partials.iter_mut().zip(&self.seeds.partials) {
                to[new].clone_from(&from[old]);
            }
        }
        Setting { seeds, layout, ..self }
    }

    pub fn words(&self, interface: &ShaderInterface, point: &Point) -> Words {
        let floats = vec![0.0; interface.parameter_words];
        let mut words = Words { block: ParameterBlock::new(interface), floats };
        for (i, input) in self.inputs.iter().enumerate() {
            if let Some(id) = self.patterns[i] {
                // A texture that no code reads has no slot.
                let _ = words.block.set(interface, &self.names.texture(i), &ParameterValue::Texture(id));
            }
            for (n, (leaf, x)) in input.leaves.iter().zip(&point.inputs[i]).enumerate() {
                words.set(interface, &self.names.scalar(i, n), &leaf.ty, *x);
            }
        }
        for (n, x) in point.cotangents.iter().enumerate() {
            words.set(interface, &self.names.cotangent(n), &Type::Float, *x);
        }
        words
    }

    /// Runs a shader in f64.
    pub fn run(&self, wide: &Wide, words: &Words) -> Outcome<f64> {
        let inputs = Read { seeds: &self.seeds, words };
        wide.program.run::<f64>(&inputs, &self.textures as &dyn HostServices, DEFAULT_FUEL)
    }

    /// Runs a shader as a back end compiled it; a row for each output.
    pub fn native(&self, shader: &Shader, point: &Point, span: Span) -> Result<Vec<Row>, Wrong> {
        self.compiled(shader, &self.words(shader.interface(), point), span)
    }

    /// Likewise, with the words of its parameters.
    pub fn compiled(&self, shader: &Shader, words: &Words, span: Span) -> Result<Vec<Row>, Wrong> {
        let (rows, interface) = (rows_of(&self.layout, &self.seeds), shader.interface());
        let mut outputs = vec![Row::ZERO; interface.output_rows];
        let listener = Listener::new(&self.textures, &words.block);
        let status =
            shader.run(&mut Block { host: &listener, mask: 1, ..Block::new(&rows, &words.block, &mut outputs) });
        match status.first_error() {
            Some(error) => Err(Wrong::new(span, error.to_string())),
            None => Ok(interface.outputs.iter().map(|o| outputs[o.first_row]).collect()),
        }
    }
}

/// What a shader gives, if all of it are floats.
pub(super) fn floats(outcome: &Outcome<f64>) -> Vec<f64> {
    let float = |cell: &Cell<f64>| if let Cell::Float(x) = cell { *x } else { f64::NAN };
    outcome.results.iter().map(float).collect()
}
