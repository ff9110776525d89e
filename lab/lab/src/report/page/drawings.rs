//! Charts as the page's template shows them: a legend, and each drawing in the widths that its place needs.

use serde::Serialize;

use crate::report::charts::draw::{Drawn, Key, Width, bars, forest, lines};
use crate::report::charts::{BarPlots, Forest, LinePlots};
use crate::report::section::Block;
use hashlane_stats::format::plain;

/// Charts with their legend.
#[derive(Serialize)]
pub(super) struct Drawings {
    /// `charts` for small ones beside each other, `key` for one as wide as its place.
    class: &'static str,
    legend: Vec<KeyView>,
    plots: Vec<PlotView>,
}

#[derive(Serialize)]
struct KeyView {
    /// SVG.
    mark: String,
    words: String,
}

#[derive(Serialize)]
struct PlotView {
    caption: String,
    note: String,
    /// SVG, in one width or several; the style sheet shows the widest that fits.
    svgs: Vec<String>,
}

const SMALL: &[Width] = &[Width::Narrow];
const CARD: &[Width] = &[Width::Narrow, Width::Medium];
const FULL: &[Width] = &[Width::Narrow, Width::Medium, Width::Wide];

/// The chart of an answer for a card; `None` of a table or a text.
pub(super) fn card(block: &Block) -> Option<Drawings> {
    key(block, CARD)
}

/// The chart of an answer for the full width of the page; `None` of a table or a text.
pub(super) fn full(block: &Block) -> Option<Drawings> {
    key(block, FULL)
}

/// Bars as small charts beside each other.
pub(super) fn small_bars(plots: &BarPlots) -> Drawings {
    of_bars("charts", plots, SMALL)
}

/// Lines as small charts beside each other.
pub(super) fn small_lines(plots: &LinePlots) -> Drawings {
    of_lines("charts", plots, SMALL)
}

/// Intervals as a small chart.
pub(super) fn small_forest(plot: &Forest) -> Drawings {
    of_forest("charts", plot, SMALL)
}

fn key(block: &Block, sizes: &[Width]) -> Option<Drawings> {
    match block {
        Block::Bars(plots) => Some(of_bars("key", plots, sizes)),
        Block::Lines(plots) => Some(of_lines("key", plots, sizes)),
        Block::Forest(plot) => Some(of_forest("key", plot, sizes)),
        Block::Table(_) | Block::Text(_) => None,
    }
}

fn of_bars(class: &'static str, plots: &BarPlots, sizes: &[Width]) -> Drawings {
    drawings(class, bars::legend(plots), sizes.iter().map(|size| bars::draw(plots, *size)))
}

fn of_lines(class: &'static str, plots: &LinePlots, sizes: &[Width]) -> Drawings {
    // On the narrowest the fewest labels fit.
    let narrowest = sizes.first().copied().unwrap_or(Width::Narrow);
    drawings(class, lines::legend(plots, narrowest), sizes.iter().map(|size| lines::draw(plots, *size)))
}

fn of_forest(class: &'static str, plot: &Forest, sizes: &[Width]) -> Drawings {
    drawings(
        class,
        forest::legend(plot),
        sizes.iter().map(|size| forest::draw(plot, *size).into_iter().collect()),
    )
}

/// The same plots in several widths.
fn drawings(class: &'static str, legend: Vec<Key>, sizes: impl Iterator<Item = Vec<Drawn>>) -> Drawings {
    let mut plots: Vec<PlotView> = Vec::new();
    for drawn in sizes {
        for (i, Drawn { caption, note, svg }) in drawn.into_iter().enumerate() {
            match plots.get_mut(i) {
                Some(plot) => plot.svgs.push(plain(&svg)),
                None => {
                    let (caption, note) = (plain(&caption), plain(&note));
                    plots.push(PlotView { caption, note, svgs: vec![plain(&svg)] });
                }
            }
        }
    }
    let key = |Key { mark, words }: Key| KeyView { mark, words: plain(&words) };
    Drawings { class, legend: legend.into_iter().map(key).collect(), plots }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::charts::{Bar, BarPlot, Group, Role};
    use hashlane_stats::Interval;

    fn bars(values: &[Option<f64>]) -> BarPlots {
        let plot = |value: &Option<f64>| BarPlot {
            caption: "\u{202e}positive".into(),
            groups: vec![Group {
                heading: None,
                bars: vec![Bar::new("ours", Role::Ours, value.map(Interval::exact), "3.0")],
            }],
            ..BarPlot::default()
        };
        BarPlots {
            legend: vec![(Role::Ours, "ours".into())],
            plots: values.iter().map(plot).collect(),
            ..BarPlots::default()
        }
    }

    fn classes(drawings: &Drawings) -> Vec<Vec<&str>> {
        let class =
            |svg: &String| ["narrow", "medium", "wide"].into_iter().find(|c| svg.contains(c)).unwrap();
        drawings.plots.iter().map(|plot| plot.svgs.iter().map(class).collect()).collect()
    }

    #[test]
    fn draws_a_key_chart_in_the_widths_of_its_place() {
        let chart = Block::Bars(bars(&[Some(3.0), None]));
        assert_eq!(classes(&card(&chart).unwrap()), [["narrow", "medium"]]);
        assert_eq!(classes(&full(&chart).unwrap()), [["narrow", "medium", "wide"]]);
        assert_eq!(classes(&small_bars(&bars(&[Some(3.0), Some(4.0)]))), [["narrow"], ["narrow"]]);
    }

    #[test]
    fn lets_no_control_characters_through() {
        let drawings = small_bars(&bars(&[Some(3.0)]));
        assert_eq!(drawings.plots[0].caption, "\u{fffd}positive");
        assert_eq!(drawings.legend[0].words, "ours");
    }
}
