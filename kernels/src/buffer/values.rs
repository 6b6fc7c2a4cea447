//! Rust values as elements.

use ssl_compiler::types::Scalar;

/// A Rust type that an element of a buffer can be read as: scalars, and arrays and tuples of such types. A struct of the
/// language is the tuple of its members.
pub trait Value: Copy {
    /// Appends what its words hold.
    fn scalars(out: &mut Vec<Scalar>);
    /// The value of as many words as it has scalars.
    fn read(words: &mut impl Iterator<Item = u32>) -> Self;
    /// Its words, one after the other.
    fn write(self, put: &mut impl FnMut(u32));
}

macro_rules! scalar_value {
    ($($ty:ty, $scalar:ident, $word:ident => $read:expr, $value:ident => $write:expr;)*) => {
        $(impl Value for $ty {
            fn scalars(out: &mut Vec<Scalar>) {
                out.push(Scalar::$scalar);
            }
            fn read(words: &mut impl Iterator<Item = u32>) -> Self {
                // Callers give as many words as there are scalars.
                let $word = words.next().unwrap_or(0);
                $read
            }
            fn write(self, put: &mut impl FnMut(u32)) {
                let $value = self;
                put($write);
            }
        })*
    };
}

scalar_value! {
    f32, Float, word => f32::from_bits(word), value => value.to_bits();
    i32, Int, word => word as i32, value => value as u32;
    bool, Bool, word => word != 0, value => u32::from(value);
}

impl<T: Value, const N: usize> Value for [T; N] {
    fn scalars(out: &mut Vec<Scalar>) {
        (0..N).for_each(|_| T::scalars(out));
    }
    fn read(words: &mut impl Iterator<Item = u32>) -> Self {
        std::array::from_fn(|_| T::read(words))
    }
    fn write(self, put: &mut impl FnMut(u32)) {
        self.into_iter().for_each(|value| value.write(put));
    }
}

macro_rules! tuple_value {
    ($($name:ident)*) => {
        impl<$($name: Value),*> Value for ($($name,)*) {
            fn scalars(out: &mut Vec<Scalar>) {
                $($name::scalars(out);)*
            }
            fn read(words: &mut impl Iterator<Item = u32>) -> Self {
                ($($name::read(words),)*)
            }
            #[allow(non_snake_case)]
            fn write(self, put: &mut impl FnMut(u32)) {
                let ($($name,)*) = self;
                $($name.write(put);)*
            }
        }
    };
}

tuple_value!(A);
tuple_value!(A B);
tuple_value!(A B C);
tuple_value!(A B C D);
tuple_value!(A B C D E);
tuple_value!(A B C D E F);
