//! Views of records: the HTML page, the terminal's tables, and the drawings in them.

mod answer;
mod charts;
mod differences;
pub(crate) mod facts;
pub mod fill;
mod json;
mod markdown;
mod noise;
mod page;
mod part;
pub mod scheme_id;
mod section;
pub mod terminal;
pub mod words;

#[cfg(test)]
pub(crate) mod sample;

pub use answer::{Answer, Statement};
pub use charts::{
    Bar, BarPlot, BarPlots, Forest, ForestRow, Group, Line, LinePlot, LinePlots, Role, Series, Shade,
    svg_file,
};
pub use differences::{Difference, differences};
pub use json::json;
pub use markdown::markdown;
pub use noise::{NoiseLine, noise};
pub use page::{html, sections_html};
pub use part::Part;
pub use section::{Block, Section, Shown, Table, Text};
