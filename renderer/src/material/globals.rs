//! The globals that the renderer offers to shaders, and how one row of them is filled from hits.

use super::{ShadingPoint, Space, Surroundings};
use crate::geometry::surface::Asked;
use crate::geometry::{Wanted, instance};
use glam::{Mat4, Vec3};
use smallvec::SmallVec;
use ssl_compiler::runtime::{GlobalField, GlobalRead, LANES, Order, Row};
use ssl_compiler::types::{Type, VectorKind};

ssl_compiler::shader_globals! {
    /// What a hit offers to a shader; world space unless said.
    #[expect(non_snake_case, reason = "`I` is the field's own name for the incident direction")]
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
    let objects: SmallVec<[Space; LANES]> = points.iter().filter(|_| asked).take(LANES).map(object).collect();
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
        let spaces = around.spaces;
        let row = &mut block[self.row];
        for (lane, point) in points.iter().enumerate().take(LANES) {
            match self.source {
                Source::ObjectId => row.set_int(lane, point.surface.object_id as i32),
                Source::RayDepth => row.set_int(lane, point.ray_depth as i32),
                Source::Backfacing => row.set_int(lane, i32::from(point.surface.backfacing)),
                Source::Time => row.0[lane] = point.time,
                Source::ObjectToWorld => row.0[lane] = self.element(&objects[lane].to_world),
                Source::WorldToObject => row.0[lane] = self.element(&objects[lane].from_world),
                Source::CameraToWorld => row.0[lane] = self.element(&spaces.camera.to_world),
                Source::WorldToCamera => row.0[lane] = self.element(&spaces.camera.from_world),
                Source::Variable(number) => row.0[lane] = self.variable(number, point, around),
                _ => row.0[lane] = self.vector(point)[self.component],
            }
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

    fn vector(&self, point: &ShadingPoint) -> Vec3 {
        let (s, p) = (&point.surface, &point.partials);
        let (value, partials) = match self.source {
            Source::Uvw => (s.uv.extend(0.0), p.uvw),
            Source::Position => (s.position, p.position),
            Source::Normal => (s.normal, p.normal),
            Source::Gnormal => (s.gnormal, [Vec3::ZERO; 2]),
            Source::Incident => (point.incident, p.incident),
            Source::Tangent => (s.tangent, p.tangent),
            Source::Bitangent => (s.bitangent, p.bitangent),
            Source::Color => (s.color, p.color),
            // These are no vectors.
            _ => (Vec3::ZERO, [Vec3::ZERO; 2]),
        };
        match self.order {
            Order::Value => value,
            Order::Ddx => partials[0],
            Order::Ddy => partials[1],
            Order::Dxx | Order::Dxy | Order::Dyy => Vec3::ZERO,
        }
    }
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
