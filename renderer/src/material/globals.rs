//! The globals that the renderer offers to shaders, and how one row of them is filled from hits.

use super::shading_point::{ShadingPoint, Surroundings};
use super::spaces::Space;
use crate::geometry::surface::Asked;
use crate::geometry::{Wanted, instance};
use glam::{Mat4, Vec3};
use smallvec::SmallVec;
use ssl_compiler::runtime::{GlobalField, GlobalRead, LANES, Order, Row};
use ssl_compiler::types::{Type, VectorKind};

ssl_compiler::shader_globals! {
    /// What a hit offers to a shader; world space unless said.
    pub struct HitGlobals {
        /// Texture coordinates; the third is 0.
        uvw: float3, first;
        position: point, first;
        /// The interpolated normal, outwards.
        normal: normal, first;
        /// The normal of the surface itself, outwards: that of a triangle's plane.
        gnormal: normal, first;
        /// From the eye to the surface.
        I: vector, first;
        tangent: vector, first;
        bitangent: vector, first;
        /// Within the shutter interval, 0 to 1.
        time: float, value;
        /// The shape's place in the scene file, from 0; that of the outermost instance for what one places.
        object_id: int, value;
        /// 0 for what the camera sees.
        ray_depth: int, value;
        /// The ray came from the inside.
        backfacing: bool, value;
        /// Vertex color; white where the mesh has none.
        color: color, first;
        /// From where the shape was before it was placed.
        object_to_world: matrix, value;
        world_to_object: matrix, value;
        /// From the camera, which looks along its −z.
        camera_to_world: matrix, value;
        world_to_camera: matrix, value;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Uvw,
    Position,
    Normal,
    Gnormal,
    Incident,
    Tangent,
    Bitangent,
    Time,
    ObjectId,
    RayDepth,
    Backfacing,
    Color,
    ObjectToWorld,
    WorldToObject,
    CameraToWorld,
    WorldToCamera,
    /// A variable of the scene, by its number.
    Variable(u32),
}

/// Writes rows of a block, a lane for each point.
pub fn fill(fills: &[Fill], points: &[ShadingPoint], around: Surroundings<'_>, block: &mut [Row]) {
    let object = |point: &ShadingPoint| {
        let placed = instance::placed(around.geometry, point.surface.instance);
        around.spaces.object(point.surface.shape, placed.as_ref())
    };
    let asked = fills.iter().any(|f| matches!(f.source, Source::ObjectToWorld | Source::WorldToObject));
    // In place: as a value made elsewhere, all of this memory would be copied, though it is mostly empty.
    let mut objects: SmallVec<[Space; LANES]> = SmallVec::new();
    if asked {
        objects.extend(points.iter().take(LANES).map(object));
    }
    fills.iter().for_each(|fill| fill.apply(points, &objects, around, block));
}

/// One row of the block that a shader reads.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    source: Source,
    component: usize,
    order: Order,
    row: usize,
}

impl Fill {
    /// `variable` gives the number of a variable of the scene.
    pub fn of(field: &GlobalField, read: &GlobalRead, variable: impl Fn(&str) -> Option<u32>) -> Option<Fill> {
        let source = match field.name.as_str() {
            "uvw" => Source::Uvw,
            "position" => Source::Position,
            "normal" => Source::Normal,
            "gnormal" => Source::Gnormal,
            "I" => Source::Incident,
            "tangent" => Source::Tangent,
            "bitangent" => Source::Bitangent,
            "time" => Source::Time,
            "object_id" => Source::ObjectId,
            "ray_depth" => Source::RayDepth,
            "backfacing" => Source::Backfacing,
            "color" => Source::Color,
            "object_to_world" => Source::ObjectToWorld,
            "world_to_object" => Source::WorldToObject,
            "camera_to_world" => Source::CameraToWorld,
            "world_to_camera" => Source::WorldToCamera,
            name => Source::Variable(variable(name)?),
        };
        Some(Fill { source, component: read.component, order: read.order, row: read.row })
    }

