//! Writes small glTF files for tests.

use serde_json::{Value, json};

/// A document under construction, with one buffer.
pub struct Writer {
    pub document: Value,
    bytes: Vec<u8>,
}

impl Writer {
    pub fn empty() -> Writer {
        let lists = ["bufferViews", "accessors", "meshes", "nodes", "materials", "textures", "images", "cameras"];
        let mut document = json!({"asset": {"version": "2.0"}});
        lists.iter().for_each(|list| document[*list] = json!([]));
        Writer { document, bytes: Vec::new() }
    }

    /// Appends to a list of the document; the number there.
    pub fn add(&mut self, list: &str, value: Value) -> usize {
        let list = self.document[list].as_array_mut().expect("all lists are there");
        list.push(value);
        list.len() - 1
    }

    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let offset = self.bytes.len();
        self.bytes.extend(bytes);
        self.add("bufferViews", json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()}))
    }

    /// Floats, `components` an element.
    pub fn floats(&mut self, components: usize, values: &[f32]) -> usize {
        let view = self.view(&values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][components - 1];
        let count = values.len() / components;
        self.add("accessors", json!({"bufferView": view, "componentType": 5126, "count": count, "type": kind}))
    }

    /// A square from −1 to 1 that faces +z, its texture upright, with more attributes.
    pub fn square(&mut self, material: Option<usize>, more: Value) -> usize {
        let positions = self.floats(3, &[-1., -1., 0., 1., -1., 0., 1., 1., 0., -1., 1., 0.]);
        let at = self.floats(2, &[0., 1., 1., 1., 1., 0., 0., 0.]);
        let corners = self.view(&[0, 1, 2, 0, 2, 3]);
        let corners =
            self.add("accessors", json!({"bufferView": corners, "componentType": 5121, "count": 6, "type": "SCALAR"}));
        let mut attributes = json!({"POSITION": positions, "TEXCOORD_0": at});
        for (name, accessor) in more.as_object().into_iter().flatten() {
            attributes[name] = accessor.clone();
        }
        let mut primitive = json!({"attributes": attributes, "indices": corners});
        if let Some(material) = material {
            primitive["material"] = json!(material);
        }
        self.add("meshes", json!({"primitives": [primitive]}))
    }

    /// A material that shows its color as it is.
    pub fn unlit(&mut self, color: [f32; 3]) -> usize {
        let [r, g, b] = color;
        let factor = json!({"baseColorFactor": [r, g, b, 1.0]});
        self.add("materials", json!({"pbrMetallicRoughness": factor, "extensions": {"KHR_materials_unlit": {}}}))
    }

    /// A PNG of these rows of colors, from the top, as the texture of a number.
    pub fn texture(&mut self, rows: &[&[[u8; 4]]], sampler: Value) -> usize {
        let image = self.png(rows);
        let view = self.view(&image);
        let image = self.add("images", json!({"bufferView": view, "mimeType": "image/png"}));
        if self.document["samplers"].is_null() {
            self.document["samplers"] = json!([]);
        }
        let sampler = self.add("samplers", sampler);
        self.add("textures", json!({"source": image, "sampler": sampler}))
    }

    pub fn png(&self, rows: &[&[[u8; 4]]]) -> Vec<u8> {
        let (width, height) = (rows[0].len() as u32, rows.len() as u32);
        let texels = rows.iter().flat_map(|row| row.iter().flatten()).copied().collect();
        let image = image::RgbaImage::from_raw(width, height, texels).expect("rows of one length");
        let mut bytes = std::io::Cursor::new(Vec::new());
        image.write_to(&mut bytes, image::ImageFormat::Png).expect("memory can be written");
        bytes.into_inner()
    }

    /// As a `.glb`.
    pub fn glb(&self) -> Vec<u8> {
        let mut document = self.document.clone();
        document["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        let mut json = document.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut bytes = self.bytes.clone();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let word = |n: usize| (n as u32).to_le_bytes();
        let mut out = b"glTF".to_vec();
        out.extend([word(2), word(28 + json.len() + bytes.len()), word(json.len()), *b"JSON"].concat());
        out.extend(json);
        out.extend([word(bytes.len()), *b"BIN\0"].concat());
        out.extend(bytes);
        out
    }

    /// As a `.gltf` whose buffer is another file, and that.
    pub fn gltf(&self, buffer: &str) -> (String, Vec<u8>) {
        let mut document = self.document.clone();
        document["buffers"] = json!([{"byteLength": self.bytes.len(), "uri": buffer}]);
        (document.to_string(), self.bytes.clone())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
