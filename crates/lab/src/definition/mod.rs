//! The study file: a study as data.

mod braces;
mod check;
mod error;
mod file;
mod own;
mod parts;
mod published;

pub use braces::BraceError;
pub use check::Checker;
pub use error::DefinitionError;
pub use file::MAX_TEXT;
pub use parts::{Against, Chart, Claim, Definition, Limit, Only, Rule, Size, Sizes, Target};
pub use published::{Published, PublishedRow};
