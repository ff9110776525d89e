//! Comparisons of builds and runs around those of [records](hashlane_records::compare).
//!
//! - [`launched`]: the study file of a launch, without the schemes that a build does not know.
//! - [`text`]: tables for the terminal.

pub mod launched;
pub mod text;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