    /// Writes the row's lanes, one a point, of which these are the objects' spaces where such are read.
    fn apply(&self, points: &[ShadingPoint], objects: &[Space], around: Surroundings<'_>, block: &mut [Row]) {
        // What is asked for is told apart here, not for each lane.
        let (row, camera) = (&mut block[self.row], &around.spaces.camera);
        match self.source {
            Source::Uvw => self.vectors(points, row, |p| (p.surface.uv.extend(0.0), p.partials.uvw)),
            Source::Position => self.vectors(points, row, |p| (p.surface.position, p.partials.position)),
            Source::Normal => self.vectors(points, row, |p| (p.surface.normal, p.partials.normal)),
            // That of a plane: the surface beside the hit is taken as one.
            Source::Gnormal => self.vectors(points, row, |p| (p.surface.gnormal, [Vec3::ZERO; 2])),
            Source::Incident => self.vectors(points, row, |p| (p.incident, p.partials.incident)),
            Source::Tangent => self.vectors(points, row, |p| (p.surface.tangent, p.partials.tangent)),
            Source::Bitangent => self.vectors(points, row, |p| (p.surface.bitangent, p.partials.bitangent)),
            Source::Color => self.vectors(points, row, |p| (p.surface.color, p.partials.color)),
            Source::Time => each(points, row, |_, p| p.time),
            Source::ObjectId => each(points, row, |_, p| f32::from_bits(p.surface.object_id)),
            Source::RayDepth => each(points, row, |_, p| f32::from_bits(p.ray_depth)),
            Source::Backfacing => each(points, row, |_, p| f32::from_bits(p.surface.backfacing.into())),
            Source::ObjectToWorld => each(points, row, |lane, _| self.element(&objects[lane].to_world)),
            Source::WorldToObject => each(points, row, |lane, _| self.element(&objects[lane].from_world)),
            Source::CameraToWorld => each(points, row, |_, _| self.element(&camera.to_world)),
            Source::WorldToCamera => each(points, row, |_, _| self.element(&camera.from_world)),
            Source::Variable(number) => each(points, row, |_, p| self.variable(number, p, around)),
        }
    }

    /// A component of a vector or of its partials.
    #[inline(always)]
    fn vectors(&self, points: &[ShadingPoint], row: &mut Row, of: impl Fn(&ShadingPoint) -> (Vec3, [Vec3; 2])) {
        match self.order {
            Order::Value => each(points, row, |_, p| of(p).0[self.component]),
            Order::Ddx => each(points, row, |_, p| of(p).1[0][self.component]),
            Order::Ddy => each(points, row, |_, p| of(p).1[1][self.component]),
            Order::Dxx | Order::Dxy | Order::Dyy => each(points, row, |_, _| 0.0),
        }
    }

    /// Shaders number elements row by row.
    fn element(&self, matrix: &Mat4) -> f32 {
        matrix.row(self.component / 4)[self.component % 4]
    }

    fn variable(&self, number: u32, point: &ShadingPoint, around: Surroundings<'_>) -> f32 {
        let partial = |axis: usize| {
            let barycentrics = point.partials.barycentrics[axis];
            around.geometry.variable_partial(number, &point.hit, self.component, barycentrics)
        };
        match self.order {
            Order::Value => around.geometry.variable(number, &point.hit, self.component),
            Order::Ddx => partial(0),
            Order::Ddy => partial(1),
            Order::Dxx | Order::Dxy | Order::Dyy => 0.0,
        }
    }
}

/// A lane for each point; integers go by their bits.
#[inline(always)]
fn each(points: &[ShadingPoint], row: &mut Row, of: impl Fn(usize, &ShadingPoint) -> f32) {
    row.0.iter_mut().zip(points).enumerate().for_each(|(lane, (value, point))| *value = of(lane, point));
}

