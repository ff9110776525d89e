//! Views of records: the HTML page, the terminal's tables, and the drawings in them.

mod answer;
pub mod bars;
mod chart;
pub mod facts;
pub mod format;
mod html;
mod interval_mark;
mod part;
pub mod plot;
pub mod scheme_id;
mod section;
mod section_view;
mod svg;
pub mod terminal;
mod view;
pub mod words;

#[cfg(test)]
pub(crate) mod sample;

pub use answer::{Answer, Statement};
pub use facts::Facts;
pub use html::html;
pub use part::Part;
pub use section::{Block, Section, Shown, Table, Text};
