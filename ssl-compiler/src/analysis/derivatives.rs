//! Which derivatives a compilation computes: those that the shader asks for, or those of a mode for measuring and
//! debugging.

/// How far shadows go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Derivatives {
    /// Where lineage and demand meet, and nowhere else.
    #[default]
    Asked,
    /// None at all: every derivative and every footprint is 0, and no partial of a global is read.
    None,
    /// Of every value with a lineage, asked for or not. Orders above the first stay as asked.
    Forced,
    /// As asked, and a partial that the host does not give is NaN instead of 0.
    Poisoned,
}

impl Derivatives {
    /// Whether reading a float global brings a lineage; `given` tells whether the host gives a partial of it.
    pub fn seeds(self, given: bool) -> bool {
        match self {
            Derivatives::Asked | Derivatives::Forced => given,
            Derivatives::None => false,
            Derivatives::Poisoned => true,
        }
    }
}
