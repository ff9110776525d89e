//! hashlane command.
fn main() {}
