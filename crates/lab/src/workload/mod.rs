//! What the subjects work on.

pub mod capture;
pub mod dns;
pub mod file;
pub mod hostile;
pub mod packed;
mod scatter;
pub mod shape;
pub mod tuples;
