//! Embree's objects with their lifetimes, and rays in the layout of the installed library.
//!
//! Everything goes through embree4-sys. embree4-rs binds a scene to a device of its own, so no scene could be instanced
//! in another. It also keeps its handles private, and passes rays that are too small (below).
//!
//! **Rays are padded.** embree4-sys was made from the headers of Embree 4.2. Since 4.3 a hit has one field more
//! (`instPrimID`), which the library writes past the end of that crate's `RTCRayHit`. So no ray goes to the library
//! bare: [`PaddedRayHit`] and [`PaddedRay`] hold it in front of memory that may be written, and this code refuses a
//! library of a version whose layout it does not know.
//!
//! **Denormals stay.** Embree sets flush-to-zero while it builds and resets it afterwards; threads treat denormal
//! numbers as before.

use embree4_sys as sys;
use std::ffi::c_void;

/// Versions whose layouts are those of embree4-sys, but for fields at the end of hits.
const VERSIONS: std::ops::Range<isize> = 40_200..50_000;

/// What may be written past the end of a ray or a hit.
const ROOM: usize = 16;

/// As large as a cache line, the most that any ray of the library asks for.
#[repr(C, align(64))]
pub struct PaddedRayHit {
    pub rayhit: sys::RTCRayHit,
    room: [u32; ROOM],
}

#[repr(C, align(64))]
pub struct PaddedRay {
    pub ray: sys::RTCRay,
    room: [u32; ROOM],
}

impl PaddedRayHit {
    pub fn new(ray: &crate::ray::Ray) -> PaddedRayHit {
        let hit = sys::RTCHit {
            Ng_x: 0.0,
            Ng_y: 0.0,
            Ng_z: 0.0,
            u: 0.0,
            v: 0.0,
            primID: sys::RTC_INVALID_GEOMETRY_ID,
            geomID: sys::RTC_INVALID_GEOMETRY_ID,
            instID: [sys::RTC_INVALID_GEOMETRY_ID],
        };
        PaddedRayHit { rayhit: sys::RTCRayHit { ray: bare(ray), hit }, room: [0; ROOM] }
    }

    /// What lies behind the ray, as bytes of Embree's own or as we left them.
    #[cfg(test)]
    pub fn room(&self) -> &[u32; ROOM] {
        &self.room
    }
}

impl PaddedRay {
    pub fn new(ray: &crate::ray::Ray) -> PaddedRay {
        PaddedRay { ray: bare(ray), room: [0; ROOM] }
    }
}

fn bare(ray: &crate::ray::Ray) -> sys::RTCRay {
    let (o, d) = (ray.origin, ray.direction);
    sys::RTCRay {
        org_x: o.x,
        org_y: o.y,
        org_z: o.z,
        tnear: ray.t_min,
        dir_x: d.x,
        dir_y: d.y,
        dir_z: d.z,
        time: ray.time,
        tfar: ray.t_max,
        mask: u32::MAX,
        id: 0,
        flags: 0,
    }
}

/// A ray of the library as one of ours, in whatever space it is.
pub fn unpacked(ray: &sys::RTCRay) -> crate::ray::Ray {
    crate::ray::Ray {
        origin: glam::Vec3::new(ray.org_x, ray.org_y, ray.org_z),
        direction: glam::Vec3::new(ray.dir_x, ray.dir_y, ray.dir_z),
        t_min: ray.tnear,
        t_max: ray.tfar,
        time: ray.time,
    }
}

#[derive(Debug)]
pub struct Device(sys::RTCDevice);

impl Device {
    /// The error is a sentence that says why there is none.
    pub fn new() -> Result<Device, String> {
        // SAFETY: the configuration is a C string that lives as long as the call.
        let handle = unsafe { sys::rtcNewDevice(c"verbose=0".as_ptr()) };
        if handle.is_null() {
            return Err("Embree cannot be started on this machine".to_owned());
        }
        let device = Device(handle);
        // SAFETY: the handle is that of a device.
        let version = unsafe { sys::rtcGetDeviceProperty(handle, sys::RTCDeviceProperty::VERSION) };
        if !VERSIONS.contains(&version) {
            let (major, minor) = (version / 10_000, version / 100 % 100);
            return Err(format!(
                "the Embree on this machine is of version {major}.{minor}; 4.2 or later of 4 is needed"
            ));
        }
        Ok(device)
    }

    /// What went wrong since the last time, if anything did.
    pub fn check(&self, what: &str) -> Result<(), String> {
        // SAFETY: the handle is that of a device.
        match unsafe { sys::rtcGetDeviceError(self.0) } {
            sys::RTCError::NONE => Ok(()),
            error => Err(format!("Embree could not {what}: {error:?}")),
        }
    }

    pub fn geometry(&self, kind: sys::RTCGeometryType) -> Geometry {
        // SAFETY: the handle is that of a device.
        Geometry(unsafe { sys::rtcNewGeometry(self.0, kind) })
    }

