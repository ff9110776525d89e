//! The answer to a study's question: a sentence with its figures, or the reason why there is none.

use super::section::Block;
use crate::evidence::Doubt;
use crate::stats::Interval;

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
    /// Largest distance of a bound from its figure, as a share of the figure; `None` without figures.
    pub fn precision(&self) -> Option<f64> {
        let share = |i: &Interval| ((i.high - i.value) / i.value).max((i.value - i.low) / i.value);
        self.figures.iter().filter(|i| i.value > 0.0).map(share).reduce(f64::max)
    }

    /// The precision for people: `±1 %`.
    pub fn precision_text(&self) -> Option<String> {
        let percent = self.precision()? * 100.0;
        Some(if percent < 0.95 { format!("±{percent:.1} %") } else { format!("±{percent:.0} %") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_precision_is_that_of_the_widest_figure() {
        let of = |figures: &[(f64, f64, f64)]| {
            let figures = figures.iter().map(|&(value, low, high)| Interval::bounded(value, low, high));
            Statement { text: String::new(), figures: figures.collect() }.precision_text()
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(1.0, 0.99, 1.02), (2.0, 1.9, 2.0)]).as_deref(), Some("±5 %"));
        assert_eq!(of(&[(1.0, 0.998, 1.001)]).as_deref(), Some("±0.2 %"));
    }
}
