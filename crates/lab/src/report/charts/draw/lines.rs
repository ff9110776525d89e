//! Line plots on logarithmic axes as inline SVG, several small drawings on one pair of scales.

use core::f64::consts::LN_10;

use minijinja::HtmlEscape;

use super::super::super::format::{self, figure, interval};
use super::super::{Line, LinePlot, LinePlots, Series};
use super::svg::{WIDTH, push, text, width};
use crate::stats::Interval;

const TOP: f64 = 22.0;
const HEIGHT: f64 = 196.0;
/// Space below the axis for the numbers and their label.
const BOTTOM: f64 = 36.0;
/// The distance of the base lines of two labels.
const LINE: f64 = 12.0;
/// Largest distance of a label from the end of its line.
const MAX_SHIFT: f64 = 3.0 * LINE;
/// The width that labels at the ends of lines may take.
const MAX_LABELS: f64 = 0.31 * WIDTH;
/// Distance of zero flows from the first tick of a logarithmic scale.
const ZERO_GAP: f64 = 30.0;
/// More lines than these are drawn thin and grey.
const STYLED: usize = 8;

/// Drawings as SVG.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super::super) struct Drawn {
    /// Drawings with their captions.
    pub(in super::super::super) plots: Vec<DrawnPlot>,
    /// The classes and names of the lines; empty if the lines are labelled themselves.
    pub(in super::super::super) legend: Vec<(String, String)>,
}

/// One drawing as SVG.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super::super) struct DrawnPlot {
    /// Caption.
    pub(in super::super::super) caption: String,
    /// Note below the caption; may be empty.
    pub(in super::super::super) note: String,
    /// The drawing.
    pub(in super::super::super) svg: String,
}

impl LinePlots {
    /// Draws them; a plot without any figure above zero is left out.
    pub(in super::super::super) fn draw(&self) -> Drawn {
        let none = Drawn { plots: Vec::new(), legend: Vec::new() };
        let Some(scales) = Scales::over(self) else { return none };
        let labelled = self.plots.iter().all(|plot| self.labels(plot, &scales).is_some());
        let scales = scales.beside_labels(if labelled { self.label_width() } else { 0.0 });
        let plot = |plot: &LinePlot| {
            let any = plot.lines.iter().any(|line| shown(line).next().is_some());
            any.then(|| DrawnPlot {
                caption: plot.caption.clone(),
                note: plot.note.clone(),
                svg: self.plot(plot, &scales, labelled),
            })
        };
        let legend = |(i, series): (usize, &Series)| (line_class(i), series.name.clone());
        Drawn {
            plots: self.plots.iter().filter_map(plot).collect(),
            legend: if labelled { Vec::new() } else { self.series.iter().enumerate().map(legend).collect() },
        }
    }

    fn style(&self, line: &Line) -> usize {
        self.series.iter().position(|series| series.name == line.name).unwrap_or(STYLED)
    }

    fn label_width(&self) -> f64 {
        self.series.iter().map(|series| width(&series.name)).fold(0.0, f64::max) + 8.0
    }

    /// The height of each line's label, or `None` if the labels do not fit.
    fn labels(&self, plot: &LinePlot, scales: &Scales) -> Option<Vec<(usize, f64)>> {
        if self.label_width() > MAX_LABELS || self.series.len() > STYLED {
            return None;
        }
        let end = |(i, line): (usize, &Line)| Some((i, scales.y(shown(line).last()?.1.value)));
        let mut ends: Vec<(usize, f64)> = plot.lines.iter().enumerate().filter_map(end).collect();
        ends.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut places: Vec<f64> = Vec::new();
        for (_, y) in &ends {
            places.push(places.last().map_or(*y, |last| y.max(last + LINE)));
        }
        // The numbers of the axis begin close below it.
        let mut below = TOP + HEIGHT + LINE - 6.0;
        for place in places.iter_mut().rev() {
            *place = place.min(below - LINE);
            below = *place;
        }
        let fits = ends.iter().zip(&places).all(|((_, y), place)| (y - place).abs() <= MAX_SHIFT);
        fits.then(|| ends.iter().zip(places).map(|((i, _), place)| (*i, place)).collect())
    }

