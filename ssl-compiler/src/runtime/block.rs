//! One call of a shader: its inputs, its outputs, and the C struct that carries both.

use super::externals::ExternalRequest;
use super::{AddRequest, Column, LANES, ParameterBlock, Row};
use super::{host::HostServices, host::NoTextures, host::TextureRequest};
use std::ffi::c_void;

/// Iterations and calls that one lane may spend before it is ended.
pub const DEFAULT_FUEL: u32 = 1 << 22;

/// Calls of recursive functions that may be open at once.
pub const MAX_RECURSION: u32 = 256;

/// Tapes that a lane may have: each order of a sweep through sweeps needs one of its own.
pub const MAX_TAPES: usize = 8;

/// Rows that one lane may have on its tapes at once. A row takes 64 bytes for the 16 lanes of a block, so this is 64 MiB.
pub const DEFAULT_TAPE_ROWS: u32 = 1 << 20;

/// The most rows that a caller can ask for.
pub const MAX_TAPE_ROWS: u32 = 1 << 27;

/// A call of a shader on a block of points.
pub struct Block<'a> {
    /// As many rows as the layout has. Rows that the shader does not read may hold anything.
    pub globals: &'a [Row],
    /// A block of this shader's parameters.
    pub parameters: &'a ParameterBlock,
    /// The columns of a kernel's buffers, as many as its interface says. A shader has none.
    pub columns: &'a [Column],
    /// Answers texture look-ups and receives the output of `printf`.
    pub host: &'a dyn HostServices,
    /// At least `output_rows` rows. Lanes outside the mask are left alone.
    pub outputs: &'a mut [Row],
    /// Bit i is set if lane i takes part.
    pub mask: u32,
    /// What each lane may spend: [`DEFAULT_FUEL`] unless a caller wants another bound. A shader that neither loops nor
    /// recurses needs 0.
    pub fuel: u32,
    /// How many rows each lane may have on its tapes at once, up to [`MAX_TAPE_ROWS`]: [`DEFAULT_TAPE_ROWS`] unless a
    /// caller wants another bound. A scalar takes one row, an array one for each element. Only shaders that keep values
    /// for the reverse sweep of a gradient have a tape; for others no memory is taken.
    pub tape_rows: u32,
}

impl<'a> Block<'a> {
    /// A block of all 16 points, with the usual fuel and no textures. Set fields to change this:
    /// `Block { mask: 0b11, ..Block::new(…) }` runs the first two points.
    pub fn new(globals: &'a [Row], parameters: &'a ParameterBlock, outputs: &'a mut [Row]) -> Block<'a> {
        Block {
            globals,
            parameters,
            columns: &[],
            host: &NoTextures,
            outputs,
            mask: (1 << LANES) - 1,
            fuel: DEFAULT_FUEL,
            tape_rows: DEFAULT_TAPE_ROWS,
        }
    }
}

/// Why a lane ended early; its outputs are zero then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaneError {
    /// A loop or a chain of calls used up the fuel.
    OutOfFuel,
    /// Too many calls of recursive functions were open at once.
    RecursionTooDeep,
    /// More had to be kept for the reverse sweep of a gradient than the tape has room for.
    TapeFull,
}

impl std::fmt::Display for LaneError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LaneError::OutOfFuel => "a loop or call chain did not end within its allowance",
            LaneError::RecursionTooDeep => "a function called itself more than 256 levels deep",
            LaneError::TapeFull => "the reverse sweep of a gradient needs more values than the tape has room for",
        })
    }
}

impl std::error::Error for LaneError {}

/// The outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockStatus {
    /// Why each lane ended early, if it did.
    pub errors: [Option<LaneError>; LANES],
    /// Array accesses whose index was outside the array and was clamped.
    pub clamped_indices: u32,
    /// Derivatives that were not finite where the shader read them, and became 0.
    pub non_finite_derivatives: u32,
    /// The most rows that any lane had on its tapes at once.
    pub tape_rows: u32,
    /// Look-ups whose gradients by texels were lost, since the host keeps none for the texture.
    pub lost_texture_gradients: u32,
}

