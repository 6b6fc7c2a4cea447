//! The syntax tree as indented text, for people who debug the compiler or wonder how it read them.
