//! How much of unpolarised light a smooth surface reflects: Fresnel's equations for dielectrics, exact.

/// From a medium into one whose index of refraction is `eta` times its own, under an angle of cosine `cosine`, 0 to 1:
/// the share that is reflected, and the cosine of the refracted direction, 0 where all is reflected.
pub fn dielectric(cosine: f32, eta: f32) -> (f32, f32) {
    let sin2 = (1.0 - cosine * cosine).max(0.0) / (eta * eta);
    if sin2 >= 1.0 {
        return (1.0, 0.0);
    }
    let refracted = (1.0 - sin2).sqrt();
    let parallel = (eta * cosine - refracted) / (eta * cosine + refracted);
    let perpendicular = (cosine - eta * refracted) / (cosine + eta * refracted);
    (0.5 * (parallel * parallel + perpendicular * perpendicular), refracted)
}
