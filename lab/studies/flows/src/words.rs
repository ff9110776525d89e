//! Figures in sentences: three significant digits at most.

use hashlane_stats::Interval;
use hashlane_stats::format::{count, interval};

/// A number with three significant digits at most, its thousands apart: `0.55`, `1.95`, `18.2`, `4,180`.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v < 0.1 => format!("{value:.3}"),
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        v if v < 999.5 => format!("{value:.0}"),
        v if v < 1e15 => {
            let unit = 10f64.powi(v.log10().floor() as i32 - 2);
            count((value / unit).round() * unit)
        }
        _ => count(value),
    }
}

/// A factor: `0.55 ×`.
pub(crate) fn times(factor: f64) -> String {
    format!("{} ×", number(factor))
}

/// A factor with its bounds: `1.45 × [1.40, 1.50]`.
pub(crate) fn times_with_bounds(factor: Interval) -> String {
    format!("{} {}", times(factor.value), interval(factor, number))
}

/// A count for people: `3,214`, `1.2 M`.
pub(crate) fn many(value: f64) -> String {
    if value < 1e6 {
        return count(value);
    }
    let millions = number(value / 1e6);
    let short = if millions.contains('.') { millions.trim_end_matches('0') } else { &millions };
    format!("{} M", short.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        let numbers = [0.0551, 0.5532, 1.9465, 18.22, 99.96, 133.7, 999.6, 4183.2, 134_403.1];
        let words = ["0.055", "0.55", "1.95", "18.2", "100", "134", "1,000", "4,180", "134,000"];
        assert_eq!(numbers.map(number), words);
        assert_eq!(times_with_bounds(Interval::bounded(1.45, 1.4, 1.5)), "1.45 × [1.40, 1.50]");
        assert_eq!(
            [1.0, 3214.0, 1_000_000.0, 1_203_567.0, 2e8].map(many),
            ["1", "3,214", "1 M", "1.2 M", "200 M"]
        );
    }
}
