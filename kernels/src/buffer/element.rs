//! What an element consists of, and where its words lie.

use super::{BufferError, Value};
use ssl_compiler::runtime::BufferDesc;
use ssl_compiler::types::Scalar;
use std::fmt;
use std::sync::Arc;

/// The type of a buffer's elements: a list of scalars.
///
/// A vector, a color, a matrix, a struct or an array is the list of its scalars, in the order in which they are declared.
/// Two elements are equal if their scalars are; names do not count.
#[derive(Clone)]
pub struct Element {
    scalars: Arc<[Scalar]>,
    name: Option<Arc<str>>,
}

impl Element {
    /// An element of these scalars.
    pub fn new(scalars: &[Scalar]) -> Element {
        Element { scalars: scalars.into(), name: None }
    }

    /// So many floats.
    pub fn floats(count: usize) -> Element {
        Element::new(&vec![Scalar::Float; count])
    }

    /// One int.
    pub fn int() -> Element {
        Element::new(&[Scalar::Int])
    }

    /// The element that a Rust type corresponds to.
    pub fn of<T: Value>() -> Element {
        let mut scalars = Vec::new();
        T::scalars(&mut scalars);
        Element::new(&scalars)
    }

    /// The element of a buffer that a kernel takes.
    pub fn of_parameter(buffer: &BufferDesc) -> Element {
        Element::new(&buffer.scalars).named(&buffer.type_name)
    }

    /// The same under the name of its type, for messages.
    pub fn named(self, name: &str) -> Element {
        Element { name: Some(name.into()), ..self }
    }

    /// What each of its words holds.
    pub fn scalars(&self) -> &[Scalar] {
        &self.scalars
    }

    /// The number of its words.
    #[expect(clippy::len_without_is_empty, reason = "an element without scalars is of no use")]
    pub fn len(&self) -> usize {
        self.scalars.len()
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Element) -> bool {
        self.scalars == other.scalars
    }
}

impl Eq for Element {}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `Blob (9 floats)`, `2 floats, 1 int`.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(Scalar, usize)> = Vec::new();
        for &scalar in &*self.scalars {
            match runs.last_mut() {
                Some((last, count)) if *last == scalar => *count += 1,
                _ => runs.push((scalar, 1)),
            }
        }
        let run = |&(scalar, count): &(Scalar, usize)| {
            let name = match scalar {
                Scalar::Float => "float",
                Scalar::Int => "int",
                Scalar::Bool => "bool",
            };
            format!("{count} {name}{}", if count == 1 { "" } else { "s" })
        };
        let parts: Vec<String> = runs.iter().map(run).collect();
        match &self.name {
            Some(name) => write!(f, "{name} ({})", parts.join(", ")),
            None => f.write_str(&parts.join(", ")),
        }
    }
}

/// How the words of a buffer lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrangement {
    /// The scalars of an element side by side, then the next element.
    Rows,
    /// The first scalar of all elements, then the second one of all.
    Columns,
}

impl fmt::Display for Arrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Arrangement::Rows => "rows",
            Arrangement::Columns => "columns",
        })
    }
}

/// Places of words: the scalar s of the element i is the word `s * scalar_step + i * element_step`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub length: usize,
    pub scalar_step: usize,
    pub element_step: usize,
}

impl Layout {
    /// No gaps.
    pub fn packed(element: &Element, arrangement: Arrangement, length: usize) -> Result<Layout, BufferError> {
        Layout::new(
            element,
            arrangement,
            length,
            match arrangement {
                Arrangement::Rows => element.len(),
                Arrangement::Columns => length,
            },
        )
    }

    /// Rows or columns, of which each begins `pitch` words behind the one before.
    pub fn new(
        element: &Element,
        arrangement: Arrangement,
        length: usize,
        pitch: usize,
    ) -> Result<Layout, BufferError> {
        let (scalar_step, element_step, least) = match arrangement {
            Arrangement::Rows => (1, pitch, element.len()),
            Arrangement::Columns => (pitch, 1, length),
        };
        if pitch < least {
            return Err(BufferError::Length { wanted: least, found: pitch });
        }
        let limit = i32::MAX as usize / element_step.max(1);
        if length > limit {
            return Err(BufferError::TooLong { length, limit });
        }
        // So no place overflows a word of 64 bits; columns are no longer than memory.
        Ok(Layout { length, scalar_step, element_step })
    }

    pub fn word(&self, index: usize, scalar: usize) -> usize {
        scalar * self.scalar_step + index * self.element_step
    }

    /// The number of words that the elements of this many scalars reach over.
    pub fn extent(&self, scalars: usize) -> Option<usize> {
        if self.length == 0 || scalars == 0 {
            return Some(0);
        }
        let last = (scalars - 1).checked_mul(self.scalar_step)?.checked_add((self.length - 1) * self.element_step)?;
        last.checked_add(1)
    }
}
