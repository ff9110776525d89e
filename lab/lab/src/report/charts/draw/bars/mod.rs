//! Horizontal bars as inline SVG, on one scale. A logarithmic scale has no zero: there they are points on
//! thin stems.

#[cfg(test)]
mod tests;

use minijinja::HtmlEscape;

use super::super::{Bar, BarPlot, BarPlots, Role};
use super::labels::{shortened, widest, width};
use super::rows::{self, Columns};
use super::svg::{Width, anchored, circle, drawing, path, push, rect, text};
use super::{Drawn, Key, Scale};
use hashlane_stats::Interval;

const ROW: f64 = 21.0;
const BAR: f64 = 13.0;
/// Radius of a point on a logarithmic scale.
const RADIUS: f64 = 4.5;
const HEADING: f64 = 22.0;
/// Space between two groups.
const GAP: f64 = 6.0;
/// Tints of stacked parts; more parts share the lightest.
const TINTS: usize = 8;
/// Tints dark enough for light words.
const DARK_TINTS: usize = 2;

/// Each plot's drawing; a plot without any figure is left out.
pub(super) fn draw(plots: &BarPlots, size: Width) -> Vec<Drawn> {
    let figures: Vec<String> = bars(plots).map(|bar| rows::printed(bar.value, &bar.figure)).collect();
    let labels = widest(bars(plots).map(|bar| bar.label.as_str()));
    let columns = Columns::new(size, labels, widest(figures.iter().map(String::as_str)));
    let scale = scale(plots).between(columns.left, columns.right);
    let chart = Chart { plots, columns, scale, size };
    let any = |plot: &&BarPlot| plot.groups.iter().flat_map(|g| &g.bars).any(|bar| shown(bar).is_some());
    plots.plots.iter().filter(any).map(|plot| chart.plot(plot)).collect()
}

/// The entries of the legend.
pub(super) fn legend(plots: &BarPlots) -> Vec<Key> {
    let mut keys: Vec<Key> =
        plots.legend.iter().map(|(role, words)| Key::swatch(role.class(), words)).collect();
    if !plots.log
        && let Some(bar) = bars(plots).find(|bar| !bar.segments.is_empty())
    {
        let parts = parts(plots).into_iter().enumerate();
        keys.extend(parts.map(|(i, words)| Key::swatch(&tint(bar.role, i), words)));
    }
    if let Some(whiskers) = &plots.whiskers {
        keys.push(Key::whisker(whiskers));
        keys.extend(Key::remarks(bars(plots).filter_map(shown).filter(|v| v.coverage > 0.0)));
    }
    keys.extend(plots.tick.as_deref().map(Key::tick));
    keys
}

fn bars(plots: &BarPlots) -> impl Iterator<Item = &Bar> {
    plots.plots.iter().flat_map(|plot| &plot.groups).flat_map(|group| &group.bars)
}

/// The length of a bar, if it has one that can be drawn.
fn shown(bar: &Bar) -> Option<Interval> {
    bar.value.filter(|v| v.value.is_finite())
}

/// The names of all stacked parts, in order of appearance.
fn parts(plots: &BarPlots) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for (name, _) in bars(plots).flat_map(|bar| &bar.segments) {
        if !parts.contains(&name.as_str()) {
            parts.push(name);
        }
    }
    parts
}

fn tint(role: Role, part: usize) -> String {
    format!("{} tint{}", role.class(), part.min(TINTS - 1))
}

fn scale(plots: &BarPlots) -> Scale {
    let reference = plots.reference.iter().map(|(value, _)| *value);
    let of_bar = |bar: &Bar| {
        let ends = shown(bar).map(|v| [v.low, v.value, v.high]);
        let stacked = bar.segments.iter().map(|(_, part)| part.max(0.0)).sum::<f64>();
        ends.into_iter().flatten().chain(bar.tick).chain([stacked])
    };
    let figures: Vec<f64> = bars(plots).flat_map(of_bar).chain(reference).filter(|v| v.is_finite()).collect();
    let largest = figures.iter().copied().fold(0.0, f64::max);
    if !plots.log {
        return Scale::linear(0.0, largest);
    }
    let smallest = figures.into_iter().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    if smallest > largest { Scale::log(1.0, 10.0, 4.0) } else { Scale::log(smallest / 1.6, largest, 4.0) }
}

/// Layout and scales that the drawings of all plots share.
struct Chart<'a> {
    plots: &'a BarPlots,
    columns: Columns,
    scale: Scale,
    size: Width,
}

