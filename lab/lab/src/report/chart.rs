//! The bar charts that a study asks for, one drawing for each workload, all of a chart on one scale.

use super::charts::{Bar, BarPlot, BarPlots, Group, Role};
use super::facts;
use super::scheme_id;
use crate::definition::{Chart, Definition};
use hashlane_records::{RecordSet, metric};
use hashlane_stats::format::{self, figure, interval};

/// More encodings than these have one colour.
const CATEGORIES: usize = 4;

/// The bars of a chart. Several encodings are grouped by operation, with a bar for each encoding; the bars of
/// a single encoding keep their order.
pub(super) fn plots(
    chart: &Chart,
    definition: &Definition,
    records: &RecordSet,
    workloads: &[&str],
) -> BarPlots {
    let ids: Vec<&str> = chart.schemes.iter().map(String::as_str).collect();
    let mut heads: Vec<&str> = Vec::new();
    for id in &ids {
        if !heads.contains(&scheme_id::head(id)) {
            heads.push(scheme_id::head(id));
        }
    }
    let (several, coloured) = (heads.len() > 1, heads.len() <= CATEGORIES);
    let cut = scheme_id::common_prefix(&ids);
    let unit = facts::unit(definition, records);
    let per = &definition.per;
    let plot = |workload: &&str| {
        let mut groups: Vec<Group> = Vec::new();
        for id in &ids {
            let heading = several.then(|| scheme_id::tail(id).to_owned());
            let label = if several { scheme_id::head(id) } else { id.get(cut..).unwrap_or(id) };
            let role = category(&heads, label);
            let bar = bar(definition, records, workload, id, label, role, unit);
            match groups.iter_mut().find(|group| group.heading == heading) {
                Some(group) => group.bars.push(bar),
                None => groups.push(Group { heading, bars: vec![bar] }),
            }
        }
        let caption = format::plain(workload);
        let title = format!("{}, {caption}: {unit} per {per}", chart.title);
        BarPlot { caption, title, groups }
    };
    let minima = definition.metric == metric::CYCLES_MEAN;
    let legend = |head: &&str| (category(&heads, head), (*head).to_owned());
    BarPlots {
        axis: format!("{unit} per {per}"),
        legend: if several && coloured { heads.iter().map(legend).collect() } else { Vec::new() },
        whiskers: Some("95 % of the mean".to_owned()),
        tick: minima.then(|| "mean of the minima".to_owned()),
        plots: workloads.iter().map(plot).collect(),
        ..BarPlots::default()
    }
}

/// The colour of an encoding, by its place among all of the chart; one for all if they are too many.
fn category(heads: &[&str], head: &str) -> Role {
    let place = heads.iter().position(|h| *h == head).unwrap_or_default();
    Role::Category(if heads.len() > CATEGORIES { 0 } else { place as u8 })
}

fn bar(
    definition: &Definition,
    records: &RecordSet,
    workload: &str,
    scheme: &str,
    label: &str,
    role: Role,
    unit: &str,
) -> Bar {
    let record = |name| records.metric(&definition.slug, workload, scheme, name);
    let value = record(&definition.metric).map(|r| r.interval());
    let tick = record(metric::CYCLES_MIN_MEAN).map(|r| r.value);
    let mut title = scheme.to_owned();
    match value {
        Some(mean) => title += &format!(": mean {} {} {unit}", figure(mean.value), interval(mean, figure)),
        None => title += ": not measured",
    }
    if let Some(min) = tick {
        title += &format!(", mean of the minima {}", figure(min));
    }
    let figure = value.map_or_else(String::new, |v| figure(v.value));
    Bar { title, tick, ..Bar::new(label, role, value, &figure) }
}

#[cfg(test)]
mod tests {
    use super::super::charts::draw::{self, Width};
    use super::*;
    use crate::report::sample;

    #[test]
    fn draws_a_bar_for_each_scheme() {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        let chart = plots(&definition.charts[1], &definition, &records, &["12Bx5", "6Bx10"]);
        insta::assert_snapshot!(draw::bars::draw(&chart, Width::Narrow)[0].svg.replace('>', ">\n"));
    }

    #[test]
    fn groups_encodings_by_what_they_do() {
        let definition = sample::definition();
        let chart = plots(&definition.charts[0], &definition, &RecordSet::new(), &["12Bx5"]);
        let groups = &chart.plots[0].groups;
        let groups: Vec<_> = groups.iter().map(|g| (g.heading.as_deref().unwrap(), g.bars.len())).collect();
        assert_eq!(groups, [("by-element/summed", 2), ("straight/summed", 2)]);
        let legend: Vec<&str> = chart.legend.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(legend, ["quux", "foo"]);
        assert!(plots(&definition.charts[1], &definition, &RecordSet::new(), &[]).legend.is_empty());
    }

    #[test]
    fn draws_nothing_of_what_was_not_measured() {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        let elsewhere = plots(&definition.charts[0], &definition, &records, &["elsewhere"]);
        assert!(draw::bars::draw(&elsewhere, Width::Narrow).is_empty());
        let mut chart = definition.charts[0].clone();
        chart.schemes = vec!["foo/straight/summed".to_owned(), "foo/none".to_owned()];
        let plots = plots(&chart, &definition, &records, &["12Bx5"]);
        let svg = &draw::bars::draw(&plots, Width::Narrow)[0].svg;
        assert!(svg.contains("none: not measured") && svg.contains('—'));
    }
}
