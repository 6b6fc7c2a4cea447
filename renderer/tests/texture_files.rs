//! Making and reading tiled, mip-mapped files: each kind against files written by an independent, plain writer below, by the
//! `exr` crate and by OpenImageIO; then the same files damaged in every way.

mod texture_files {
    pub mod commands;
    pub mod damage;
    pub mod exr_files;
    pub mod inputs;
    pub mod making;
    pub mod others;
    pub mod plain_tiff;
    pub mod sharing;
    pub mod storing;
    pub mod tiff_files;
}
