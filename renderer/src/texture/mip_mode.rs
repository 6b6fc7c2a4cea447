//! How look-ups choose levels, and what they filter over.

/// How the level is chosen and the texture filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MipMode {
    /// One texel of the finer level, the level from the largest of the four partials.
    Nearest,
    /// Between four texels of the nearest level.
    Bilinear,
    /// Between the levels too; the longer of the two steps chooses.
    Trilinear,
    /// Over the ellipse of the footprint, up to 16 times as long as wide.
    Aniso,
    /// One texel, drawn with the probabilities that are `Aniso`'s weights: right on average, also where a shader does
    /// with the texel what is not linear.
    Stochastic,
    /// The best that there is: `Aniso`, but where a path was scattered on its way one probe of it at one of its levels,
    /// drawn with the probabilities that are their weights. The mean is the same, and what chance the draw adds is lost in
    /// that of the way there. Each look-up of a shader draws for itself, so that the mean of a product of look-ups is the
    /// product of `Aniso`'s, too.
    #[default]
    Auto,
}

impl MipMode {
    pub const NAMED: [(&str, MipMode); 6] = [
        ("nearest", MipMode::Nearest),
        ("bilinear", MipMode::Bilinear),
        ("trilinear", MipMode::Trilinear),
        ("aniso", MipMode::Aniso),
        ("stochastic", MipMode::Stochastic),
        ("auto", MipMode::Auto),
    ];
}
