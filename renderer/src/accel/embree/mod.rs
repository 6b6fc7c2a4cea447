//! Embree 4 as the structure: a scene for each group. Triangles and instances are the library's own. Our code tests the
//! primitives given by formulas, from within the library's traversal.
//!
//! The library follows one level of instances. So an instance of a group that holds instances is a geometry of ours,
//! whose test traces the group's scene. Groups nest to any depth, and paths are counted as in the default structure.

mod callbacks;
mod library;

use super::occlusion::Occlusion;
use super::primitives::Analytic;
use crate::geometry::{Body, Geometry, Hit, instance};
use crate::ray::Ray;
use callbacks::{Context, Item};
use embree4_sys as sys;
use glam::DAffine3;
use library::{Device, PaddedRay, PaddedRayHit, Scene};

#[derive(Debug)]
pub struct Embree {
    /// By the groups' numbers. Scenes go before their device.
    groups: Vec<Group>,
    _device: Device,
    primitives: usize,
    has_see_through: bool,
}

#[derive(Debug)]
struct Group {
    scene: Scene,
    /// By the numbers of the scene's geometries.
    parts: Vec<Part>,
    /// What the callbacks' geometry consists of. The library holds its address.
    _items: Box<[Item]>,
}

/// Masks of geometries, and of the rays that meet them.
const OPAQUE: u32 = 1;
const SEE_THROUGH: u32 = 2;

/// What a ray looks for.
#[derive(Clone, Copy, Debug)]
struct Query {
    /// Any hit, in place of the nearest.
    any: bool,
    /// Of what.
    mask: u32,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    /// By the number of the first primitive.
    Mesh(u32),
    Instance {
        group: u32,
        base: u64,
    },
    Items,
}

// SAFETY: a committed scene may be traced from many threads at once, nothing else is done with it, and the items that
// the library points to are never written.
unsafe impl Send for Embree {}
// SAFETY: as above.
unsafe impl Sync for Embree {}

impl Embree {
    /// The error is a sentence that says why it cannot be had.
    pub fn build(geometry: &Geometry) -> Result<Embree, String> {
        let device = Device::new()?;
        let count = geometry.group_count();
        let mut groups: Vec<Option<Group>> = (0..count).map(|_| None).collect();
        // Scenes before those that instance them.
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by_key(|&g| geometry.depth_of(g));
        let mut primitives = 0;
        for number in order {
            let group = build_group(geometry, number, &device, &groups, &mut primitives)?;
            groups[number as usize] = Some(group);
        }
        let groups = groups.into_iter().flatten().collect();
        Ok(Embree { groups, _device: device, primitives, has_see_through: geometry.has_see_through() })
    }

    pub fn closest(&self, ray: &Ray) -> Option<Hit> {
        self.search(Geometry::WORLD, ray, 0, Query { any: false, mask: OPAQUE | SEE_THROUGH })
    }

    pub fn occluded(&self, ray: &Ray) -> bool {
        self.meets(ray, OPAQUE | SEE_THROUGH)
    }

    /// What stands within the ray's interval, where shapes that are see-through do not block.
    pub fn occlusion(&self, ray: &Ray) -> Occlusion {
        match () {
            () if self.meets(ray, OPAQUE) => Occlusion::Blocked,
            () if self.has_see_through && self.meets(ray, SEE_THROUGH) => Occlusion::SeeThrough,
            () => Occlusion::Clear,
        }
    }

    fn meets(&self, ray: &Ray, mask: u32) -> bool {
        self.search(Geometry::WORLD, ray, 0, Query { any: true, mask }).is_some()
    }

    pub fn primitive_count(&self) -> usize {
        self.primitives
    }

    /// What a path into a group grows by through one of its geometries; 0 for what is no instance.
    fn base(&self, group: u32, number: u32) -> u64 {
        match self.groups[group as usize].parts.get(number as usize) {
            Some(Part::Instance { base, .. }) => *base,
            _ => 0,
        }
    }

    /// Looks in a group, reached by a path, for a hit within the ray's interval. If it is for any, the hit says nothing more.
    fn search(&self, group: u32, ray: &Ray, path: u64, query: Query) -> Option<Hit> {
        let mut context = Context::new(self, group, path, query);
        if query.any {
            return self.blocked(group, ray, &mut context);
        }
        let mut padded = PaddedRayHit::new(ray);
        let mut arguments = sys::RTCIntersectArguments {
            flags: sys::RTCRayQueryFlags::INCOHERENT,
            feature_mask: sys::RTCFeatureFlags::RTC_FEATURE_FLAG_ALL,
            context: (&raw mut context).cast(),
            filter: None,
            intersect: None,
        };
        // SAFETY: the scene is committed; ray, arguments and context live through the call, and the ray is padded.
        unsafe {
            sys::rtcIntersect1(self.groups[group as usize].scene.0, (&raw mut padded).cast(), &raw mut arguments);
        }
        let (ray, hit) = (&padded.rayhit.ray, &padded.rayhit.hit);
        let own = &self.groups[group as usize].parts;
        let (parts, base) = match own.get(hit.instID[0] as usize) {
            Some(Part::Instance { group, base }) => (&self.groups[*group as usize].parts, *base),
            _ => (own, 0),
        };
        match parts.get(hit.geomID as usize)? {
            Part::Mesh(first) => {
                Some(Hit { t: ray.tfar, primitive: first + hit.primID, instance: path + base, u: hit.u, v: hit.v })
            }
            // The last hit that a callback took is the one that stands.
            _ => context.found,
        }
    }

