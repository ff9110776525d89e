//! Charts of a report as data, and their drawing. The data are free of SVG and nothing in them is escaped:
//! the drawing does that.

mod bars;
pub(super) mod draw;
mod forest;
mod lines;
mod role;
mod svg_file;

pub use bars::{Bar, BarPlot, BarPlots, Group};
pub use forest::{Forest, ForestRow};
pub use lines::{Line, LinePlot, LinePlots, Series, Shade};
pub use role::Role;
pub use svg_file::svg_file;
