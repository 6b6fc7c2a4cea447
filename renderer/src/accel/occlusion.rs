//! What shadow rays find.

/// What stands between the ends of a shadow ray.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occlusion {
    #[default]
    Clear,
    /// Only what may let light pass straight on.
    SeeThrough,
    /// Something opaque, whatever else.
    Blocked,
}
