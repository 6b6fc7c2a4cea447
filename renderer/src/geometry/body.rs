//! Bodies, each of which has one shape, and the primitives that they consist of.

use super::instance::Instance;
use super::surface::Asked;
use super::{CurvePiece, Curves, Disk, Quad, Sphere, TriangleMesh};
use crate::math::prefetch;

/// What has one set of numbers and one shape.
#[derive(Debug)]
pub enum Body {
    Mesh(TriangleMesh),
    Sphere(Sphere),
    Disk(Disk),
    Quad(Quad),
    Curves(Curves),
    Instance(Instance),
}

/// One primitive, looked up by number.
#[derive(Clone, Copy, Debug)]
pub enum Primitive<'a> {
    Triangle(&'a TriangleMesh, usize),
    Sphere(&'a Sphere),
    Disk(&'a Disk),
    Quad(&'a Quad),
    Curve(&'a CurvePiece),
    Instance(&'a Instance),
}

impl Primitive<'_> {
    /// Asks for what [`surface::at`](super::surface::at) reads first of it: soon its surface will be needed.
    pub fn prefetch(&self) {
        if let Primitive::Triangle(mesh, triangle) = *self {
            prefetch(&mesh.indices[triangle]);
        }
    }

    /// As [`Primitive::prefetch`], for what comes after that, as far as asked.
    pub fn prefetch_vertices(&self, asked: Asked) {
        if let Primitive::Triangle(mesh, triangle) = *self {
            for i in mesh.indices[triangle].map(|i| i as usize) {
                prefetch(&mesh.positions[i]);
                prefetch(&mesh.normals[i]);
                if asked.uv || asked.tangents {
                    prefetch(&mesh.uvs[i]);
                }
                if asked.tangents {
                    prefetch(&mesh.tangents[i]);
                }
            }
        }
    }
}

impl Body {
    /// One of its primitives, by its place.
    #[inline]
    pub(super) fn primitive(&self, place: usize) -> Primitive<'_> {
        match self {
            Body::Mesh(mesh) => Primitive::Triangle(mesh, place),
            Body::Sphere(sphere) => Primitive::Sphere(sphere),
            Body::Disk(disk) => Primitive::Disk(disk),
            Body::Quad(quad) => Primitive::Quad(quad),
            Body::Curves(curves) => Primitive::Curve(&curves.pieces[place]),
            Body::Instance(instance) => Primitive::Instance(instance),
        }
    }

    /// Primitives that it consists of.
    pub fn count(&self) -> usize {
        match self {
            Body::Mesh(mesh) => mesh.indices.len(),
            Body::Curves(curves) => curves.pieces.len(),
            _ => 1,
        }
    }
}

impl From<TriangleMesh> for Body {
    fn from(mesh: TriangleMesh) -> Body {
        Body::Mesh(mesh)
    }
}

impl From<Sphere> for Body {
    fn from(sphere: Sphere) -> Body {
        Body::Sphere(sphere)
    }
}

impl From<Disk> for Body {
    fn from(disk: Disk) -> Body {
        Body::Disk(disk)
    }
}

impl From<Quad> for Body {
    fn from(quad: Quad) -> Body {
        Body::Quad(quad)
    }
}

impl From<Curves> for Body {
    fn from(curves: Curves) -> Body {
        Body::Curves(curves)
    }
}
