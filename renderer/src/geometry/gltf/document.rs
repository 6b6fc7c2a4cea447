//! The JSON of a glTF 2.0 file, as far as the renderer needs it. Names are those of the specification (Khronos, "glTF
//! 2.0").

use serde::Deserialize;
use std::collections::BTreeMap;

/// Index into a list of the document.
pub type Index = usize;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Document {
    pub asset: Asset,
    pub extensions_required: Vec<String>,
    pub extensions_used: Vec<String>,
    pub animations: Vec<serde::de::IgnoredAny>,
    pub buffers: Vec<Buffer>,
    pub buffer_views: Vec<BufferView>,
    pub accessors: Vec<Accessor>,
    pub meshes: Vec<Mesh>,
    pub nodes: Vec<Node>,
    pub scenes: Vec<Scene>,
    pub scene: Option<Index>,
    pub materials: Vec<Material>,
    pub textures: Vec<Texture>,
    pub images: Vec<Image>,
    pub samplers: Vec<Sampler>,
    pub cameras: Vec<Camera>,
    pub skins: Vec<Skin>,
    pub extensions: DocumentExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asset {
    pub version: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct DocumentExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub lights: Lights,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Lights {
    pub lights: Vec<Light>,
}

#[derive(Debug, Deserialize)]
pub struct Light {
    /// `directional`, `point` or `spot`.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default = "one_each")]
    pub color: [f32; 3],
    /// Candela; lux for `directional`.
    #[serde(default = "one")]
    pub intensity: f32,
    #[serde(default)]
    pub spot: Spot,
}

/// In radians from the axis.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spot {
    pub inner_cone_angle: f32,
    pub outer_cone_angle: f32,
}

impl Default for Spot {
    fn default() -> Spot {
        Spot { inner_cone_angle: 0.0, outer_cone_angle: std::f32::consts::FRAC_PI_4 }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Buffer {
    /// None for the binary part of a `.glb`.
    pub uri: Option<String>,
    pub byte_length: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferView {
    pub buffer: Index,
    #[serde(default)]
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    pub buffer_view: Option<Index>,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: usize,
    #[serde(rename = "type")]
    pub kind: String,
    pub sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub struct Sparse {
    pub count: usize,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseIndices {
    pub buffer_view: Index,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseValues {
    pub buffer_view: Index,
    #[serde(default)]
    pub byte_offset: usize,
}

#[derive(Debug, Deserialize)]
pub struct Mesh {
    pub primitives: Vec<MeshPrimitive>,
}

#[derive(Debug, Deserialize)]
pub struct MeshPrimitive {
    pub attributes: BTreeMap<String, Index>,
    pub indices: Option<Index>,
    pub material: Option<Index>,
    /// Triangles if none is given.
    pub mode: Option<u32>,
    /// Other positions to mix in.
    #[serde(default)]
    pub targets: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    pub extensions: BTreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Node {
    pub children: Vec<Index>,
    pub mesh: Option<Index>,
    pub camera: Option<Index>,
    pub skin: Option<Index>,
    /// By columns.
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    /// A quaternion, the scalar last.
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
    pub name: Option<String>,
    pub extensions: NodeExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Skin {
    /// Nodes.
    pub joints: Vec<Index>,
    /// An accessor with a matrix for each joint, from where the mesh was bound to the joint. The identity if there is none.
    pub inverse_bind_matrices: Option<Index>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub light: Option<NodeLight>,
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    pub instancing: Option<Instancing>,
}

/// Where a node has its mesh several times: accessors of `TRANSLATION`, `ROTATION` and `SCALE`, with an element for each.
#[derive(Debug, Deserialize)]
pub struct Instancing {
    pub attributes: BTreeMap<String, Index>,
}

#[derive(Debug, Deserialize)]
pub struct NodeLight {
    pub light: Index,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Scene {
    pub nodes: Vec<Index>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Material {
    pub name: Option<String>,
    pub pbr_metallic_roughness: MetallicRoughness,
    pub normal_texture: Option<TextureInfo>,
    pub emissive_texture: Option<TextureInfo>,
    pub emissive_factor: [f32; 3],
    pub double_sided: bool,
    /// `OPAQUE`, `MASK` or `BLEND`.
    pub alpha_mode: Option<String>,
    pub alpha_cutoff: Option<f32>,
    pub extensions: MaterialExtensions,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MetallicRoughness {
    pub base_color_factor: [f32; 4],
    pub base_color_texture: Option<TextureInfo>,
    pub metallic_factor: f32,
    pub roughness_factor: f32,
    pub metallic_roughness_texture: Option<TextureInfo>,
}

impl Default for MetallicRoughness {
    fn default() -> MetallicRoughness {
        MetallicRoughness {
            base_color_factor: [1.0; 4],
            base_color_texture: None,
            metallic_factor: 1.0,
            roughness_factor: 1.0,
            metallic_roughness_texture: None,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct MaterialExtensions {
    #[serde(rename = "KHR_materials_emissive_strength")]
    pub emissive_strength: EmissiveStrength,
    #[serde(rename = "KHR_materials_ior")]
    pub ior: Ior,
    #[serde(rename = "KHR_materials_transmission")]
    pub transmission: Transmission,
    #[serde(rename = "KHR_materials_unlit")]
    pub unlit: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EmissiveStrength {
    pub emissive_strength: f32,
}

impl Default for EmissiveStrength {
    fn default() -> EmissiveStrength {
        EmissiveStrength { emissive_strength: 1.0 }
    }
}

#[derive(Debug, Deserialize)]
#[serde(default)]
pub struct Ior {
    pub ior: f32,
}

impl Default for Ior {
    fn default() -> Ior {
        Ior { ior: 1.5 }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Transmission {
    pub transmission_factor: f32,
}

/// A texture where a material names it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextureInfo {
    pub index: Index,
    #[serde(default)]
    pub tex_coord: u32,
    /// Of a normal map.
    pub scale: Option<f32>,
    #[serde(default)]
    pub extensions: TextureInfoExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: Option<TextureTransform>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TextureTransform {
    pub offset: [f32; 2],
    /// Radians.
    pub rotation: f32,
    pub scale: [f32; 2],
    pub tex_coord: Option<u32>,
}

impl Default for TextureTransform {
    fn default() -> TextureTransform {
        TextureTransform { offset: [0.0; 2], rotation: 0.0, scale: [1.0; 2], tex_coord: None }
    }
}

#[derive(Debug, Deserialize)]
pub struct Texture {
    pub source: Option<Index>,
    pub sampler: Option<Index>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    pub uri: Option<String>,
    pub buffer_view: Option<Index>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Sampler {
    pub wrap_s: Option<u32>,
    pub wrap_t: Option<u32>,
}

#[derive(Debug, Deserialize)]
pub struct Camera {
    pub name: Option<String>,
    pub perspective: Option<Perspective>,
    pub orthographic: Option<Orthographic>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Perspective {
    /// Vertical, in radians.
    pub yfov: f32,
    pub aspect_ratio: Option<f32>,
}

#[derive(Debug, Deserialize)]
pub struct Orthographic {
    /// Half the width.
    pub xmag: f32,
}

fn one() -> f32 {
    1.0
}

fn one_each() -> [f32; 3] {
    [1.0; 3]
}
