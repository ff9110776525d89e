//! Views of records: the HTML page, the terminal's tables, and the drawings in them.

mod bars;
mod chart;
mod format;
mod html;
mod interval_mark;
mod plot;
mod scheme_id;
mod section;
mod section_view;
mod sections;
mod svg;
mod tables;
pub mod terminal;
mod view;
mod words;

#[cfg(test)]
mod flow_sample;
#[cfg(test)]
pub(crate) mod sample;

pub(crate) use format::{figure, interval, plain, ratio};
pub use html::{Part, html};
