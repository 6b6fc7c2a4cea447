//! [`OpenPbr`] in Rust.

use super::coat::absorbed;
use super::rough_boundary::RoughBoundary;
use crate::bsdf::ggx::Ggx;
use crate::bsdf::{
    Lambert, Lobes, OpenPbr, OrenNayar, Place, RoughDielectric, Schlick, Sheen, SurfaceClosure, Translucent, bounded,
    reflectance, reflecting,
};
use crate::math::Frame;
use glam::{FloatExt, Vec2, Vec3};
use ssl_compiler::runtime::Beneath;

/// A weight; what is no number counts as none.
fn unit(x: f32) -> f32 {
    bounded(x, 0.0, 1.0, 0.0)
}

impl SurfaceClosure for OpenPbr {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let left = self.layers(place, lobes) * self.darkening(place);
        self.metal(left * unit(self.base_metalness), place, lobes);
        self.dielectric(left * (1.0 - unit(self.base_metalness)), place, lobes);
    }

    fn beneath(&self, place: &Place, parameter: usize) -> Vec3 {
        // Layers without weight add nothing, but know what they leave.
        let mut none = Vec::new();
        let mut lobes = Lobes::new(&mut none);
        lobes.set_weight(Vec3::ZERO);
        let left = self.layers(place, &mut lobes);
        match parameter {
            BEHIND if self.geometry_thin_walled => {
                let (_, through) = self.pane(place);
                left * self.darkening(place) * through * self.glass_share()
            }
            BEHIND => Vec3::ZERO,
            _ => left,
        }
    }
}

/// The place of `behind` among the parameters.
const BEHIND: usize = 29;

/// The roughnesses along both axes, as the specification stretches them: so that the mean of α² stays.
fn stretched(roughness: f32, anisotropy: f32) -> Vec2 {
    let across = 1.0 - unit(anisotropy);
    let along = (2.0 / (1.0 + across * across)).sqrt().sqrt();
    roughness * Vec2::new(along, along * across.sqrt())
}

/// The isotropic one of about the same highlight.
fn mean(roughnesses: Vec2) -> f32 {
    roughnesses.element_product().sqrt()
}

/// The layers above the base. Each adds its lobes, and gives what it leaves of `left` to what is below.
impl OpenPbr {
    fn layers(&self, place: &Place, lobes: &mut Lobes<'_>) -> Vec3 {
        let left = self.fuzz(Vec3::ONE, self.over(place), place, lobes);
        self.coat(left, self.over(place), place, lobes)
    }

    /// Where the layers are: seen from inside of glass, they are on the other side.
    fn over(&self, place: &Place) -> f32 {
        if place.inside && !self.geometry_thin_walled { 1.0 - self.glass_share() } else { 1.0 }
    }

    fn fuzz(&self, left: Vec3, over: f32, place: &Place, lobes: &mut Lobes<'_>) -> Vec3 {
        let weight = unit(self.fuzz_weight) * over;
        if weight == 0.0 {
            return left;
        }
        let tint = (reflectance(self.fuzz_color) * weight).to_array();
        let sheen = Sheen { tint, roughness: self.fuzz_roughness, normal: self.geometry_normal, base: Beneath };
        lobes.add_closure(left, &sheen, place);
        left * sheen.beneath(place, 0)
    }

    fn coat(&self, left: Vec3, over: f32, place: &Place, lobes: &mut Lobes<'_>) -> Vec3 {
        let weight = unit(self.coat_weight) * over;
        if weight == 0.0 {
            return left;
        }
        let normal = reflecting(self.geometry_coat_normal, place.gnormal, place.wo);
        let frame = Frame::along(normal, self.geometry_coat_tangent.into());
        let facets = Ggx::of_roughnesses(stretched(self.coat_roughness(), self.coat_roughness_anisotropy));
        let boundary = RoughBoundary::new("OpenPbr", frame, facets, self.coat_ior(), place.wo);
        lobes.add(left * weight, boundary);
        let through =
            (1.0 - boundary.reflected) * absorbed(reflectance(self.coat_color), place.wo.dot(normal), self.coat_ior());
        left * Vec3::ONE.lerp(through, weight)
    }

    fn coat_ior(&self) -> f32 {
        bounded(self.coat_ior, 1.0, 10.0, 1.6)
    }

    fn coat_roughness(&self) -> f32 {
        bounded(self.coat_roughness, 0.0, 1.0, 0.0)
    }

    /// What is left of the base's light where the coat sends part of it back again and again.
    fn darkening(&self, place: &Place) -> Vec3 {
        let eta = self.coat_ior();
        let amplitude = (eta - 1.0) / (eta + 1.0);
        // About the share of diffuse light that the coat reflects from below.
        let back = 1.0 - (1.0 - amplitude * amplitude) / (eta * eta);
        let metal = self.base() * unit(self.specular_weight);
        let base = self.diffuse_color().lerp(metal, unit(self.base_metalness));
        let dark = (1.0 - back) / (1.0 - base * back);
        Vec3::ONE.lerp(dark, unit(self.coat_weight) * unit(self.coat_darkening) * self.over(place))
    }
}

/// The base.
impl OpenPbr {
    fn base(&self) -> Vec3 {
        reflectance(self.base_color) * unit(self.base_weight)
    }

