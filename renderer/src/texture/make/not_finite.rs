//! Replaces numbers of stored texels that are NaN or infinite.

use super::light::Stored;
use crate::texture::Sample;
use crate::texture::not_finite::{NotFinite, replaced};
use half::f16;
use std::borrow::Cow;

/// Rows of texels of an image so many texels wide, from row `first` on, with finite numbers alone; and which texels had others.
pub fn replace<'a>(
    texels: &'a [u8],
    stored: &Stored,
    (width, first): (u32, u32),
) -> (Cow<'a, [u8]>, Option<NotFinite>) {
    let bytes = stored.sample.bytes();
    let odd = |number: &[u8]| {
        match stored.sample {
            Sample::U8 | Sample::U16 => None,
            Sample::F16 => Some(f16::from_ne_bytes([number[0], number[1]]).to_f32()),
            Sample::F32 => Some(f32::from_ne_bytes([number[0], number[1], number[2], number[3]])),
        }
        .filter(|x| !x.is_finite())
    };
    if matches!(stored.sample, Sample::U8 | Sample::U16) || !texels.chunks_exact(bytes).any(|n| odd(n).is_some()) {
        return (Cow::Borrowed(texels), None);
    }
    let (mut clean, mut found) = (texels.to_vec(), None);
    for (i, texel) in clean.chunks_exact_mut(stored.texel_bytes()).enumerate() {
        let mut any = false;
        for number in texel.chunks_exact_mut(bytes) {
            let Some(x) = odd(number).map(replaced) else { continue };
            any = true;
            match stored.sample {
                Sample::F16 => number.copy_from_slice(&f16::from_f32(x).to_ne_bytes()),
                _ => number.copy_from_slice(&x.to_ne_bytes()),
            }
        }
        if any {
            let at = [i as u32 % width, first + i as u32 / width];
            let one = NotFinite { count: 1, first: at };
            found = Some(found.map_or(one, |found: NotFinite| found.and(one)));
        }
    }
    (Cow::Owned(clean), found)
}
