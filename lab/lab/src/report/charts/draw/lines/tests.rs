//! Tests of the drawing of lines.

use super::super::super::{Role, Shade};
use super::super::tests::assert_within;
use super::*;
use proptest::prelude::*;

const SIZES: [Width; 3] = [Width::Narrow, Width::Medium, Width::Wide];

fn plots(names: &[&str], figures: &[(f64, f64)]) -> LinePlots {
    let bounded = |y: f64| Interval::bounded(y, y * 0.8, y * 1.3);
    let line = |(i, name): (usize, &&str)| Line {
        name: (*name).to_owned(),
        points: figures.iter().map(|(x, y)| (*x, bounded(y * (i + 1) as f64))).collect(),
    };
    let series = |(i, name): (usize, &&str)| {
        Series::new(name, [Role::Ours, Role::Historical, Role::Peer][i % 3], true)
    };
    LinePlots {
        x: "hostile flows in the table".into(),
        y: "time per lookup (ns)".into(),
        series: names.iter().enumerate().map(series).collect(),
        shades: Vec::new(),
        plots: vec![LinePlot {
            caption: "local".into(),
            note: String::new(),
            lines: names.iter().enumerate().map(line).collect(),
        }],
    }
}

#[test]
fn draws_axes_points_and_labels() {
    let mut plots = plots(&["ours", "base"], &[(0.0, 50.0), (16.0, 60.0), (4096.0, 900.0)]);
    plots.shades = vec![Shade { from: 0.0, to: 300.0, label: "L2".into() }];
    plots.series[1].label = Some("Linux, all keyed variants".into());
    let svg = &draw(&plots, Width::Narrow)[0].svg;
    insta::assert_snapshot!(svg.replace('>', ">\n"));
}

#[test]
fn draws_what_is_not_emphasised_thin_and_grey() {
    let mut plots = plots(&["ours", "base"], &[(0.0, 50.0), (16.0, 60.0)]);
    plots.series[1].emphasised = false;
    let svg = &draw(&plots, Width::Wide)[0].svg;
    assert!(svg.contains("line faint") && !svg.contains("historical") && !svg.contains(">base</text>"));
    let words: Vec<String> = legend(&plots, Width::Wide).into_iter().map(|key| key.words).collect();
    assert_eq!(words, ["95 % interval", "others, named in the table"]);
}

#[test]
fn dashes_lines_of_the_same_role() {
    let plots = plots(&["a", "b", "c", "d"], &[(1.0, 50.0), (16.0, 60.0)]);
    let svg = &draw(&plots, Width::Medium)[0].svg;
    for class in ["line ours dash0", "line peer dash0", "line ours dash1"] {
        assert!(svg.contains(class), "{class}");
    }
}

#[test]
fn has_a_legend_where_labels_do_not_fit() {
    let names: Vec<String> = (0..40).map(|i| format!("scheme-{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let plots = plots(&names, &[(0.0, 50.0), (16.0, 60.0)]);
    assert_eq!(legend(&plots, Width::Wide).len(), 41);
    let svg = &draw(&plots, Width::Wide)[0].svg;
    assert!(!svg.contains("scheme-1</text>"));
    assert_within(svg);
}

#[test]
fn labels_of_lines_that_end_together_stay_apart() {
    let mut plots = plots(&["a long name of a scheme", "b", "c", "d/e"], &[(1.0, 50.0), (16.0, 60.0)]);
    for line in &mut plots.plots[0].lines {
        line.points[1].1 = Interval::exact(60.0);
    }
    for size in SIZES {
        let svg = &draw(&plots, size)[0].svg;
        assert_within(svg);
        assert!(svg.contains("leader"));
    }
}

#[test]
fn keeps_figures_of_any_size_within_the_drawing() {
    let large = [(0.0, 1e-300), (1.0, 1e300), (1e300, 1.0), (f64::NAN, 1.0), (2.0, f64::INFINITY)];
    for figures in [&large[..], &[(0.0, 1.0)], &[(7.0, 3.0)], &[(0.0, 1.0), (1.0, -1.0), (2.0, 0.0)]] {
        for size in SIZES {
            let svg = &draw(&plots(&["a", "b"], figures), size)[0].svg;
            assert_within(svg);
        }
    }
}

#[test]
fn draws_nothing_of_nothing() {
    assert!(draw(&plots(&[], &[]), Width::Wide).is_empty());
    assert!(draw(&plots(&["a"], &[(1.0, 0.0)]), Width::Wide).is_empty());
}

#[test]
fn escapes_every_word() {
    let mut hostile = plots(&["<b>"], &[(0.0, 50.0), (16.0, 60.0)]);
    hostile.x = "</text><script>".into();
    hostile.shades = vec![Shade { from: 0.0, to: f64::INFINITY, label: "<u>".into() }];
    hostile.plots[0].caption = "\"></title><i>".into();
    let svg = &draw(&hostile, Width::Wide)[0].svg;
    for tag in ["<b>", "<script", "<i>", "<u>", "</title><i"] {
        assert!(!svg.contains(tag), "{svg}");
    }
    assert!(svg.contains("&lt;b&gt;") && svg.contains("&lt;script&gt;"));
}

proptest! {
    #[test]
    fn words_lie_within_the_drawing_and_apart(
        names in prop::collection::btree_set("[a-e0-9/-]{1,30}( [a-e]{1,12}){0,4}", 1..9),
        figures in prop::collection::vec((0u32..1 << 30, 1e-3..1e9f64), 1..10),
        shade in (1.0..1e6f64, 1e3..1e9f64, "[a-eL0-9]{0,12}"),
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let figures: Vec<(f64, f64)> = figures.into_iter().map(|(x, y)| (f64::from(x), y)).collect();
        let mut plots = plots(&names, &figures);
        plots.shades = vec![Shade { from: shade.0, to: shade.1, label: shade.2 }];
        for size in SIZES {
            let svg = &draw(&plots, size)[0].svg;
            assert_within(svg);
        }
    }
}