    /// A scene whose rays meet what they touch, edges and vertices included.
    pub fn robust_scene(&self) -> Scene {
        // SAFETY: the handles are those of a device and of the scene made here.
        unsafe {
            let scene = sys::rtcNewScene(self.0);
            sys::rtcSetSceneFlags(scene, sys::RTCSceneFlags::ROBUST);
            sys::rtcSetSceneBuildQuality(scene, sys::RTCBuildQuality::MEDIUM);
            Scene(scene)
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: the handle is that of a device, released once.
        unsafe { sys::rtcReleaseDevice(self.0) }
    }
}

#[derive(Debug)]
pub struct Scene(pub sys::RTCScene);

impl Scene {
    /// Adds a geometry, which the scene keeps alive, under the next number.
    pub fn attach(&self, geometry: Geometry, number: u32) {
        // SAFETY: both handles are live; numbers are used once, in order.
        unsafe {
            sys::rtcCommitGeometry(geometry.0);
            sys::rtcAttachGeometryByID(self.0, geometry.0, number);
        }
    }

    pub fn commit(&self) {
        // SAFETY: the handle is live, and nobody traces before this is done.
        unsafe { sys::rtcCommitScene(self.0) }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // SAFETY: the handle is that of a scene, released once. Scenes that instance it hold it too.
        unsafe { sys::rtcReleaseScene(self.0) }
    }
}

/// A geometry before it is attached.
#[derive(Debug)]
pub struct Geometry(pub sys::RTCGeometry);

impl Geometry {
    /// Rays meet it whose masks have a bit of this one.
    pub fn set_mask(&self, mask: u32) {
        // SAFETY: the handle is live.
        unsafe { sys::rtcSetGeometryMask(self.0, mask) }
    }

    /// Fills a new buffer of the geometry; `false` where there is no memory for it.
    pub fn fill<T: Copy>(&self, kind: sys::RTCBufferType, format: sys::RTCFormat, items: &[T]) -> bool {
        // SAFETY: the buffer that comes back has room for as many items of that size, and nobody else knows it yet.
        unsafe {
            let buffer: *mut c_void =
                sys::rtcSetNewGeometryBuffer(self.0, kind, 0, format, size_of::<T>(), items.len());
            if buffer.is_null() {
                return false;
            }
            std::ptr::copy_nonoverlapping(items.as_ptr(), buffer.cast::<T>(), items.len());
        }
        true
    }
}

impl Drop for Geometry {
    fn drop(&mut self) {
        // SAFETY: the handle is that of a geometry, released once; scenes hold those that are attached.
        unsafe { sys::rtcReleaseGeometry(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ray::Ray;
    use glam::Vec3;

    /// The library writes a hit with at most one field more than the crate's, and nothing behind that.
    #[test]
    fn hits_end_where_they_are_known_to_end() {
        let device = Device::new().expect("this build has Embree");
        let scene = device.robust_scene();
        let triangle = device.geometry(sys::RTCGeometryType::TRIANGLE);
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
        assert!(triangle.fill(sys::RTCBufferType::VERTEX, sys::RTCFormat::FLOAT3, &corners));
        assert!(triangle.fill(sys::RTCBufferType::INDEX, sys::RTCFormat::UINT3, &[[0_u32, 1, 2]]));
        scene.attach(triangle, 0);
        scene.commit();
        assert_eq!(device.check("build"), Ok(()));
        const CANARY: u32 = 0x5eed_cafe;
        for (x, meets) in [(0.25, true), (2.0, false)] {
            let mut padded = PaddedRayHit::new(&Ray::new(Vec3::new(x, 0.25, 3.0), Vec3::NEG_Z, 0.0));
            padded.room = [CANARY; ROOM];
            let mut before = PaddedRay::new(&Ray::new(Vec3::new(x, 0.25, 3.0), Vec3::NEG_Z, 0.0));
            before.room = [CANARY; ROOM];
            // SAFETY: the scene is committed, and the rays lie in memory that is larger than the library's.
            unsafe {
                sys::rtcIntersect1(scene.0, (&raw mut padded).cast(), std::ptr::null_mut());
                sys::rtcOccluded1(scene.0, (&raw mut before).cast(), std::ptr::null_mut());
            }
            assert_eq!(padded.rayhit.hit.geomID == 0, meets);
            assert_eq!(before.ray.tfar < 0.0, meets);
            // Which instructions the library has for a processor decides the last bits of a distance.
            assert!(!meets || (padded.rayhit.ray.tfar - 3.0).abs() < 1e-5);
            let written: Vec<usize> = (0..ROOM).filter(|&i| padded.room()[i] != CANARY).collect();
            assert!(written.is_empty() || written == [0], "the library writes {written:?} words behind a hit");
            assert!(before.room.iter().all(|w| *w == CANARY), "the library writes behind a ray");
        }
        // Nor are denormal numbers flushed on this thread after all that.
        assert!(std::hint::black_box(f32::MIN_POSITIVE) * std::hint::black_box(0.5) > 0.0);
    }
}
