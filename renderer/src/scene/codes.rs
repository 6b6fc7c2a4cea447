//! Every diagnostic of scene files and renders: its code, its title, and the page that `shade explain`
//! prints.

use ssl_compiler::diagnostics::Code;

macro_rules! codes {
    ($($name:ident = $id:literal, $title:literal, $explanation:literal;)*) => {
        $(pub static $name: Code = Code { id: $id, title: $title, explanation: $explanation };)*
        /// In the order of their ids.
        pub static ALL: &[&Code] = &[$(&$name),*];
    };
}

codes! {
    UNREADABLE = "S0001", "file cannot be read",
        "The scene file, or a shader or mesh that it names, does not exist, is not readable, or is not UTF-8 text. Paths inside a scene are taken from the folder of the scene file.";
    SYNTAX = "S0002", "scene file that cannot be understood",
        "The file is not well-formed TOML (or JSON, for `.json`), has a key that means nothing there, lacks one that must be there, or has a value of the wrong type. The message says which. All that is wrong with the keys and values of a file is said in one go; only a file that is not well-formed is not looked at any further.";
    UNKNOWN_NAME = "S0003", "name that the scene does not define",
        "A shape names a material under `[materials]`, a material a texture under `[textures]`, an instance a group under `[groups]`; a layer of the picture is one of those that there always are, or an `out` parameter of a shader; a view is one that there always is, or a global. Names are case-sensitive.";
    BAD_NUMBER = "S0004", "number out of range",
        "The number cannot be used: it is not finite, negative or zero where it must be positive, or larger than the renderer can handle. The message gives the range.";
    BAD_CHOICE = "S0005", "choice that does not exist",
        "The key takes one of a few words, which the hint lists.";
    CONFLICT = "S0006", "keys that do not go together",
        "Keys were given that say the same thing twice or that belong to another kind of object, or the one that is needed is missing.";
    BAD_MESH = "S0007", "mesh that cannot be used",
        "The file was read but does not hold usable meshes, or holds something that does not fit together. The message says what is wrong with it.";
    MISSING_TEXTURE = "S0008", "texture that cannot be read",
        "The image file is missing or cannot be decoded. The render goes on with magenta in its place and ends with exit code 3.";
    BAD_PARAMETER = "S0009", "parameter that does not fit its shader",
        "The shader has no parameter or texture slot of this name, or it is of another type.";
    UNBOUND_TEXTURE = "S0010", "texture slot with nothing bound to it",
        "The shader reads a texture that the material does not name under `textures`. Look-ups give magenta, and the render ends with exit code 3.";
    NO_SHAPES = "S0011", "nothing to see",
        "The scene has no shapes, so the picture shows its environment alone.";
    OUTPUT = "S0012", "output that cannot be written",
        "The picture's file must end in `.png` or `.exr`, that of a partial render in `.part`, and lie in a folder that exists and can be written.";
    LANE = "S0013", "shader that was stopped",
        "A shader ran out of its allowance of iterations or recursed too deeply at some hits, which are black. The render ends with exit code 3.";
    NOT_A_NUMBER = "S0014", "values that are no numbers",
        "At some hits the weight or a parameter of a lobe, an `out` value that the picture keeps, or the light was NaN or infinite. It counts as 0 there, a normal as the surface's, and reaches no other pixel. The message names the material, how many hits there were, and the first pixels; `--view nan` shows them all, and `--pixel X,Y` what happened in one. A division by zero in a shader is the usual cause.";
    BAD_ENVIRONMENT = "S0015", "environment image that cannot be read",
        "The image of the environment is missing or cannot be decoded. It is black in the picture, and the render ends with exit code 3.";
    TEXTURE_MEMORY = "S0016", "texture memory that is too small",
        "The memory for tiles of textures holds less than two tiles of the largest kind that the scene's textures have, or less than what is kept of each texture. The message says how much is needed.";
    UNREADABLE_TILES = "S0017", "parts of a texture that cannot be read",
        "While rendering, tiles of a texture could not be read: the file is damaged, has become shorter or has vanished. They are magenta in the picture, and the render ends with exit code 3.";
    BAD_GROUP = "S0018", "group that cannot be placed",
        "A group contains itself, directly or through the groups that it places; or groups are placed in groups more than 64 levels deep; or so many times that their number exceeds what the renderer can count.";
    NO_STRUCTURE = "S0019", "rays that cannot be traced as asked",
        "`--accel` names a library that cannot be used on this machine. The message says why; without the option the renderer needs no library.";
    PART = "S0020", "partial render that cannot be read",
        "The file named as a partial render, or the checkpoint that `--resume` goes on from, is something else, is damaged, was not copied whole, or was written by another version or another build of this program. Render it again, or leave out `--resume`.";
    MISFIT = "S0021", "partial renders of different pictures",
        "Partial renders can be merged, and checkpoints be gone on from, where they are of the same scene, size, crop, seed, layers and samples a pixel, with other samples in each. The scene counts as changed when any file that it reads has changed. The message says what differs.";
    INCOMPLETE = "S0022", "samples that no partial render has",
        "A picture is merged from partial renders that hold all samples of each pixel together, unless `--allow-missing` asks for a picture of those that there are.";
    TEXTURE_FOLDER = "S0023", "folder for converted textures that cannot be used",
        "Images that are not tiled and mip-mapped are converted once and kept in a folder: the one that the environment variable `SSL_TEXTURE_CACHE` names, else one in the user's folder of caches. Where nothing can be written there, a folder for temporary files takes its place; where that cannot be used either, nothing is rendered, and the exit code is 4.";
    VARIABLE = "S0024", "variable that a shape does not have",
        "The shader of the shape's material reads a variable that neither the shape's file nor its `variables` give, nor those of an instance that places it, nor those of the scene; or one of fewer numbers than it reads.";
    LEFT_OUT = "S0025", "parts of a file that are left out",
        "The file was read, but some of what it holds has no counterpart here, such as its skins or its animations, or could not be found. The message says what; the rest is in the picture.";
    BAD_CAMERA = "S0026", "camera of a file that cannot be used",
        "The camera is that of a glTF file, and the file cannot be read, has no camera, or none of the name that is asked for. The message says which there are.";
    BAD_PROFILE = "S0027", "profile of a luminaire that cannot be used",
        "The file that a light names under `ies` cannot be read, is no photometric file by IES LM-63, or one of a luminaire measured otherwise than by type C. The message says what is wrong with it.";
    BAD_MEASURED = "S0028", "measured material that cannot be used",
        "The file that a material names under `measured` cannot be read, or is no table of a BRDF in the format of the MERL database: 90, 90 and 180 as 32-bit numbers, then as many values for red, for green and for blue, as 64-bit floats. The message says what is wrong with it.";
    UNLIKELY = "S0029", "number that was probably meant otherwise",
        "The number can be used, and is, but looks like one in another unit: a field of view of 0.7 degrees is that of a strong telescope, one of 0.7 radians that of an ordinary lens. All angles of scenes are in degrees. If it is right, `--allow S0029` says so.";
    NO_VALUE = "S0030", "parameter without a value",
        "The shader's parameter has no default, and the material gives it no value, so it is 0. Give it one under `parameters`, or a default in the shader.";
    NO_COORDINATES = "S0031", "mesh without texture coordinates",
        "The material of the shape reads texture coordinates, by `global_value<uvw>`, and its mesh has none: they are 0 everywhere, so the whole shape shows one texel. Unwrap the mesh in the program that made it, or compute coordinates in the shader, from `global_value<position>` say.";
    NO_CLOSURE = "S0032", "material that makes no closure",
        "What a surface looks like is what its shader makes closures for. The shader of this material makes none, so it is black. Give one of its `out closure` parameters a closure.";
}

/// Examples of the codes, in the form of `ssl_compiler::diagnostics::examples`.
pub const EXAMPLES: &str = include_str!("examples.md");

/// The code that an id such as `S0003` names.
pub fn find(id: &str) -> Option<&'static Code> {
    ALL.iter().copied().find(|c| c.id.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_unique_and_in_order() {
        assert!(super::ALL.windows(2).all(|w| w[0].id < w[1].id));
    }
}
