//! Horizontal bars as inline SVG, several small drawings on one scale.
//!
//! Written here and not by a plotting library, since the page's style sheet must reach the marks: colours
//! follow the reader's light or dark scheme, each bar has a `<title>`, and a drawing stays legible on a
//! telephone because it is drawn narrow and laid out by the page, not shrunk.

use minijinja::HtmlEscape;

use super::super::super::format;
use super::super::{Bar, BarPlot, BarPlots};
use super::svg::{WIDTH, push, text, width};

const ROW: f64 = 19.0;
const BAR: f64 = 13.0;
const HEADING: f64 = 20.0;
const MAX_LABEL: usize = 24;

impl BarPlots {
    /// Each plot's caption and its drawing; a plot without any figure is left out.
    pub(in super::super::super) fn draw(&self) -> Vec<(String, String)> {
        let bars = || self.plots.iter().flat_map(|p| &p.groups).flat_map(|g| &g.bars);
        let ends = bars().flat_map(|bar| bar.value.map(|v| v.high.max(v.value)).into_iter().chain(bar.tick));
        let largest = ends.fold(0.0, f64::max);
        let widest = |all: &mut dyn Iterator<Item = f64>| all.fold(0.0, f64::max);
        let label_width = widest(&mut bars().map(|bar| width(&shortened(&bar.label)))) + 8.0;
        let figure_width = widest(&mut bars().map(|bar| width(&bar.figure))) + 14.0;
        let length = (WIDTH - label_width - figure_width).max(WIDTH / 4.0);
        let scale = length / if largest > 0.0 { largest } else { 1.0 };
        let drawn = |plot: &BarPlot| {
            let any = plot.groups.iter().flat_map(|g| &g.bars).any(|bar| bar.value.is_some());
            any.then(|| (plot.caption.clone(), self.plot(plot, label_width, scale)))
        };
        self.plots.iter().filter_map(drawn).collect()
    }

    fn plot(&self, plot: &BarPlot, label_width: f64, scale: f64) -> String {
        let (mut marks, mut y) = (String::new(), 2.0);
        for group in &plot.groups {
            if let Some(heading) = &group.heading {
                text(&mut marks, "group", 0.0, y + 14.0, heading);
                y += HEADING;
            }
            for bar in &group.bars {
                self.row(&mut marks, bar, y, label_width, scale);
                y += ROW;
            }
            y += 5.0;
        }
        let title = HtmlEscape(&plot.title);
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {y}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>{marks}</svg>"
        )
    }

    fn row(&self, marks: &mut String, bar: &Bar, y: f64, x: f64, scale: f64) {
        let (middle, base, top) = (y + ROW / 2.0, y + ROW / 2.0 + 4.0, y + (ROW - BAR) / 2.0);
        let at = |value: f64| x + (value * scale).max(0.0);
        push(marks, format_args!("<g><title>{}</title>", HtmlEscape(&bar.title)));
        text(marks, "label", 0.0, base, &shortened(&bar.label));
        let mut after = x;
        if let Some(value) = bar.value {
            let (end, low, high) = (at(value.value), at(value.low), at(value.high));
            push(
                marks,
                format_args!(
                    "<rect class=\"{}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{BAR}\" rx=\"1.5\"/>",
                    bar.role.class(),
                    (end - x).max(0.5)
                ),
            );
            after = end;
            if self.whiskers.is_some() {
                push(
                    marks,
                    format_args!(
                        "<path class=\"whisker\" d=\"M{low:.1} {:.1}v6m0 -3H{high:.1}m0 -3v6\"/>",
                        middle - 3.0
                    ),
                );
                after = end.max(high);
            }
        }
        if let (Some(value), Some(_)) = (bar.tick, self.tick.as_ref()) {
            let value = at(value);
            push(
                marks,
                format_args!("<path class=\"tick\" d=\"M{value:.1} {:.1}v{:.1}\"/>", top + 1.0, BAR - 2.0),
            );
            // Keeps the figure clear of a tick close to it.
            if (after..after + 52.0).contains(&value) {
                after = value;
            }
        }
        let (gap, figure) =
            if bar.value.is_some() { (5.0, bar.figure.as_str()) } else { (2.0, format::NONE) };
        text(marks, "value", after + gap, base, figure);
        marks.push_str("</g>");
    }
}

/// Label shortened to fit; the bar's title has all of it.
fn shortened(label: &str) -> String {
    let length = label.chars().count();
    if length <= MAX_LABEL {
        return label.to_owned();
    }
    let tail: String = label.chars().skip(length - (MAX_LABEL - 1)).collect();
    format!("…{tail}")
}

#[cfg(test)]
mod tests {
    use super::super::super::{Group, Role};
    use super::*;
    use crate::stats::Interval;

    fn plots(bars: Vec<Bar>) -> BarPlots {
        let plot = BarPlot {
            caption: "c".into(),
            title: "</title>\"".into(),
            groups: vec![Group { heading: None, bars }],
        };
        BarPlots { plots: vec![plot], ..BarPlots::default() }
    }

    fn bar(value: Option<f64>) -> Bar {
        let value = value.map(Interval::exact);
        Bar { title: "<i>".into(), tick: Some(3.0), ..Bar::new("<b>", Role::Ours, value, "<u>") }
    }

    #[test]
    fn draws_nothing_without_a_figure() {
        assert!(plots(vec![bar(None)]).draw().is_empty());
        assert!(plots(Vec::new()).draw().is_empty());
    }

    #[test]
    fn survives_figures_of_any_size() {
        for value in [-1.0, 0.0, 1e-300, 1e300] {
            let svg = &plots(vec![bar(Some(value)), bar(None)]).draw()[0].1;
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn escapes_every_word() {
        let svg = &plots(vec![bar(Some(1.0))]).draw()[0].1;
        for tag in ["<b>", "<i>", "<u>", "</title></title>"] {
            assert!(!svg.contains(tag), "{svg}");
        }
    }

    #[test]
    fn shortens_long_labels_from_the_left() {
        assert_eq!(shortened("ahash"), "ahash");
        assert_eq!(shortened("abcdefghijklmnopqrstuvwxyz"), "…defghijklmnopqrstuvwxyz");
    }
}
