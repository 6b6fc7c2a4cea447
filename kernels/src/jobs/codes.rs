//! Every diagnostic of job files: its code, its title, and the page that `shade explain` prints.

use ssl_compiler::diagnostics::Code;

macro_rules! codes {
    ($($name:ident = $id:literal, $title:literal, $explanation:literal;)*) => {
        $(#[doc = $title] pub static $name: Code = Code { id: $id, title: $title, explanation: $explanation };)*
        /// In the order of their ids.
        pub static ALL: &[&Code] = &[$(&$name),*];
    };
}

codes! {
    UNREADABLE = "J0001", "file of a job that cannot be read",
        "The job file, or a shader, picture or array that it names, does not exist, is not readable, or is too large. Paths in a job start at the folder of the job file; paths on the command line start at the current folder.";
    SYNTAX = "J0002", "job file that cannot be understood",
        "The file is not well-formed TOML (or JSON, for `.json`), has an unknown key, lacks a required key, or has a value of the wrong type. The message says which. One run reports everything that is wrong with the keys and values of a file.";
    UNKNOWN_NAME = "J0003", "name that the job does not define",
        "A launch names a kernel of the shader file, a buffer or a value. A group of a fit names members of the buffer's elements. Names are case-sensitive.";
    BAD_NUMBER = "J0004", "number of a job that is out of range",
        "The job cannot use the number: it is not finite, or outside of the range that the message gives.";
    CONFLICT = "J0005", "keys of a job that do not go together",
        "Two keys say the same thing, a key needs another one, or one of several keys is missing.";
    BAD_DATA = "J0006", "file that holds no usable elements",
        "The file was read, but it makes no buffer. Its format may differ from its name. Kernels may take another number of scalars for each element. It may also have no elements, or a number that is not finite. In a fit of a scene, a target or mask may have a weight below 0, a number that is not finite, or no pixel that counts. The message says where.";
    MISFIT = "J0007", "buffer that does not fit a launch",
        "Two kernels take the same buffer with different elements, two launches write the same buffer, or the number of elements is not the number of points. Each buffer has one source: a key under `[buffers]`, one launch that writes it, or any number of launches that add to it.";
    NO_GRADIENT = "J0008", "buffer that the loss does not depend on",
        "The optimiser needs the gradient of the loss by the fitted buffer. There is none: no chain of launches leads from the buffer to the loss, an int or a bool stands between them, or a launch without derivatives does, such as a sort.";
    STOPPED = "J0009", "fit that cannot go on",
        "Points of a kernel ended early, because their loops used up their fuel, functions called themselves too often, or the tape of a gradient was full. Or the loss is not a finite number. What the fit had before that step is kept.";
    MEMORY = "J0010", "job that needs too much memory",
        "The buffers, sums and moments of the job would take more memory than it may. `--memory` sets the limit, in megabytes.";
    CHECKPOINT = "J0011", "checkpoint that cannot be used",
        "`--resume` goes on from the checkpoint in the output folder. It cannot: the file is damaged, or it is of another job. Another number of steps is no other job.";
    OUTPUT = "J0012", "result of a job that cannot be written",
        "The name of a file ends in `.npy`, `.raw`, `.png` or `.exr`. A picture needs elements of one to four floats, and a buffer with a width and a height. The folder must be writable.";
    NUMBERS = "J0013", "numbers that were clamped or left out",
        "While the fit ran, kernels read outside of buffers, or came to numbers that are not finite. The runtime clamped the indices, took such derivatives as 0, and left such terms out of sums. The fit went on, but it may not do what was meant. Look for divisions by 0, for roots and logarithms of numbers that may not be positive, and for indices.";
    AT_BOUND = "J0014", "fitted number that ended at its bound",
        "The loss would be smaller behind the bound, so the bound decided, and not the target. Or more than half of the numbers of a large buffer or image ended at a bound. Move `low` or `high`, if they are only a guess. If the number cannot go on, as a reflectance above 1, the fit makes up for another fault: a light that is too weak, an exposure, or a number that is not fitted.";
    NO_EFFECT = "J0015", "fitted number without effect",
        "Around the end of the fit, the loss stays the same if this number goes back to its start, or changes by a tenth. So its value means nothing. Perhaps something multiplies it by 0, a branch does not take it, or no target shows its effect. Do not fit it, or add a target. The fit looks at this after the last step, if it has at most 16 numbers and 20 steps for each.";
    UNDETERMINED = "J0016", "fitted numbers that are not determined",
        "The loss stays the same if these numbers change together, so the fit could have ended with others just as well. Two factors of which only the product counts are the usual case: the strength of a light and the color of all that it lights. Fit all but one, or add a target that tells them apart. The fit compares the curvature of the loss along such a direction with the curvature along each number. It looks at this after the last step, if it has at most 16 numbers and 20 steps for each.";
}

/// Examples of the codes, in the form of `ssl_compiler::diagnostics::examples`.
pub const EXAMPLES: &str = include_str!("examples.md");

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_unique_and_in_order() {
        assert!(super::ALL.windows(2).all(|w| w[0].id < w[1].id));
    }
}
