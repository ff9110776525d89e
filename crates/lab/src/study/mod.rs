//! Studies: what is measured, and what the result is held against.

mod braces;
pub mod definition;
mod file;
pub mod outcome;