/// The partials that any of the rows needs.
pub fn wanted(fills: &[Fill]) -> Wanted {
    let reads = |source| fills.iter().any(|f| f.source == source && f.order != Order::Value);
    Wanted {
        position: reads(Source::Position),
        uvw: reads(Source::Uvw),
        normal: reads(Source::Normal),
        tangent: reads(Source::Tangent),
        bitangent: reads(Source::Bitangent),
        incident: reads(Source::Incident),
        color: reads(Source::Color),
        barycentrics: fills.iter().any(|f| matches!(f.source, Source::Variable(_)) && f.order != Order::Value),
    }
}

/// Which values of the surface shaders read by these rows.
pub fn asked(fills: &[Fill]) -> Asked {
    let reads = |source| fills.iter().any(|f| f.source == source && f.order == Order::Value);
    Asked {
        uv: reads(Source::Uvw),
        tangents: reads(Source::Tangent) || reads(Source::Bitangent),
        color: reads(Source::Color),
    }
}

/// What a variable of so many numbers is to shaders that do not declare it themselves.
pub fn type_of(components: usize) -> Type {
    match components {
        1 => Type::Float,
        2 => Type::Vector(VectorKind::Float2),
        3 => Type::Vector(VectorKind::Float3),
        _ => Type::Vector(VectorKind::Float4),
    }
}

/// The numbers that a shader reads of a variable that it declares with this type; `None` where no variable can be one.
pub fn numbers_of(ty: &Type) -> Option<usize> {
    match ty {
        Type::Float => Some(1),
        Type::Vector(kind) => Some(kind.len()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Geometry, Transform};
    use crate::material::{Space, Spaces};

    #[test]
    fn every_field_of_the_layout_has_a_source() {
        let layout = HitGlobals::layout();
        for (field, f) in layout.fields().iter().enumerate() {
            let read = GlobalRead { field, component: 0, order: Order::Value, row: f.first_row };
            assert!(Fill::of(f, &read, |_| None).is_some(), "{}", f.name);
        }
        assert_eq!(HitGlobals::default().rows().len(), layout.rows());
    }

    #[test]
    fn a_row_is_filled_for_each_point_and_only_wanted_partials_are_asked_for() {
        let layout = HitGlobals::layout();
        let (index, field) = layout.find("position").expect("the layout has it");
        let row = field.row(1, Order::Ddy).expect("it keeps first partials");
        let fill = Fill::of(field, &GlobalRead { field: index, component: 1, order: Order::Ddy, row }, |_| None);
        let fill = fill.expect("it has a source");
        let mut point = ShadingPoint::default();
        point.partials.position[1] = Vec3::new(1.0, 2.0, 3.0);
        let mut block = vec![Row::splat(9.0); layout.rows()];
        let (spaces, geometry) = (Spaces::default(), Geometry::new());
        super::fill(&[fill], &[point; 2], Surroundings { spaces: &spaces, geometry: &geometry }, &mut block);
        assert_eq!(block[row].0[..3], [2.0, 2.0, 9.0]);
        assert_eq!(wanted(&[fill]), Wanted { position: true, ..Wanted::default() });
    }

    #[test]
    fn matrices_are_those_of_the_shape_that_was_hit() {
        let layout = HitGlobals::layout();
        let (index, field) = layout.find("object_to_world").expect("the layout has it");
        // Element (1, 3): how far y is moved.
        let row = field.row(7, Order::Value).expect("it keeps values");
        let read = GlobalRead { field: index, component: 7, order: Order::Value, row };
        let fill = Fill::of(field, &read, |_| None).expect("it has a source");
        let moved = |y: f32| Transform::new(Vec3::new(1.0, y, 3.0), Vec3::ZERO, Vec3::ONE);
        let objects = [2.0, 5.0].map(|y| Space::object(&moved(y))).to_vec();
        let spaces = Spaces { objects, camera: Space::WORLD };
        let mut points = [ShadingPoint::default(), ShadingPoint::default()];
        points[1].surface.shape = 1;
        let mut block = vec![Row::splat(9.0); layout.rows()];
        let geometry = Geometry::new();
        super::fill(&[fill], &points, Surroundings { spaces: &spaces, geometry: &geometry }, &mut block);
        assert_eq!(block[row].0[..3], [2.0, 5.0, 9.0]);
    }
}
