//! Charts as the page's template shows them: a legend, and each drawing in the widths that its place needs.

use crate::report::charts::draw::{Drawn, Key, Width, draw, legend};
use crate::report::section::Block;
use hashlane_stats::format::plain;
use minijinja::{Value, context};

pub(super) const SMALL: &[Width] = &[Width::Narrow];
pub(super) const CARD: &[Width] = &[Width::Narrow, Width::Medium];
pub(super) const FULL: &[Width] = &[Width::Narrow, Width::Medium, Width::Wide];

/// A chart in several widths; the style sheet shows the widest that fits. Small charts are beside each other;
/// a key chart is as wide as its place.
pub(super) fn drawings(chart: &Block, sizes: &[Width]) -> Value {
    let mut plots: Vec<(Drawn, Vec<String>)> = Vec::new();
    for size in sizes {
        for (i, drawn) in draw(chart, *size).into_iter().enumerate() {
            let svg = plain(&drawn.svg);
            match plots.get_mut(i) {
                Some((_, svgs)) => svgs.push(svg),
                None => plots.push((drawn, vec![svg])),
            }
        }
    }
    // On the narrowest the fewest labels fit.
    let keys = sizes.first().map_or_else(Vec::new, |narrowest| legend(chart, *narrowest));
    let key = |Key { mark, words }: Key| context! { mark, words };
    let plot = |(Drawn { caption, note, .. }, svgs)| context! { caption, note, svgs };
    context! {
        class => if sizes == SMALL { "charts" } else { "key" },
        legend => keys.into_iter().map(key).collect::<Value>(),
        plots => plots.into_iter().map(plot).collect::<Value>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::charts::{Bar, BarPlot, BarPlots, Group, Role};
    use hashlane_stats::Interval;

    fn bars(values: &[Option<f64>]) -> Block {
        let plot = |value: &Option<f64>| BarPlot {
            caption: "\u{202e}positive".into(),
            groups: vec![Group {
                heading: None,
                bars: vec![Bar::new("ours", Role::Ours, value.map(Interval::exact), "3.0")],
            }],
            ..BarPlot::default()
        };
        Block::Bars(BarPlots {
            legend: vec![(Role::Ours, "ours".into())],
            plots: values.iter().map(plot).collect(),
            ..BarPlots::default()
        })
    }

    #[test]
    fn draws_a_chart_in_the_widths_of_its_place() {
        for sizes in [SMALL, CARD, FULL] {
            let drawn = drawings(&bars(&[Some(3.0), None, Some(4.0)]), sizes).to_string();
            let count = |class: &str| drawn.matches(class).count();
            let counts = ["narrow", "medium", "wide"].map(count);
            assert_eq!(counts, [2, if sizes.len() > 1 { 2 } else { 0 }, if sizes.len() > 2 { 2 } else { 0 }]);
        }
    }
}
