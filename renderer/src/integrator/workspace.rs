//! One thread's memory for tracing wavefronts, used over and over.

use super::aov::Recorded;
use super::clock::Clock;
use super::differentials::BounceRecords;
use super::emission::EmissionMemory;
use super::faults::{Faults, PathFault};
use super::light_directions::LightDirections;
use super::light_samples::{DrawnLight, LightSamples};
use super::messages::{Messages, PathMessage};
use super::order::Order;
use super::path::{Path, SurfaceHit};
use super::probe::{NotedLight, Probe};
use super::vertices::Vertices;
use super::view::View;
use super::visibility::TransmittanceRays;
use super::watch::WatchedLookUps;
use crate::film::Shape;
use crate::geometry::{Hit, SurfaceBlock, Wanted};
use crate::material::Scratch;
use crate::ray::Ray;

#[derive(Default)]
pub struct Workspace {
    pub paths: Vec<Path>,
    /// Paths whose ray is still to be traced.
    pub active: Vec<u32>,
    /// How many branches each path from the camera has, as far as any have some.
    pub branches: Vec<u32>,
    /// What the paths did at vertices where nobody asked for their differentials.
    pub bounce_records: BounceRecords,
    /// The rays of active paths, and what they came to.
    pub rays: Vec<Ray>,
    pub hits: Vec<Option<Hit>>,
    /// Which of them met anything, where that is all that matters.
    pub blocked: Vec<bool>,
    /// Paths that leave the scene.
    pub leaving: Vec<u32>,
    /// Of the paths that met a surface, in the order of their materials.
    pub surface_hits: Vec<SurfaceHit>,
    /// To sort those and the active ones.
    pub order: Order,
    pub sorted: Vec<SurfaceHit>,
    /// The block that is being shaded, and its surfaces while they are found.
    pub surfaces: SurfaceBlock,
    pub vertices: Vertices,
    pub scratch: Scratch,
    /// Directions towards lights that its lanes draw.
    pub round: LightDirections,
    /// Somebody asks for the lobes of single lanes.
    pub lists_lobes: bool,
    /// Light samples whose shadow rays are still to be traced, and the memory of the stages that do so.
    pub light: LightSamples,
    pub transmittance_rays: TransmittanceRays,
    pub emission: EmissionMemory,
    /// What the layers keep of each path.
    pub recorded: Recorded,
    /// Where vertices are written down, if they are, and their lights until it is known what arrives.
    pub probe: Option<Probe>,
    pub noted: Vec<NotedLight>,
    /// Where light samples of the block are kept for a follower, if there is one that wants them.
    pub followed: Option<Vec<DrawnLight>>,
    /// Measures where time goes, if somebody asks.
    pub clock: Clock,
    /// What to show in place of light.
    pub view: Option<View>,
    /// For that, what the shader of the block did.
    pub seen: WatchedLookUps,
    /// What shaders said.
    pub said: Vec<PathMessage>,
    pub messages: Messages,
    /// Where paths came to values that were no numbers.
    pub faulty: Vec<PathFault>,
    pub faults: Faults,
}

impl Workspace {
    /// Whether anybody wants to know which textures shaders look up.
    pub fn watches(&self) -> bool {
        self.probe.is_some() || self.view.is_some_and(View::watches_look_ups)
    }

    /// The partials that those who look on want beside the shaders.
    pub fn wanted(&self) -> Wanted {
        if self.probe.is_some() { Wanted::ALL } else { self.view.map_or(Wanted::default(), View::wanted) }
    }

    /// Whether anybody reads surfaces beside the shaders.
    pub fn looks_at_surfaces(&self) -> bool {
        self.probe.is_some() || self.view.is_some() || self.recorded.shape() != Shape::default()
    }

    /// Whether anybody reads what rounds of directions towards lights come to.
    pub fn looks_at_lights(&self) -> bool {
        self.probe.is_some() || self.followed.is_some()
    }

    /// The view that shows hits in place of light.
    pub fn view_of_hits(&self) -> Option<View> {
        self.view.filter(|v| !v.is_of_whole_paths())
    }
}
