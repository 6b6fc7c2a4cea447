//! Why a path goes no further.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
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

impl Termination {
    pub fn text(self) -> &'static str {
        match self {
            Termination::Shown => "it is shown",
            Termination::Depth => "it has made all the bounces that the scene allows",
            Termination::OnlyLight => "the integrator follows paths through mirrors alone",
            Termination::NoLobes => "the surface scatters nothing",
            Termination::NoDirection => "the sample of the lobes carries nothing",
            Termination::Nothing => "its throughput is nothing, or no number",
            Termination::Roulette => "Russian roulette ended it",
            Termination::Occlusion => "the integrator looks for occlusion alone",
            Termination::NoMirror => "the integrator follows mirrors and glass alone, as far as they carry anything",
        }
    }
}
