//! The language's types, and how a value of each splits into scalars.
//!
//! Vectors, structs and constant-indexed arrays exist only up to lowering: the IR knows scalars and flat arrays. Only
//! [`TypeTable::leaves`] defines the order of the parts.

use std::collections::HashMap;
use std::fmt;

/// What a register of the compiled shader can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `float`.
    Float,
}

impl Scalar {
    /// As the language spells it.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::Int => "int",
            Scalar::Float => "float",
        }
    }
}

/// The float vectors. Those of three components convert into each other freely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorKind {
    /// Two floats.
    Float2,
    /// Three floats.
    Float3,
    /// Four floats.
    Float4,
    /// Red, green, blue.
    Color,
    /// A direction.
    Vector,
    /// A place.
    Point,
    /// A surface normal.
    Normal,
}

impl VectorKind {
    /// All kinds.
    pub const ALL: [VectorKind; 7] = [
        VectorKind::Float2,
        VectorKind::Float3,
        VectorKind::Float4,
        VectorKind::Color,
        VectorKind::Vector,
        VectorKind::Point,
        VectorKind::Normal,
    ];

    /// How many components it has.
    #[expect(clippy::len_without_is_empty, reason = "no vector is empty")]
    pub fn len(self) -> usize {
        match self {
            VectorKind::Float2 => 2,
            VectorKind::Float4 => 4,
            _ => 3,
        }
    }

    /// As the language spells it.
    pub fn name(self) -> &'static str {
        match self {
            VectorKind::Float2 => "float2",
            VectorKind::Float3 => "float3",
            VectorKind::Float4 => "float4",
            VectorKind::Color => "color",
            VectorKind::Vector => "vector",
            VectorKind::Point => "point",
            VectorKind::Normal => "normal",
        }
    }
}

/// The number of a struct in its [`TypeTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StructId(pub u32);

/// A type of the language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// What a function without a result gives.
    Void,
    /// `true` or `false`.
    Bool,
    /// 32 bits, with a sign.
    Int,
    /// 32 bits.
    Float,
    /// A float vector.
    Vector(VectorKind),
    /// 4×4 floats, row by row; multiplies column vectors.
    Matrix,
    /// A name; known when the shader is compiled, or given by the host.
    String,
    /// How a surface scatters light: a sum of weighted lobes.
    Closure,
    /// A slot for a texture of the host.
    Texture2d,
    /// A buffer of a kernel, of which points read elements, or to which they add.
    Buffer {
        /// The type of an element.
        element: Box<Type>,
        /// Whether points add to it.
        added: bool,
    },
    /// A struct of the program.
    Struct(StructId),
    /// So many values of a type. With 0, which no value has, the type of a parameter that takes any number.
    Array(Box<Type>, u32),
    /// The type of an expression that was already reported; it agrees with everything.
    Error,
}

/// `float3`.
pub const FLOAT3: Type = Type::Vector(VectorKind::Float3);
/// `float4`.
pub const FLOAT4: Type = Type::Vector(VectorKind::Float4);
/// `color`.
pub const COLOR: Type = Type::Vector(VectorKind::Color);

impl Type {
    /// Whether it is a texture or a buffer, which the host binds and no variable holds.
    pub fn is_slot(&self) -> bool {
        matches!(self, Type::Texture2d | Type::Buffer { .. })
    }

    /// The type that `name` spells, structs aside.
    pub fn from_name(name: &str) -> Option<Type> {
        Some(match name {
            "void" => Type::Void,
            "bool" => Type::Bool,
            "int" => Type::Int,
            "float" => Type::Float,
            "matrix" => Type::Matrix,
            "string" => Type::String,
            "closure" => Type::Closure,
            "texture2d" => Type::Texture2d,
            _ => return VectorKind::ALL.into_iter().find(|k| k.name() == name).map(Type::Vector),
        })
    }

