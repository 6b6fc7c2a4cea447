//! The texture that tests sample: smooth, known in closed form, the same in every slot.

use crate::runtime::{HostServices, TextureRequest};
use std::f32::consts::TAU;

/// Red is ½ + ¼ sin 2πu, green ½ + ¼ cos 2πv, blue ½ + ¼ sin 2πu cos 2πv, alpha ½ + ¼ sin 2π(u + v);
/// its gradients are those of the formulas, whatever the footprint.
pub struct TestTexture;

impl HostServices for TestTexture {
    fn texture(&self, request: &mut TextureRequest) {
        for lane in request.lanes() {
            let (u, v) = (TAU * request.u.0[lane], TAU * request.v.0[lane]);
            let ((su, cu), (sv, cv), (sum, cosum)) = (u.sin_cos(), v.sin_cos(), (u + v).sin_cos());
            let values = [su, cv, su * cv, sum].map(|x| 0.5 + 0.25 * x);
            let gradients = [cu, 0.0, cu * cv, cosum, 0.0, -sv, -su * sv, cosum].map(|x| 0.25 * TAU * x);
            request.result.iter_mut().zip(values).for_each(|(row, x)| row.0[lane] = x);
            request.gradient.iter_mut().zip(gradients).for_each(|(row, x)| row.0[lane] = x);
        }
    }
}
