//! What shaders print with `printf`, from compiled code to the host.

use super::externals::ExternalRequest;
use super::format;
use super::host::HostServices;
use super::strings::{host_string_id, string_id};
use super::{BlockContext, LANES, ParameterBlock, Row};
use std::sync::Mutex;

/// The formats of a program and the strings that it knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The formats of all `printf`s, by number.
    pub formats: Vec<String>,
    /// Every string that stands in the program.
    pub strings: Vec<String>,
}

/// Up to 16 messages of one `printf`.
pub struct PrintRequest<'a> {
    /// What `printf` was given first.
    pub format: &'a str,
    /// A row for each conversion of the format.
    pub arguments: &'a [Row],
    /// Bit i is set where lane i takes part.
    pub mask: u32,
    /// Every string that stands in the program.
    pub strings: &'a [String],
}

impl PrintRequest<'_> {
    /// The lanes that say something.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
    }

    /// What a lane says. `given` are the host's own strings, those of parameters say; a string that is neither
    /// one of the program nor of these is `?`.
    pub fn text(&self, lane: usize, given: &[String]) -> String {
        let words: Vec<u32> = self.arguments.iter().map(|row| row.0[lane].to_bits()).collect();
        let string = |id: i32| {
            let own = || self.strings.iter().find(|s| string_id(s) == id);
            let hosts = || given.iter().find(|s| host_string_id(s, self.strings) == id);
            match id {
                0 => String::new(),
                _ => own().or_else(hosts).map_or("?".to_owned(), String::clone),
            }
        };
        format::fill(self.format, &words, &string)
    }
}

/// A host that keeps what shaders say, for another that does the rest.
pub struct Listener<'a> {
    host: &'a dyn HostServices,
    texts: &'a [String],
    heard: Mutex<Vec<(usize, String)>>,
}

impl<'a> Listener<'a> {
    /// `parameters` are those of the shader that is listened to: their strings appear in what it says.
    pub fn new(host: &'a dyn HostServices, parameters: &'a ParameterBlock) -> Listener<'a> {
        Listener { host, texts: parameters.texts(), heard: Mutex::new(Vec::new()) }
    }

    /// What each lane said: lanes in order, and each in the order in which it spoke.
    pub fn messages(self) -> Vec<(usize, String)> {
        let mut heard = self.heard.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        heard.sort_by_key(|(lane, _)| *lane);
        heard
    }
}

impl HostServices for Listener<'_> {
    fn texture(&self, request: &mut super::TextureRequest) {
        self.host.texture(request);
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        self.host.texture_size(texture)
    }

    fn texture_double(&self, texture: u32, u: f64, v: f64) -> Option<super::TextureDouble> {
        self.host.texture_double(texture, u, v)
    }

    fn texture_adjoint(&self, request: &super::TextureRequest) -> bool {
        self.host.texture_adjoint(request)
    }

    fn print(&self, request: &PrintRequest<'_>) {
        let mut heard = self.heard.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A loop may say the same thing millions of times.
        let room = MAX_MESSAGES.saturating_sub(heard.len());
        heard.extend(request.lanes().take(room).map(|lane| (lane, request.text(lane, self.texts))));
    }
}

/// Messages that a [`Listener`] keeps.
pub const MAX_MESSAGES: usize = 10_000;

/// Called by compiled code to say something: `context.external` holds the request.
///
/// # Safety
/// `context` is the live context that the caller was given, its request made from the module's texts.
pub unsafe extern "C" fn print_service(context: *mut BlockContext) {
    // SAFETY: the context's pointers were made from references that outlive the call.
    let (host, request) = unsafe { (*(*context).host.cast::<&dyn HostServices>(), &*(*context).external) };
    // SAFETY: as above; the texts are the module's.
    let texts = unsafe { &*request.texts };
    // A panic must not unwind into compiled code, which has no unwind tables.
    let said = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| print(host, request, texts)));
    if said.is_err() {
        std::process::abort();
    }
}

fn print(host: &dyn HostServices, request: &ExternalRequest, texts: &Texts) {
    let Some(format) = texts.formats.get(request.function as usize) else { return };
    let (arguments, mask, strings) = (request.printed(), request.mask, texts.strings.as_slice());
    host.print(&PrintRequest { format, arguments, mask, strings });
}
