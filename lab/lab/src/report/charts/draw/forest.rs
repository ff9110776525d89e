//! Intervals as inline SVG, one below the other, with the line of no difference.

use minijinja::HtmlEscape;

use super::super::{Forest, ForestRow};
use super::labels::{widest, width};
use super::rows::{self, Columns};
use super::svg::{Width, anchored, circle, drawing, path, push};
use super::{Drawn, Key, Scale};
use hashlane_stats::Interval;

const ROW: f64 = 24.0;

/// The drawing; `None` if no row has a figure.
pub(super) fn draw(forest: &Forest, size: Width) -> Option<Drawn> {
    forest.rows.iter().find_map(shown)?;
    let figures: Vec<String> =
        forest.rows.iter().map(|row| rows::printed(row.interval, &row.figure)).collect();
    let labels = widest(forest.rows.iter().map(|row| row.label.as_str()));
    let figure_width = widest(figures.iter().map(String::as_str));
    // Beside both words little room would be left for the marks.
    let crowded = labels + figure_width > 0.55 * size.units();
    let columns = if crowded {
        Columns { above: true, left: 8.0, right: size.units() - 8.0, width: size.units() }
    } else {
        Columns::new(size, labels, figure_width)
    };
    let scale = scale(forest).between(columns.left, columns.right);
    let (top, row) = (4.0, ROW + columns.head());
    let bottom = top + row * forest.rows.len() as f64;
    let mut marks = String::new();
    rows::grid(&mut marks, &scale, &columns, top, bottom);
    path(&mut marks, "zero", format_args!("M{:.1} {top:.1}V{bottom:.1}", scale.at(forest.zero)));
    for (i, (of, figure)) in forest.rows.iter().zip(&figures).enumerate() {
        let y = top + row * i as f64;
        let middle = y + columns.head() + ROW / 2.0;
        push(&mut marks, format_args!("<g><title>{}: {}</title>", HtmlEscape(&of.label), HtmlEscape(figure)));
        let base = if columns.above { y + 12.5 } else { middle + 4.0 };
        anchored(&mut marks, "value", "end", (columns.width, base), figure);
        columns.label(&mut marks, &of.label, y, middle, columns.width - width(figure) - 8.0);
        if let Some(interval) = shown(of) {
            mark(&mut marks, of, interval, &scale, middle);
        }
        marks.push_str("</g>");
    }
    let height = rows::axis(&mut marks, &scale, &columns, bottom, &forest.axis);
    let svg = drawing(size, height, &format!("{} {}", forest.caption, forest.axis), &marks);
    Some(Drawn { caption: forest.caption.clone(), note: String::new(), svg })
}

/// The entries of the legend.
pub(super) fn legend(forest: &Forest) -> Vec<Key> {
    let mut keys = vec![Key::whisker("95 % interval")];
    keys.extend(Key::remarks(forest.rows.iter().filter_map(shown)));
    keys
}

/// The interval of a row, if it has one that can be drawn.
fn shown(row: &ForestRow) -> Option<Interval> {
    row.interval.filter(|i| i.low.is_finite() && i.value.is_finite() && i.high.is_finite())
}

fn scale(forest: &Forest) -> Scale {
    let ends = forest.rows.iter().filter_map(shown).flat_map(|i| [i.low, i.value, i.high]);
    let (low, high) =
        ends.fold((forest.zero, forest.zero), |(low, high), end| (f64::min(low, end), f64::max(high, end)));
    Scale::linear(low, high).with_margin(0.06)
}

fn mark(marks: &mut String, row: &ForestRow, interval: Interval, scale: &Scale, middle: f64) {
    let (class, at) = (row.role.class(), scale.at(interval.value));
    if interval.coverage == 0.0 {
        circle(marks, &format!("{class} hollow"), at, middle, 4.5);
        return;
    }
    let (low, high) = (scale.at(interval.low), scale.at(interval.high));
    let few = if interval.is_conclusive() { "" } else { " few" };
    path(
        marks,
        &format!("span {class}{few}"),
        format_args!("M{low:.1} {:.1}v8m0 -4H{high:.1}m0 -4v8", middle - 4.0),
    );
    circle(marks, class, at, middle, 4.5);
}

#[cfg(test)]
mod tests {
    use super::super::super::Role;
    use super::super::tests::assert_within;
    use super::*;
    use proptest::prelude::*;

    fn forest(intervals: &[Option<Interval>]) -> Forest {
        let row = |interval: &Option<Interval>| ForestRow {
            label: "name-again <A/A>".into(),
            role: Role::Historical,
            interval: *interval,
            figure: "+0.4 [0.1, 0.7]".into(),
        };
        Forest {
            caption: "Cost of a digest".into(),
            axis: "difference to name (points of CPU)".into(),
            zero: 0.0,
            rows: intervals.iter().map(row).collect(),
        }
    }

    #[test]
    fn marks_the_line_of_no_difference() {
        let single = Interval { coverage: 0.0, ..Interval::exact(-0.2) };
        let forest = forest(&[Some(Interval::bounded(0.4, 0.1, 0.7)), None, Some(single)]);
        let drawn = draw(&forest, Width::Medium).unwrap();
        insta::assert_snapshot!(drawn.svg.replace('>', ">\n"));
        assert_eq!(legend(&forest).len(), 2);
    }

    #[test]
    fn keeps_intervals_of_any_size_within_the_drawing() {
        for value in [-f64::MAX, -1.0, 0.0, 1e-300, 1e300] {
            for size in [Width::Narrow, Width::Medium, Width::Wide] {
                let interval = Interval::bounded(value, value * 0.5, value);
                let svg = draw(&forest(&[Some(interval), Some(Interval::exact(0.0))]), size).unwrap().svg;
                assert_within(&svg);
                assert!(!svg.contains("<A/A>"));
            }
        }
        assert_eq!(draw(&forest(&[None, Some(Interval::exact(f64::NAN))]), Width::Wide), None);
    }

    proptest! {
        #[test]
        fn words_lie_within_the_drawing_and_apart(
            rows in prop::collection::vec(("[a-e0-9/ -]{0,40}", -1e3..1e3f64, 0.0..1e3f64, "[-+0-9. ]{1,20}"), 1..9),
        ) {
            let row = |(label, value, half, figure): &(String, f64, f64, String)| ForestRow {
                label: label.clone(),
                role: Role::Ours,
                interval: Some(Interval::bounded(*value, value - half, value + half)),
                figure: figure.clone(),
            };
            let forest = Forest { rows: rows.iter().map(row).collect(), ..forest(&[]) };
            for size in [Width::Narrow, Width::Medium, Width::Wide] {
                let svg = draw(&forest, size).unwrap().svg;
                assert_within(&svg);
            }
        }
    }
}
