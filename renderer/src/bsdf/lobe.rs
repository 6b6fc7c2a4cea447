//! A lobe of any kind as a value of one size, so that shading allocates nothing and needs no list of kinds.

use super::{Reach, Scatter};
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Deref;

/// Bytes that the largest lobe may have.
const SIZE: usize = 112;

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Storage([MaybeUninit<u8>; SIZE]);

/// Some [`Scatter`], held inline.
#[derive(Clone, Copy)]
pub struct Lobe {
    storage: Storage,
    /// Views the storage as the lobe in it.
    view: unsafe fn(&Storage) -> &(dyn Scatter + 'static),
    /// Answers that many callers need of each lobe, asked once.
    specular: bool,
    straight: bool,
    diffuse: bool,
    reach: Reach,
}

impl Lobe {
    /// Stores a lobe. A lobe that is larger than the storage does not compile.
    #[inline(always)]
    pub fn new<T: Scatter + Copy + Send + Sync + 'static>(lobe: T) -> Lobe {
        const { assert!(size_of::<T>() <= SIZE && align_of::<T>() <= align_of::<Storage>()) };
        let (specular, straight) = (lobe.is_specular(), lobe.is_straight());
        let (diffuse, reach) = (lobe.is_diffuse(), lobe.reach());
        let mut storage = Storage([MaybeUninit::uninit(); SIZE]);
        // SAFETY: size and alignment were just checked; `T` is `Copy`, so the bytes may be copied and need no drop.
        unsafe { (&raw mut storage).cast::<T>().write(lobe) };
        Lobe { storage, view: view::<T>, specular, straight, diffuse, reach }
    }

    /// As [`Scatter::is_specular`].
    pub fn is_specular(&self) -> bool {
        self.specular
    }

    /// As [`Scatter::is_straight`].
    pub fn is_straight(&self) -> bool {
        self.straight
    }

    /// As [`Scatter::is_diffuse`].
    pub fn is_diffuse(&self) -> bool {
        self.diffuse
    }

    /// As [`Scatter::reach`].
    pub fn reach(&self) -> Reach {
        self.reach
    }
}

/// # Safety
/// A `T` must have been written to the storage.
unsafe fn view<T: Scatter + 'static>(storage: &Storage) -> &(dyn Scatter + 'static) {
    // SAFETY: the caller says that a `T` is there, and it lives as long as the storage.
    unsafe { &*std::ptr::from_ref(storage).cast::<T>() }
}

impl Deref for Lobe {
    type Target = dyn Scatter;

    fn deref(&self) -> &(dyn Scatter + 'static) {
        // SAFETY: `new` wrote what `view` sees.
        unsafe { (self.view)(&self.storage) }
    }
}

impl fmt::Debug for Lobe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
