//! Denoises a picture, guided by its layers: by the library Open Image Denoise where it is there, or by our own filter.

mod builtin;
mod fireflies;
mod noisy;
#[cfg(feature = "oidn")]
mod oidn;
mod planes;
mod regression;

pub use noisy::Noisy;

use super::{Aov, Layer, OutputKind, Picture};
use glam::Vec3;

/// The layers that guide denoisers, as they are named in files.
pub const GUIDES: [Aov; 3] = [Aov::Albedo, Aov::Normal, Aov::Variance];
/// The layer that keeps the light as it was.
pub const NOISY: &str = "noisy";

/// A denoiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denoiser {
    /// Regression on the layers, which every build has.
    Builtin,
    /// Open Image Denoise.
    Oidn,
}

impl Denoiser {
    pub const NAMED: [(&str, Denoiser); 2] = [("builtin", Denoiser::Builtin), ("oidn", Denoiser::Oidn)];

    /// As options name it.
    pub fn name(self) -> &'static str {
        match self {
            Denoiser::Builtin => "builtin",
            Denoiser::Oidn => "oidn",
        }
    }

    /// Open Image Denoise where it can be had, else our own.
    pub fn best() -> Denoiser {
        if library().is_ok() { Denoiser::Oidn } else { Denoiser::Builtin }
    }

    /// Why this machine or this build does not have it.
    pub fn check(self) -> Result<(), DenoiseError> {
        match self {
            Denoiser::Builtin => Ok(()),
            Denoiser::Oidn => library().map_err(DenoiseError::Unavailable),
        }
    }

    /// The light of a picture without its noise, computed on so many threads. With [`Denoiser::Builtin`], their number
    /// changes no bit.
    ///
    /// # Errors
    /// If the library is not there or fails, or the filter lacks the variance.
    pub fn denoise(self, noisy: Noisy, threads: usize) -> Result<Vec<Vec3>, DenoiseError> {
        self.check()?;
        let noisy = noisy.finite();
        if noisy.light.is_empty() {
            return Ok(Vec::new());
        }
        match self {
            Denoiser::Builtin => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
                let pool = pool.map_err(|e| DenoiseError::Failed(format!("threads could not be started: {e}")))?;
                pool.install(|| builtin::denoise(&noisy)).ok_or(DenoiseError::NoVariance)
            }
            Denoiser::Oidn => by_library(&noisy, threads),
        }
    }
}

/// Why a picture keeps its noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DenoiseError {
    /// Open Image Denoise is not there, and why.
    Unavailable(String),
    /// It, or the system, failed.
    Failed(String),
    /// The built-in denoiser cannot tell noise from detail.
    NoVariance,
}

impl std::fmt::Display for DenoiseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DenoiseError::Unavailable(why) => write!(f, "Open Image Denoise cannot be used: {why}"),
            DenoiseError::Failed(why) => write!(f, "the picture could not be denoised: {why}"),
            DenoiseError::NoVariance => f.write_str(
                "the built-in denoiser needs the layer `variance`, which tells noise from detail, and the picture has none",
            ),
        }
    }
}

impl std::error::Error for DenoiseError {}

#[cfg(feature = "oidn")]
fn library() -> Result<(), String> {
    oidn::library().map(|_| ())
}

#[cfg(not(feature = "oidn"))]
fn library() -> Result<(), String> {
    Err("this program was built without the feature `oidn`".to_owned())
}

#[cfg(feature = "oidn")]
fn by_library(noisy: &Noisy, threads: usize) -> Result<Vec<Vec3>, DenoiseError> {
    let library = oidn::library().map_err(DenoiseError::Unavailable)?;
    library.denoise(noisy, threads).map_err(DenoiseError::Failed)
}

#[cfg(not(feature = "oidn"))]
fn by_library(_: &Noisy, _: usize) -> Result<Vec<Vec3>, DenoiseError> {
    library().map_err(DenoiseError::Unavailable).map(|()| Vec::new())
}

impl Picture {
    /// The light, with the layers that guide a denoiser.
    pub fn noisy(&self) -> Noisy {
        let layer = |aov: &Aov| {
            let layer = self.layers.iter().find(|l| l.aov == *aov)?;
            Some(layer.values.as_chunks::<3>().0.iter().map(|v| Vec3::from_array(*v)).collect())
        };
        Noisy {
            size: (self.width as usize, self.height as usize),
            light: self.pixels.clone(),
            variance: layer(&Aov::Variance),
            albedo: layer(&Aov::Albedo),
            normal: layer(&Aov::Normal),
        }
    }

    /// The same with other light; the old light becomes the layer `noisy`.
    pub fn with_light(mut self, light: Vec<Vec3>) -> Picture {
        let before = std::mem::replace(&mut self.pixels, light);
        let aov = Aov::Output { name: NOISY.to_owned(), kind: OutputKind::Color };
        self.layers.retain(|layer| layer.aov.name() != NOISY);
        self.layers.push(Layer { aov, values: before.iter().flat_map(|p| p.to_array()).collect() });
        self
    }
}

#[cfg(test)]
mod tests;