    fn plot(&self, plot: &LinePlot, scales: &Scales, labelled: bool) -> String {
        let mut marks = String::new();
        scales.draw(&mut marks, &self.x, &self.y);
        let mut order: Vec<&Line> = plot.lines.iter().collect();
        // Grey lines lie below all others. Then the least broken line is first, so that it shows through the
        // gaps of those drawn over it.
        order.sort_by_key(|line| Some(self.style(line)).filter(|style| *style < STYLED));
        for line in order {
            self.line(&mut marks, line, scales);
        }
        if let Some(labels) = labelled.then(|| self.labels(plot, scales)).flatten() {
            for (line, y) in labels.into_iter().filter_map(|(i, y)| Some((plot.lines.get(i)?, y))) {
                let class = format!("label c{}", self.style(line) % 6);
                text(&mut marks, &class, scales.right + 8.0, y + 4.0, &line.name);
            }
        }
        let title = format!("{}: {} against {}", plot.caption, self.y, self.x);
        let (title, height) = (HtmlEscape(&title), TOP + HEIGHT + BOTTOM);
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>{marks}</svg>"
        )
    }

    fn line(&self, marks: &mut String, line: &Line, scales: &Scales) {
        let style = self.style(line);
        let mut path = String::new();
        for (i, (x, y)) in shown(line).enumerate() {
            let step = if i == 0 { 'M' } else { 'L' };
            push(&mut path, format_args!("{step}{:.1} {:.1}", scales.x(x), scales.y(y.value)));
        }
        push(marks, format_args!("<g><path class=\"{}\" d=\"{path}\"/>", line_class(style)));
        let (class, radius) =
            if style < STYLED { (format!("c{}", style % 6), 2.8) } else { ("faint-dot".to_owned(), 1.8) };
        for (x, y) in shown(line) {
            let title = format!(
                "{}, {} {}: {} {} {}",
                line.name,
                format::count(x),
                self.x,
                figure(y.value),
                interval(y, figure),
                self.y
            );
            push(
                marks,
                format_args!(
                    "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{}</title></circle>",
                    scales.x(x),
                    scales.y(y.value),
                    HtmlEscape(&title)
                ),
            );
        }
        marks.push_str("</g>");
    }
}

/// The points that a logarithmic scale can hold.
fn shown(line: &Line) -> impl Iterator<Item = (f64, Interval)> {
    let finite =
        |(x, y): &&(f64, Interval)| *x >= 0.0 && x.is_finite() && y.value > 0.0 && y.value.is_finite();
    line.points.iter().filter(finite).copied()
}

/// The class of the `style`th line: six colours, eight ways of dashing, then thin and grey.
fn line_class(style: usize) -> String {
    if style >= STYLED {
        return "line faint".to_owned();
    }
    format!("line s{} d{style}", style % 6)
}

/// Scales of both axes.
struct Scales {
    /// The distinct places on the horizontal axis that have a figure.
    ticks: Vec<f64>,
    first: f64,
    last: f64,
    /// The logarithms of the ends of the vertical axis.
    low: f64,
    high: f64,
    left: f64,
    right: f64,
}

