//! What Embree asks this code while it traces: the bounds of primitives that it does not know, and where a ray hits
//! them. These are primitives given by formulas, which the default structure tests by the same code, and instances of
//! groups that hold instances, since the library follows only one level.

use super::library::unpacked;
use super::{Embree, Query, sys};
use crate::accel::primitives::{Analytic, ShearedRay};
use crate::geometry::{Hit, instance};
use crate::ray::Ray;
use glam::{DAffine3, Vec3};

/// A primitive of a user geometry.
#[derive(Debug)]
pub enum Item {
    Analytic {
        shape: Analytic,
        primitive: u32,
        /// Opaque or see-through.
        mask: u32,
    },
    /// A group that holds instances itself.
    Group { group: u32, from_parent: DAffine3, base: u64, bounds: (Vec3, Vec3) },
}

/// What goes with a query to the callbacks. The library sees its first field alone.
#[repr(C)]
pub struct Context<'a> {
    base: sys::RTCRayQueryContext,
    /// For libraries that count more levels of instances.
    _room: [u32; 32],
    embree: &'a Embree,
    /// The group that is being traced, and the path to it.
    group: u32,
    path: u64,
    pub query: Query,
    /// The last hit that a callback took.
    pub found: Option<Hit>,
}

impl<'a> Context<'a> {
    pub fn new(embree: &'a Embree, group: u32, path: u64, query: Query) -> Context<'a> {
        let base = sys::RTCRayQueryContext { instID: [sys::RTC_INVALID_GEOMETRY_ID] };
        Context { base, _room: [0; 32], embree, group, path, query, found: None }
    }

    /// The hit of a ray, in the space of the item, with an item.
    fn test(&self, item: &Item, ray: &Ray) -> Option<Hit> {
        match item {
            Item::Analytic { mask, .. } if mask & self.query.mask == 0 => None,
            Item::Analytic { shape, primitive, .. } => {
                let (t, u, v) = shape.intersect(ray, &ShearedRay::new(ray), ray.t_max)?;
                let instance = self.path + self.embree.base(self.group, self.base.instID[0]);
                Some(Hit { t, primitive: *primitive, instance, u, v })
            }
            Item::Group { group, from_parent, base, .. } => {
                let inside = instance::transformed(ray, from_parent);
                self.embree.search(*group, &inside, self.path + base, self.query)
            }
        }
    }
}

/// The item that a callback is about.
///
/// # Safety
/// `list` is what [`Embree`] set as the geometry's user data, and `number` one of its primitives.
unsafe fn item<'a>(list: *mut std::ffi::c_void, number: u32) -> &'a Item {
    // SAFETY: as promised; the list lives as long as the scene and is never written after it was made.
    unsafe { &*list.cast::<Item>().add(number as usize) }
}

pub unsafe extern "C" fn bounds(args: *const sys::RTCBoundsFunctionArguments) {
    // SAFETY: the library passes arguments that are live and, in them, a box to write to.
    let (args, out) = unsafe { (&*args, &mut *(*args).bounds_o) };
    // SAFETY: the user data was set with the callback.
    let (low, high) = match unsafe { item(args.geometryUserPtr, args.primID) } {
        Item::Analytic { shape, .. } => shape.bounds(),
        Item::Group { bounds, .. } => *bounds,
    };
    [out.lower_x, out.lower_y, out.lower_z] = low.to_array();
    [out.upper_x, out.upper_y, out.upper_z] = high.to_array();
}

pub unsafe extern "C" fn intersect(args: *const sys::RTCIntersectFunctionNArguments) {
    // SAFETY: the library passes live arguments. Queries are of single rays, whose SoA form of one is the ray itself;
    // each was given a `Context`, which nobody else uses meanwhile.
    unsafe {
        let args = &*args;
        debug_assert_eq!(args.N, 1);
        if *args.valid == 0 {
            return;
        }
        let context = &mut *args.context.cast::<Context<'_>>();
        let rayhit = &mut *args.rayhit.cast::<sys::RTCRayHit>();
        let found = context.test(item(args.geometryUserPtr, args.primID), &unpacked(&rayhit.ray));
        let Some(hit) = found else { return };
        context.found = found;
        rayhit.ray.tfar = hit.t;
        (rayhit.hit.u, rayhit.hit.v) = (hit.u, hit.v);
        (rayhit.hit.primID, rayhit.hit.geomID) = (args.primID, args.geomID);
        rayhit.hit.instID = context.base.instID;
    }
}

pub unsafe extern "C" fn occluded(args: *const sys::RTCOccludedFunctionNArguments) {
    // SAFETY: as for `intersect`.
    unsafe {
        let args = &*args;
        debug_assert_eq!(args.N, 1);
        if *args.valid == 0 {
            return;
        }
        let context = &mut *args.context.cast::<Context<'_>>();
        let ray = &mut *args.ray.cast::<sys::RTCRay>();
        if context.test(item(args.geometryUserPtr, args.primID), &unpacked(ray)).is_some() {
            ray.tfar = f32::NEG_INFINITY;
        }
    }
}
