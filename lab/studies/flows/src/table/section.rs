//! Report section: the cost of a table as it grows, the time of an operation against the number of flows.

use crate::metric::{MEMORY, NS};
use crate::series::series;
use hashlane_lab::definition::Definition;
use hashlane_lab::report::Facts;
use hashlane_lab::report::facts::by_interest;
use hashlane_lab::report::words;
use hashlane_lab::report::{Block, Line, LinePlot, LinePlots, Section, Shown, Table};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::format::{self, figure};

pub(crate) const MODEL: &str = "table";

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let operations = operations(&facts);
    // Of those that the study does not compare, the fastest in the largest table are of most interest.
    let largest = operations.iter().find(|o| o.is_curve()).and_then(|o| o.sizes.last());
    let time = |scheme: &str| largest.and_then(|(_, _, id)| facts.value(id, scheme, NS)).unwrap_or(f64::MAX);
    let mut names = facts.schemes.clone();
    names.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let names = by_interest(definition, names.into_iter(), |id| id);
    let plotted: Vec<LinePlot> = operations.iter().filter(|o| o.is_curve()).map(|o| o.plot(&facts)).collect();
    let mut blocks = Vec::new();
    if !plotted.is_empty() {
        blocks.push(Block::Lines(LinePlots {
            x: "flows in the table".to_owned(),
            y: format!("ns per {}", definition.per),
            series: names.iter().enumerate().map(series).collect(),
            plots: plotted,
            ..LinePlots::default()
        }));
    }
    for operation in &operations {
        blocks.extend(operation.tables(definition, &facts).into_iter().map(Block::Table));
    }
    Some(Section {
        title: "As the table grows".to_owned(),
        note: facts.note(format!(
            "Nanoseconds, for one {} or for one step of what the workload names. Ratios are to {}, pair by \
             pair, with 95 % bounds.",
            definition.per, definition.reference
        )),
        findings: Vec::new(),
        blocks,
    })
}

/// The workloads that do the same, with the sizes of their tables.
struct Operation<'a> {
    name: &'a str,
    /// The size as the workload's id has it, the number of flows if it is one, and the id.
    sizes: Vec<(&'a str, Option<f64>, &'a str)>,
}

/// A workload's id is `SIZE/OPERATION`.
fn operations<'a>(facts: &Facts<'a>) -> Vec<Operation<'a>> {
    let mut operations: Vec<Operation<'a>> = Vec::new();
    for id in &facts.workloads {
        let (size, name) = id.rsplit_once('/').unwrap_or(("", id));
        let size = (size, flows(size), *id);
        match operations.iter_mut().find(|o| o.name == name) {
            Some(operation) => operation.sizes.push(size),
            None => operations.push(Operation { name, sizes: vec![size] }),
        }
    }
    for operation in &mut operations {
        operation.sizes.sort_by(|a, b| a.1.unwrap_or(f64::MAX).total_cmp(&b.1.unwrap_or(f64::MAX)));
    }
    operations
}

/// Number of flows from an id: `64Ki` is 65,536.
pub(super) fn flows(size: &str) -> Option<f64> {
    let (digits, unit) = match size.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => size.split_at(at),
        None => (size, ""),
    };
    let unit = match unit {
        "" => 1.0,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        _ => return None,
    };
    digits.parse::<u32>().ok().map(|n| f64::from(n) * unit)
}

impl<'a> Operation<'a> {
    /// `true` if there are several sizes to draw a line through.
    fn is_curve(&self) -> bool {
        self.sizes.iter().filter(|(_, flows, _)| flows.is_some()).count() > 1
    }

    fn schemes(&self, facts: &Facts<'a>) -> Vec<&'a str> {
        let any = |scheme: &&&str| self.sizes.iter().any(|(_, _, id)| facts.record(id, scheme, NS).is_some());
        facts.schemes.iter().filter(any).copied().collect()
    }

    fn plot(&self, facts: &Facts<'a>) -> LinePlot {
        let line = |scheme: &str| {
            let point = |(_, flows, id): &(&str, Option<f64>, &str)| {
                Some(((*flows)?, facts.record(id, scheme, NS)?.interval()))
            };
            Line { name: scheme.to_owned(), points: self.sizes.iter().filter_map(point).collect() }
        };
        LinePlot {
            caption: self.name.to_owned(),
            note: String::new(),
            lines: self.schemes(facts).into_iter().map(line).collect(),
        }
    }

    fn tables(&self, definition: &Definition, facts: &Facts<'a>) -> Vec<Table> {
        let schemes = self.schemes(facts);
        let reference = &definition.reference;
        let time = |id: &str, scheme: &str| facts.record(id, scheme, NS).map(|r| figure(r.value));
        let ratio = |id: &str, scheme: &str| match facts.records.ratio(facts.study, id, scheme, reference) {
            None if scheme == reference => Some("1".to_owned()),
            record => record.map(Record::interval).map(words::ratio_with_bounds),
        };
        let table = |what: &str, shown, cell: &dyn Fn(&str, &str) -> Option<String>| {
            let row = |scheme: &&str| {
                let cells = self.sizes.iter().map(|(_, _, id)| cell(id, scheme));
                let cells = cells.map(|cell| cell.unwrap_or_else(|| format::NONE.to_owned()));
                [(*scheme).to_owned()].into_iter().chain(cells).collect()
            };
            let sizes = self.sizes.iter().map(|(size, _, _)| if size.is_empty() { self.name } else { size });
            Table {
                caption: format!("{}: {what}, by flows in the table", self.name),
                columns: ["scheme"].into_iter().chain(sizes).map(str::to_owned).collect(),
                left: 1,
                rows: schemes.iter().map(row).collect(),
                shown,
            }
        };
        let any = self.sizes.iter().any(|(_, _, id)| {
            schemes.iter().any(|s| facts.records.ratio(facts.study, id, s, reference).is_some())
        });
        let bytes = |id: &str, scheme: &str| {
            let (_, flows, _) = self.sizes.iter().find(|(_, _, other)| *other == id)?;
            Some(figure(facts.value(id, scheme, MEMORY)? / (*flows)?))
        };
        let mut tables = vec![table("ns", Shown::Open, &time)];
        if any {
            tables.push(table(&format!("ratio to {reference}"), Shown::Folded, &ratio));
        }
        if self.sizes.iter().any(|(_, _, id)| schemes.iter().any(|scheme| bytes(id, scheme).is_some())) {
            tables.push(table("bytes of memory per flow", Shown::PageOnly, &bytes));
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::flows;

    #[test]
    fn reads_sizes() {
        assert_eq!(
            ["1Ki", "64Ki", "16Mi", "300"].map(flows),
            [Some(1024.0), Some(65_536.0), Some(16_777_216.0), Some(300.0)]
        );
        assert_eq!(["", "Ki", "pcap:x", "1Kib", "99999999999Ki", "-1"].map(flows), [None; 6]);
    }
}
