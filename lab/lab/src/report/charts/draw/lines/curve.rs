//! A line of a chart: its path, points with their intervals, and the label at its end.

use minijinja::HtmlEscape;

use super::super::super::{Line, Series};
use super::super::labels::LINE;
use super::super::svg::{circle, path, push, text};
use super::{Chart, Label, shown};
use hashlane_stats::Interval;
use hashlane_stats::format::{self, figure, interval};

/// A label this far from the end of its line gets a leader.
const LEADER: f64 = 7.0;

/// Draws a line, and its points if it is emphasised.
pub(super) fn line(marks: &mut String, chart: &Chart<'_>, line: &Line) {
    let mut d = String::new();
    for (i, (x, y)) in shown(line).enumerate() {
        let (step, (x, y)) = (if i == 0 { 'M' } else { 'L' }, chart.place((x, y.value)));
        push(&mut d, format_args!("{step}{x:.1} {y:.1}"));
    }
    push(marks, format_args!("<g><title>{}</title>", HtmlEscape(&line.name)));
    path(marks, &chart.class(&line.name), format_args!("{d}"));
    if let Some(series) = chart.series(&line.name) {
        shown(line).for_each(|point| point_at(marks, chart, series, point));
    }
    marks.push_str("</g>");
}

/// Draws a point with its interval: hollow if it is of one sample.
fn point_at(marks: &mut String, chart: &Chart<'_>, series: &Series, (x, y): (f64, Interval)) {
    let (class, single) = (series.role.class(), y.coverage == 0.0);
    let (at, middle) = chart.place((x, y.value));
    push(
        marks,
        format_args!(
            "<g><title>{}</title>",
            HtmlEscape(&format!(
                "{}, {} {}: {} {} {}",
                series.name,
                format::count(x),
                chart.plots.x,
                figure(y.value),
                if single { "(n = 1)".to_owned() } else { interval(y, figure) },
                chart.plots.y
            ))
        ),
    );
    if y.low < y.high && y.low > 0.0 && y.high.is_finite() {
        let (low, high) = (chart.y.at(y.low), chart.y.at(y.high));
        let few = if y.is_conclusive() { "" } else { " few" };
        let d = format_args!("M{:.1} {low:.1}h7m-3.5 0V{high:.1}m-3.5 0h7", at - 3.5);
        path(marks, &format!("span {class}{few}"), d);
    }
    circle(marks, &if single { format!("{class} hollow") } else { class.to_owned() }, at, middle, 3.0);
    marks.push_str("</g>");
}

/// Draws a label, with a leader if it is not right beside the end of its line.
pub(super) fn label(marks: &mut String, chart: &Chart<'_>, label: &Label<'_>) {
    let (class, x) = (label.series.role.class(), chart.right + 12.0);
    let middle = label.top + LINE * label.lines.len() as f64 / 2.0;
    let (from, end) = label.end;
    if (middle - end).abs() > LEADER || chart.right - from > LEADER {
        path(marks, "leader", format_args!("M{:.1} {end:.1}L{:.1} {middle:.1}", from + 5.0, x - 3.0));
    }
    for (i, line) in label.lines.iter().enumerate() {
        let base = label.top + LINE * i as f64 + 11.0;
        text(marks, &format!("end {class}"), x, base, line);
    }
}