    fn diffuse_color(&self) -> Vec3 {
        self.base().lerp(reflectance(self.subsurface_color), unit(self.subsurface_weight))
    }

    /// Which share of the surface is glass.
    fn glass_share(&self) -> f32 {
        (1.0 - unit(self.base_metalness)) * unit(self.transmission_weight)
    }

    /// Rougher below a rough coat.
    fn roughnesses(&self) -> Vec2 {
        let ssl = bounded(self.specular_roughness, 0.0, 1.0, 0.3);
        let below = (ssl.powi(4) + 2.0 * self.coat_roughness().powi(4)).min(1.0).sqrt().sqrt();
        stretched(ssl.lerp(below, unit(self.coat_weight)), self.specular_roughness_anisotropy)
    }

    fn specular_ior(&self) -> f32 {
        bounded(self.specular_ior, 1.0, 10.0, 1.5)
    }

    /// An index whose reflection straight on is scaled by the specular weight.
    fn weighted(&self, eta: f32) -> f32 {
        let amplitude = (eta - 1.0) / (eta + 1.0);
        let weight = bounded(self.specular_weight, 0.0, 1e6, 1.0);
        // At most an index of 10.
        let amplitude = (weight.sqrt() * amplitude).min(9.0 / 11.0);
        (1.0 + amplitude) / (1.0 - amplitude)
    }

    /// That of the plastic over what lies on it; turned round where the coat's is larger, so that nothing is reflected wholly.
    fn relative_ior(&self) -> f32 {
        let (ssl, coat) = (self.specular_ior(), self.coat_ior());
        ssl.lerp((ssl / coat).max(coat / ssl), unit(self.coat_weight))
    }

    fn metal(&self, left: Vec3, place: &Place, lobes: &mut Lobes<'_>) {
        let roughnesses = self.roughnesses();
        let schlick = Schlick {
            f0: self.base().to_array(),
            f82: self.specular_color,
            f90: [1.0; 3],
            exponent: 5.0,
            normal: self.geometry_normal,
            tangent: self.geometry_tangent,
            roughness_along: roughnesses.x,
            roughness_across: roughnesses.y,
        };
        lobes.add_closure(left * unit(self.specular_weight), &schlick, place);
    }

    fn dielectric(&self, left: Vec3, place: &Place, lobes: &mut Lobes<'_>) {
        if left == Vec3::ZERO {
            return;
        }
        let glass = unit(self.transmission_weight);
        if self.geometry_thin_walled {
            lobes.add(left * glass * self.pane(place).0, self.boundary(place));
        } else {
            lobes.add_closure(left * glass, &self.glass(), place);
        }
        let left = left * (1.0 - glass);
        if left != Vec3::ZERO {
            let boundary = self.boundary(place);
            lobes.add(left, boundary);
            self.diffuse(left * (1.0 - boundary.reflected), place, lobes);
        }
    }

    /// The gloss of what is not metal.
    fn boundary(&self, place: &Place) -> RoughBoundary {
        let normal = reflecting(self.geometry_normal, place.gnormal, place.wo);
        let frame = Frame::along(normal, self.geometry_tangent.into());
        let facets = Ggx::of_roughnesses(self.roughnesses());
        let eta = self.weighted(self.relative_ior());
        RoughBoundary::new("OpenPbr", frame, facets, eta, place.wo).tinted(reflectance(self.specular_color))
    }

    /// The coat does not turn light that goes through it, so it is none of the index's business.
    fn glass(&self) -> RoughDielectric {
        RoughDielectric {
            reflectance: reflectance(self.specular_color).to_array(),
            transmittance: reflectance(self.transmission_color).to_array(),
            normal: self.geometry_normal,
            ior: self.weighted(self.specular_ior()),
            roughness: mean(self.roughnesses()),
        }
    }

    /// Glass that is thin: light is reflected at both sides, again and again, 2 E/(1 + E) in all, and the rest goes straight
    /// on. What scales the lobe of one side, and what is seen of what is behind.
    fn pane(&self, place: &Place) -> (f32, Vec3) {
        let once = self.boundary(place).reflected;
        let scale = 2.0 / (1.0 + once);
        (scale, reflectance(self.transmission_color) * (1.0 - scale * once))
    }

    fn diffuse(&self, left: Vec3, place: &Place, lobes: &mut Lobes<'_>) {
        let normal = self.geometry_normal;
        let roughness = bounded(self.base_diffuse_roughness, 0.0, 1.0, 0.0);
        let mut reflect = |albedo: Vec3| {
            let albedo = albedo.to_array();
            match roughness {
                0.0 => lobes.add_closure(left, &Lambert { albedo, normal }, place),
                _ => lobes.add_closure(left, &OrenNayar { albedo, normal, roughness }, place),
            }
        };
        if !self.geometry_thin_walled {
            return reflect(self.diffuse_color());
        }
        // What goes below the surface of a sheet comes out on either side.
        let below = reflectance(self.subsurface_color) * unit(self.subsurface_weight);
        let on = 0.5 + 0.5 * bounded(self.subsurface_scatter_anisotropy, -1.0, 1.0, 0.0);
        reflect(self.base() * (1.0 - unit(self.subsurface_weight)) + below * (1.0 - on));
        lobes.add_closure(left, &Translucent { transmittance: (below * on).to_array(), normal }, place);
    }
}

#[cfg(test)]
#[path = "openpbr_tests.rs"]
mod tests;
