//! The layout of the globals block: which row holds which component of which global, and its partials.
//!
//! A host declares its globals once, with [`shader_globals!`](crate::shader_globals): the macro makes
//! the Rust struct that the host fills and the layout that the compiler reads, so the two cannot
//! differ. A scene, or a test, appends further fields at run time.

use super::Row;
use crate::types::Type;
use std::collections::HashMap;

/// Which derivative of a global a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Order {
    /// The value itself.
    Value,
    /// ∂/∂x, per pixel; x grows to the right.
    Ddx,
    /// ∂/∂y, per pixel; y grows downwards.
    Ddy,
    /// ∂²/∂x².
    Dxx,
    /// ∂²/∂x∂y.
    Dxy,
    /// ∂²/∂y².
    Dyy,
}

impl Order {
    /// All orders, in the order of a field's rows.
    pub const ALL: [Order; 6] = [Order::Value, Order::Ddx, Order::Ddy, Order::Dxx, Order::Dxy, Order::Dyy];

    /// The name in listings of the intermediate code.
    pub fn name(self) -> &'static str {
        match self {
            Order::Value => "value",
            Order::Ddx => "ddx",
            Order::Ddy => "ddy",
            Order::Dxx => "dxx",
            Order::Dxy => "dxy",
            Order::Dyy => "dyy",
        }
    }
}

/// Which derivatives of a global a host supplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// Only the value. The global has no lineage: everything computed from it alone has zero derivatives.
    Value,
    /// Value, ∂/∂x, ∂/∂y.
    First,
    /// First, and ∂²/∂x², ∂²/∂x∂y, ∂²/∂y².
    Second,
}

impl Orders {
    /// The number of rows for one component.
    pub const fn count(self) -> usize {
        match self {
            Orders::Value => 1,
            Orders::First => 3,
            Orders::Second => 6,
        }
    }
}

/// One global and its rows.
#[derive(Clone, Debug)]
pub struct GlobalField {
    /// Its name in `global_value<NAME>`.
    pub name: String,
    /// A scalar, vector or matrix.
    pub ty: Type,
    /// Which partials have rows.
    pub orders: Orders,
    /// The row of the first component's value; the component's partials follow, then the next component.
    pub first_row: usize,
    /// Whether there are rows for partials that the host does not fill.
    pub withheld: bool,
    /// Whether the host promises one value for all lanes of a block.
    pub uniform: bool,
}

impl GlobalField {
    /// The row of one component's value or partial; `None` if the host supplies no such partial.
    pub fn row(&self, component: usize, order: Order) -> Option<usize> {
        let order = order as usize;
        let given = if self.withheld { 1 } else { self.orders.count() };
        (order < given).then(|| self.first_row + component * self.orders.count() + order)
    }

    /// The number of scalars in a value.
    pub fn components(&self) -> usize {
        self.ty.components().unwrap_or(0)
    }

    /// The value of a component if nobody sets the global: 0, and for a matrix the identity, so that spaces that nobody
    /// sets are one and the same.
    pub fn rest(&self, component: usize) -> f32 {
        if self.ty == Type::Matrix && component.is_multiple_of(5) { 1.0 } else { 0.0 }
    }
}

/// The fields of a globals block, in row order.
#[derive(Clone, Debug, Default)]
pub struct GlobalsLayout {
    fields: Vec<GlobalField>,
    by_name: HashMap<String, usize>,
    rows: usize,
}

impl GlobalsLayout {
    /// A layout without globals.
    pub fn new() -> GlobalsLayout {
        GlobalsLayout::default()
    }

    /// Appends a field and returns its index.
    ///
    /// Integers, booleans and strings have no partials. It fails if the name is taken, or if the type is no scalar, vector
    /// or matrix.
    pub fn add(&mut self, name: &str, ty: Type, orders: Orders) -> Result<usize, LayoutError> {
        if self.find(name).is_some() {
            return Err(LayoutError::Duplicate(name.to_owned()));
        }
        let Some(components) = ty.components() else {
            return Err(LayoutError::Type(name.to_owned()));
        };
        let orders = if matches!(ty, Type::Int | Type::Bool | Type::String) { Orders::Value } else { orders };
        self.by_name.insert(name.to_owned(), self.fields.len());
        let (name, first_row) = (name.to_owned(), self.rows);
        self.fields.push(GlobalField { name, ty, orders, first_row, withheld: false, uniform: false });
        self.rows += components * orders.count();
        Ok(self.fields.len() - 1)
    }

    /// Appends a field without partials that has one value for all lanes of a block. The host still fills a whole row.
    /// Code computes what depends on nothing else once for all lanes.
    pub fn add_uniform(&mut self, name: &str, ty: Type) -> Result<usize, LayoutError> {
        let index = self.add(name, ty, Orders::Value)?;
        self.fields[index].uniform = true;
        Ok(index)
    }

    /// The field of this name, and its index.
    pub fn find(&self, name: &str) -> Option<(usize, &GlobalField)> {
        self.by_name.get(name).map(|&index| (index, &self.fields[index]))
    }

    /// The field of this index.
    ///
    /// # Panics
    /// If there are fewer fields.
    pub fn field(&self, index: usize) -> &GlobalField {
        &self.fields[index]
    }

    /// All fields, in row order.
    pub fn fields(&self) -> &[GlobalField] {
        &self.fields
    }

