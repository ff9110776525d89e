//! What the subjects work on.

pub mod file;
pub mod packed;
pub mod shape;
