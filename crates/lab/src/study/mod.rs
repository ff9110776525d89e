//! Studies: what is measured, and what the result is held against.

mod braces;
pub mod definition;
pub mod embedded;
mod file;
pub mod outcome;
pub mod run;
