//! Entries of a legend: a mark, and its meaning.

use super::svg::{circle, path, rect};
use hashlane_stats::{ENOUGH_SAMPLES, Interval};

/// An entry of a legend.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super::super) struct Key {
    /// The mark as SVG.
    pub(in super::super::super) mark: String,
    /// Its meaning.
    pub(in super::super::super) words: String,
}

impl Key {
    fn new(words: &str, draw: impl FnOnce(&mut String)) -> Self {
        let mut marks = String::new();
        draw(&mut marks);
        let mark = format!(
            "<svg width=\"24\" height=\"12\" viewBox=\"0 0 24 12\" aria-hidden=\"true\">{marks}</svg>"
        );
        Self { mark, words: words.to_owned() }
    }

    pub(super) fn swatch(class: &str, words: &str) -> Self {
        Self::new(words, |marks| rect(marks, class, (6.0, 0.5), (11.0, 11.0)))
    }

    pub(super) fn whisker(words: &str) -> Self {
        Self::new(words, |marks| path(marks, "whisker", format_args!("M3 3v6m0 -3H21m0 -3v6")))
    }

    pub(super) fn tick(words: &str) -> Self {
        Self::new(words, |marks| path(marks, "tick", format_args!("M12 0v12")))
    }

    pub(super) fn line(class: &str, words: &str) -> Self {
        Self::new(words, |marks| path(marks, class, format_args!("M0 6H24")))
    }

    /// Remarks on figures of one sample, and on intervals of too few.
    pub(super) fn remarks(intervals: impl Iterator<Item = Interval>) -> Vec<Self> {
        let (mut few, mut single) = (false, false);
        for interval in intervals {
            single |= interval.coverage == 0.0;
            few |= interval.coverage > 0.0 && !interval.is_conclusive();
        }
        let mut keys = Vec::new();
        if few {
            let words = format!("fewer than {ENOUGH_SAMPLES} samples, all of them");
            keys.push(Self::new(&words, |marks| path(marks, "whisker few", format_args!("M3 6H21"))));
        }
        if single {
            keys.push(Self::new("n = 1", |marks| circle(marks, "single", 12.0, 6.0, 3.5)));
        }
        keys
    }
}
