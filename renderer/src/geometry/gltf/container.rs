//! glTF files: the JSON and its bytes, which stand behind it in a `.glb`, in the text itself, or in files beside it.

use super::document::{Document, Image, Index};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::text;
use ssl_compiler::input;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A glTF file with all its buffers.
pub struct Container {
    pub document: Document,
    buffers: Vec<Vec<u8>>,
    folder: PathBuf,
    /// The other files that it was read from.
    pub files: Vec<PathBuf>,
}

/// What a document holds of an image.
pub enum ImageBytes<'a> {
    File(PathBuf),
    /// As in the file that it once was.
    Embedded(Cow<'a, [u8]>),
}

/// Extensions that are read, or that change no picture: `FB_ngon_encoding` marks which triangles were polygons. Quantised
/// attributes are in the forms that all attributes may have here.
pub const KNOWN: [&str; 9] = [
    "EXT_mesh_gpu_instancing",
    "FB_ngon_encoding",
    "KHR_lights_punctual",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
];

/// Of a file: GLB counts its length in 32 bits.
const MOST_BYTES: u64 = 1 << 32;

/// Reads the JSON of a file alone. The error is a sentence for the user, here and below.
pub fn read_document(path: &Path) -> Result<Document, String> {
    let bytes = input::bytes(path, MOST_BYTES).map_err(|e| e.to_string())?;
    Ok(split(&bytes)?.0)
}

impl Container {
    pub fn read(path: &Path) -> Result<Container, String> {
        let bytes = input::bytes(path, MOST_BYTES).map_err(|e| e.to_string())?;
        let (document, binary) = split(&bytes)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut container = Container { document, buffers: Vec::new(), folder, files: Vec::new() };
        for number in 0..container.document.buffers.len() {
            let buffer = container.buffer(number, binary)?;
            container.buffers.push(buffer);
        }
        Ok(container)
    }

    fn buffer(&mut self, number: usize, binary: Option<&[u8]>) -> Result<Vec<u8>, String> {
        let buffer = &self.document.buffers[number];
        let mut bytes = match &buffer.uri {
            None if number == 0 => binary.ok_or("its first buffer is nowhere")?.to_vec(),
            None => return Err(format!("its buffer {number} is nowhere")),
            Some(uri) => match data_of(uri) {
                Some(data) => data?,
                None => {
                    let path = self.folder.join(unescaped(uri));
                    let bytes = input::bytes(&path, MOST_BYTES)
                        .map_err(|e| format!("`{}` cannot be read: {e}", path.display()))?;
                    self.files.push(path);
                    bytes
                }
            },
        };
        let length = buffer.byte_length;
        if bytes.len() < length {
            return Err(format!("its buffer {number} has {} bytes of {length}", bytes.len()));
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    /// The bytes of a buffer view.
    pub fn view(&self, index: Index) -> Result<&[u8], String> {
        let bytes = || {
            let view = self.document.buffer_views.get(index)?;
            let end = view.byte_offset.checked_add(view.byte_length)?;
            self.buffers.get(view.buffer)?.get(view.byte_offset..end)
        };
        bytes().ok_or_else(|| format!("its buffer view {index} lies outside of the file"))
    }

    pub fn image(&self, image: &Image) -> Result<ImageBytes<'_>, String> {
        match (&image.uri, image.buffer_view) {
            (Some(uri), _) => match data_of(uri) {
                Some(data) => Ok(ImageBytes::Embedded(Cow::Owned(data?))),
                None => Ok(ImageBytes::File(self.folder.join(unescaped(uri)))),
            },
            (None, Some(view)) => Ok(ImageBytes::Embedded(Cow::Borrowed(self.view(view)?))),
            (None, None) => Err("an image of it is nowhere".to_owned()),
        }
    }
}

/// The JSON of either form of file, and what stands behind it in a `.glb`.
fn split(bytes: &[u8]) -> Result<(Document, Option<&[u8]>), String> {
    let (json, binary) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, None) };
    let json = text::without_mark(json);
    let fault = |e: serde_json::Error| match text::fault(json).filter(|why| why.contains("UTF")) {
        Some(why) => why.to_owned(),
        None => format!("it is not a well-formed glTF file ({e})"),
    };
    let document: Document = serde_json::from_slice(json).map_err(fault)?;
    if !document.asset.version.starts_with("2.") {
        return Err(format!("it is of glTF version `{}`, not 2.0", document.asset.version));
    }
    if let Some(unknown) = document.extensions_required.iter().find(|e| !KNOWN.contains(&e.as_str())) {
        return Err(format!("it needs the extension `{unknown}`, which is not read"));
    }
    Ok((document, binary))
}

/// Both chunks of a `.glb`: a header of 12 bytes, then chunks of length, type and content.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?));
    let chunk = |at: usize| {
        let length = word(at)? as usize;
        let begin = at.checked_add(8)?;
        Some((word(at + 4)?, bytes.get(begin..begin.checked_add(length)?)?))
    };
    if word(4) != Some(2) {
        return Err("it is a GLB file of another version than 2".to_owned());
    }
    let Some((0x4E4F_534A, json)) = chunk(12) else {
        return Err("it is cut short, or does not begin with JSON".to_owned());
    };
    // Chunks are padded to whole words.
    let binary = chunk(20 + json.len().next_multiple_of(4)).filter(|(kind, _)| *kind == 0x004E_4942);
    Ok((json, binary.map(|(_, content)| content)))
}

/// The bytes of a `data:` URI; `None` for any other.
fn data_of(uri: &str) -> Option<Result<Vec<u8>, String>> {
    let rest = uri.strip_prefix("data:")?;
    let content = rest.split_once(";base64,").map(|(_, content)| content);
    let decoded = content.and_then(|c| STANDARD.decode(c).ok());
    Some(decoded.ok_or_else(|| "a data URI of it is not in base64".to_owned()))
}

/// A relative URI as a path: `%20` is a space.
fn unescaped(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, others @ ..] = rest {
        let hex = others.get(..2).filter(|_| *first == b'%').and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_paths_or_data() {
        assert_eq!(unescaped("a%20b%C3%A9%zz%"), "a bé%zz%");
        assert_eq!(data_of("data:application/octet-stream;base64,AQID"), Some(Ok(vec![1, 2, 3])));
        assert!(data_of("data:,abc").is_some_and(|d| d.is_err()) && data_of("a.bin").is_none());
    }
}
