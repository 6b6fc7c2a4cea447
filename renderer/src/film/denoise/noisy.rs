//! The picture that a denoiser reads, made fit for it.

use glam::Vec3;

/// Light with noise, and the layers that guide a denoiser; all as long as the picture has pixels, rows from the top.
#[derive(Clone, Debug, Default)]
pub struct Noisy {
    /// Width and height.
    pub size: (usize, usize),
    pub light: Vec<Vec3>,
    /// Of each pixel's mean.
    pub variance: Option<Vec<Vec3>>,
    pub albedo: Option<Vec<Vec3>>,
    pub normal: Option<Vec<Vec3>>,
}

impl Noisy {
    /// The layers that are not there.
    pub fn missing(&self) -> Vec<&'static str> {
        let layers = [("albedo", &self.albedo), ("normal", &self.normal), ("variance", &self.variance)];
        layers.into_iter().filter(|(_, layer)| layer.is_none()).map(|(name, _)| name).collect()
    }

    /// Replaces numbers that are not finite. Such a pixel gets the mean of its finite neighbours, and the square of
    /// this mean as its variance. In layers, such numbers count as 0.
    pub fn finite(mut self) -> Noisy {
        let bad: Vec<usize> = (0..self.light.len()).filter(|&i| !self.light[i].is_finite()).collect();
        let means: Vec<Vec3> = bad.iter().map(|&i| self.mean_around(i)).collect();
        for (&i, mean) in bad.iter().zip(&means) {
            self.light[i] = *mean;
        }
        let zeroed = |p: &mut Vec3| *p = Vec3::from(p.to_array().map(|x| if x.is_finite() { x } else { 0.0 }));
        [&mut self.variance, &mut self.albedo, &mut self.normal].into_iter().flatten().flatten().for_each(zeroed);
        if let Some(variance) = &mut self.variance {
            variance.iter_mut().for_each(|v| *v = v.max(Vec3::ZERO));
            bad.iter().zip(&means).for_each(|(&i, mean)| variance[i] = *mean * *mean);
        }
        self
    }

    /// Of the pixels around the i-th that are finite; black without any.
    fn mean_around(&self, i: usize) -> Vec3 {
        let (width, height) = self.size;
        let (x, y) = (i % width, i / width);
        let rows = y.saturating_sub(1)..(y + 2).min(height);
        let around = rows.flat_map(|y| (x.saturating_sub(1)..(x + 2).min(width)).map(move |x| y * width + x));
        let (sum, count) = around
            .map(|at| self.light[at])
            .filter(|p| p.is_finite())
            .fold((Vec3::ZERO, 0.0_f32), |(sum, count), p| (sum + p, count + 1.0));
        sum / count.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_that_is_no_number_is_the_mean_of_those_around() {
        let mut light = vec![Vec3::splat(2.0); 9];
        light[4] = Vec3::new(1.0, f32::NAN, 1.0);
        light[0] = Vec3::splat(f32::INFINITY);
        light[8] = Vec3::splat(9.0);
        let albedo = Some(vec![Vec3::splat(f32::NAN); 9]);
        let noisy = Noisy { size: (3, 3), light, albedo, variance: Some(vec![Vec3::NEG_ONE; 9]), normal: None };
        let finite = noisy.finite();
        assert_eq!(finite.light[4], Vec3::splat(3.0));
        assert_eq!(finite.light[0], Vec3::splat(2.0));
        assert_eq!(finite.albedo, Some(vec![Vec3::ZERO; 9]));
        let variance = finite.variance.expect("it was there");
        assert_eq!((variance[1], variance[4]), (Vec3::ZERO, Vec3::splat(9.0)));
        let alone = Noisy { size: (1, 1), light: vec![Vec3::NAN], ..Noisy::default() };
        assert_eq!(alone.finite().light, [Vec3::ZERO]);
    }
}