    /// The number of rows in a block.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// Why a global cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// Another global has the name.
    Duplicate(String),
    /// The type is no scalar, vector or matrix.
    Type(String),
}

impl std::fmt::Display for LayoutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LayoutError::Duplicate(name) => write!(f, "the global `{name}` is declared twice"),
            LayoutError::Type(name) => write!(f, "the global `{name}` must be a scalar or a vector"),
        }
    }
}

impl std::error::Error for LayoutError {}

/// The rows of one field of a block, as components of orders; for [`shader_globals!`](crate::shader_globals).
#[doc(hidden)]
pub fn field_rows<const ORDERS: usize, const COMPONENTS: usize>(
    rows: &mut [Row],
    first: usize,
) -> &mut [[Row; ORDERS]; COMPONENTS] {
    let (components, _) = rows[first..first + COMPONENTS * ORDERS].as_chunks_mut();
    // The range holds COMPONENTS times ORDERS rows.
    components.try_into().expect("as many chunks as components")
}

/// Declares a host's globals: a struct of rows, and the layout that describes it.
///
/// Each field is `name: type, orders;` with `type` as the language spells it (`float`, `point`, …) and `orders` one
/// of `value`, `first`, `second`. A method of the field's name gives its rows to fill, as
/// `[[Row; ORDERS]; COMPONENTS]`.
///
/// ```
/// ssl_compiler::shader_globals! {
///     /// What a hit offers.
///     pub struct HitGlobals {
///         position: point, first;
///         object_id: int, value;
///     }
/// }
/// let layout = HitGlobals::layout();
/// assert_eq!(layout.rows(), 10);
/// let mut globals = HitGlobals::default();
/// globals.position()[1][0].0[3] = 2.0; // y of lane 3
/// assert_eq!(globals.rows()[3].0[3], 2.0);
/// ```
#[macro_export]
macro_rules! shader_globals {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$fmeta:meta])* $field:ident : $ty:ident, $orders:ident;)* }) => {
        $(#[$meta])*
        #[derive(Clone)]
        pub struct $name {
            rows: [$crate::runtime::Row; 0 $(+ $crate::shader_globals!(@components $ty)
                * $crate::shader_globals!(@orders $orders).count())*],
        }
        const _: () = {
            // Says only where each field begins. Globals are named as shaders name them, `I` for one.
            #[allow(non_snake_case)]
            #[repr(C)]
            struct Rows {
                $($field: [[$crate::runtime::Row; $crate::shader_globals!(@orders $orders).count()];
                    $crate::shader_globals!(@components $ty)],)*
            }
            // A host need not call the method of each global: it may fill the rows of some by others.
            #[allow(dead_code, non_snake_case)]
            impl $name {
                /// The layout that a compiler needs to read this struct.
                pub fn layout() -> $crate::runtime::GlobalsLayout {
                    let mut layout = $crate::runtime::GlobalsLayout::new();
                    $(
                        // Field names of a struct differ and the types are scalars or vectors, so adding cannot fail.
                        layout.add(stringify!($field), $crate::shader_globals!(@type $ty), $crate::shader_globals!(@orders $orders))
                            .expect("field names are unique");
                    )*
                    layout
                }
                /// The struct as the rows that a block holds.
                pub fn rows(&self) -> &[$crate::runtime::Row] {
                    &self.rows
                }
                $(
                    $(#[$fmeta])*
                    pub fn $field(&mut self) -> &mut [[$crate::runtime::Row; $crate::shader_globals!(@orders $orders).count()];
                        $crate::shader_globals!(@components $ty)] {
                        const FIRST: usize =
                            ::std::mem::offset_of!(Rows, $field) / ::std::mem::size_of::<$crate::runtime::Row>();
                        $crate::runtime::globals::field_rows(&mut self.rows, FIRST)
                    }
                )*
            }
            impl ::std::default::Default for $name {
                fn default() -> $name {
                    $name { rows: [$crate::runtime::Row::ZERO; _] }
                }
            }
        };
    };
    (@orders value) => { $crate::runtime::Orders::Value };
    (@orders first) => { $crate::runtime::Orders::First };
    (@orders second) => { $crate::runtime::Orders::Second };
    (@components float) => { 1 };
    (@components int) => { 1 };
    (@components bool) => { 1 };
    (@components float2) => { 2 };
    (@components float4) => { 4 };
    (@components matrix) => { 16 };
    (@components $three:ident) => { 3 };
    (@type float) => { $crate::types::Type::Float };
    (@type matrix) => { $crate::types::Type::Matrix };
    (@type int) => { $crate::types::Type::Int };
    (@type bool) => { $crate::types::Type::Bool };
    (@type float2) => { $crate::types::Type::Vector($crate::types::VectorKind::Float2) };
    (@type float3) => { $crate::types::Type::Vector($crate::types::VectorKind::Float3) };
    (@type float4) => { $crate::types::Type::Vector($crate::types::VectorKind::Float4) };
    (@type color) => { $crate::types::Type::Vector($crate::types::VectorKind::Color) };
    (@type vector) => { $crate::types::Type::Vector($crate::types::VectorKind::Vector) };
    (@type point) => { $crate::types::Type::Vector($crate::types::VectorKind::Point) };
    (@type normal) => { $crate::types::Type::Vector($crate::types::VectorKind::Normal) };
}
