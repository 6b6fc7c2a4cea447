//! Accessors: numbers in the buffers of a glTF file. Everything that a file says is checked before memory is allocated.

use super::container::Container;
use super::document::{Accessor, Index};

/// Numbers of an accessor, several an element.
pub struct Numbers {
    pub components: usize,
    pub values: Vec<f32>,
}

/// Elements that a file need not hold, since they are all 0.
const MOST_ZEROS: usize = 1 << 26;

/// The bytes of one component.
fn size_of(component_type: u32) -> Option<usize> {
    match component_type {
        5120 | 5121 => Some(1),
        5122 | 5123 => Some(2),
        5125 | 5126 => Some(4),
        _ => None,
    }
}

fn components_of(kind: &str) -> Option<usize> {
    match kind {
        "SCALAR" => Some(1),
        "VEC2" => Some(2),
        "VEC3" => Some(3),
        "VEC4" => Some(4),
        "MAT4" => Some(16),
        _ => None,
    }
}

/// One component. Normalised integers are from 0 or −1 to 1.
fn number(bytes: &[u8], component_type: u32, normalized: bool) -> f32 {
    let scale = |x: f32, most: f32| if normalized { (x / most).max(-1.0) } else { x };
    match (component_type, bytes) {
        (5120, &[a]) => scale(f32::from(a as i8), 127.0),
        (5121, &[a]) => scale(f32::from(a), 255.0),
        (5122, &[a, b]) => scale(f32::from(i16::from_le_bytes([a, b])), 32767.0),
        (5123, &[a, b]) => scale(f32::from(u16::from_le_bytes([a, b])), 65535.0),
        (5125, &[a, b, c, d]) => scale(u32::from_le_bytes([a, b, c, d]) as f32, u32::MAX as f32),
        (_, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
        // `size_of` gave the length.
        _ => 0.0,
    }
}

/// An index. Floats are none.
fn whole(bytes: &[u8], component_type: u32) -> Option<u32> {
    match (component_type, bytes) {
        (5121, &[a]) => Some(a.into()),
        (5123, &[a, b]) => Some(u16::from_le_bytes([a, b]).into()),
        (5125, &[a, b, c, d]) => Some(u32::from_le_bytes([a, b, c, d])),
        _ => None,
    }
}

impl Container {
    pub fn numbers(&self, index: Index) -> Result<Numbers, String> {
        let refuse = || format!("its accessor {index} cannot be read");
        let accessor = self.document.accessors.get(index).ok_or_else(refuse)?;
        let components = components_of(&accessor.kind).ok_or_else(refuse)?;
        let size = size_of(accessor.component_type).ok_or_else(refuse)?;
        let read = |bytes: &[u8]| number(bytes, accessor.component_type, accessor.normalized);
        let mut values = match accessor.buffer_view {
            Some(view) => {
                let layout = Layout { offset: accessor.byte_offset, element: size * components, count: accessor.count };
                let elements = self.elements(view, layout).ok_or_else(refuse)?;
                elements.flat_map(|e| e.chunks_exact(size)).map(read).collect()
            }
            None if accessor.count <= MOST_ZEROS => vec![0.0; accessor.count * components],
            None => return Err(refuse()),
        };
        self.replace(accessor, (components, size), &mut values, |bytes| Some(read(bytes))).ok_or_else(refuse)?;
        Ok(Numbers { components, values })
    }

    /// Applies the single elements of a sparse accessor.
    fn replace<T>(
        &self,
        accessor: &Accessor,
        (components, size): (usize, usize),
        values: &mut [T],
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Option<()> {
        let Some(sparse) = &accessor.sparse else { return Some(()) };
        let index_type = sparse.indices.component_type;
        let layout = Layout { offset: sparse.indices.byte_offset, element: size_of(index_type)?, count: sparse.count };
        let places = self.elements(sparse.indices.buffer_view, layout)?;
        let layout = Layout { offset: sparse.values.byte_offset, element: size * components, count: sparse.count };
        let replacements = self.elements(sparse.values.buffer_view, layout)?;
        for (place, replacement) in places.zip(replacements) {
            let begin = (whole(place, index_type)? as usize).checked_mul(components)?;
            let element = values.get_mut(begin..begin.checked_add(components)?)?;
            for (value, bytes) in element.iter_mut().zip(replacement.chunks_exact(size)) {
                *value = read(bytes)?;
            }
        }
        Some(())
    }

    pub fn indices(&self, index: Index) -> Result<Vec<u32>, String> {
        let read = || {
            let accessor = self.document.accessors.get(index).filter(|a| a.kind == "SCALAR")?;
            let component = accessor.component_type;
            let mut values = match accessor.buffer_view {
                Some(view) => {
                    let layout =
                        Layout { offset: accessor.byte_offset, element: size_of(component)?, count: accessor.count };
                    self.elements(view, layout)?.map(|e| whole(e, component)).collect::<Option<Vec<u32>>>()?
                }
                None if accessor.sparse.is_some() && accessor.count <= MOST_ZEROS => vec![0; accessor.count],
                None => return None,
            };
            self.replace(accessor, (1, size_of(component)?), &mut values, |bytes| whole(bytes, component))?;
            Some(values)
        };
        read().ok_or_else(|| format!("its accessor {index} holds no indices"))
    }

    /// The bytes of each element; `None` where they are not all there.
    fn elements(&self, view: Index, layout: Layout) -> Option<impl Iterator<Item = &[u8]>> {
        let bytes = self.view(view).ok()?;
        let Layout { offset, element, count } = layout;
        let stride = self.document.buffer_views.get(view)?.byte_stride.unwrap_or(element);
        if stride < element || count == 0 {
            return None;
        }
        let length = stride.checked_mul(count - 1)?.checked_add(element)?;
        let bytes = bytes.get(offset..offset.checked_add(length)?)?;
        // The last one may lack what parts it from a next one.
        Some(bytes.chunks(stride).map(move |chunk| &chunk[..element]))
    }
}

/// Elements within a buffer view.
struct Layout {
    offset: usize,
    /// Bytes.
    element: usize,
    count: usize,
}
