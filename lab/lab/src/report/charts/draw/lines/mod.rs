//! Lines on logarithmic axes as inline SVG, labelled at their ends.

mod curve;
#[cfg(test)]
mod tests;

use super::super::{Line, LinePlot, LinePlots, Series};
use super::labels::{BOLD, LINE, number, placed, widest, width, wrapped};
use super::rows::{name_of_axis, numbers};
use super::svg::{Width, anchored, drawing, path, rect, text};
use super::{Drawn, Key, Scale};
use hashlane_stats::Interval;
use hashlane_stats::format;

/// Space above the plot, for the name of the vertical axis.
const TOP: f64 = 26.0;
/// Distance of zero from the first tick of a logarithmic scale.
const ZERO_GAP: f64 = 32.0;
/// The share of the drawing's width that labels at the ends of lines may take.
const LABELS: f64 = 0.34;
/// Ways of dashing; the first is a solid line.
const DASHES: usize = 4;
const GREY: &str = "line faint";

/// Each plot's drawing; a plot without any figure above zero is left out.
pub(super) fn draw(plots: &LinePlots, size: Width) -> Vec<Drawn> {
    let Some(chart) = Chart::new(plots, size) else { return Vec::new() };
    let any = |plot: &&LinePlot| plot.lines.iter().any(|line| shown(line).next().is_some());
    plots.plots.iter().filter(any).map(|plot| chart.plot(plot)).collect()
}

/// The entries of the legend: the intervals, the grey lines, and those in colour whose labels do not fit at
/// their ends at this width.
pub(super) fn legend(plots: &LinePlots, size: Width) -> Vec<Key> {
    let Some(chart) = Chart::new(plots, size) else { return Vec::new() };
    let (coloured, grey): (Vec<&Series>, Vec<&Series>) =
        plots.series.iter().partition(|series| series.emphasised);
    let mut keys = Vec::new();
    if !chart.labelled {
        keys.extend(coloured.iter().map(|series| Key::line(&chart.class(&series.name), words(series))));
    }
    let lines = || plots.plots.iter().flat_map(|plot| &plot.lines);
    let emphasised = |line: &&Line| chart.series(&line.name).is_some();
    let points = || lines().filter(emphasised).flat_map(shown).map(|(_, y)| y);
    if points().any(|y| y.low < y.high) {
        keys.push(Key::whisker("95 % interval"));
    }
    keys.extend(Key::remarks(points()));
    if !grey.is_empty() {
        keys.push(Key::line(GREY, "others, named in the table"));
    }
    keys
}

/// The words at the end of a series' line.
fn words(series: &Series) -> &str {
    series.label.as_deref().unwrap_or(&series.name)
}

/// The points that a logarithmic scale can hold.
fn shown(line: &Line) -> impl Iterator<Item = (f64, Interval)> {
    let finite =
        |(x, y): &&(f64, Interval)| *x >= 0.0 && x.is_finite() && y.value > 0.0 && y.value.is_finite();
    line.points.iter().filter(finite).copied()
}

/// A label at the end of a line: its series, the place of the end, and its lines of words.
struct Label<'a> {
    series: &'a Series,
    end: (f64, f64),
    lines: Vec<String>,
    top: f64,
}

/// Layout and scales that the drawings of all plots share.
struct Chart<'a> {
    plots: &'a LinePlots,
    size: Width,
    /// The distinct places on the horizontal axis that have a figure.
    xs: Vec<f64>,
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    bottom: f64,
    /// Lines have labels at their ends.
    labelled: bool,
}

impl<'a> Chart<'a> {
    fn new(plots: &'a LinePlots, size: Width) -> Option<Self> {
        let points = || plots.plots.iter().flat_map(|plot| &plot.lines).flat_map(shown);
        let mut xs: Vec<f64> = points().map(|(x, _)| x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let last = xs.last().copied()?;
        let first = xs.iter().copied().find(|x| *x > 0.0).unwrap_or(1.0);
        let (low, high) = points().fold((f64::INFINITY, 0.0), |(low, high), (_, y)| {
            (f64::min(low, y.value), f64::max(high, y.value))
        });
        // At least a factor of four, so that there are two numbers and noise stays small.
        let y = Scale::log(low, high, 4.0).with_margin(0.06);
        let bottom = TOP
            + match size {
                Width::Narrow => 200.0,
                Width::Medium => 260.0,
                Width::Wide => 360.0,
            };
        let y = y.between(bottom, TOP);
        let numbers: Vec<String> = y.ticks(ticks(size)).into_iter().map(number).collect();
        let left = widest(numbers.iter().map(String::as_str)) + 10.0;
        let x = Scale::log(first, last.max(first), 1.0);
        let mut chart = Self { plots, size, xs, x, y, left, right: 0.0, bottom, labelled: true };
        chart.lay_out(chart.label_width());
        chart.labelled = plots.plots.iter().all(|plot| chart.labels(plot).is_some());
        if !chart.labelled {
            chart.lay_out(0.0);
        }
        Some(chart)
    }

    /// Leaves room for labels of this width.
    fn lay_out(&mut self, labels: f64) {
        self.right = self.size.units() - if labels > 0.0 { labels + 14.0 } else { 14.0 };
        let from = self.left + if self.xs.first() == Some(&0.0) { ZERO_GAP } else { 10.0 };
        self.x = self.x.between(from, self.right);
    }

    fn label_width(&self) -> f64 {
        let room = LABELS * self.size.units() / BOLD;
        let labels = self.plots.series.iter().filter(|series| series.emphasised);
        let lines = labels.flat_map(|series| wrapped(words(series), room));
        lines.map(|line| BOLD * width(&line)).fold(0.0, f64::max)
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (if x > 0.0 { self.x.at(x) } else { self.left + 10.0 }, self.y.at(y))
    }

    fn series(&self, name: &str) -> Option<&'a Series> {
        self.plots.series.iter().find(|series| series.name == name && series.emphasised)
    }

