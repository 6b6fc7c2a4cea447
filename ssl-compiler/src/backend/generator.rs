//! Stands between a back end that makes machine code and its callers: it takes code from the cache if that has it.

use super::cache::{CodeCache, Key};
use super::native::BlockFunction;
use super::{Backend, BackendError, Code, Text};
use crate::ir::{Module, digest};
use crate::runtime::BlockContext;
use std::hash::Hash;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::Xxh3;

/// How long the stages of making something took.
pub type Timings = Vec<(&'static str, Duration)>;

/// A back end that makes machine code. It is given modules with their mathematical functions written out as calls.
pub trait Generator: Send + Sync {
    /// See [`Backend::suits`].
    fn suits(&self, _module: &Module) -> bool {
        true
    }

    /// The generator's name, and all that decides the code beside the module and these sources: settings, and what
    /// the processor can do.
    fn fingerprint(&self) -> Result<String, BackendError>;

    /// Code that does not depend on where it will lie, nor on this process.
    fn generate(&self, module: &Module) -> Result<Object, BackendError>;

    /// Brings an object to where it can run. Objects come from a generator of the same fingerprint.
    fn link(&self, object: &[u8]) -> Result<Linked, BackendError>;

    /// See [`Backend::text`].
    fn text(&self, module: &Module, text: Text) -> Result<String, BackendError>;
}

/// Code before it is linked.
pub struct Object {
    pub bytes: Vec<u8>,
    pub timings: Timings,
}

/// Code that can run.
pub struct Linked {
    pub entry: BlockFunction,
    /// Holds the code that `entry` points into.
    pub memory: Box<dyn Send + Sync>,
    pub code_bytes: usize,
}

/// A generator as a back end.
pub struct Native<G> {
    pub generator: G,
    /// Writes out what the generator does not know. What it does is among the sources.
    pub expand: fn(&mut Module),
    /// Where code is kept from run to run.
    pub cache: Option<CodeCache>,
}

impl<G: Generator> Native<G> {
    fn key(&self, module: &Module) -> Result<Key, BackendError> {
        let mut hasher = Xxh3::new();
        // The sources stand for all that makes code of a module, the expansion of mathematical functions included.
        (env!("CARGO_PKG_VERSION"), env!("SOURCES"), self.generator.fingerprint()?).hash(&mut hasher);
        digest::add(module, &mut hasher);
        Ok(Key(hasher.digest128()))
    }

    fn taken(&self, cache: &CodeCache, key: Key) -> Option<Box<dyn Code>> {
        let start = Instant::now();
        let object = cache.get(key)?;
        // What cannot be linked is made anew.
        self.linked(&object, vec![("cache", start.elapsed())]).ok()
    }

    fn linked(&self, object: &[u8], mut timings: Timings) -> Result<Box<dyn Code>, BackendError> {
        let start = Instant::now();
        let linked = self.generator.link(object)?;
        timings.push(("link", start.elapsed()));
        Ok(Box::new(Loaded { linked, timings }))
    }

    fn generated(&self, module: &Module) -> Result<Object, BackendError> {
        let start = Instant::now();
        let module = self.expanded(module);
        let expanding = start.elapsed();
        let mut object = self.generator.generate(&module)?;
        object.timings.insert(0, ("expand", expanding));
        Ok(object)
    }

    fn expanded(&self, module: &Module) -> Module {
        let mut module = module.clone();
        (self.expand)(&mut module);
        module
    }
}

impl<G: Generator> Backend for Native<G> {
    fn suits(&self, module: &Module) -> bool {
        self.generator.suits(module)
    }

    fn compile(&self, module: &Module) -> Result<Box<dyn Code>, BackendError> {
        let Some(cache) = &self.cache else {
            let object = self.generated(module)?;
            return self.linked(&object.bytes, object.timings);
        };
        let key = self.key(module)?;
        if let Some(code) = self.taken(cache, key) {
            return Ok(code);
        }
        let object = self.generated(module)?;
        cache.put(key, &object.bytes);
        self.linked(&object.bytes, object.timings)
    }

    fn kept(&self, module: &Module) -> Option<Box<dyn Code>> {
        self.taken(self.cache.as_ref()?, self.key(module).ok()?)
    }

    fn text(&self, module: &Module, text: Text) -> Result<String, BackendError> {
        self.generator.text(&self.expanded(module), text)
    }
}

struct Loaded {
    linked: Linked,
    timings: Timings,
}

impl Code for Loaded {
    unsafe fn run(&self, context: &mut BlockContext) {
        // SAFETY: the caller promises a valid context; the code lives as long as `self`.
        unsafe { (self.linked.entry)(context) }
    }

    fn code_bytes(&self) -> usize {
        self.linked.code_bytes
    }

    fn timings(&self) -> &[(&'static str, Duration)] {
        &self.timings
    }
}
