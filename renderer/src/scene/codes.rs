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
        "The scene file, or a shader or mesh that it names, does not exist, is not readable, or is not UTF-8 text. Paths in a scene start at the folder of the scene file.";
    SYNTAX = "S0002", "scene file that cannot be understood",
        "The file is not well-formed TOML (or JSON, for `.json`), has an unknown key, lacks a required key, or has a value of the wrong type. The message says which. One run reports everything that is wrong with the keys and values of a file. If the file is not well-formed, the check stops there.";
    UNKNOWN_NAME = "S0003", "name that the scene does not define",
        "A shape names a material under `[materials]`, a material names a texture under `[textures]`, and an instance names a group under `[groups]`. A layer of the picture is one of the built-in layers, or an `out` parameter of a shader. A view is one of the built-in views, or a global. Names are case-sensitive.";
    BAD_NUMBER = "S0004", "number out of range",
        "The renderer cannot use the number: it is not finite, negative or zero where it must be positive, or larger than the renderer can handle. The message gives the range.";
    BAD_CHOICE = "S0005", "choice that does not exist",
        "The key takes one of a few words, which the hint lists.";
    CONFLICT = "S0006", "keys that do not go together",
        "Two keys say the same thing, a key belongs to another kind of object, or a required key is missing.";
    BAD_MESH = "S0007", "mesh that cannot be used",
        "The renderer read the file, but it holds no usable meshes, or parts that do not fit together. The message says what is wrong with it.";
    MISSING_TEXTURE = "S0008", "texture that cannot be read",
        "The image file is missing or cannot be decoded. The render continues with magenta in its place and ends with exit code 3.";
    BAD_PARAMETER = "S0009", "parameter that does not fit its shader",
        "The shader has no parameter or texture slot of this name, or it has another type.";
    UNBOUND_TEXTURE = "S0010", "texture slot without a texture",
        "The shader reads a texture that the material does not name under `textures`. Look-ups give magenta, and the render ends with exit code 3.";
    NO_SHAPES = "S0011", "nothing to see",
        "The scene has no shapes, so the picture shows its environment alone.";
    OUTPUT = "S0012", "output that cannot be written",
        "The file of a picture must end in `.png` or `.exr`, and that of a partial render in `.part`. Its folder must exist and be writable.";
    LANE = "S0013", "shader that was stopped",
        "At some hits a shader used up its allowance of iterations, recursed too deeply, or had no room left for what the gradients that it takes keep. These hits are black. The render ends with exit code 3.";
    NOT_A_NUMBER = "S0014", "values that are NaN or infinite",
        "At some hits the weight or a parameter of a lobe, an `out` value that the picture keeps, or the light was NaN or infinite. It counts as 0 there (a normal counts as the surface's), and does not reach other pixels. The message names the material, the number of hits, and the first pixels. `--view nan` shows them all, and `--pixel X,Y` shows what happened in one. The usual cause is a division by zero in a shader.";
    BAD_ENVIRONMENT = "S0015", "environment image that cannot be read",
        "The image of the environment is missing or cannot be decoded. The environment is black in the picture, and the render ends with exit code 3.";
    TEXTURE_MEMORY = "S0016", "texture memory that is too small",
        "The memory for tiles of textures must hold two tiles of the largest kind in the scene, and what the renderer keeps for each texture. The message says how much it needs.";
    UNREADABLE_TILES = "S0017", "parts of a texture that cannot be read",
        "While rendering, the renderer could not read tiles of a texture: the file is damaged, became shorter, or vanished. These tiles are magenta in the picture, and the render ends with exit code 3.";
    BAD_GROUP = "S0018", "group that cannot be placed",
        "A group contains itself, directly or through the groups that it places. Or groups nest more than 64 levels deep, or there are more placements than the renderer can count.";
    NO_STRUCTURE = "S0019", "rays that cannot be traced as asked",
        "`--accel` names a library that the renderer cannot use on this machine. The message says why. Without the option the renderer needs no library.";
    PART = "S0020", "partial render that cannot be read",
        "The partial render, or the checkpoint from which `--resume` continues, is another kind of file, is damaged, was not copied as a whole, or comes from another version or build of this program. Render it again, or leave out `--resume`.";
    MISFIT = "S0021", "partial renders of different pictures",
        "`shade` can merge partial renders, and continue from a checkpoint, only if they have the same scene, size, crop, seed, layers and number of samples per pixel, and if no two have the same sample. A scene counts as another one if any file that it reads has changed. The message says which of these differs; of a scene and of the other options, it does not say what. Partial renders with different exposures become a `.png` or a larger part only if `--exposure` says which one it is to have.";
    INCOMPLETE = "S0022", "samples that no partial render has",
        "The partial renders of a picture must hold all samples of each pixel together. To make a picture from those that there are, use `--allow-missing`.";
    TEXTURE_FOLDER = "S0023", "folder for converted textures that cannot be used",
        "The renderer converts images that are not tiled and mip-mapped once, and keeps them in a folder: the one that the environment variable `SSL_TEXTURE_CACHE` names, or else one in the user's cache folder. If it cannot write there, it takes a folder for temporary files. If that fails, too, it renders nothing, and the exit code is 4.";
    VARIABLE = "S0024", "variable that a shape does not have",
        "The shader of the shape's material reads a variable that nothing provides: neither the shape's file nor its `variables`, nor those of an instance that places it, nor those of the scene. Or the variable has fewer numbers than the shader reads.";
    LEFT_OUT = "S0025", "parts of a file that are left out",
        "The renderer read the file, but some of its parts have no counterpart here, such as skins or animations, or are missing. The message says which. The rest is in the picture.";
    BAD_CAMERA = "S0026", "camera of a file that cannot be used",
        "The camera comes from a glTF file. The file cannot be read, has no camera, or has none of the given name. The message says which cameras it has.";
    BAD_PROFILE = "S0027", "profile of a luminaire that cannot be used",
        "The file that a light names under `ies` cannot be read, is not a photometric file by IES LM-63, or has a photometry of another type than C. The message says what is wrong with it.";
    BAD_MEASURED = "S0028", "measured material that cannot be used",
        "The file that a material names under `measured` cannot be read, or is not a BRDF table in the format of the MERL database: 90, 90 and 180 as 32-bit numbers, then as many values for red, for green and for blue, as 64-bit floats. The message says what is wrong with it.";
    UNLIKELY = "S0029", "number that is probably in the wrong unit",
        "The renderer uses the number, but it looks like one in another unit: a field of view of 0.7 degrees is that of a strong telescope, one of 0.7 radians that of an ordinary lens. All angles of scenes are in degrees. If the number is right, `--allow S0029` drops the warning.";
    NO_VALUE = "S0030", "parameter without a value",
        "The shader's parameter has no default, and the material gives it no value, so it is 0. Give it one under `parameters`, or a default in the shader.";
    NO_COORDINATES = "S0031", "mesh without texture coordinates",
        "The material of the shape reads texture coordinates, by `global_value<uvw>`, and its mesh has none. They are 0 everywhere, so the whole shape shows one texel. Unwrap the mesh in the program that made it, or compute coordinates in the shader, for instance from `global_value<position>`.";
    NO_CLOSURE = "S0032", "material that makes no closure",
        "Closures decide what a surface looks like. The shader of this material makes none, so the surface is black. Give one of its `out closure` parameters a closure.";
    BAD_VERTEX_VALUES = "S0033", "values of vertices that cannot be used",
        "A variable of a shape names a file with a value for each vertex. The shape has no such vertices, as only shapes of type `obj` have, or the file is no array of one to four columns, which `numpy.save` writes as `.npy`, or it has another number of rows than the mesh has vertices. Vertices count in the order of the lines of the OBJ file that begin with `v`.";
    NOT_FINITE = "S0034", "image with NaN or infinite texels",
        "Some texels of an image are NaN or infinite, as a sun is that was too bright for half floats. Infinity counts as 65504, the largest half float; NaN and minus infinity count as 0. If it is the sun of an environment, its light is wrong: make the image anew with 32-bit floats, or with a darker sun.";
    FAR_AWAY = "S0035", "scene that is too far from the origin",
        "World coordinates are 32-bit floats, and the farther from the origin, the farther are they apart: 0.06 at a million. The scene, or the part in view, is less than a thousand such steps across, so surfaces are visibly off. Move everything near the origin.";
    NOISY = "S0036", "picture that cannot be denoised",
        "The file is no OpenEXR picture with the channels `R`, `G` and `B`, or the denoiser needs a layer that it does not have. The built-in denoiser tells noise from detail by the layer `variance`; the layers `albedo` and `normal` keep edges and textures sharp. `shade render --denoise` writes all of them.";
    SHARP_EDGES = "S0037", "mesh whose sharp edges look smooth",
        "The OBJ file gives neither normals nor smoothing groups, so normals are computed, smooth over all edges. Sharp edges then look as soft as a pillow. `crease_angle = 30` on the shape keeps edges hard where faces meet at more than 30 degrees, and `smooth = false` keeps all hard. `smooth = true` says that the look is meant.";
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
