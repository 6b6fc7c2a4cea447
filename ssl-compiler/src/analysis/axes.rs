//! The directions of a round of differentiation, and sets of them.

/// With respect to what a round differentiates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axes {
    /// The two directions of the screen: the host seeds globals with them, and `ddx`, `ddy` and look-ups ask.
    #[default]
    Screen,
    /// One direction in the space of a function's parameters: `jvp` seeds it, and takes the results' tangents.
    Tangent,
}

impl Axes {
    pub fn count(self) -> usize {
        match self {
            Axes::Screen => 2,
            Axes::Tangent => 1,
        }
    }

    pub fn all(self) -> Shadows {
        (0..self.count()).collect()
    }

    /// What each axis is called where values are marked.
    pub fn letters(self) -> &'static [char] {
        match self {
            Axes::Screen => &['x', 'y'],
            Axes::Tangent => &['t'],
        }
    }
}

/// The axes along which a value has derivatives, here called shadows, or along which they are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shadows(u8);

/// More axes than any round has.
pub const MAX_AXES: usize = 8;

impl Shadows {
    pub const NONE: Shadows = Shadows(0);

    pub fn any(self) -> bool {
        self.0 != 0
    }

    pub fn get(self, axis: usize) -> bool {
        self.0 >> axis & 1 != 0
    }

    pub fn or(self, other: Shadows) -> Shadows {
        Shadows(self.0 | other.0)
    }

    pub fn and(self, other: Shadows) -> Shadows {
        Shadows(self.0 & other.0)
    }

    pub fn without(self, other: Shadows) -> Shadows {
        Shadows(self.0 & !other.0)
    }

    /// Itself where something holds, otherwise none.
    pub fn when(self, holds: bool) -> Shadows {
        if holds { self } else { Shadows::NONE }
    }

    pub fn iter(self) -> impl Iterator<Item = usize> + Clone {
        (0..MAX_AXES).filter(move |&axis| self.get(axis))
    }
}

impl FromIterator<usize> for Shadows {
    fn from_iter<T: IntoIterator<Item = usize>>(axes: T) -> Shadows {
        Shadows(axes.into_iter().fold(0, |all, axis| all | 1 << axis))
    }
}