impl Scales {
    fn over(plots: &LinePlots) -> Option<Self> {
        let points = || plots.plots.iter().flat_map(|plot| &plot.lines).flat_map(shown);
        let mut ticks: Vec<f64> = points().map(|(x, _)| x).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let first = ticks.iter().copied().find(|x| *x > 0.0).unwrap_or(1.0);
        let last = ticks.last().copied()?.max(first);
        let (low, high) = points().fold((f64::INFINITY, 0.0), |(low, high), (_, y)| {
            (f64::min(low, y.value), f64::max(high, y.value))
        });
        // A scale spans at least a factor of four, so that it has two numbers and noise stays small;
        // otherwise a margin keeps lines off its edges.
        let (low, high) = (low.ln(), high.ln());
        let room = ((4f64.ln() - (high - low)) / 2.0).max(0.0) + 0.06 * (high - low);
        let mut scales =
            Self { ticks, first, last, low: low - room, high: high + room, left: 0.0, right: 0.0 };
        scales.left =
            scales.y_ticks().iter().map(|tick| width(&format::short(*tick))).fold(0.0, f64::max) + 10.0;
        Some(scales.beside_labels(0.0))
    }

    fn beside_labels(self, width: f64) -> Self {
        Self { right: WIDTH - width.max(12.0), ..self }
    }

    fn x(&self, x: f64) -> f64 {
        let zero = self.ticks.first() == Some(&0.0);
        let from = self.left + if zero { ZERO_GAP } else { 8.0 };
        if x <= 0.0 {
            return self.left + 8.0;
        }
        let span = self.last.ln() - self.first.ln();
        let share = if span > 0.0 { (x.ln() - self.first.ln()) / span } else { 0.5 };
        from + share.clamp(0.0, 1.0) * (self.right - from)
    }

    fn y(&self, y: f64) -> f64 {
        let share = (y.ln() - self.low) / (self.high - self.low);
        TOP + HEIGHT * (1.0 - share.clamp(0.0, 1.0))
    }