    /// The scalar that a value of this type is, if it is one.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Type::Bool => Some(Scalar::Bool),
            Type::Int => Some(Scalar::Int),
            Type::Float => Some(Scalar::Float),
            _ => None,
        }
    }

    /// Whether the type takes part in arithmetic.
    pub fn is_numeric(&self) -> bool {
        matches!(self, Type::Int | Type::Float | Type::Vector(_))
    }

    /// Whether it is that of a parameter which takes arrays of any length.
    pub fn is_any_length(&self) -> bool {
        matches!(self, Type::Array(_, 0))
    }

    /// Scalars of a number, name, vector or matrix; `None` for everything else.
    pub fn components(&self) -> Option<usize> {
        match self {
            Type::Vector(kind) => Some(kind.len()),
            Type::Matrix => Some(16),
            Type::String => Some(1),
            _ => self.scalar().map(|_| 1),
        }
    }

    /// What each of the [`components`](Type::components) is held as.
    pub fn component_scalar(&self) -> Option<Scalar> {
        match self {
            Type::Vector(_) | Type::Matrix => Some(Scalar::Float),
            // The number that stands for the name.
            Type::String => Some(Scalar::Int),
            _ => self.scalar(),
        }
    }
}

#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct StructField {
    pub name: String,
    pub ty: Type,
}

#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct StructType {
    pub name: String,
    pub fields: Vec<StructField>,
    /// How many leaves a value has, and how many structs are in each other, this one included.
    pub leaves: usize,
    pub depth: usize,
    /// Whether there is a closure among them.
    pub closures: bool,
    /// See [`TypeTable::scalars`].
    pub scalars: u64,
    /// How many leaves a value has where each member counts as one at least, also one without any.
    pub members: usize,
    pub differential: Option<OwnDifferential>,
}

/// A differential that is not made of all members that have one.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct OwnDifferential {
    /// `Void`, where there is none.
    pub ty: Type,
    /// Of each member, which part of the differential is its derivative: the way into it, member by member.
    pub members: Vec<Option<Vec<usize>>>,
    /// Of each member, whether its author says that it has none.
    pub no_diff: Vec<bool>,
}

impl StructType {
    /// The members that an author can name. Others follow, which hold nothing but derivatives.
    pub fn named(&self) -> &[StructField] {
        let count = self.fields.iter().take_while(|f| !f.name.starts_with('(')).count();
        &self.fields[..count]
    }
}

/// One scalar position inside a type; arrays on the way to it are its dimensions, outermost first.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub kind: LeafKind,
    pub dims: Vec<u32>,
}

#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafKind {
    Scalar(Scalar),
    Closure,
    /// A texture or buffer: known when the shader is compiled, so there is nothing to hold.
    Slot,
}

impl Leaf {
    /// How many scalars the leaf stands for; 1 outside arrays.
    pub fn count(&self) -> usize {
        self.dims.iter().map(|&n| n as usize).product()
    }

    /// Whether its scalars may cross calls one by one, as those of a matrix do.
    pub fn is_apart(&self) -> bool {
        self.count() <= 16
    }
}

/// The structs of a program, and what needs them.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    /// The structs, by their numbers.
    pub structs: Vec<StructType>,
    /// Of those that are values of interfaces, which members of implementations share each word.
    #[doc(hidden)]
    pub shared: HashMap<StructId, Vec<String>>,
}

impl TypeTable {
    /// The struct of this number.
    ///
    /// # Panics
    /// If the number is of another table.
    pub fn get(&self, id: StructId) -> &StructType {
        &self.structs[id.0 as usize]
    }

    /// The parts of a type in memory order: struct fields in order, vector components in order, an
    /// array's dimensions attached to each part of its element.
    pub fn leaves(&self, ty: &Type) -> Vec<Leaf> {
        let mut out = Vec::new();
        self.collect_leaves(ty, &mut Vec::new(), &mut out);
        out
    }

    /// How to get from a value to each of its [leaves](TypeTable::leaves): `.x`, `.list[].v`.
    pub fn leaf_paths(&self, ty: &Type) -> Vec<String> {
        let mut out = Vec::new();
        self.collect_paths(ty, ("", false), &mut out);
        out
    }

    /// The same for people: a word of an interface's value says which members of implementations it is.
    #[doc(hidden)]
    pub fn explained_paths(&self, ty: &Type) -> Vec<String> {
        let mut out = Vec::new();
        self.collect_paths(ty, ("", true), &mut out);
        out
    }

