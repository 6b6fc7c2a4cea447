//! Where a picture comes from, as its file says. The file says only what decides the picture, so that equal pictures
//! are equal files. It does not say whether a render was interrupted, how many threads it had, or whether it was merged
//! from parts.

/// What was rendered, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The name of the scene's file, without its folder, which differs between machines.
    pub scene: String,
    /// A command that renders the picture anew, in the folder of the scene.
    pub command: String,
}

/// All that a picture's file says of how it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    pub provenance: Provenance,
    pub seed: u32,
    /// A pixel, on average.
    pub samples: f64,
}

/// The program that writes the file.
pub const SOFTWARE: &str = concat!("shade ", env!("CARGO_PKG_VERSION"));
