//! Buffers: elements in rows and in columns, memory of the host, and what is refused.

use kernels::buffer::Value;
use kernels::{Arrangement, Buffer, BufferError, Element, View, ViewMut};
use ssl_compiler::types::Scalar;

type Mixed = ([f32; 2], i32, bool);

const MIXED: [Mixed; 3] = [([0.5, -1.0], 7, true), ([2.0, 3.0], -8, false), ([f32::INFINITY, 0.0], i32::MIN, true)];

#[test]
fn rows_and_columns_hold_the_same_elements() {
    let rows = Buffer::from_values(Arrangement::Rows, &MIXED).unwrap();
    let mut columns = Buffer::from_values(Arrangement::Columns, &MIXED).unwrap();
    let bits = |x: f32| x.to_bits();
    let by_row =
        [bits(0.5), bits(-1.0), 7, 1, bits(2.0), bits(3.0), -8i32 as u32, 0, bits(f32::INFINITY), 0, 1 << 31, 1];
    assert_eq!(rows.words(), by_row);
    let by_column: Vec<u32> = (0..4).flat_map(|s| (0..3).map(move |i| by_row[4 * i + s])).collect();
    assert_eq!(columns.words(), by_column);
    assert_eq!(rows.values::<Mixed>().unwrap(), MIXED);
    assert_eq!(columns.get::<Mixed>(1).unwrap(), MIXED[1]);
    assert_eq!(columns.column::<i32>(2).unwrap(), [7, -8, i32::MIN]);

    columns.column_mut::<f32>(0).unwrap()[1] = 9.0;
    columns.set(2, MIXED[0]).unwrap();
    let changed = [MIXED[0], ([9.0, 3.0], -8, false), MIXED[0]];
    assert_eq!(columns.values::<Mixed>().unwrap(), changed);
    let mut copy = Buffer::new(Element::of::<Mixed>(), Arrangement::Rows, 3).unwrap();
    copy.copy_from(columns.view()).unwrap();
    assert_eq!(copy.values::<Mixed>().unwrap(), changed);
    copy.clear();
    assert_eq!(copy.values::<Mixed>().unwrap(), [([0.0; 2], 0, false); 3]);
}

#[test]
fn an_element_is_its_scalars() {
    let mut scalars = Vec::new();
    Mixed::scalars(&mut scalars);
    assert_eq!(scalars, [Scalar::Float, Scalar::Float, Scalar::Int, Scalar::Bool]);
    assert_eq!(Element::new(&scalars).named("Mixed"), Element::of::<Mixed>());
    assert_eq!(Element::new(&scalars).to_string(), "2 floats, 1 int, 1 bool");
    assert_eq!(Element::floats(9).named("Blob").to_string(), "Blob (9 floats)");
    assert_ne!(Element::floats(3), Element::floats(4));
}

#[test]
fn memory_of_the_host_is_seen_where_it_lies() {
    // Three rows of two floats, a word apart.
    let memory: Vec<f32> = (0..8).map(|i| i as f32).collect();
    let view = View::of_host(&memory, &Element::floats(2), Arrangement::Rows, 3, 3).unwrap();
    let mut copy = Buffer::new(Element::floats(2), Arrangement::Columns, 3).unwrap();
    copy.copy_from(view).unwrap();
    assert_eq!(copy.values::<[f32; 2]>().unwrap(), [[0.0, 1.0], [3.0, 4.0], [6.0, 7.0]]);
    let columns = View::of_host(&memory, &Element::floats(2), Arrangement::Columns, 3, 5).unwrap();
    copy.copy_from(columns).unwrap();
    assert_eq!(copy.values::<[f32; 2]>().unwrap(), [[0.0, 5.0], [1.0, 6.0], [2.0, 7.0]]);

    // The last row ends where the memory ends.
    let short = |length, pitch| View::of_host(&memory, &Element::floats(2), Arrangement::Rows, length, pitch).err();
    assert_eq!(short(3, 3), None);
    assert_eq!(short(4, 2), None);
    assert_eq!(short(4, 3), Some(BufferError::Length { wanted: 11, found: 8 }));
    assert_eq!(short(4, 1), Some(BufferError::Length { wanted: 2, found: 1 }));
    let mut memory = memory;
    let wide = ViewMut::of_host(&mut memory, &Element::floats(3), Arrangement::Columns, 4, 4).err();
    assert_eq!(wide, Some(BufferError::Length { wanted: 12, found: 8 }));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut buffer = Buffer::from_values(Arrangement::Rows, &[1.0f32, 2.0]).unwrap();
    assert_eq!(buffer.get::<f32>(2), Err(BufferError::Index { index: 2, length: 2 }));
    let error = buffer.set(0, 1).unwrap_err();
    assert_eq!(error.to_string(), "the buffer holds 1 float, not 1 int");
    assert_eq!(buffer.set_values(&[1.0f32]), Err(BufferError::Length { wanted: 2, found: 1 }));
    assert!(matches!(buffer.column::<f32>(0), Err(BufferError::Type { .. })), "rows have no columns in one piece");

    // 2³¹ words from the first to the last element are too many in rows, and as many columns are not.
    let limit = (1usize << 31) / 9;
    let rows = Buffer::new(Element::floats(9), Arrangement::Rows, limit + 1).unwrap_err();
    assert_eq!(rows, BufferError::TooLong { length: limit + 1, limit });
    assert_eq!(Buffer::bytes(&Element::floats(9), 1000), 36_000);
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let elements = i32::MAX as usize;
    let error = Buffer::new(Element::floats(1 << 20), Arrangement::Columns, elements).unwrap_err();
    assert!(matches!(error, BufferError::OutOfMemory { .. }), "{error}");
}
