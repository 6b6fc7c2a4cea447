//! An offline CPU path tracer that shades with SSL.
