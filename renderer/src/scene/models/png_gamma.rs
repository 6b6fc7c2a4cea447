//! What a PNG says of the curve of its colors, the chunk `gAMA`: where it stands, and the same file without it.

use std::borrow::Cow;
use std::io::{Cursor, Error, Read, Result, Seek, SeekFrom};
use std::ops::Range;

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// Of the chunks before the image, those that are looked at. Images have a few.
const MOST_CHUNKS: usize = 1000;

/// Where the chunks stand, if they count: the chunk `sRGB` overrides them (PNG, third edition, section 4.3). An error means that it
/// is no PNG, or cut short.
pub fn gamma_chunks(png: &mut (impl Read + Seek)) -> Result<Vec<Range<u64>>> {
    let mut signature = [0; 8];
    png.read_exact(&mut signature)?;
    if signature != SIGNATURE {
        return Err(Error::other("it is no PNG"));
    }
    let (mut found, mut at, mut is_srgb) = (Vec::new(), SIGNATURE.len() as u64, false);
    for _ in 0..MOST_CHUNKS {
        // Length and type come before the content, and a sum behind it.
        let mut head = [0; 8];
        png.read_exact(&mut head)?;
        let [a, b, c, d, kind @ ..] = head;
        let end = at + 12 + u64::from(u32::from_be_bytes([a, b, c, d]));
        match &kind {
            b"IDAT" => return Ok(if is_srgb { Vec::new() } else { found }),
            b"sRGB" => is_srgb = true,
            b"gAMA" => found.push(at..end),
            _ => {}
        }
        at = png.seek(SeekFrom::Start(end))?;
    }
    Err(Error::other("it has too many chunks"))
}

/// The same image, if it is a PNG, without those chunks.
pub fn without_gamma(image: &[u8]) -> Cow<'_, [u8]> {
    let chunks = gamma_chunks(&mut Cursor::new(image)).unwrap_or_default();
    if chunks.is_empty() {
        return image.into();
    }
    let (mut kept, mut at) = (Vec::with_capacity(image.len()), 0);
    for chunk in chunks {
        // The beginning of another chunk was read behind each, so they all lie within the image.
        kept.extend(&image[at..chunk.start as usize]);
        at = chunk.end as usize;
    }
    kept.extend(&image[at..]);
    kept.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks of two bytes each, whose sums nobody looks at.
    fn png(chunks: &[&[u8; 4]]) -> Vec<u8> {
        let chunk = |kind: &&[u8; 4]| [&b"\0\0\0\x02"[..], &kind[..], b"ab", b"sums"].concat();
        [SIGNATURE.to_vec(), chunks.iter().flat_map(chunk).collect()].concat()
    }

    #[test]
    fn the_chunk_goes_and_others_stay() {
        let whole = png(&[b"IHDR", b"gAMA", b"tEXt", b"cHRM", b"gAMA", b"PLTE", b"IDAT", b"gAMA", b"IEND"]);
        let rest = png(&[b"IHDR", b"tEXt", b"cHRM", b"PLTE", b"IDAT", b"gAMA", b"IEND"]);
        assert_eq!(without_gamma(&whole), rest);
        assert_eq!(without_gamma(&rest), rest);
        let srgb = png(&[b"IHDR", b"gAMA", b"sRGB", b"IDAT", b"IEND"]);
        assert_eq!(without_gamma(&srgb), srgb);
    }

    #[test]
    fn what_is_no_whole_png_stays_as_it_is() {
        let whole = png(&[b"IHDR", b"gAMA"]);
        for length in 0..=whole.len() {
            assert_eq!(without_gamma(&whole[..length]), &whole[..length]);
        }
        let mut long = png(&[b"IHDR", b"gAMA", b"IDAT"]);
        // The length of the second chunk.
        long[22..26].fill(0xff);
        assert_eq!(without_gamma(&long), long);
        assert_eq!(without_gamma(&png(&[b"gAMA"; 2000])).len(), 8 + 2000 * 14);
        assert_eq!(without_gamma(b"\xff\xd8\xff"), &b"\xff\xd8\xff"[..]);
    }
}