    /// The class of a line: its role, and a way of dashing for each of the same role.
    fn class(&self, name: &str) -> String {
        let Some(series) = self.series(name) else { return GREY.to_owned() };
        let same = self.plots.series.iter().filter(|other| other.emphasised && other.role == series.role);
        let before = same.take_while(|other| other.name != name).count();
        format!("line {} dash{}", series.role.class(), before % DASHES)
    }

    /// The labels of a plot, or `None` if they do not fit.
    fn labels(&self, plot: &LinePlot) -> Option<Vec<Label<'a>>> {
        let room = LABELS * self.size.units() / BOLD;
        let label = |line: &Line| {
            let (series, last) = (self.series(&line.name)?, shown(line).last()?);
            let lines = wrapped(words(series), room);
            let end = self.place((last.0, last.1.value));
            (!lines.is_empty()).then_some(Label { series, end, lines, top: 0.0 })
        };
        let mut labels: Vec<Label<'_>> = plot.lines.iter().filter_map(label).collect();
        labels.sort_by(|a, b| a.end.1.total_cmp(&b.end.1));
        let blocks: Vec<(f64, f64)> =
            labels.iter().map(|label| (label.end.1, LINE * label.lines.len() as f64 + 2.0)).collect();
        let tops = placed(&blocks, TOP - 6.0, self.bottom + 6.0)?;
        for (label, top) in labels.iter_mut().zip(tops) {
            label.top = top;
        }
        Some(labels)
    }

    fn plot(&self, plot: &LinePlot) -> Drawn {
        let mut marks = String::new();
        self.shades(&mut marks);
        let height = self.axes(&mut marks);
        // Grey lines lie below all others, and of those the first in the list on top.
        let rank = |line: &Line| self.plots.series.iter().position(|s| s.name == line.name && s.emphasised);
        let mut order: Vec<&Line> = plot.lines.iter().collect();
        order.sort_by_key(|line| rank(line).map_or(0, |rank| usize::MAX - rank));
        for line in order {
            curve::line(&mut marks, self, line);
        }
        if self.labelled {
            self.labels(plot).iter().flatten().for_each(|l| curve::label(&mut marks, self, l));
        }
        let title = format!("{}: {} against {}", plot.caption, self.plots.y, self.plots.x);
        let svg = drawing(self.size, height, &title, &marks);
        Drawn { caption: plot.caption.clone(), note: plot.note.clone(), svg }
    }

    fn shades(&self, marks: &mut String) {
        let mut free = self.left;
        for (i, shade) in self.plots.shades.iter().enumerate() {
            let at = |x: f64, open: f64| if x.is_finite() && x > 0.0 { self.x.at(x) } else { open };
            let (from, to) = (at(shade.from, self.left), at(shade.to, self.right));
            if to <= from {
                continue;
            }
            let class = if i.is_multiple_of(2) { "shade" } else { "shade other" };
            rect(marks, class, (from, TOP), (to - from, self.bottom - TOP));
            let wide = width(&shade.label);
            if from.max(free) + wide + 6.0 <= to {
                text(marks, "name", from.max(free) + 4.0, self.bottom - 6.0, &shade.label);
                free = from.max(free) + wide + 8.0;
            }
        }
    }

    /// Draws the axes. Returns the height of the drawing.
    fn axes(&self, marks: &mut String) -> f64 {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        text(marks, "name", 0.0, 12.0, &self.plots.y);
        for tick in self.y.ticks(ticks(self.size)) {
            let (at, words) = (self.y.at(tick), number(tick));
            path(marks, "grid", format_args!("M{left:.1} {at:.1}H{right:.1}"));
            anchored(marks, "value", "end", (left - 6.0, at + 4.0), &words);
        }
        path(marks, "axis", format_args!("M{left:.1} {bottom:.1}H{right:.1}"));
        let first = self.xs.iter().copied().find(|x| *x > 0.0);
        if let Some(first) = first.filter(|_| self.xs.first() == Some(&0.0)) {
            // The scale is broken between zero and the first.
            let at = (self.place((0.0, 1.0)).0 + self.x.at(first)) / 2.0;
            path(marks, "axis", format_args!("M{:.1} {:.1}l4 -8m3 0l-4 8", at - 4.0, bottom + 4.0));
        }
        let words: Vec<(f64, String)> =
            self.xs.iter().map(|x| (self.place((*x, 1.0)).0, format::binary(*x))).collect();
        numbers(marks, &words, bottom, self.size.units());
        name_of_axis(marks, &self.plots.x, (left, right), self.size.units(), bottom + 32.0)
    }
}

/// Numbers on the vertical axis.
fn ticks(size: Width) -> usize {
    if size == Width::Narrow { 6 } else { 8 }
}
