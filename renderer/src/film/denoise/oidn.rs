//! Open Image Denoise 2, found and loaded when it is first wanted. The only `unsafe` code of the denoisers: calls of its C
//! API.
//!
//! The library is looked for in `OIDN_DIR`, in a folder `oidn` beside the program, and in `third_party/oidn` of the
//! program's checkout. The last place is the system's folder of libraries. It stays loaded: it has threads of its own.
//!
//! Albedo and normal are filtered first, and then count as clean (`cleanAux`). The library's documentation recommends
//! this for the best quality where they have noise of their own, as from depth of field.

use super::noisy::Noisy;
use glam::Vec3;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

type Handle = *mut c_void;

const CPU: c_int = 1;
const FLOAT3: c_int = 3;
const NO_ERROR: c_int = 0;
/// Scratch memory of a filter, in megabytes: larger pictures are filtered in tiles.
const MEMORY: c_int = 2048;
/// The first version with the functions below, as it counts them.
const OLDEST: c_int = 20_000;

/// Declares the functions that are used, and looks all of them up.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// # Safety
            /// The library is Open Image Denoise, whose functions have these types, and stays loaded.
            unsafe fn of(library: &Library) -> Result<Functions, libloading::Error> {
                // SAFETY: as above; the names are those of oidn.h.
                unsafe { Ok(Functions { $($field: *library.get($symbol)?,)* }) }
            }
        }
    };
}

functions! {
    new_device = b"oidnNewDevice\0": fn(c_int) -> Handle;
    set_device_int = b"oidnSetDeviceInt\0": fn(Handle, *const c_char, c_int);
    set_device_bool = b"oidnSetDeviceBool\0": fn(Handle, *const c_char, bool);
    get_device_int = b"oidnGetDeviceInt\0": fn(Handle, *const c_char) -> c_int;
    commit_device = b"oidnCommitDevice\0": fn(Handle);
    release_device = b"oidnReleaseDevice\0": fn(Handle);
    get_error = b"oidnGetDeviceError\0": fn(Handle, *mut *const c_char) -> c_int;
    new_filter = b"oidnNewFilter\0": fn(Handle, *const c_char) -> Handle;
    set_image = b"oidnSetSharedFilterImage\0":
        fn(Handle, *const c_char, *mut c_void, c_int, usize, usize, usize, usize, usize);
    set_filter_bool = b"oidnSetFilterBool\0": fn(Handle, *const c_char, bool);
    set_filter_int = b"oidnSetFilterInt\0": fn(Handle, *const c_char, c_int);
    commit_filter = b"oidnCommitFilter\0": fn(Handle);
    execute_filter = b"oidnExecuteFilter\0": fn(Handle);
    release_filter = b"oidnReleaseFilter\0": fn(Handle);
}

/// The loaded library.
pub struct Oidn {
    functions: Functions,
    /// Keeps the code of the functions where it is.
    _library: Library,
}

/// The library, or why it cannot be had.
pub fn library() -> Result<&'static Oidn, String> {
    static LOADED: OnceLock<Result<Oidn, String>> = OnceLock::new();
    LOADED.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Oidn, String> {
    let mut failed = None;
    for path in places() {
        if path.components().count() > 1 && !path.exists() {
            continue;
        }
        // SAFETY: what the library runs when it is loaded is what its makers put there, and it asks nothing of us.
        match unsafe { Library::new(&path) } {
            Ok(library) => {
                // SAFETY: a library of this name has the C API of Open Image Denoise, and it is kept with the functions.
                let functions = unsafe { Functions::of(&library) };
                let functions = functions.map_err(|e| format!("`{}` is not version 2: {e}", path.display()))?;
                return Ok(Oidn { functions, _library: library });
            }
            // The first file that is there says more than the system's, which may well not be.
            Err(e) => failed = failed.or(Some(e.to_string())),
        }
    }
    Err(failed.unwrap_or_else(|| "its library was not found".to_owned()))
}

/// Where the library may be, best first; a bare name is for the system to look up.
fn places() -> Vec<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join("oidn")));
    let built = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../third_party/oidn"));
    let named = std::env::var_os("OIDN_DIR").map(PathBuf::from);
    let plain = libloading::library_filename("OpenImageDenoise");
    let folders = named.into_iter().chain(beside).chain([built]);
    let files = folders
        .flat_map(|folder| [folder.join("lib").join(&plain), folder.join("bin").join(&plain), folder.join(&plain)]);
    // With the version that programs link to, which systems have without the headers.
    let versioned = if cfg!(target_os = "macos") { "libOpenImageDenoise.2.dylib" } else { "libOpenImageDenoise.so.2" };
    files.chain([PathBuf::from(versioned), PathBuf::from(&plain)]).collect()
}