impl BlockStatus {
    /// Whether no lane ended early.
    pub fn is_clean(&self) -> bool {
        self.errors.iter().all(Option::is_none)
    }

    /// The error of the lowest lane that ended early.
    pub fn first_error(&self) -> Option<LaneError> {
        self.errors.iter().flatten().next().copied()
    }
}

/// The C face of a [`Block`], which compiled code gets as its only argument.
///
/// Compiled code leaves each lane's final [token](crate::ir) in rows: in `left` its fuel, in `depth` the number of
/// open recursive calls with [`TOO_DEEP`] as a flag, which code without recursion leaves alone, and in the [`TapeState`]
/// the number of rows on its tapes.
#[doc(hidden)]
#[repr(C)]
pub struct BlockContext {
    pub globals: *const Row,
    pub parameters: *const u32,
    pub outputs: *mut Row,
    /// Points to a `&dyn HostServices`.
    pub host: *const c_void,
    /// Null if the module looks up no texture.
    pub texture: *mut TextureRequest,
    /// Null if the module calls no external function and prints nothing.
    pub external: *mut ExternalRequest,
    /// The columns of buffers. Null if the module reads no buffer.
    pub columns: *const Column,
    /// Null if the module adds to no buffer.
    pub add: *mut AddRequest,
    /// By tape, `tape_rows` rows that belong to this call, each with a word for each lane. Null if the module does not
    /// use the tape.
    pub tapes: [*mut Row; MAX_TAPES],
    /// Null if the module has no tape.
    pub tape_state: *mut TapeState,
    pub mask: u32,
    pub clamped_indices: u32,
    pub non_finite_derivatives: u32,
    pub lost_texture_gradients: u32,
    /// One unit more than a lane may spend.
    pub fuel: u32,
    pub tape_rows: u32,
    /// The most rows that lanes had on their tapes when they were known to have equally many.
    pub most_rows: u32,
    pub left: Words,
    pub depth: Words,
    /// Where `keep` operations write; nobody reads it.
    pub kept: Words,
}

/// What calls with a tape keep beside the rows themselves.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct TapeState {
    /// The number of rows that are left on each lane's tapes, with [`TAPE_FULL`] as a flag.
    pub left: Words,
    /// The most rows that each lane had on its tapes otherwise.
    pub most: Words,
    /// Where code puts a wide value down to read one lane of it.
    pub scratch: Words,
}

/// A word of every lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Words(pub [u32; LANES]);

/// Bit of a depth that is set when recursion went too deep.
pub const TOO_DEEP: u32 = 1 << 31;

/// Bit of a number of rows that is set when the tapes were full.
pub const TAPE_FULL: u32 = 1 << 31;

/// A token: how much a lane may still do, how deep in recursive calls it is, and how much it has on its tapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The fuel that is left.
    pub fuel: u32,
    /// Open recursive calls, and [`TOO_DEEP`].
    pub depth: u32,
    /// Rows on all tapes, and [`TAPE_FULL`].
    pub rows: u32,
}

impl Token {
    /// A token with this fuel, no open calls, and nothing on the tape.
    pub fn new(fuel: u32) -> Token {
        Token { fuel, depth: 0, rows: 0 }
    }

    /// Takes fuel, down to none.
    pub fn burn(self, cost: u32) -> Token {
        Token { fuel: self.fuel.saturating_sub(cost), ..self }
    }

    /// Takes fuel for so many rounds, down to none. A product that would wrap round falls short by less than a round.
    pub fn prepay(self, cost: u32, rounds: u32) -> Token {
        self.burn(cost * rounds.min(u32::MAX / cost.max(1)))
    }

