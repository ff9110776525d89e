//! Charts of the last hour, as SVG.

use super::history::{Point, SPAN, Series};
use hashlane_stats::format::short;
use std::fmt::Write as _;
use std::time::Duration;

/// Size of a drawing, in its own units.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 130.0;

/// Margins: labels to the left and below.
const LEFT: f64 = 44.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 22.0;

/// Shortest time that a chart covers.
const SHORTEST: Duration = Duration::from_secs(600);

/// Most columns of a line.
const COLUMNS: usize = 240;

/// A chart: its title, its unit, and its lines, each with its name and colour.
pub(super) struct Chart {
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) lines: &'static [(&'static str, &'static str, Series)],
}

/// The chart with points up to `now`, the time since the start: of the last hour, or since the start if that
/// is later.
pub(super) fn figure(chart: &Chart, points: &[Point], now: Duration) -> String {
    let Chart { title, unit, lines } = chart;
    let span = now.clamp(SHORTEST, SPAN);
    let minutes = span.as_secs() / 60;
    let largest = lines.iter().flat_map(|(.., series)| points.iter().map(|point| point.value(*series)));
    let top = nice(largest.fold(0.0, f64::max));
    let mut out = format!("<figure><figcaption>{title} <span class=\"quiet\">{unit}</span></figcaption>");
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}, {unit}, over the last hour\">"
    );
    let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value / top);
    for part in [0.0, 0.5, 1.0] {
        let (at, class) = (y(part * top), if part == 0.0 { "zero" } else { "grid" });
        let label = if part == 0.0 { "0".to_owned() } else { short(part * top) };
        let _ = write!(
            out,
            "<path class=\"{class}\" d=\"M{LEFT} {at:.1}H{}\"/><text class=\"tick\" x=\"{}\" y=\"{:.1}\">{label}</text>",
            WIDTH - RIGHT,
            LEFT - 5.0,
            at + 4.0
        );
    }
    let labels = [(0.0, format!("{minutes} min ago"), "start"), (1.0, "now".to_owned(), "end")];
    for (part, label, anchor) in labels {
        let x = LEFT + part * (WIDTH - LEFT - RIGHT);
        let _ = write!(
            out,
            "<text class=\"time {anchor}\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
            HEIGHT - 5.0
        );
    }
    for (_, class, series) in *lines {
        let path = path(points, *series, (now, span), y);
        if !path.is_empty() {
            let _ = write!(out, "<path class=\"line {class}\" d=\"{path}\"/>");
        }
    }
    out.push_str("</svg><div class=\"legend\">");
    for (name, class, series) in *lines {
        let last = points.last().map_or_else(|| "–".to_owned(), |point| number(point.value(*series)));
        let _ = write!(
            out,
            "<span><svg width=\"18\" height=\"8\" aria-hidden=\"true\"><path class=\"line {class}\" d=\"M1 4H17\"/></svg>\
             {name} <b>{last}</b></span>"
        );
    }
    out.push_str("</div></figure>");
    out
}

/// A rate or a size in words: whole from 10 on.
pub(super) fn number(value: f64) -> String {
    if value > 0.0 && value < 9.95 { format!("{value:.1}") } else { short(value.round()) }
}

/// A line through the means of the columns that have points.
fn path(
    points: &[Point],
    series: Series,
    (now, span): (Duration, Duration),
    y: impl Fn(f64) -> f64,
) -> String {
    let mut columns = [(0.0, 0_u32); COLUMNS];
    for point in points {
        let ago = now.saturating_sub(point.since).as_secs_f64() / span.as_secs_f64();
        let at = ((1.0 - ago) * (COLUMNS - 1) as f64).round();
        if at >= 0.0
            && let Some((sum, count)) = columns.get_mut(at as usize)
        {
            *sum += point.value(series);
            *count += 1;
        }
    }
    let filled: Vec<_> = columns.iter().enumerate().filter(|(_, (_, count))| *count > 0).collect();
    let mut out = String::new();
    for (at, (sum, count)) in &filled {
        let x = LEFT + (WIDTH - LEFT - RIGHT) * *at as f64 / (COLUMNS - 1) as f64;
        let command = if out.is_empty() { 'M' } else { 'L' };
        let _ = write!(out, "{command}{x:.1} {:.1}", y(sum / f64::from(*count)));
    }
    if filled.len() == 1 {
        // A point, which a round cap draws.
        out.push_str("h0");
    }
    out
}

/// A round number that is not below `value`, above 0.
fn nice(value: f64) -> f64 {
    if !(value.is_finite() && value > 1.0) {
        return 1.0;
    }
    let decade = 10_f64.powf(value.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * decade >= value);
    step.unwrap_or(10.0) * decade
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::history::History;
    use crate::totals::Totals;

    #[test]
    fn scales_end_at_round_numbers() {
        let tops = [0.0, 0.3, 1.0, 1.1, 3.0, 7.0, 10.0, 1234.0, f64::NAN, f64::INFINITY].map(nice);
        assert_eq!(tops, [1.0, 1.0, 1.0, 2.0, 5.0, 10.0, 10.0, 2000.0, 1.0, 1.0]);
    }

    #[test]
    fn a_line_stays_inside_of_the_drawing() {
        let (counters, mut history) = (Totals::default(), History::default());
        history.add(&counters, Duration::ZERO, 0.0);
        for sample in 1..1000_u32 {
            counters.first().in_interests.add(u64::from(sample) * 7919 % 1000);
            history.add(&counters, sample * super::super::INTERVAL, 5.0);
        }
        let chart = Chart {
            title: "Interests",
            unit: "a second",
            lines: &[("received", "ours", Series::InInterests)],
        };
        let now = 999 * super::super::INTERVAL;
        let svg = figure(&chart, &history.points(), now);
        let path = svg
            .split("class=\"line ours\" d=\"M")
            .nth(1)
            .expect("a line")
            .split('"')
            .next()
            .expect("its end");
        let numbers: Vec<f64> =
            path.split(['L', ' ']).map(|number| number.parse().expect("a number")).collect();
        assert_eq!(numbers.len(), 2 * COLUMNS);
        for point in numbers.chunks(2) {
            assert!(
                (LEFT..=WIDTH - RIGHT).contains(&point[0]) && (TOP..=HEIGHT - BOTTOM).contains(&point[1])
            );
        }
        assert!(!figure(&chart, &[], now).contains("d=\"\""));
    }
}
