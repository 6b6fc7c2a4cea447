//! What became of a launch.

use ssl_compiler::runtime::BufferRole;
use ssl_compiler::{BlockStatus, LaneError};
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// What a launch reports. Counts do not depend on the number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The points that ran.
    pub points: u64,
    /// Points that ended since their loops or calls used up their fuel. They wrote zeros and added nothing.
    pub out_of_fuel: u64,
    /// Likewise, since too many calls of recursive functions were open.
    pub recursion_too_deep: u64,
    /// Likewise, since the tape of a gradient was full.
    pub tape_full: u64,
    /// The first point that ended, by linear index, and why.
    pub first_ended: Option<(u32, LaneError)>,
    /// Accesses to arrays and buffers whose index was outside and was clamped.
    pub clamped_indices: u64,
    /// Derivatives that were not finite where they were read, and became 0.
    pub non_finite_derivatives: u64,
    /// Look-ups whose gradients by texels nobody kept.
    pub lost_texture_gradients: u64,
    /// Terms for `add` buffers that were not finite or too large, and added nothing.
    pub left_out: u64,
    /// The most rows that any point had on its tapes at once.
    pub tape_rows: u32,
}

impl Status {
    /// The number of points that ended early.
    pub fn ended(&self) -> u64 {
        self.out_of_fuel + self.recursion_too_deep + self.tape_full
    }

    /// Whether nothing was ended, clamped or left out.
    pub fn is_clean(&self) -> bool {
        let &Status { clamped_indices, non_finite_derivatives, lost_texture_gradients, left_out, .. } = self;
        self.ended() + clamped_indices + non_finite_derivatives + lost_texture_gradients + left_out == 0
    }

    /// Adds what another launch reports; the first point that ended stays that of the earlier one.
    pub fn add(&mut self, other: &Status) {
        self.points += other.points;
        self.out_of_fuel += other.out_of_fuel;
        self.recursion_too_deep += other.recursion_too_deep;
        self.tape_full += other.tape_full;
        self.first_ended = self.first_ended.or(other.first_ended);
        self.clamped_indices += other.clamped_indices;
        self.non_finite_derivatives += other.non_finite_derivatives;
        self.lost_texture_gradients += other.lost_texture_gradients;
        self.left_out += other.left_out;
        self.tape_rows = self.tape_rows.max(other.tape_rows);
    }

    /// Adds what a block reports, whose first point has this index.
    pub(super) fn add_block(&mut self, block: &BlockStatus, first: usize) {
        self.clamped_indices += u64::from(block.clamped_indices);
        self.non_finite_derivatives += u64::from(block.non_finite_derivatives);
        self.lost_texture_gradients += u64::from(block.lost_texture_gradients);
        self.tape_rows = self.tape_rows.max(block.tape_rows);
        for (lane, error) in block.errors.iter().enumerate() {
            let Some(error) = *error else { continue };
            *match error {
                LaneError::OutOfFuel => &mut self.out_of_fuel,
                LaneError::RecursionTooDeep => &mut self.recursion_too_deep,
                LaneError::TapeFull => &mut self.tape_full,
            } += 1;
            self.first_ended = self.first_ended.or(Some(((first + lane) as u32, error)));
        }
    }
}

/// What all threads of a launch report to.
#[derive(Default)]
pub(super) struct SharedStatus {
    counts: [AtomicU64; 7],
    tape_rows: AtomicU32,
    /// The first point that ended, and below it why; all ones if none did.
    first: AtomicU64,
}

impl SharedStatus {
    pub fn new() -> SharedStatus {
        SharedStatus { first: AtomicU64::new(u64::MAX), ..SharedStatus::default() }
    }

    pub fn add(&self, status: &Status) {
        let counts = [
            status.points,
            status.out_of_fuel,
            status.recursion_too_deep,
            status.tape_full,
            status.clamped_indices,
            status.non_finite_derivatives,
            status.lost_texture_gradients,
        ];
        for (total, count) in self.counts.iter().zip(counts) {
            if count != 0 {
                total.fetch_add(count, Relaxed);
            }
        }
        self.tape_rows.fetch_max(status.tape_rows, Relaxed);
        if let Some((point, error)) = status.first_ended {
            self.first.fetch_min(u64::from(point) << 32 | error as u64, Relaxed);
        }
    }

    pub fn status(&self) -> Status {
        let counts = self.counts.each_ref().map(|count| count.load(Relaxed));
        let [
            points,
            out_of_fuel,
            recursion_too_deep,
            tape_full,
            clamped_indices,
            non_finite_derivatives,
            lost_texture_gradients,
        ] = counts;
        let first = self.first.load(Relaxed);
        let error = [LaneError::OutOfFuel, LaneError::RecursionTooDeep, LaneError::TapeFull];
        let error = error.into_iter().find(|error| *error as u32 == first as u32);
        Status {
            points,
            out_of_fuel,
            recursion_too_deep,
            tape_full,
            first_ended: error.filter(|_| first != u64::MAX).map(|error| ((first >> 32) as u32, error)),
            clamped_indices,
            non_finite_derivatives,
            lost_texture_gradients,
            left_out: 0,
            tape_rows: self.tape_rows.load(Relaxed),
        }
    }
}

/// Why a launch did not run, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchError {
    /// The grid has more points than an `int` can number.
    Grid {
        /// Points along x, y and z.
        size: [u32; 3],
    },
    /// Another number of buffers than the kernel takes.
    Count {
        /// What it takes.
        wanted: usize,
        /// What was given.
        found: usize,
    },
    /// A buffer is bound to be read where the kernel writes, say.
    Role {
        /// The kernel's name for the buffer.
        buffer: String,
        /// What the kernel does with it.
        role: BufferRole,
        /// What the host bound it for.
        found: &'static str,
    },
    /// A buffer has elements of another type.
    Type {
        /// The kernel's name for the buffer.
        buffer: String,
        /// What the kernel takes.
        wanted: String,
        /// What was given.
        found: String,
    },
    /// A buffer that the kernel writes does not have an element for each point.
    Length {
        /// The kernel's name for the buffer.
        buffer: String,
        /// The number of points.
        points: usize,
        /// The number of elements.
        found: usize,
    },
    /// The host cancelled the launch. What it was to write and to add to is of no use.
    Cancelled,
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchError::Grid { size: [x, y, z] } => {
                write!(f, "a grid of {x}×{y}×{z} points is too large; it may have {} points", i32::MAX)
            }
            LaunchError::Count { wanted, found } => write!(f, "the kernel takes {wanted} buffers, not {found}"),
            LaunchError::Role { buffer, role, found } => {
                write!(f, "the kernel takes `{buffer}` as an `{}` buffer, so it cannot be {found}", role.name())
            }
            LaunchError::Type { buffer, wanted, found } => {
                write!(f, "the kernel takes `{buffer}` with elements of {wanted}, not of {found}")
            }
            LaunchError::Length { buffer, points, found } => {
                write!(f, "`{buffer}` has {found} elements, and the kernel writes one for each of {points} points")
            }
            LaunchError::Cancelled => f.write_str("the launch was cancelled"),
        }
    }
}

impl std::error::Error for LaunchError {}
