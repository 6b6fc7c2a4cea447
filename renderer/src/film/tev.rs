//! Messages to tev, a viewer of pictures that are still being made (<https://github.com/Tom94/tev>), as its own client for
//! Python sends them: the length of the message, itself included, a byte for its kind, then its fields. Numbers are
//! little-endian, texts end with a zero byte.

use super::{Tile, TileSums};

const CREATE_IMAGE: u8 = 4;
const UPDATE_IMAGE: u8 = 6;
const CHANNELS: [&str; 3] = ["R", "G", "B"];

/// Asks for a black picture of this name and size, in front of the others.
pub fn create_image(name: &str, (width, height): (u32, u32)) -> Vec<u8> {
    let mut message = Message::new(CREATE_IMAGE, true, name);
    message.integers(&[width, height, CHANNELS.len() as u32]);
    CHANNELS.iter().for_each(|channel| message.text(channel));
    message.finish()
}

/// The light of a tile of it so far.
pub fn update_image(name: &str, tile: Tile, sums: &TileSums) -> Vec<u8> {
    let n = CHANNELS.len();
    let mut message = Message::new(UPDATE_IMAGE, false, name);
    message.integers(&[n as u32]);
    CHANNELS.iter().for_each(|channel| message.text(channel));
    message.integers(&[tile.x0, tile.y0, tile.width(), tile.height()]);
    // Where each channel begins, and how far its pixels are apart: the channels of a pixel lie together.
    (0..n).for_each(|first| message.bytes.extend((first as i64).to_le_bytes()));
    (0..n).for_each(|_| message.bytes.extend((n as i64).to_le_bytes()));
    for pixel in 0..tile.pixels() {
        sums.light(pixel as usize).to_array().iter().for_each(|x| message.bytes.extend(x.to_le_bytes()));
    }
    message.finish()
}

struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn new(kind: u8, grab_focus: bool, name: &str) -> Message {
        let mut message = Message { bytes: vec![0, 0, 0, 0, kind, u8::from(grab_focus)] };
        message.text(name);
        message
    }

    fn text(&mut self, text: &str) {
        // A zero byte would end it.
        self.bytes.extend(text.bytes().filter(|b| *b != 0));
        self.bytes.push(0);
    }

    fn integers(&mut self, values: &[u32]) {
        values.iter().for_each(|v| self.bytes.extend(v.to_le_bytes()));
    }

    fn finish(mut self) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_le_bytes());
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FilmSample, Shape};
    use super::*;
    use glam::Vec3;

    #[test]
    fn messages_are_laid_out_as_tev_reads_them() {
        let created = create_image("a.exr", (640, 2));
        let expected = b"\x1e\0\0\0\x04\x01a.exr\0\x80\x02\0\0\x02\0\0\0\x03\0\0\0R\0G\0B\0";
        assert_eq!(created, expected);
        let tile = Tile { x0: 16, y0: 1, x1: 17, y1: 2 };
        let mut sums = TileSums::new(1, Shape::default());
        let radiance = Vec3::new(1.0, 0.5, 2.0);
        sums.add(0, &FilmSample { radiance, means: &[], nearest: &[], rank: 0 });
        let mut expected = b"\0\0\0\0\x06\0a.exr\0\x03\0\0\0R\0G\0B\0\x10\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0".to_vec();
        [0_i64, 1, 2, 3, 3, 3].iter().for_each(|n| expected.extend(n.to_le_bytes()));
        radiance.to_array().iter().for_each(|x| expected.extend(x.to_le_bytes()));
        expected[0] = expected.len() as u8;
        assert_eq!(update_image("a.exr", tile, &sums), expected);
    }
}
