//! Intervals as inline SVG.

use minijinja::HtmlEscape;

use super::super::Forest;
use super::svg::{WIDTH, text, width};

const ROW: f64 = 20.0;

/// The drawing.
pub(in super::super::super) fn draw(forest: &Forest) -> String {
    let (mut marks, mut y) = (String::new(), 0.0);
    for row in &forest.rows {
        y += ROW;
        text(&mut marks, "label", 0.0, y - 6.0, &row.label);
        text(&mut marks, "value", WIDTH - width(&row.figure), y - 6.0, &row.figure);
    }
    let title = HtmlEscape(&forest.axis);
    format!("<svg viewBox=\"0 0 {WIDTH} {y}\" role=\"img\" aria-label=\"{title}\">{marks}</svg>")
}