    fn blocked(&self, group: u32, ray: &Ray, context: &mut Context<'_>) -> Option<Hit> {
        let mut padded = PaddedRay::new(ray);
        padded.ray.mask = context.query.mask;
        let mut arguments = sys::RTCOccludedArguments {
            flags: sys::RTCRayQueryFlags::INCOHERENT,
            feature_mask: sys::RTCFeatureFlags::RTC_FEATURE_FLAG_ALL,
            context: (context as *mut Context<'_>).cast(),
            filter: None,
            occluded: None,
        };
        // SAFETY: as in `search`.
        unsafe {
            sys::rtcOccluded1(self.groups[group as usize].scene.0, (&raw mut padded).cast(), &raw mut arguments);
        }
        let any = Hit { t: ray.t_min, primitive: 0, instance: 0, u: 0.0, v: 0.0 };
        (padded.ray.tfar < ray.t_min).then_some(any)
    }
}

fn build_group(
    geometry: &Geometry,
    number: u32,
    device: &Device,
    built: &[Option<Group>],
    primitives: &mut usize,
) -> Result<Group, String> {
    let scene = device.robust_scene();
    let (mut parts, mut items) = (Vec::new(), Vec::new());
    for (first, body) in geometry.bodies_of(number) {
        *primitives += body.count();
        let part = match body {
            Body::Mesh(mesh) if mesh.indices.is_empty() => continue,
            Body::Mesh(mesh) => {
                let triangles = device.geometry(sys::RTCGeometryType::TRIANGLE);
                let filled = triangles.fill(sys::RTCBufferType::VERTEX, sys::RTCFormat::FLOAT3, &mesh.positions)
                    && triangles.fill(sys::RTCBufferType::INDEX, sys::RTCFormat::UINT3, &mesh.indices);
                if !filled {
                    device.check("take over a mesh")?;
                }
                triangles.set_mask(mask_of(geometry, first));
                scene.attach(triangles, parts.len() as u32);
                Part::Mesh(first)
            }
            Body::Instance(i) => match &built[i.group as usize] {
                Some(group) if geometry.depth_of(i.group) == 0 => {
                    scene.attach(placed(device, &group.scene, &i.to_parent), parts.len() as u32);
                    Part::Instance { group: i.group, base: i.base }
                }
                _ => {
                    let inside = geometry.bounds_of(i.group);
                    if let Some(bounds) = inside.map(|b| instance::bounds_outside(&i.to_parent, b)) {
                        items.push(Item::Group { group: i.group, from_parent: i.from_parent, base: i.base, bounds });
                    }
                    continue;
                }
            },
            _ => {
                let all = first..first + body.count() as u32;
                items.extend(all.filter_map(|primitive| {
                    let shape = Analytic::of(geometry.primitive(primitive))?;
                    Some(Item::Analytic { shape, primitive, mask: mask_of(geometry, primitive) })
                }));
                continue;
            }
        };
        parts.push(part);
    }
    let items = items.into_boxed_slice();
    if !items.is_empty() {
        scene.attach(user(device, &items), parts.len() as u32);
        parts.push(Part::Items);
    }
    scene.commit();
    device.check("build")?;
    Ok(Group { scene, parts, _items: items })
}

fn mask_of(geometry: &Geometry, primitive: u32) -> u32 {
    if geometry.is_see_through(primitive) { SEE_THROUGH } else { OPAQUE }
}

/// A scene placed in another one.
fn placed(device: &Device, scene: &Scene, to_parent: &DAffine3) -> library::Geometry {
    let geometry = device.geometry(sys::RTCGeometryType::INSTANCE);
    geometry.set_mask(OPAQUE | SEE_THROUGH);
    let columns: [f32; 12] = to_parent.to_cols_array().map(|x| x as f32);
    let format = sys::RTCFormat::FLOAT3X4_COLUMN_MAJOR;
    // SAFETY: both handles are live, and the matrix has the twelve numbers of its format.
    unsafe {
        sys::rtcSetGeometryInstancedScene(geometry.0, scene.0);
        sys::rtcSetGeometryTimeStepCount(geometry.0, 1);
        sys::rtcSetGeometryTransform(geometry.0, 0, format, columns.as_ptr().cast());
    }
    geometry
}

/// A geometry that asks the callbacks. The items must live as long as the scene that it is attached to.
fn user(device: &Device, items: &[Item]) -> library::Geometry {
    let geometry = device.geometry(sys::RTCGeometryType::USER);
    // The callbacks tell items apart.
    geometry.set_mask(OPAQUE | SEE_THROUGH);
    // SAFETY: the handle is live; the callbacks know the items by the address set here, which a box keeps.
    unsafe {
        sys::rtcSetGeometryUserPrimitiveCount(geometry.0, items.len() as u32);
        sys::rtcSetGeometryUserData(geometry.0, items.as_ptr().cast_mut().cast());
        sys::rtcSetGeometryBoundsFunction(geometry.0, Some(callbacks::bounds), std::ptr::null_mut());
        sys::rtcSetGeometryIntersectFunction(geometry.0, Some(callbacks::intersect));
        sys::rtcSetGeometryOccludedFunction(geometry.0, Some(callbacks::occluded));
    }
    geometry
}
