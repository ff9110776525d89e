//! Figures as text.

use crate::stats::Interval;

/// What stands where there is no record.
pub(crate) const NONE: &str = "—";

/// Cycles and other plain figures: one decimal below 100, none from there on.
pub(crate) fn figure(value: f64) -> String {
    // What rounds to 100.0 is written like 100.
    if value.abs() < 99.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// Ratios: three decimals below 2, where differences of a percent count; fewer above.
pub(crate) fn ratio(value: f64) -> String {
    match value.abs() {
        v if v < 2.0 => format!("{value:.3}"),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// `[low, high]`, each bound as `show` has it.
pub(crate) fn interval(interval: Interval, show: fn(f64) -> String) -> String {
    format!("[{}, {}]", show(interval.low), show(interval.high))
}

/// Text from outside with its control characters made visible, so that it can neither steer a terminal nor turn the
/// reading direction.
pub(crate) fn plain(text: &str) -> String {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_as_many_decimals_as_count() {
        assert_eq!([0.04, 10.55, 99.94, 99.96, 251.5].map(figure), ["0.0", "10.6", "99.9", "100", "252"]);
        assert_eq!([0.1156, 1.0284, 2.5, 12.34, 123.4].map(ratio), ["0.116", "1.028", "2.50", "12.3", "123"]);
        let bounds = Interval { value: 10.5, low: 10.25, high: 111.0 };
        assert_eq!(interval(bounds, figure), "[10.2, 111]");
    }

    #[test]
    fn keeps_control_characters_from_the_terminal() {
        assert_eq!(plain("a\x1b[31m\u{202e}b\n"), "a\u{fffd}[31m\u{fffd}b\u{fffd}");
    }
}