impl Chart<'_> {
    fn plot(&self, plot: &BarPlot) -> Drawn {
        let row = ROW + self.columns.head();
        let of_group = |group: &super::super::Group| {
            let heading = if group.heading.is_some() { HEADING } else { 0.0 };
            heading + row * group.bars.len() as f64
        };
        let gaps = GAP * plot.groups.len().saturating_sub(1) as f64;
        let top = if self.plots.reference.is_some() { 18.0 } else { 2.0 };
        let bottom = top + plot.groups.iter().map(of_group).sum::<f64>() + gaps + 2.0;
        let (mut marks, mut words, mut y) = (String::new(), String::new(), top);
        rows::grid(&mut marks, &self.scale, &self.columns, top, bottom);
        for group in &plot.groups {
            if let Some(heading) = &group.heading {
                text(&mut marks, "group", 0.0, y + 15.0, heading);
                y += HEADING;
            }
            for bar in &group.bars {
                self.row(&mut marks, &mut words, bar, y);
                y += row;
            }
            y += GAP;
        }
        self.reference(&mut marks, top, bottom);
        marks.push_str(&words);
        let height = rows::axis(&mut marks, &self.scale, &self.columns, bottom, &self.plots.axis);
        let svg = drawing(self.size, height, &plot.title, &marks);
        Drawn { caption: plot.caption.clone(), note: String::new(), svg }
    }

    fn reference(&self, marks: &mut String, top: f64, bottom: f64) {
        let Some((value, words)) = &self.plots.reference else { return };
        let words = shortened(words, self.columns.width);
        let (at, half) = (self.scale.at(*value), width(&words) / 2.0);
        let middle = at.min(self.columns.width - half).max(half);
        anchored(marks, "reference", "middle", (middle, top - 6.0), &words);
        path(marks, "reference", format_args!("M{at:.1} {:.1}V{bottom:.1}", top - 3.0));
    }

    /// Draws a bar, and adds its words to those that are drawn on top of all marks.
    fn row(&self, marks: &mut String, words: &mut String, bar: &Bar, y: f64) {
        let (x, middle) = (self.columns.left, y + self.columns.head() + ROW / 2.0);
        push(marks, format_args!("<g><title>{}</title>", HtmlEscape(&bar.title)));
        self.columns.label(words, &bar.label, y, middle, self.columns.width);
        let mut after = x;
        if let Some(value) = shown(bar) {
            let end = self.scale.at(value.value);
            self.mark(marks, bar, end, middle);
            let edge = if self.plots.log { RADIUS } else { 0.0 };
            after = (end + edge).max(self.whisker(marks, value, middle));
        }
        if let Some(tick) = bar.tick.filter(|tick| self.plots.tick.is_some() && tick.is_finite()) {
            let at = self.scale.at(tick);
            path(marks, "tick", format_args!("M{at:.1} {:.1}v{:.1}", middle - BAR / 2.0, BAR));
            // Keeps the figure clear of a tick close to it.
            if (after..after + 52.0).contains(&at) {
                after = at;
            }
        }
        let figure = rows::printed(bar.value, &bar.figure);
        let from = (after + 6.0).min(self.columns.width - width(&figure)).max(0.0);
        text(words, "value", from, middle + 4.0, &figure);
        marks.push_str("</g>");
    }

    fn mark(&self, marks: &mut String, bar: &Bar, end: f64, middle: f64) {
        let (x, top, class) = (self.columns.left, middle - BAR / 2.0, bar.role.class());
        let hollow = if bar.hollow { " hollow" } else { "" };
        if self.plots.log {
            path(marks, &format!("stem {class}"), format_args!("M{x:.1} {middle:.1}H{end:.1}"));
            circle(marks, &format!("{class}{hollow}"), end, middle, RADIUS);
            return;
        }
        if bar.segments.is_empty() {
            rect(marks, &format!("{class}{hollow}"), (x, top), (end - x, BAR));
            return;
        }
        let (parts, mut from, mut sum) = (parts(self.plots), x, 0.0);
        for (name, part) in &bar.segments {
            sum += part.max(0.0);
            let (to, place) = (self.scale.at(sum), parts.iter().position(|p| p == name).unwrap_or_default());
            rect(marks, &tint(bar.role, place), (from, top), (to - from, BAR));
            if width(name) + 8.0 <= to - from {
                let class = if place < DARK_TINTS { "inside" } else { "part" };
                anchored(marks, class, "middle", ((from + to) / 2.0, middle + 4.0), name);
            }
            from = to;
        }
        if end > from + 0.5 {
            rect(marks, &format!("{class} hollow"), (from, top), (end - from, BAR));
        }
    }

    /// Draws the interval, dashed if it covers less than it should. Returns its right end.
    fn whisker(&self, marks: &mut String, value: Interval, middle: f64) -> f64 {
        let none = self.plots.whiskers.is_none() || value.coverage == 0.0 || value.low == value.high;
        if none || !value.low.is_finite() || !value.high.is_finite() {
            return self.columns.left;
        }
        let (low, high) = (self.scale.at(value.low), self.scale.at(value.high));
        let class = if value.is_conclusive() { "whisker" } else { "whisker few" };
        path(marks, class, format_args!("M{low:.1} {:.1}v7m0 -3.5H{high:.1}m0 -3.5v7", middle - 3.5));
        high
    }
}
