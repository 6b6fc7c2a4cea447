//! Texture look-ups. A look-up without an explicit footprint takes that of its coordinates, which differentiation
//! writes. For the others, the footprint is computed here.

use super::Writer;
use super::exprs::derivative;
use super::state::{LeafState, State};
use crate::ir::{Axis, Compare, Direction, FLOAT, Op, Ty, Value, Values};
use crate::sema::hir::{Expr, Extent, Footprint, SampleKind, TextureRef};
use crate::source::Span;

/// ∂u/∂x, ∂u/∂y, ∂v/∂x, ∂v/∂y
type Partials = [Value; 4];

impl Writer<'_, '_> {
    pub(super) fn sample(
        &mut self,
        (kind, texture): (SampleKind, TextureRef),
        footprint: Footprint,
        list: &[Expr],
        span: Span,
    ) -> State {
        let mut numbers = Vec::new();
        for e in list {
            let state = self.expr(e);
            numbers.extend(self.parts(&state));
        }
        let (u, v) = (numbers[0], numbers[1]);
        let follows = footprint.extent == Extent::Coordinates;
        if follows {
            [u, v].into_iter().for_each(|x| self.probe(x));
        }
        self.b.span = span;
        if follows {
            // It speaks, and so takes the token before the look-up does.
            self.watch_footprint(u, v);
        }
        let word = self.used_texture(texture);
        let extent = self.footprint(footprint, &numbers);
        let token = self.token();
        let types = [Ty::Token, FLOAT, FLOAT, FLOAT, FLOAT];
        let mut args = Values::from_slice(&[token, u, v]);
        let op = match extent {
            Some(numbers) => {
                args.extend(numbers);
                Op::Texture { word, gradient: false, level: footprint.extent == Extent::Level }
            }
            None => Op::Sample { word },
        };
        let inst = self.b.push(op, args, &types, &[]);
        let results = Values::from_slice(self.b.results(inst));
        self.set(super::TOKEN, State::from_elem(LeafState::Value(results[0]), 1));
        Self::from_parts(match kind {
            SampleKind::Color => results[1..4].iter().copied(),
            SampleKind::Alpha => results[4..5].iter().copied(),
            SampleKind::All => results[1..5].iter().copied(),
        })
    }

    /// How many texels a texture has along u and along v.
    pub(super) fn texture_size(&mut self, texture: TextureRef) -> State {
        let word = self.used_texture(texture);
        Self::from_parts([Axis::U, Axis::V].map(|axis| self.b.emit(Op::TextureSize { word, axis }, &[], FLOAT)))
    }

    /// The word of a slot that the shader needs.
    fn used_texture(&mut self, texture: TextureRef) -> u32 {
        let word = self.texture_word(texture);
        if let Some(t) = self.cx.interface.textures.iter_mut().find(|t| t.word == word as usize) {
            t.used = true;
        }
        word
    }

    /// What a look-up says of its footprint, in texture coordinates, or its level; `None` where it says nothing.
    fn footprint(&mut self, footprint: Footprint, numbers: &[Value]) -> Option<Values> {
        if footprint == Footprint::default() {
            return None;
        }
        if footprint.extent == Extent::Level {
            return Some(Values::from_slice(&numbers[2..3]));
        }
        let explicit = footprint.extent == Extent::Partials;
        let mut options = numbers[if explicit { 6 } else { 2 }..].iter().copied();
        let mut partials = match *numbers {
            [_, _, dudx, dvdx, dudy, dvdy, ..] if explicit => [dudx, dudy, dvdx, dvdy],
            _ => {
                let all = [(0, Direction::X), (0, Direction::Y), (1, Direction::X), (1, Direction::Y)];
                all.map(|(i, d)| derivative(&mut self.b, d, numbers[i]))
            }
        };
        if footprint.width
            && let Some(width) = options.next()
        {
            partials = partials.map(|p| self.b.mul(p, width));
        }
        if footprint.blur
            && let Some(blur) = options.next()
        {
            partials = self.blurred(partials, blur);
        }
        Some(Values::from_slice(&partials))
    }

    /// The ellipse whose covariance is that of the footprint plus blur² in every direction: J Jᵀ + blur² 1 = L Lᵀ,
    /// of which L, by Cholesky, has the axes in its columns.
    fn blurred(&mut self, [dudx, dudy, dvdx, dvdy]: Partials, blur: Value) -> Partials {
        let b = &mut self.b;
        let square = b.mul(blur, blur);
        let mut dot = |(a, c): (Value, Value), (x, y): (Value, Value)| {
            let (p, q) = (b.mul(a, x), b.mul(c, y));
            b.add(p, q)
        };
        let (uu, uv, vv) =
            (dot((dudx, dudy), (dudx, dudy)), dot((dudx, dudy), (dvdx, dvdy)), dot((dvdx, dvdy), (dvdx, dvdy)));
        let (uu, vv) = (b.add(uu, square), b.add(vv, square));
        let zero = b.float(0.0);
        let first = b.float1(crate::ir::Float1::Sqrt, uu);
        let quotient = b.float2(crate::ir::Float2::Div, uv, first);
        let some = b.float_compare(Compare::Gt, first, zero);
        let mixed = b.select(some, quotient, zero);
        let taken = b.mul(mixed, mixed);
        let rest = b.sub(vv, taken);
        let negative = b.float_compare(Compare::Lt, rest, zero);
        let rest = b.select(negative, zero, rest);
        let second = b.float1(crate::ir::Float1::Sqrt, rest);
        [first, zero, mixed, second]
    }
}
