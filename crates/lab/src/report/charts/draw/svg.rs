//! Helpers that all drawings share.

use core::fmt::{Arguments, Write};

use minijinja::HtmlEscape;

/// The width of a drawing, in its own units; at 1:1 it fits a screen 400 pixels wide.
pub(super) const WIDTH: f64 = 352.0;

/// About the width of `words` in the labels' size, in the widest of the system's fonts: digits are wider than
/// the average letter.
pub(super) fn width(words: &str) -> f64 {
    words.chars().map(|c| if c.is_ascii_digit() || c == '–' || c.is_uppercase() { 7.4 } else { 6.4 }).sum()
}

/// Adds words that begin at `x`, on the base line `y`; they are escaped here.
pub(super) fn text(marks: &mut String, class: &str, x: f64, y: f64, words: &str) {
    push(
        marks,
        format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", HtmlEscape(words)),
    );
}

/// Adds a piece that is already SVG.
pub(super) fn push(marks: &mut String, piece: Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = marks.write_fmt(piece);
}
