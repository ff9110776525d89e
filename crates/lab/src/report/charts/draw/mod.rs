//! Charts as inline SVG.

pub(in super::super) mod bars;
pub(in super::super) mod forest;
pub(in super::super) mod lines;
mod svg;
