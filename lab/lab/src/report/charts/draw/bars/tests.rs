//! Tests of the drawing of bars.

use super::super::super::Group;
use super::super::tests::assert_within;
use super::*;
use proptest::prelude::*;

fn plots(bars: Vec<Bar>) -> BarPlots {
    let plot = BarPlot {
        caption: "c".into(),
        title: "</title>\"".into(),
        groups: vec![Group { heading: Some("<h1>".into()), bars }],
    };
    BarPlots {
        axis: "time per name (ns)".into(),
        whiskers: Some("95 %".into()),
        tick: Some("the source".into()),
        plots: vec![plot],
        ..BarPlots::default()
    }
}

fn bar(value: Option<f64>) -> Bar {
    let value = value.map(|v| Interval::bounded(v, v * 0.9, v * 1.1));
    Bar { title: "<i>".into(), tick: Some(3.0), ..Bar::new("<b>", Role::Ours, value, "<u>") }
}

fn svg(plots: &BarPlots) -> String {
    draw(plots, Width::Narrow)[0].svg.clone()
}

#[test]
fn draws_bars_with_axis_and_intervals() {
    let mut plots = plots(vec![bar(Some(4.0)), bar(Some(10.0)), bar(None)]);
    plots.reference = Some((8.0, "the source's ladder".into()));
    insta::assert_snapshot!(svg(&plots).replace('>', ">\n"));
}

#[test]
fn draws_nothing_without_a_figure() {
    assert!(draw(&plots(vec![bar(None)]), Width::Wide).is_empty());
    assert!(draw(&plots(Vec::new()), Width::Wide).is_empty());
}

#[test]
fn keeps_figures_of_any_size_within_the_drawing() {
    for value in [-1.0, 0.0, 1e-300, 3.0, 1e300, f64::MAX] {
        for (log, size) in [(false, Width::Narrow), (true, Width::Medium), (true, Width::Wide)] {
            let plots = BarPlots { log, ..plots(vec![bar(Some(value)), bar(Some(1.0)), bar(None)]) };
            let drawn = draw(&plots, size);
            assert_within(&drawn[0].svg);
        }
    }
    assert!(draw(&plots(vec![bar(Some(f64::NAN)), bar(Some(f64::INFINITY))]), Width::Narrow).is_empty());
}

#[test]
fn puts_long_labels_above_their_bars() {
    let long = "the whole of a long id that takes up most of the width of a card";
    let plots = plots(vec![Bar::new(long, Role::Peer, Some(Interval::exact(3.0)), "3.0")]);
    for (size, whole) in [(Width::Narrow, false), (Width::Medium, true), (Width::Wide, true)] {
        let svg = &draw(&plots, size)[0].svg;
        assert_eq!(svg.contains(&format!(">{long}</text>")), whole);
        assert_within(svg);
    }
}

#[test]
fn puts_labels_above_bars_that_would_have_no_room() {
    let (label, figure) = (126.0, 150.0);
    let narrow = Columns::new(Width::Narrow, label, figure);
    assert!(narrow.above && narrow.right + figure < narrow.width);
    assert!(!Columns::new(Width::Medium, label, figure).above);
}

#[test]
fn stacks_parts_and_names_them_in_the_legend() {
    let segments = [("decode", 30.0), ("PIT", 50.0), ("I/O", 1.0)];
    let segments = segments.map(|(name, part)| (name.to_owned(), part)).to_vec();
    let bar = Bar { segments, ..bar(Some(100.0)) };
    let plots = plots(vec![bar]);
    let svg = svg(&plots);
    assert!(svg.contains(">decode</text>") && !svg.contains(">I/O</text>"));
    assert!(svg.contains("ours tint2") && svg.contains("ours hollow"), "the rest is an outline: {svg}");
    assert_eq!([0, 7, 8].map(|part| tint(Role::Peer, part)), ["peer tint0", "peer tint7", "peer tint7"]);
    let words: Vec<String> = legend(&plots).into_iter().map(|key| key.words).collect();
    assert_eq!(words, ["decode", "PIT", "I/O", "95 %", "the source"]);
}

#[test]
fn says_that_a_figure_is_of_one_sample() {
    let one = Interval { coverage: 0.0, ..Interval::exact(3.0) };
    let svg = svg(&plots(vec![Bar::new("a", Role::Ours, Some(one), "3.0")]));
    assert!(svg.contains(">3.0 (n = 1)</text>") && !svg.contains("whisker"), "{svg}");
}

#[test]
fn escapes_every_word() {
    let svg = svg(&plots(vec![bar(Some(1.0))]));
    for tag in ["<b>", "<i>", "<u>", "<h1>", "</title>\""] {
        assert!(!svg.contains(tag), "{svg}");
    }
}

proptest! {
    #[test]
    fn words_lie_within_the_drawing_and_apart(
        bars in prop::collection::vec(("[a-e0-9/ -]{0,40}", 1e-3..1e6f64, 0.0..0.5f64, "[0-9.]{1,8}( ns)?"), 1..12),
        (axis, reference) in ("[a-e ]{0,60}", prop::option::of((0.0..1e6f64, "[a-e ]{1,30}"))),
        log: bool,
    ) {
        let bar = |(label, value, spread, figure): &(String, f64, f64, String)| {
            let value = Interval::bounded(*value, value * (1.0 - spread), value * (1.0 + spread));
            Bar { tick: Some(value.low), ..Bar::new(label, Role::Peer, Some(value), figure) }
        };
        let plots = BarPlots { axis, reference, log, ..plots(bars.iter().map(bar).collect()) };
        for size in [Width::Narrow, Width::Medium, Width::Wide] {
            let svg = &draw(&plots, size)[0].svg;
            assert_within(svg);
        }
    }
}
