//! Rows of labelled marks above a horizontal axis, as bars and intervals share them.

use super::labels::{LINE, centred, number, shortened, width, wrapped};
use super::scale::Scale;
use super::svg::{Width, anchored, path, text};
use hashlane_stats::{Interval, format};

/// Height of a line of words above a mark.
pub(super) const HEAD: f64 = 17.0;
/// Most of the drawing's width that labels beside the marks may take.
const LABELS: f64 = 0.46;
/// Least of the drawing's width for the marks.
const MARKS: f64 = 0.2;

/// The columns of a chart.
pub(super) struct Columns {
    /// The labels stand above their marks, since they are too long to stand beside them and the figures.
    pub(super) above: bool,
    /// The space that the marks have.
    pub(super) left: f64,
    pub(super) right: f64,
    /// The width of the drawing.
    pub(super) width: f64,
}

impl Columns {
    /// Columns for labels and figures of these widths.
    pub(super) fn new(size: Width, labels: f64, figures: f64) -> Self {
        let width = size.units();
        let above = labels > LABELS * width || labels + figures + 20.0 > (1.0 - MARKS) * width;
        let left = if above { 1.0 } else { labels + 8.0 };
        let right = (width - figures - 12.0).max(left + MARKS * width).min(width - 8.0);
        Self { above, left, right, width }
    }

    /// Space above a mark.
    pub(super) fn head(&self) -> f64 {
        if self.above { HEAD } else { 0.0 }
    }

    /// Draws a label; `y` is the top of the row, `middle` the middle of the mark.
    pub(super) fn label(&self, marks: &mut String, words: &str, y: f64, middle: f64, room: f64) {
        if self.above {
            text(marks, "label", 0.0, y + 12.5, &shortened(words, room));
        } else {
            let words = shortened(words, self.left - 8.0);
            anchored(marks, "label", "end", (self.left - 8.0, middle + 4.0), &words);
        }
    }
}

/// The words beside a mark: its figure, with a remark if it is of one sample.
pub(super) fn printed(value: Option<Interval>, figure: &str) -> String {
    match value {
        None => format::none(),
        Some(value) if value.coverage == 0.0 => format!("{figure} (n = 1)"),
        Some(_) => figure.to_owned(),
    }
}

/// The figures on the axis, fewer on a narrow drawing.
pub(super) fn ticks(scale: &Scale, columns: &Columns) -> Vec<f64> {
    scale.ticks((((columns.right - columns.left) / 45.0) as usize).clamp(3, 8))
}

/// Draws the lines of the grid from `top` to `bottom`.
pub(super) fn grid(marks: &mut String, scale: &Scale, columns: &Columns, top: f64, bottom: f64) {
    for tick in ticks(scale, columns) {
        path(marks, "grid", format_args!("M{:.1} {top:.1}V{bottom:.1}", scale.at(tick)));
    }
}

/// Draws the axis with its figures and its name at `y`. Returns the height of the drawing.
pub(super) fn axis(marks: &mut String, scale: &Scale, columns: &Columns, y: f64, name: &str) -> f64 {
    path(marks, "axis", format_args!("M{:.1} {y:.1}H{:.1}", columns.left, columns.right));
    let words: Vec<(f64, String)> =
        ticks(scale, columns).into_iter().map(|tick| (scale.at(tick), number(tick))).collect();
    numbers(marks, &words, y, columns.width);
    name_of_axis(marks, name, (columns.left, columns.right), columns.width, y + 32.0)
}

/// Draws the numbers of a horizontal axis and their ticks at `y`.
pub(super) fn numbers(marks: &mut String, words: &[(f64, String)], y: f64, wide: f64) {
    for ((at, words), middle) in words.iter().zip(centred(words, 0.0, wide)) {
        path(marks, "axis", format_args!("M{at:.1} {y:.1}v4"));
        if let Some(middle) = middle {
            anchored(marks, "value", "middle", (middle, y + 16.0), words);
        }
    }
}

/// Draws the name of a horizontal axis below its figures, centred on it where it fits. Returns the height of
/// the drawing.
pub(super) fn name_of_axis(
    marks: &mut String,
    name: &str,
    (left, right): (f64, f64),
    wide: f64,
    y: f64,
) -> f64 {
    let mut base = y;
    for line in wrapped(name, wide) {
        let half = width(&line) / 2.0;
        let middle = ((left + right) / 2.0).min(wide - half).max(half);
        anchored(marks, "name", "middle", (middle, base), &line);
        base += LINE;
    }
    base - LINE + 6.0
}