/// A device, released at its end.
struct Device<'a>(&'a Functions, Handle);

impl Drop for Device<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is of `new_device`, and its filters are released.
        unsafe { (self.0.release_device)(self.1) }
    }
}

impl Oidn {
    /// The light without noise, on so many threads.
    pub fn denoise(&self, noisy: &Noisy, threads: usize) -> Result<Vec<Vec3>, String> {
        let device = self.device(threads)?;
        let clean = |name: &CStr, layer: &Option<Vec<Vec3>>| {
            layer.as_ref().map(|layer| device.filter(noisy.size, &[(name, layer)], false)).transpose()
        };
        let albedo = clean(c"albedo", &noisy.albedo)?;
        // It takes normals only beside an albedo.
        let normal = if albedo.is_some() { clean(c"normal", &noisy.normal)? } else { None };
        let mut images: Vec<(&CStr, &[Vec3])> = vec![(c"color", &noisy.light)];
        images.extend(albedo.as_deref().map(|layer| (c"albedo", layer)));
        images.extend(normal.as_deref().map(|layer| (c"normal", layer)));
        device.filter(noisy.size, &images, true)
    }

    fn device(&self, threads: usize) -> Result<Device<'_>, String> {
        let f = &self.functions;
        // SAFETY: the device is made, set up and committed in the order that the API wants; names are its own.
        let device = unsafe {
            let device = Device(f, (f.new_device)(CPU));
            if device.1.is_null() {
                return Err(error(f, null_mut()).unwrap_or_else(|| "it made no device".to_owned()));
            }
            (f.set_device_int)(device.1, c"numThreads".as_ptr(), c_int::try_from(threads).unwrap_or(0));
            (f.set_device_bool)(device.1, c"setAffinity".as_ptr(), false);
            (f.commit_device)(device.1);
            device
        };
        device.failure()?;
        // SAFETY: the device is committed.
        let version = unsafe { (f.get_device_int)(device.1, c"version".as_ptr()) };
        if version < OLDEST {
            return Err(format!("version 2 or newer is wanted, and the library counts itself as {version}"));
        }
        Ok(device)
    }
}

impl Device<'_> {
    /// Runs the ray tracing filter on images of one size. Light is of any range, and beside it layers are clean.
    fn filter(
        &self,
        (width, height): (usize, usize),
        images: &[(&CStr, &[Vec3])],
        light: bool,
    ) -> Result<Vec<Vec3>, String> {
        if images.iter().any(|(_, pixels)| pixels.len() != width * height) {
            return Err("its layers are of other sizes".to_owned());
        }
        let f = self.0;
        let mut result = vec![Vec3::ZERO; width * height];
        // SAFETY: the images are as long as their sizes say, three floats a pixel without gaps, as `Vec3` is; all of them
        // outlive the filter, which writes to its output alone; names are the API's.
        unsafe {
            let filter = (f.new_filter)(self.1, c"RT".as_ptr());
            if filter.is_null() {
                return Err(error(f, self.1).unwrap_or_else(|| "it made no filter".to_owned()));
            }
            let set = |name: &CStr, pixels: *mut c_void| {
                (f.set_image)(filter, name.as_ptr(), pixels, FLOAT3, width, height, 0, 0, 0);
            };
            for (name, pixels) in images {
                set(name, pixels.as_ptr().cast_mut().cast());
            }
            set(c"output", result.as_mut_ptr().cast());
            if light {
                (f.set_filter_bool)(filter, c"hdr".as_ptr(), true);
                (f.set_filter_bool)(filter, c"cleanAux".as_ptr(), images.len() > 1);
            }
            (f.set_filter_int)(filter, c"maxMemoryMB".as_ptr(), MEMORY);
            (f.commit_filter)(filter);
            (f.execute_filter)(filter);
            (f.release_filter)(filter);
        }
        self.failure().map(|()| result)
    }

    fn failure(&self) -> Result<(), String> {
        error(self.0, self.1).map_or(Ok(()), Err)
    }
}

/// The first error since it was last asked for.
fn error(functions: &Functions, device: Handle) -> Option<String> {
    let mut message = null();
    // SAFETY: the device is one of the library's or null, which asks about the making of devices.
    let code = unsafe { (functions.get_error)(device, &mut message) };
    if code == NO_ERROR {
        return None;
    }
    if message.is_null() {
        return Some(format!("it failed with error {code}"));
    }
    // SAFETY: the message is text that ends in 0, and stays until the next call.
    Some(unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned())
}
