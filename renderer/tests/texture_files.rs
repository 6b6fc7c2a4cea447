//! Making and reading tiled, mip-mapped files: each kind against files written by an independent, plain writer below, by the
//! `exr` crate and by OpenImageIO; then the same files damaged in every way.

mod commands;
mod damage;
mod exr_files;
mod inputs;
mod making;
mod others;
mod plain_tiff;
mod sharing;
mod storing;
mod tiff_files;
