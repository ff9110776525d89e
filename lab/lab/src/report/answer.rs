//! The answer to a study's question: a sentence with its figures, or the reason why it has no answer.

use super::section::Block;
use crate::evidence::Doubt;
use hashlane_stats::Interval;
use hashlane_stats::format::{ONE_LAUNCH, significant};

/// Answer to a study's question, from its records.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The sentence, or the reason for which it is withheld.
    pub sentence: Result<Statement, Doubt>,
    /// The picture of the answer: lines, bars or intervals.
    pub chart: Option<Block>,
    /// Results that contradict the source or common belief, a sentence each. Claims of the study file that
    /// the records contradict are listed without it.
    pub surprises: Vec<String>,
    /// Choices that favour a scheme, and other limits of the answer, a sentence each.
    pub limits: Vec<String>,
}

/// A sentence and the figures that it states.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The sentence, or two.
    pub text: String,
    /// Figures in it that carry an uncertainty.
    pub figures: Vec<Interval>,
}

impl Answer {
    /// An answer without a picture.
    pub fn new(sentence: Result<Statement, Doubt>) -> Self {
        Self { sentence, chart: None, surprises: Vec::new(), limits: Vec::new() }
    }
}

impl Statement {
    /// Largest distance of a bound from its figure as the sentence rounds it, as a share of that; `None`
    /// without figures.
    pub fn precision(&self) -> Option<f64> {
        let share = |i: &Interval| {
            let shown = significant(i.value).replace(',', "").parse().unwrap_or(i.value);
            ((i.high - shown) / shown).max((shown - i.low) / shown)
        };
        self.figures.iter().filter(|i| i.value > 0.0).map(share).reduce(f64::max)
    }

    /// The precision for people, rounded up: `±1 %`; with a mark if it holds within one launch only.
    pub fn precision_text(&self) -> Option<String> {
        let percent = self.precision()? * 100.0;
        let digits = if percent < 0.9 { 10.0 } else { 1.0 };
        // Less than any digit shown, so that 5.000000000000004 is not rounded to 6.
        let percent = (percent * digits - 1e-9).ceil() / digits;
        let mark = if self.figures.iter().any(|figure| figure.one_launch) { ONE_LAUNCH } else { "" };
        Some(format!("±{percent} %{mark}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(figures: &[(f64, f64, f64)]) -> Option<String> {
        let figures = figures.iter().map(|&(value, low, high)| Interval::bounded(value, low, high));
        Statement { text: String::new(), figures: figures.collect() }.precision_text()
    }

    #[test]
    fn the_precision_holds_around_the_rounded_figure() {
        // 0.2345 is written 0.23, from which the upper bound is 2.2 % away.
        assert_eq!(of(&[(0.2345, 0.234, 0.235)]).as_deref(), Some("±3 %"));
        assert_eq!(of(&[(1871.0, 1870.9, 1872.0)]).as_deref(), Some("±0.2 %"));
    }

    #[test]
    fn the_precision_of_one_launch_is_marked() {
        let figures = vec![Interval { one_launch: true, ..Interval::bounded(1.0, 0.99, 1.01) }];
        let statement = Statement { text: String::new(), figures };
        assert_eq!(statement.precision_text().as_deref(), Some("±1 %¹"));
    }

    #[test]
    fn the_precision_is_that_of_the_widest_figure() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(1.0, 0.99, 1.02), (2.0, 1.9, 2.0)]).as_deref(), Some("±5 %"));
        assert_eq!(of(&[(1.0, 0.998, 1.001)]).as_deref(), Some("±0.2 %"));
    }
}