    fn collect_paths(&self, ty: &Type, (path, explained): (&str, bool), out: &mut Vec<String>) {
        match ty {
            Type::Void | Type::Error => {}
            Type::Vector(kind) => {
                let letters = if *kind == VectorKind::Color { "rgb" } else { "xyzw" };
                out.extend(letters.chars().take(kind.len()).map(|c| format!("{path}.{c}")));
            }
            Type::Matrix => out.extend((0..16).map(|i| format!("{path}[{}][{}]", i / 4, i % 4))),
            Type::Struct(id) => {
                let shared = self.shared.get(id).filter(|_| explained);
                for (i, field) in self.get(*id).fields.iter().enumerate() {
                    let note = shared.and_then(|list| list.get(i)).filter(|note| !note.is_empty());
                    let note = note.map_or(String::new(), |note| format!(" ({note})"));
                    self.collect_paths(&field.ty, (&format!("{path}.{}{note}", field.name), explained), out);
                }
            }
            Type::Array(element, _) => self.collect_paths(element, (&format!("{path}[]"), explained), out),
            _ => out.push(path.to_owned()),
        }
    }

    /// Of each float among the [leaves](TypeTable::leaves), which leaf of the type's differential is its derivative;
    /// `None`, if these are all the leaves of the differential, in order.
    pub fn derivative_leaves(&self, ty: &Type) -> Option<Vec<Option<usize>>> {
        if !self.chooses_differential(ty) {
            return None;
        }
        let mut map = Vec::new();
        self.collect_derivatives(ty, Some(0), &mut map);
        Some(map)
    }

    /// Whether in a type is a struct with a differential of its own.
    fn chooses_differential(&self, ty: &Type) -> bool {
        match ty {
            Type::Struct(id) => {
                let structure = self.get(*id);
                structure.differential.is_some() || structure.fields.iter().any(|f| self.chooses_differential(&f.ty))
            }
            Type::Array(element, _) => self.chooses_differential(element),
            _ => false,
        }
    }

    /// Appends what [`TypeTable::derivative_leaves`] gives, the differential starting at a leaf, or being dropped;
    /// gives the number of its leaves.
    fn collect_derivatives(&self, ty: &Type, start: Option<usize>, out: &mut Vec<Option<usize>>) -> usize {
        match ty {
            Type::Float | Type::Vector(_) | Type::Matrix => {
                let count = self.leaf_count(ty);
                out.extend((0..count).map(|i| start.map(|start| start + i)));
                count
            }
            Type::Array(element, _) => self.collect_derivatives(element, start, out),
            Type::Struct(id) => {
                let structure = self.get(*id);
                let Some(own) = &structure.differential else {
                    let member = |before: usize, f: &StructField| {
                        before + self.collect_derivatives(&f.ty, start.map(|start| start + before), out)
                    };
                    return structure.fields.iter().fold(0, member);
                };
                for (f, path) in structure.fields.iter().zip(&own.members) {
                    let start = start.zip(path.as_ref()).map(|(start, path)| start + self.leaves_before(&own.ty, path));
                    self.collect_derivatives(&f.ty, start, out);
                }
                self.leaf_count(&own.ty)
            }
            _ => 0,
        }
    }

    /// The leaves of a value in front of one of its parts.
    fn leaves_before(&self, ty: &Type, path: &[usize]) -> usize {
        let ([first, rest @ ..], Type::Struct(id)) = (path, ty) else { return 0 };
        let fields = &self.get(*id).fields;
        let before: usize = fields[..*first].iter().map(|f| self.leaf_count(&f.ty)).sum();
        before + self.leaves_before(&fields[*first].ty, rest)
    }

    /// How many leaves [`TypeTable::leaves`] would return.
    pub fn leaf_count(&self, ty: &Type) -> usize {
        match ty {
            Type::Void | Type::Error => 0,
            Type::Vector(kind) => kind.len(),
            Type::Matrix => 16,
            Type::Struct(id) => self.get(*id).leaves,
            Type::Array(element, _) => self.leaf_count(element),
            _ => 1,
        }
    }

    /// Structs in structs: 0 where there is none.
    pub fn depth(&self, ty: &Type) -> usize {
        match ty {
            Type::Struct(id) => self.get(*id).depth,
            Type::Array(element, _) => self.depth(element),
            _ => 0,
        }
    }

