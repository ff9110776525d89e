//! The study file: a study as data.

mod braces;
mod check;
mod control;
mod error;
mod file;
mod own;
mod parts;
mod published;
mod selection;

pub use check::Checker;
pub use control::subject;
pub use error::DefinitionError;
pub use file::MAX_TEXT;
pub use parts::{Claim, Criterion, CriterionFigure, Definition, Only, Rule, Size, Sizes};
pub use published::{Published, PublishedRow};
pub use selection::Selection;
