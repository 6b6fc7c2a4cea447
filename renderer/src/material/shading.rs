//! How a material's shader runs at up to 16 points, and what comes of it.

use super::table::{SlotKind, Table};
use super::{Material, PerLane, Scratch, Shaded, ShadingPoint, Surroundings, globals, places};
use crate::bsdf::{LobeLists, SslLobes, WeightedLobe};
use crate::math::lanes::{first_lanes, mask_of};
use glam::Vec3;
use ssl_compiler::runtime::{Block, BlockStatus, HostServices, LANES, Row};

impl Material {
    /// Shades at most 16 points: appends an entry for each to `shaded`, and its lobes to the lists; those with code in SSL only if
    /// they are to be listed. A lane that the shader ended early is black.
    pub fn shade(
        &self,
        points: &[ShadingPoint],
        around: Surroundings<'_>,
        host: &dyn HostServices,
        scratch: &mut Scratch,
        lists: LobeLists<'_>,
        shaded: &mut Vec<Shaded>,
    ) {
        let status = self.rehearse(points, around, host, scratch, lists, shaded);
        status.errors.into_iter().flatten().for_each(|error| self.errors.add(error));
    }

    /// The same at points that are in no picture: that the shader ended a lane early is nobody's concern.
    pub fn rehearse(
        &self,
        points: &[ShadingPoint],
        around: Surroundings<'_>,
        host: &dyn HostServices,
        scratch: &mut Scratch,
        LobeLists { rust: lobes, ssl }: LobeLists<'_>,
        shaded: &mut Vec<Shaded>,
    ) -> BlockStatus {
        let status = self.run(points, around, host, scratch);
        ssl.clear();
        self.begin_ssl(points, &status, scratch, ssl);
        let table = Table::new(&self.lobes, &scratch.outputs, &scratch.slots);
        let odd = self.weigh_ssl(points, &table, ssl);
        for (lane, point) in points.iter().enumerate() {
            let (start, start_ssl) = (lobes.len(), ssl.list.len());
            let ended = status.errors[lane].is_some() || (ssl.is_unlisted && !self.has_rust);
            let (emission, finite) =
                if ended { (Vec3::ZERO, true) } else { self.read(point, &table, lane, LobeLists { rust: lobes, ssl }) };
            let finite = finite && odd >> lane & 1 == 0;
            shaded.push(Shaded { emission, lobes: start..lobes.len(), ssl: start_ssl..ssl.list.len(), finite });
        }
        status
    }

    /// What the surface emits at up to 16 points, as [`Material::shade`] would give it.
    pub fn emitted(
        &self,
        points: &[ShadingPoint],
        around: Surroundings<'_>,
        host: &dyn HostServices,
        scratch: &mut Scratch,
    ) -> PerLane {
        self.asked_alone(points, around, host, scratch, |emission, _| emission)
    }

    /// The share of light that passes straight through the surface at up to 16 points, along `incident` or against it.
    pub fn passed(
        &self,
        points: &[ShadingPoint],
        around: Surroundings<'_>,
        host: &dyn HostServices,
        scratch: &mut Scratch,
    ) -> PerLane {
        self.asked_alone(points, around, host, scratch, |_, lobes| {
            let straight = lobes.iter().filter(|l| l.lobe.is_straight());
            straight.map(|l| l.weight * l.lobe.albedo()).sum()
        })
    }

    /// Runs the shader for a gradient: leaves its rows, and the lobes prepared whose code is a struct of a file.
    pub fn run_again(
        &self,
        points: &[ShadingPoint],
        around: Surroundings<'_>,
        host: &dyn HostServices,
        scratch: &mut Scratch,
        ssl: &mut SslLobes,
    ) {
        let status = self.run(points, around, host, scratch);
        ssl.clear();
        self.begin_ssl(points, &status, scratch, ssl);
    }

    /// Something of the emission and the lobes of each point; nothing where the shader ended early.
    fn asked_alone(
        &self,
        points: &[ShadingPoint],
        around: Surroundings<'_>,
        host: &dyn HostServices,
        scratch: &mut Scratch,
        of: impl Fn(Vec3, &[WeightedLobe]) -> Vec3,
    ) -> PerLane {
        let status = self.run(points, around, host, scratch);
        status.errors.into_iter().flatten().for_each(|error| self.errors.add(error));
        let (mut lobes, mut ssl) = (std::mem::take(&mut scratch.lobes), std::mem::take(&mut scratch.ssl));
        ssl.clear();
        self.begin_ssl(points, &status, scratch, &mut ssl);
        let table = Table::new(&self.lobes, &scratch.outputs, &scratch.slots);
        let mut one = |(lane, point): (usize, &ShadingPoint)| {
            lobes.clear();
            match status.errors[lane] {
                Some(_) => Vec3::ZERO,
                None => {
                    let (emission, _) = self.read(point, &table, lane, LobeLists { rust: &mut lobes, ssl: &mut ssl });
                    of(emission, &lobes)
                }
            }
        };
        let found = points.iter().enumerate().map(&mut one).collect();
        (scratch.lobes, scratch.ssl) = (lobes, ssl);
        found
    }

    fn run(
        &self,
        points: &[ShadingPoint],
        around: Surroundings<'_>,
        host: &dyn HostServices,
        scratch: &mut Scratch,
    ) -> BlockStatus {
        debug_assert!(points.len() <= LANES);
        scratch.globals.resize(self.rows, Row::ZERO);
        let output_rows = self.shader.interface().output_rows;
        if scratch.outputs.len() < output_rows {
            scratch.outputs.resize(output_rows, Row::ZERO);
        }
        globals::fill(&self.fills, points, around, &mut scratch.globals);
        let mask = first_lanes(points.len());
        self.shader.run(&mut Block {
            host,
            mask,
            ..Block::new(&scratch.globals, &self.parameters, &mut scratch.outputs[..output_rows])
        })
    }

    /// Prepares the lobes whose code is a struct of a file, all lanes together.
    fn begin_ssl(&self, points: &[ShadingPoint], status: &BlockStatus, scratch: &mut Scratch, ssl: &mut SslLobes) {
        scratch.slots.clear();
        if self.ssl.is_empty() {
            return;
        }
        let places = places(points);
        let lives = |lane: &usize| status.errors[*lane].is_none();
        let living = mask_of((0..points.len()).filter(lives));
        for slot in &self.lobes {
            scratch.slots.push(match &slot.kind {
                SlotKind::Rust(_) => usize::MAX,
                SlotKind::Ssl { code, given, floats, bases } => {
                    let members = &scratch.outputs[slot.parameter_row..][..*given];
                    let mask = if bases.is_empty() { living & slot.weighted(&scratch.outputs) } else { living };
                    ssl.begin(code, (members, floats), &places, bases, mask)
                }
            });
        }
    }
}