    fn collect_leaves(&self, ty: &Type, dims: &mut Vec<u32>, out: &mut Vec<Leaf>) {
        let mut push = |kind| out.push(Leaf { kind, dims: dims.clone() });
        match ty {
            Type::Void | Type::Error => {}
            Type::Bool => push(LeafKind::Scalar(Scalar::Bool)),
            Type::Int | Type::String => push(LeafKind::Scalar(Scalar::Int)),
            Type::Float => push(LeafKind::Scalar(Scalar::Float)),
            Type::Closure => push(LeafKind::Closure),
            Type::Texture2d | Type::Buffer { .. } => push(LeafKind::Slot),
            Type::Matrix => (0..16).for_each(|_| push(LeafKind::Scalar(Scalar::Float))),
            Type::Vector(kind) => (0..kind.len()).for_each(|_| push(LeafKind::Scalar(Scalar::Float))),
            Type::Struct(id) => {
                for field in &self.get(*id).fields {
                    self.collect_leaves(&field.ty, dims, out);
                }
            }
            Type::Array(element, n) => {
                dims.push(*n);
                self.collect_leaves(element, dims, out);
                dims.pop();
            }
        }
    }

    /// Leaves, where a member without any, such as an empty struct, counts as one: what going through a value takes.
    pub fn member_count(&self, ty: &Type) -> usize {
        match ty {
            Type::Struct(id) => self.get(*id).members,
            Type::Array(element, _) => self.member_count(element),
            _ => self.leaf_count(ty).max(1),
        }
    }

    /// How many scalars a value has when nothing is taken apart, each element of an array counted.
    pub fn scalars(&self, ty: &Type) -> u64 {
        match ty {
            Type::Array(element, n) => self.scalars(element).saturating_mul(u64::from(*n)),
            Type::Struct(id) => self.get(*id).scalars,
            _ => self.leaf_count(ty) as u64,
        }
    }

    /// Bytes that a value takes when nothing is taken apart.
    pub fn byte_size(&self, ty: &Type) -> u64 {
        self.scalars(ty).saturating_mul(4)
    }

    /// Whether a value has closures in it.
    pub fn holds_closures(&self, ty: &Type) -> bool {
        match ty {
            Type::Closure => true,
            Type::Struct(id) => self.get(*id).closures,
            Type::Array(element, _) => self.holds_closures(element),
            _ => false,
        }
    }

    /// Whether values of a type have some of a struct in them.
    pub fn holds(&self, ty: &Type, id: StructId) -> bool {
        match ty {
            Type::Struct(own) => *own == id || self.get(*own).fields.iter().any(|f| self.holds(&f.ty, id)),
            Type::Array(element, _) => self.holds(element, id),
            _ => false,
        }
    }

    /// The type, to be printed as an author writes it.
    pub fn display<'a>(&'a self, ty: &'a Type) -> TypeDisplay<'a> {
        TypeDisplay { table: self, ty }
    }
}

/// A type as an author writes it.
pub struct TypeDisplay<'a> {
    table: &'a TypeTable,
    ty: &'a Type,
}

impl fmt::Display for TypeDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            Type::Void => f.write_str("void"),
            Type::Matrix => f.write_str("matrix"),
            Type::String => f.write_str("string"),
            Type::Closure => f.write_str("closure"),
            Type::Texture2d => f.write_str("texture2d"),
            Type::Buffer { element, added } => {
                let role = if *added { "add " } else { "" };
                write!(f, "{role}buffer<{}>", self.table.display(element))
            }
            Type::Vector(kind) => f.write_str(kind.name()),
            Type::Struct(id) => f.write_str(&self.table.get(*id).name),
            Type::Array(..) => {
                let (mut element, mut dims) = (self.ty, String::new());
                while let Type::Array(inner, n) = element {
                    dims.push_str(&if *n == 0 { "[]".to_owned() } else { format!("[{n}]") });
                    element = inner;
                }
                write!(f, "{}{dims}", self.table.display(element))
            }
            Type::Error => f.write_str("?"),
            scalar => f.write_str(scalar.scalar().map_or("?", Scalar::name)),
        }
    }
}
