//! Bar charts as inline SVG, one small one for each workload, all of a chart on one scale.
//!
//! Written here and not by a plotting library, since the page's style sheet must reach the marks: colours follow the
//! reader's light or dark scheme, each bar has a `<title>`, and a chart stays legible on a telephone because it is drawn
//! narrow and laid out by the page, not shrunk.

use std::fmt::Write;

use minijinja::HtmlEscape;

use super::format::{self, figure, interval};
use super::scheme_id;
use crate::record::{RecordSet, metric};
use crate::stats::Interval;

/// The width of a drawing, in its own units; at 1:1 it fits a screen 400 pixels wide.
const WIDTH: f64 = 352.0;
const ROW: f64 = 19.0;
const BAR: f64 = 13.0;
const HEADING: f64 = 20.0;
/// The width of an average character of the labels.
const CHARACTER: f64 = 6.4;
const MAX_LABEL: usize = 24;

/// The bars of one chart, grouped, before they have a length.
pub(super) struct Layout<'a> {
    groups: Vec<Group<'a>>,
    label_width: f64,
}

struct Group<'a> {
    /// What the bars have in common, or nothing if there is one group.
    heading: Option<&'a str>,
    bars: Vec<Bar<'a>>,
}

struct Bar<'a> {
    scheme: &'a str,
    label: &'a str,
    colour: usize,
}

impl<'a> Layout<'a> {
    /// Groups `schemes`: those of several encodings by what they do, a bar for each encoding; those of one encoding as they
    /// come.
    pub(super) fn new(schemes: &'a [String]) -> Self {
        let ids: Vec<&str> = schemes.iter().map(String::as_str).collect();
        let mut heads: Vec<&str> = Vec::new();
        for id in &ids {
            if !heads.contains(&scheme_id::head(id)) {
                heads.push(scheme_id::head(id));
            }
        }
        let mut groups: Vec<Group<'a>> = Vec::new();
        if heads.len() > 1 {
            for id in ids {
                let heading = Some(scheme_id::tail(id));
                let colour = heads.iter().position(|h| *h == scheme_id::head(id)).unwrap_or(0);
                let bar = Bar { scheme: id, label: scheme_id::head(id), colour };
                match groups.iter_mut().find(|group| group.heading == heading) {
                    Some(group) => group.bars.push(bar),
                    None => groups.push(Group { heading, bars: vec![bar] }),
                }
            }
        } else {
            let cut = scheme_id::common_prefix(&ids);
            let bar = |id: &'a str| Bar { scheme: id, label: id.get(cut..).unwrap_or(id), colour: 0 };
            groups.push(Group { heading: None, bars: ids.into_iter().map(bar).collect() });
        }
        let longest = groups.iter().flat_map(|g| &g.bars).map(|b| b.label.chars().count()).max();
        let label_width = longest.unwrap_or(0).min(MAX_LABEL) as f64 * CHARACTER + 8.0;
        Self { groups, label_width }
    }

    /// The scale that all workloads share: the largest upper bound.
    pub(super) fn largest(&self, study: &str, workloads: &[&str], records: &RecordSet) -> f64 {
        let bars = self.groups.iter().flat_map(|g| &g.bars);
        bars.flat_map(|bar| workloads.iter().map(|w| means(records, study, w, bar.scheme)))
            .filter_map(|(mean, _)| mean)
            .fold(0.0, |largest, mean| f64::max(largest, mean.high.max(mean.value)))
    }

    /// The drawing for one workload, or `None` if it has none of the bars.
    pub(super) fn draw(
        &self,
        study: &str,
        workload: &str,
        records: &RecordSet,
        largest: f64,
        title: &str,
    ) -> Option<String> {
        let scale = (WIDTH - self.label_width - 52.0) / if largest > 0.0 { largest } else { 1.0 };
        let (mut marks, mut y, mut drawn) = (String::new(), 2.0, 0);
        for group in &self.groups {
            if let Some(heading) = group.heading {
                text(&mut marks, "group", 0.0, y + 14.0, heading);
                y += HEADING;
            }
            for bar in &group.bars {
                let (mean, min) = means(records, study, workload, bar.scheme);
                drawn += usize::from(mean.is_some());
                self.row(&mut marks, bar, y, scale, mean, min);
                y += ROW;
            }
            y += 5.0;
        }
        let title = HtmlEscape(title);
        (drawn > 0).then(|| {
            format!(
                "<svg viewBox=\"0 0 {WIDTH} {y}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>{marks}</svg>"
            )
        })
    }

