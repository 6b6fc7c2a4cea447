//! Buffers of kernels: the columns that compiled code reads in place, and the requests by which it adds.
//!
//! A buffer is a list of elements of one type, and a type is a list of scalars. Each scalar has a *column*: one word for
//! every element, so many words apart. In rows of structs the columns of a buffer lie inside each other; a struct of lists
//! has them side by side. Code is the same for both.

use super::block::{BlockContext, Words};
use super::{HostServices, LANES, Row, interface::Metadata};
use crate::types::{Scalar, Type};

/// What the points of a kernel may do with a buffer. Nothing that a launch writes does the same launch read, but for the
/// point's own element of an `inout` buffer, which is read before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferRole {
    /// Any point reads any element.
    In,
    /// Each point writes its own element.
    Out,
    /// Each point reads its own element, and writes it.
    InOut,
    /// Any point adds to any element.
    Add,
}

impl BufferRole {
    /// As the language spells it.
    pub fn name(self) -> &'static str {
        match self {
            BufferRole::In => "in",
            BufferRole::Out => "out",
            BufferRole::InOut => "inout",
            BufferRole::Add => "add",
        }
    }
}

/// A buffer that a kernel takes.
#[derive(Clone, Debug)]
pub struct BufferDesc {
    /// The parameter's name.
    pub name: String,
    /// What points do with it.
    pub role: BufferRole,
    /// The type of an element.
    pub ty: Type,
    /// That type as an author writes it.
    pub type_name: String,
    /// The scalars of an element, in the order of the columns.
    pub scalars: Vec<Scalar>,
    /// What an author calls each scalar inside an element: `center.x`, or nothing for a plain scalar.
    pub paths: Vec<String>,
    /// The first of its columns. An `out` buffer has none.
    pub first_column: usize,
    /// For `out` and `inout`: the first of the output rows that hold the points' own elements.
    pub first_row: Option<usize>,
    /// Metadata from its author, for user interfaces.
    pub metadata: Vec<Metadata>,
}

/// One scalar of every element of a buffer. All columns of a buffer have the same stride and length.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Column {
    /// The word of element 0. A buffer without elements has one of zeros here, which is what code reads.
    pub words: *const u32,
    /// Words from one element to the next. `stride * length` is below 2³¹.
    pub stride: u32,
    /// Elements; at least 1, also if the buffer has none.
    pub length: u32,
}

// SAFETY: a column is read only, and whoever makes one promises that nobody writes there meanwhile.
unsafe impl Send for Column {}
// SAFETY: as above.
unsafe impl Sync for Column {}

impl Column {
    /// A column of one element, 0.
    pub const EMPTY: Column = Column { words: &0, stride: 1, length: 1 };
}

/// Columns that one request may add to.
pub const MAX_ADDED: usize = 16;

/// An addition by up to 16 lanes, each to an element of its own choice.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct AddRequest {
    /// The element of each lane, inside the buffer.
    pub index: Words,
    /// What each lane adds to column `column + i`: floats, or ints in a column of ints.
    pub values: [Row; MAX_ADDED],
    /// The first column.
    pub column: u32,
    /// The number of columns.
    pub count: u32,
    /// Bit i is set if lane i takes part.
    pub mask: u32,
    /// Not 0 if all lanes are known to add to one element, that of the first lane in the mask.
    pub uniform: u32,
}

impl AddRequest {
    /// A request for nothing.
    pub fn new() -> AddRequest {
        AddRequest { index: Words::default(), values: [Row::ZERO; MAX_ADDED], column: 0, count: 0, mask: 0, uniform: 0 }
    }

    /// The lanes that take part.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let mask = self.mask;
        (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
    }
}

impl Default for AddRequest {
    fn default() -> Self {
        AddRequest::new()
    }
}

/// Called by compiled code to add to a buffer: `context.add` holds the request.
///
/// # Safety
/// `context` is the live context that the caller was given, built from a [`Block`](super::Block).
pub unsafe extern "C" fn add_service(context: *mut BlockContext) {
    // SAFETY: the context's pointers were made from references that outlive the call, and the request
    // belongs to this call alone.
    let (host, request) = unsafe { (*(*context).host.cast::<&dyn HostServices>(), &*(*context).add) };
    // A panic must not unwind into compiled code, which has no unwind tables.
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| host.add_to_buffer(request))).is_err() {
        std::process::abort();
    }
}
