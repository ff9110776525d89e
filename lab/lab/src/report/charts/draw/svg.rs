//! Pieces of SVG.

use core::fmt::{Arguments, Write};

use minijinja::HtmlEscape;

/// Width of a drawing. Each is shown at about 1:1, so that its text keeps its size on the screen; the page
/// shows the widest that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super::super) enum Width {
    /// A telephone, or one of several charts beside each other.
    Narrow,
    /// A card, two of them beside each other.
    Medium,
    /// The page.
    Wide,
}

impl Width {
    /// In units of the drawing.
    pub(super) fn units(self) -> f64 {
        match self {
            Self::Narrow => 320.0,
            Self::Medium => 540.0,
            Self::Wide => 1100.0,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Narrow => "narrow",
            Self::Medium => "medium",
            Self::Wide => "wide",
        }
    }
}

/// A drawing around `marks`, which are SVG already.
pub(super) fn drawing(width: Width, height: f64, title: &str, marks: &str) -> String {
    format!(
        "<svg class=\"{}\" viewBox=\"0 0 {} {height:.0}\" role=\"img\" aria-label=\"{}\">{marks}</svg>",
        width.class(),
        width.units(),
        HtmlEscape(title)
    )
}

/// Adds words that begin at `x`, on the base line `y`; they are escaped here.
pub(super) fn text(marks: &mut String, class: &str, x: f64, y: f64, words: &str) {
    push(
        marks,
        format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", HtmlEscape(words)),
    );
}

/// Adds words whose middle or end, by the `anchor` (`middle` or `end`), is at the place.
pub(super) fn anchored(marks: &mut String, class: &str, anchor: &str, (x, y): (f64, f64), words: &str) {
    push(
        marks,
        format_args!(
            "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
            HtmlEscape(words)
        ),
    );
}

/// Adds a path.
pub(super) fn path(marks: &mut String, class: &str, d: Arguments<'_>) {
    push(marks, format_args!("<path class=\"{class}\" d=\"{d}\"/>"));
}

/// Adds a rectangle; one without extent is half a unit wide, so that it is seen.
pub(super) fn rect(marks: &mut String, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
    let width = width.max(0.5);
    push(
        marks,
        format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        ),
    );
}

/// Adds a circle.
pub(super) fn circle(marks: &mut String, class: &str, x: f64, y: f64, radius: f64) {
    push(marks, format_args!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"));
}

/// Adds a piece that is already SVG.
pub(super) fn push(marks: &mut String, piece: Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = marks.write_fmt(piece);
}