    fn row(
        &self,
        marks: &mut String,
        bar: &Bar<'_>,
        y: f64,
        scale: f64,
        mean: Option<Interval>,
        min: Option<f64>,
    ) {
        let (x, middle, base) = (self.label_width, y + ROW / 2.0, y + ROW / 2.0 + 4.0);
        let top = y + (ROW - BAR) / 2.0;
        marks.push_str("<g>");
        let mut told = bar.scheme.to_owned();
        match mean {
            Some(mean) => told += &format!(": mean {} {} cycles", figure(mean.value), interval(mean, figure)),
            None => told += ": not measured",
        }
        if let Some(min) = min {
            told += &format!(", mean of the minima {}", figure(min));
        }
        push(marks, format_args!("<title>{}</title>", HtmlEscape(&told)));
        text(marks, "label", 0.0, base, &shortened(bar.label));
        if let Some(mean) = mean {
            let at = |value: f64| x + (value * scale).max(0.0);
            let (end, low, high) = (at(mean.value), at(mean.low), at(mean.high));
            push(
                marks,
                format_args!(
                    "<rect class=\"c{}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{BAR}\" rx=\"1.5\"/>",
                    bar.colour % 6,
                    (end - x).max(0.5)
                ),
            );
            if let Some(min) = min.map(at) {
                push(
                    marks,
                    format_args!("<path class=\"min\" d=\"M{min:.1} {:.1}v{:.1}\"/>", top + 1.0, BAR - 2.0),
                );
            }
            push(
                marks,
                format_args!(
                    "<path class=\"whisker\" d=\"M{low:.1} {:.1}v6m0 -3H{high:.1}m0 -3v6\"/>",
                    middle - 3.0
                ),
            );
            text(marks, "value", end.max(high) + 5.0, base, &figure(mean.value));
        } else {
            text(marks, "value", x + 2.0, base, format::NONE);
        }
        marks.push_str("</g>");
    }
}

/// The colours' meaning, in the order of the classes `c0`, `c1`, …: the encodings, or nothing if there is one.
pub(super) fn legend(schemes: &[String]) -> Vec<&str> {
    let layout = Layout::new(schemes);
    let mut heads: Vec<(usize, &str)> = Vec::new();
    for bar in layout.groups.into_iter().filter(|g| g.heading.is_some()).flat_map(|g| g.bars) {
        if !heads.contains(&(bar.colour, bar.label)) {
            heads.push((bar.colour, bar.label));
        }
    }
    heads.sort_unstable();
    heads.into_iter().map(|(_, head)| head).collect()
}

/// The mean of a scheme with its bounds, and the mean of its minima.
fn means(records: &RecordSet, study: &str, workload: &str, scheme: &str) -> (Option<Interval>, Option<f64>) {
    let record = |name| records.metric(study, workload, scheme, name);
    (record(metric::CYCLES_MEAN).map(|r| r.interval()), record(metric::CYCLES_MIN_MEAN).map(|r| r.value))
}

/// A label that fits; what is left out of it stands in the bar's title.
fn shortened(label: &str) -> String {
    let length = label.chars().count();
    if length <= MAX_LABEL {
        return label.to_owned();
    }
    let tail: String = label.chars().skip(length - (MAX_LABEL - 1)).collect();
    format!("…{tail}")
}

fn text(marks: &mut String, class: &str, x: f64, y: f64, words: &str) {
    push(
        marks,
        format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", HtmlEscape(words)),
    );
}

fn push(marks: &mut String, piece: core::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = marks.write_fmt(piece);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn draws_a_bar_for_each_scheme() {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        let layout = Layout::new(&definition.charts[1].schemes);
        let largest = layout.largest("sample", &["12Bx5", "6Bx10"], &records);
        let svg = layout.draw("sample", "12Bx5", &records, largest, "The floor, 12Bx5").unwrap();
        insta::assert_snapshot!(svg.replace('>', ">\n"));
    }

    #[test]
    fn groups_encodings_by_what_they_do() {
        let definition = sample::definition();
        let layout = Layout::new(&definition.charts[0].schemes);
        let groups: Vec<_> = layout.groups.iter().map(|g| (g.heading.unwrap(), g.bars.len())).collect();
        assert_eq!(groups, [("one-by-one/crc32c", 2), ("one-pass/crc32c", 2)]);
        assert_eq!(legend(&definition.charts[0].schemes), ["ccnx", "ndn"]);
        assert!(legend(&definition.charts[1].schemes).is_empty());
    }

    #[test]
    fn draws_nothing_of_what_was_not_measured() {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        let layout = Layout::new(&definition.charts[0].schemes);
        assert_eq!(layout.draw("sample", "elsewhere", &records, 1.0, "t"), None);
        let unknown = ["ndn/one-pass/crc32c".to_owned(), "ndn/none".to_owned()];
        let svg = Layout::new(&unknown).draw("sample", "12Bx5", &records, 200.0, "t").unwrap();
        assert!(svg.contains("none: not measured") && svg.contains('—'));
    }

    #[test]
    fn escapes_hostile_ids() {
        let schemes = ["<script>/\"&'".to_owned()];
        let mut records = RecordSet::new();
        let definition = sample::definition();
        for record in sample::records(&definition, &[]).iter().take(1) {
            records.insert(crate::record::Record { scheme: schemes[0].clone(), ..record.clone() }).unwrap();
        }
        let svg = Layout::new(&schemes).draw("sample", "12Bx5", &records, 300.0, "</title>").unwrap();
        assert!(!svg.contains("<script") && !svg.contains("</title></title>"), "{svg}");
    }
}
