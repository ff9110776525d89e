//! Figures as text, and text from outside.

use crate::Interval;

/// Text of a cell without a record.
pub const NONE: &str = "—";

/// [`NONE`] as a cell.
pub fn none() -> String {
    NONE.to_owned()
}

/// Cycles and other plain figures: one decimal below 100, none from there on.
pub fn figure(value: f64) -> String {
    // A value that rounds to 100.0 is written like 100.
    if value.abs() < 99.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// Ratios: three decimals below 2, where differences of a percent count; fewer above.
pub fn ratio(value: f64) -> String {
    match value.abs() {
        v if v < 2.0 => format!("{value:.3}"),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A figure in a sentence: 3 significant digits at most, thousands apart.
pub fn significant(value: f64) -> String {
    match value.abs() {
        v if v < 0.0995 => format!("{value:.3}"),
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        // Beyond, the rounded number may be infinite.
        v if v >= 1e15 => short(value),
        v => {
            let unit = 10_f64.powi(v.log10().floor() as i32 - 2);
            let rounded = count((v / unit).round() * unit);
            if value < 0.0 { format!("-{rounded}") } else { rounded }
        }
    }
}

/// A share in percent: `1.2 %`; from 1,000 % on as a factor.
pub fn percent(share: f64) -> String {
    if share.abs() < 10.0 { format!("{:.1} %", 100.0 * share) } else { format!("× {}", short(share)) }
}

/// A count, its thousands apart: `1,048,576`. Fractions are cut off.
pub fn count(value: f64) -> String {
    // Beyond this a float does not count any more.
    if !(0.0..1e15).contains(&value) {
        return short(value);
    }
    let digits = (value as u64).to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count and its noun: `1 row`, `2 rows`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A count in units of memory if it is a multiple of one: `64Ki`, `16Mi`.
pub fn binary(value: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1_073_741_824.0, "Gi"), (1_048_576.0, "Mi"), (1024.0, "Ki")];
    let fits = |(size, _): &&(f64, &str)| value >= *size && value % size == 0.0;
    match UNITS.iter().find(fits) {
        Some((size, unit)) => format!("{}{unit}", count(value / size)),
        None => count(value),
    }
}

/// A number on an axis, as short as it can be.
pub fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if !(1e-3..1e7).contains(&v) => format!("{value:.0e}"),
        v if v >= 10.0 && value < 0.0 => format!("{value:.0}"),
        v if v >= 10.0 => count(value.round()),
        _ => {
            let fixed = format!("{value:.3}");
            fixed.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// Mark of bounds that hold within one launch only.
pub const ONE_LAUNCH: &str = "¹";

/// `[low, high]`, each bound formatted by `show`; with [`ONE_LAUNCH`] if they hold within one launch only,
/// and with the coverage if it is below 95 %: `[low, high]¹ at 75 %`. The figure that stands beside it must
/// be formatted by `show`, too: of a figure within the bounds, any function here writes a number within.
pub fn interval(interval: Interval, show: impl Fn(f64) -> String) -> String {
    let mark = if interval.one_launch { ONE_LAUNCH } else { "" };
    let bounds = format!("[{}, {}]{mark}", show(interval.low), show(interval.high));
    if interval.is_conclusive() {
        return bounds;
    }
    // Rounded down: 93.75 % is not 94 %.
    format!("{bounds} at {:.0} %", (interval.coverage * 100.0).floor())
}

/// Text from outside with its control characters made visible, so that it can neither steer a terminal nor
/// turn the reading direction.
pub fn plain(text: &str) -> String {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The number that a text says.
    fn read(text: &str) -> f64 {
        let (text, scale) = match (text.strip_suffix(" %"), text.strip_prefix("× ")) {
            (Some(percent), _) => (percent, 0.01),
            (None, factor) => (factor.unwrap_or(text), 1.0),
        };
        text.replace(',', "").parse::<f64>().unwrap() * scale
    }

    proptest! {
        #[test]
        fn prints_every_figure_within_its_bounds(
            value in prop_oneof![0.0..3.0f64, 0.0..120.0f64, 0.0..2e4f64, prop::num::f64::POSITIVE],
            down in 0.0..0.02f64,
            up in 0.0..0.02f64,
        ) {
            for show in [figure, ratio, significant, percent, count, short] {
                let [low, value, high] = [value * (1.0 - down), value, value * (1.0 + up)].map(show);
                let within = read(&low) <= read(&value) && read(&value) <= read(&high);
                prop_assert!(within, "{value} [{low}, {high}]");
            }
        }
    }

    #[test]
    fn shows_as_many_decimals_as_count() {
        assert_eq!([0.04, 10.55, 99.94, 99.96, 251.5].map(figure), ["0.0", "10.6", "99.9", "100", "252"]);
        assert_eq!([0.1156, 1.0284, 2.5, 12.34, 123.4].map(ratio), ["0.116", "1.028", "2.50", "12.3", "123"]);
        let bounds = Interval::bounded(10.5, 10.25, 111.0);
        assert_eq!(interval(bounds, figure), "[10.2, 111]");
    }

    #[test]
    fn writes_shares_of_any_size() {
        assert_eq!([0.0123, 0.5, f64::MAX].map(percent), ["1.2 %", "50.0 %", "× 2e308"]);
    }

    #[test]
    fn states_the_coverage_of_bounds_that_have_less_than_95_percent() {
        let of = |samples| {
            let coverage = crate::coverage(samples);
            interval(Interval { coverage, ..Interval::bounded(10.5, 10.0, 11.0) }, figure)
        };
        assert_eq!(of(2), "[10.0, 11.0] at 50 %");
        assert_eq!(of(3), "[10.0, 11.0] at 75 %");
        assert_eq!(of(5), "[10.0, 11.0] at 93 %");
        assert_eq!(of(6), "[10.0, 11.0]");
        let one_launch = Interval { one_launch: true, ..Interval::bounded(10.5, 10.0, 11.0) };
        assert_eq!(interval(one_launch, figure), "[10.0, 11.0]¹");
        let few = Interval { coverage: crate::coverage(3), ..one_launch };
        assert_eq!(interval(few, figure), "[10.0, 11.0]¹ at 75 %");
    }

    #[test]
    fn figures_in_sentences_have_3_digits_at_most() {
        let shown = [0.0282, 0.28, 1.2845, 9.999, 42.25, 549.6, 1871.0, 65_510.0].map(significant);
        assert_eq!(shown, ["0.028", "0.28", "1.28", "10.0", "42.2", "550", "1,870", "65,500"]);
        assert_eq!([-0.5, -1871.0].map(significant), ["-0.50", "-1,870"]);
    }

    #[test]
    fn writes_counts_and_axes() {
        assert_eq!([0.0, 999.0, 1000.0, 1_048_576.0].map(count), ["0", "999", "1,000", "1,048,576"]);
        assert_eq!([-1.0, -50.0, 1e300].map(count), ["-1", "-50", "1e300"]);
        assert_eq!([0.0, 16.0, 1024.0, 3072.0, 1000.0].map(binary), ["0", "16", "1Ki", "3Ki", "1,000"]);
        assert_eq!([1_048_576.0, 16_777_216.0].map(binary), ["1Mi", "16Mi"]);
        assert_eq!(
            [0.0, 0.1, 1.5, 2.0, 50.0, 1e4, 1e9].map(short),
            ["0", "0.1", "1.5", "2", "50", "10,000", "1e9"]
        );
    }

    #[test]
    fn counts_nouns() {
        assert_eq!([0, 1, 2].map(|count| plural(count, "row")), ["0 rows", "1 row", "2 rows"]);
    }

    #[test]
    fn keeps_control_characters_from_the_terminal() {
        assert_eq!(plain("a\x1b[31m\u{202e}b\n"), "a\u{fffd}[31m\u{fffd}b\u{fffd}");
    }
}
