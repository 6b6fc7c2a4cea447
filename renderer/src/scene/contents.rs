//! What a scene consists of.

use super::light_settings::LightSetting;
use super::setup::{FilmSettings, IntegratorSettings, View};
use super::variable_settings::VariableSetting;
use crate::accel::Accel;
use crate::geometry::Geometry;
use crate::guide::Guide;
use crate::light::{EmissionContext, Environment, LightName, ParallelLight, SceneLights, Sun};
use crate::material::{HitValues, Material, Spaces, Surroundings};
use crate::photon_map::PhotonMap;
use crate::texture::TextureSystem;

/// Everything that a render needs.
pub struct Scene {
    pub view: View,
    pub film: FilmSettings,
    pub integrator: IntegratorSettings,
    pub geometry: Geometry,
    pub accel: Accel,
    /// Lights that have a place.
    pub lights: SceneLights,
    pub parallel: Vec<(ParallelLight, LightName)>,
    pub suns: Vec<(Sun, LightName)>,
    pub environment: Environment,
    pub environment_name: LightName,
    /// The names of lights in order; their numbers count from 1.
    pub light_names: Vec<String>,
    /// What the file says of how strongly things shine.
    pub light_settings: Vec<LightSetting>,
    /// What the file gives to shaders by name.
    pub variable_settings: Vec<VariableSetting>,
    pub materials: Vec<Material>,
    pub spaces: Spaces,
    /// What hits offer by name.
    pub values: HitValues,
    pub textures: TextureSystem,
    /// The names that the file gives to the first of them.
    pub texture_names: Vec<String>,
    /// Where paths look for light behind mirrors and glass, once it is known.
    pub guide: Option<Guide>,
    /// Such light, where photons bring it to paths, once it is known.
    pub photon_map: Option<PhotonMap>,
    /// Of the scene's file and all files that it names, and of how its shaders were compiled: scenes with the same make
    /// the same pictures.
    pub fingerprint: u64,
}

impl Scene {
    pub fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { spaces: &self.spaces, geometry: &self.geometry }
    }

    /// Follows materials and light settings that have other values: light trees do, and what shadow rays know of surfaces that
    /// let light pass. `lights` says whether light settings changed. Nothing is read or compiled again.
    ///
    /// # Errors
    /// Other surfaces let light pass than before, and the structure for rays could not be built for them.
    pub fn follow(&mut self, lights: bool) -> Result<(), String> {
        let Scene { materials, geometry, spaces, textures, .. } = self;
        let sees_through = |m: u32| materials.get(m as usize).is_some_and(Material::is_see_through);
        if geometry.mark_see_through(sees_through) {
            self.accel = Accel::build_with(geometry, self.accel.structure())?;
        }
        let around = Surroundings { spaces, geometry };
        self.lights.follow(&EmissionContext { around, materials, textures }, lights);
        Ok(())
    }
}
