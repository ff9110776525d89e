//! Views of records: the HTML page, the terminal's tables, and the charts in them.

mod chart;
mod format;
mod html;
mod interval_mark;
mod scheme_id;
mod tables;
pub mod terminal;
mod view;
mod words;

#[cfg(test)]
pub(crate) mod sample;

pub(crate) use format::{figure, interval, plain, ratio};
pub use html::{Part, html};
