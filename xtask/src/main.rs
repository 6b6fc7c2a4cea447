//! Set-up and chores of the workspace; no product code.

fn main() {}
