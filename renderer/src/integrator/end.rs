//! Why a path goes no further.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A view shows this hit.
    Shown,
    Depth,
    OnlyLight,
    NoLobes,
    NoDirection,
    Nothing,
    Roulette,
    Occlusion,
    NoMirror,
}

impl End {
    pub fn text(self) -> &'static str {
        match self {
            End::Shown => "it is shown",
            End::Depth => "it has made all the bounces that the scene allows",
            End::OnlyLight => "the integrator follows paths through mirrors alone",
            End::NoLobes => "the surface scatters nothing",
            End::NoDirection => "the sample of the lobes carries nothing",
            End::Nothing => "its throughput is nothing, or no number",
            End::Roulette => "Russian roulette ended it",
            End::Occlusion => "the integrator looks for occlusion alone",
            End::NoMirror => "the integrator follows mirrors and glass alone, as far as they carry anything",
        }
    }
}