    /// Opens a recursive call. A call that is too deep takes all fuel, so that the lane ends.
    pub fn enter(self) -> Token {
        let depth = self.depth.wrapping_add(1);
        let too_deep = depth & !TOO_DEEP > MAX_RECURSION;
        if too_deep { Token { fuel: 0, depth: depth | TOO_DEEP, ..self } } else { Token { depth, ..self } }
    }

    /// Puts so many rows on a tape, where all tapes have `capacity` rows together; says whether they are there. A push
    /// that does not fit takes all fuel, so that the lane ends.
    pub fn push(self, rows: u32, capacity: u32) -> (Token, bool) {
        let next = self.rows.wrapping_add(rows);
        match (next > capacity, self.fuel) {
            (false, _) => (Token { rows: next, ..self }, true),
            (true, 0) => (self, false),
            (true, _) => (Token { fuel: 0, rows: self.rows | TAPE_FULL, ..self }, false),
        }
    }

    /// Takes so many rows off a tape that holds `there`; says whether they came. A lane that has ended takes nothing off,
    /// and neither does one that has too little on the tape.
    pub fn pop(self, rows: u32, there: u32) -> (Token, bool) {
        let comes = self.fuel != 0 && rows <= there;
        (if comes { Token { rows: self.rows - rows, ..self } } else { self }, comes)
    }

    /// Closes a recursive call.
    pub fn leave(self) -> Token {
        Token { depth: self.depth.wrapping_sub(1), ..self }
    }
}

/// What the final token of a lane means.
pub fn lane_error(token: Token) -> Option<LaneError> {
    match token {
        Token { depth, .. } if depth & TOO_DEEP != 0 => Some(LaneError::RecursionTooDeep),
        Token { rows, .. } if rows & TAPE_FULL != 0 => Some(LaneError::TapeFull),
        Token { fuel: 0, .. } => Some(LaneError::OutOfFuel),
        _ => None,
    }
}

/// Called by compiled code to sample a texture: `context.texture` holds the request.
///
/// # Safety
/// `context` is the live context that the caller was given, built from a [`Block`].
pub unsafe extern "C" fn texture_service(context: *mut BlockContext) {
    // SAFETY: the context's pointers were made from references that outlive the call, and the request
    // belongs to this call alone.
    let (host, request) = unsafe { (*(*context).host.cast::<&dyn HostServices>(), &mut *(*context).texture) };
    // A panic must not unwind into compiled code, which has no unwind tables.
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| host.texture(request))).is_err() {
        std::process::abort();
    }
}

/// Called by compiled code to learn how large a texture is: `context.texture` holds the request, whose first two rows of
/// results get the answer in lane 0.
///
/// # Safety
/// As for [`texture_service`].
pub unsafe extern "C" fn texture_size_service(context: *mut BlockContext) {
    // SAFETY: as above.
    let (host, request) = unsafe { (*(*context).host.cast::<&dyn HostServices>(), &mut *(*context).texture) };
    // A panic must not unwind into compiled code, which has no unwind tables.
    let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| host.texture_size(request.texture)));
    let Ok(size) = asked else { std::process::abort() };
    request.result.iter_mut().zip(size).for_each(|(row, texels)| row.0[0] = texels as f32);
}

/// Called by compiled code to hand cotangents of a look-up to the host: `context.texture` holds the request, whose rows of
/// results hold the cotangents.
///
/// # Safety
/// As for [`texture_service`].
pub unsafe extern "C" fn texture_adjoint_service(context: *mut BlockContext) {
    // SAFETY: as above; the counter is no part of the request.
    let (host, request) = unsafe { (*(*context).host.cast::<&dyn HostServices>(), &*(*context).texture) };
    // A panic must not unwind into compiled code, which has no unwind tables.
    let handed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| host.texture_adjoint(request)));
    let Ok(kept) = handed else { std::process::abort() };
    if !kept {
        // SAFETY: as above.
        let lost = unsafe { &mut (*context).lost_texture_gradients };
        *lost = lost.wrapping_add(request.mask.count_ones());
    }
}