    /// Powers of ten, with more ticks between them if they are too few, and fewer if too many.
    fn y_ticks(&self) -> Vec<f64> {
        let (low, high) = (self.low / LN_10, self.high / LN_10);
        let within: &[f64] = match high - low {
            decades if decades < 1.0 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            decades if decades < 2.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let step = ((high - low) / 7.0).ceil().max(1.0) as usize;
        let powers = (low.floor() as i32..=high.ceil() as i32).step_by(step);
        let ticks = powers.flat_map(|power| within.iter().map(move |m| m * 10f64.powi(power)));
        ticks.filter(|tick| tick.is_finite() && (self.low..=self.high).contains(&tick.ln())).collect()
    }

    fn draw(&self, marks: &mut String, x: &str, y: &str) {
        let (left, right, bottom) = (self.left, self.right, TOP + HEIGHT);
        text(marks, "group", 0.0, 11.0, y);
        for tick in self.y_ticks() {
            let (at, words) = (self.y(tick), format::short(tick));
            push(marks, format_args!("<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>"));
            text(marks, "value", left - 6.0 - width(&words), at + 4.0, &words);
        }
        push(marks, format_args!("<path class=\"axis\" d=\"M{left:.1} {bottom}H{right:.1}\"/>"));
        if self.ticks.first() == Some(&0.0) && self.last > 0.0 {
            // The scale is broken between none and the first.
            let at = (self.x(0.0) + self.x(self.first)) / 2.0;
            push(
                marks,
                format_args!("<path class=\"axis\" d=\"M{:.1} {}l4 -8m3 0l-4 8\"/>", at - 4.0, bottom + 4.0),
            );
        }
        // From the right, so that the largest has its number; one that would touch it goes without.
        let mut free = WIDTH;
        for tick in self.ticks.iter().rev() {
            let (at, words) = (self.x(*tick), format::binary(*tick));
            let wide = width(&words);
            let from = (at - wide / 2.0).clamp(0.0, (WIDTH - wide).max(0.0));
            push(marks, format_args!("<path class=\"axis\" d=\"M{at:.1} {bottom}v4\"/>"));
            if from + wide + 6.0 <= free || *tick == self.last {
                text(marks, "value", from, bottom + 16.0, &words);
                free = from;
            }
        }
        text(marks, "group", ((left + right - width(x)) / 2.0).max(0.0), bottom + 31.0, x);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Role;
    use super::*;

    fn exact(value: f64) -> Interval {
        Interval::exact(value)
    }

    fn series(name: &str) -> Series {
        Series { name: name.to_owned(), role: Role::Ours, emphasised: true, label: None }
    }

    fn plots(names: &[&str], figures: &[(f64, f64)]) -> LinePlots {
        let line = |(i, name): (usize, &&str)| Line {
            name: (*name).to_owned(),
            points: figures.iter().map(|(x, y)| (*x, exact(y * (i + 1) as f64))).collect(),
        };
        let lines = names.iter().enumerate().map(line).collect();
        LinePlots {
            x: "hostile flows".into(),
            y: "ns per find".into(),
            series: names.iter().map(|name| series(name)).collect(),
            shades: Vec::new(),
            plots: vec![LinePlot { caption: "local".into(), note: String::new(), lines }],
        }
    }

    #[test]
    fn draws_axes_points_and_labels() {
        let drawn = plots(&["base", "ours"], &[(0.0, 50.0), (16.0, 60.0), (4096.0, 900.0)]).draw();
        assert!(drawn.legend.is_empty());
        insta::assert_snapshot!(drawn.plots[0].svg.replace('>', ">\n"));
    }

    #[test]
    fn has_a_legend_where_labels_do_not_fit() {
        let figures = [(0.0, 50.0), (16.0, 60.0)];
        let long = plots(&["someone/else-1-3/single", "ours"], &figures).draw();
        assert_eq!(long.legend.len(), 2);
        assert!(!long.plots[0].svg.contains("class=\"label"));
        let names: Vec<String> = (0..10).map(|i| format!("s{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let many = plots(&names, &figures).draw();
        let classes: Vec<&str> = many.legend.iter().map(|(class, _)| class.as_str()).collect();
        assert_eq!(classes[..2], ["line s0 d0", "line s1 d1"]);
        assert_eq!(classes[7..], ["line s1 d7", "line faint", "line faint"]);
    }

    #[test]
    fn keeps_figures_of_any_size_within_the_drawing() {
        let large = [(0.0, 1e-300), (1.0, 1e300), (1e300, 1.0), (f64::NAN, 1.0), (2.0, f64::INFINITY)];
        for figures in [&large[..], &[(0.0, 1.0)], &[(7.0, 3.0)], &[(0.0, 1.0), (1.0, -1.0), (2.0, 0.0)]] {
            let drawn = plots(&["a"], figures).draw();
            let svg = &drawn.plots[0].svg;
            assert!(!svg.contains("NaN") && !svg.contains("inf,") && !svg.contains("\"inf"), "{svg}");
            for circle in svg.split("<circle").skip(1) {
                let place = |name: &str| -> f64 {
                    let from = circle.split(name).nth(1).unwrap();
                    from.split('"').nth(1).unwrap().parse().unwrap()
                };
                assert!((0.0..=WIDTH).contains(&place("cx=")), "{circle}");
                assert!((TOP..=TOP + HEIGHT).contains(&place("cy=")), "{circle}");
            }
        }
    }

    #[test]
    fn draws_nothing_of_nothing() {
        assert!(plots(&[], &[]).draw().plots.is_empty());
        assert!(plots(&["a"], &[(1.0, 0.0)]).draw().plots.is_empty());
    }

    #[test]
    fn escapes_every_word() {
        let mut hostile = plots(&["<b>"], &[(0.0, 50.0), (16.0, 60.0)]);
        hostile.x = "</text><script>".into();
        hostile.plots[0].caption = "\"></title><i>".into();
        let svg = &hostile.draw().plots[0].svg;
        for tag in ["<b>", "<script", "<i>", "</title><i"] {
            assert!(!svg.contains(tag), "{svg}");
        }
        assert!(svg.contains("&lt;b&gt;") && svg.contains("&lt;script&gt;"));
    }
}
