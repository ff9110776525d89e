//! Comparisons of builds and runs, based on comparisons of [records](hashlane_records::compare).
//!
//! - [`alternate`]: two builds, launched alternately for as long as there is time.
//! - [`launched`]: the study file of a launch, without the schemes that a build does not know.
//! - [`text`]: tables for the terminal.
//! - [`export`]: formats of other programs.

pub mod alternate;
pub mod export;
pub mod launched;
pub mod text;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
