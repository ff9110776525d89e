//! Bars: methods of hashing downwards, the encodings as colours.

use crate::methods;
use crate::packed::COMPARED;
use hashlane_lab::definition::Definition;
use hashlane_lab::report::{Bar, BarPlot, BarPlots, Group, Role, facts};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::format::figure;

/// Bars of the methods and encodings on each workload, the reference's mean on the first as a line; `None`
/// without records.
pub(crate) fn bars(definition: &Definition, records: &RecordSet, workloads: &[&str]) -> Option<BarPlots> {
    let unit = facts::unit(definition, records);
    let plots: Vec<BarPlot> = workloads.iter().filter_map(|w| plot(definition, records, w)).collect();
    let first = plots.first()?;
    let line = (plots.len() == 1).then(|| {
        let mean = mean(definition, records, &first.caption, &definition.reference)?;
        let encoding = methods::encoding(definition.reference.split('/').next().unwrap_or_default());
        Some((mean.value, format!("{encoding}, one by one: {}", figure(mean.value))))
    });
    let roles = COMPARED.iter().zip(0..);
    Some(BarPlots {
        axis: format!("time per {} ({unit})", definition.per),
        legend: roles.map(|(id, n)| (Role::Category(n), methods::encoding(id).to_owned())).collect(),
        whiskers: Some("95 % interval".to_owned()),
        reference: line.flatten(),
        plots,
        ..BarPlots::default()
    })
}

fn plot(definition: &Definition, records: &RecordSet, workload: &str) -> Option<BarPlot> {
    let bar = |method: &str, words: &str, encoding: &str, role: u8| {
        let mean = mean(definition, records, workload, &format!("{encoding}/{method}"))?;
        let name = methods::encoding(encoding);
        let mut bar = Bar::new(name, Role::Category(role), Some(mean.interval()), &figure(mean.value));
        bar.title = format!("{words}, {name}: {} {}", figure(mean.value), mean.unit);
        Some(bar)
    };
    let group = |(method, words): &(&str, &str)| {
        let bars = COMPARED.iter().zip(0..).filter_map(|(id, role)| bar(method, words, id, role));
        Group { heading: Some((*words).to_owned()), bars: bars.collect() }
    };
    let groups: Vec<Group> = methods::SHOWN.iter().map(group).filter(|g| !g.bars.is_empty()).collect();
    let title = format!("Time per {} by method and encoding, {workload}", definition.per);
    (!groups.is_empty()).then(|| BarPlot { caption: workload.to_owned(), title, groups })
}

fn mean<'a>(
    definition: &Definition,
    records: &'a RecordSet,
    workload: &str,
    scheme: &str,
) -> Option<&'a Record> {
    records.metric(&definition.slug, workload, scheme, &definition.metric)
}
