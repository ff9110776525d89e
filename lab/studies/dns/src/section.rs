//! Report section: the cost of rendering a message, and its length.

use crate::metric;
use hashlane_lab::definition::{Definition, PublishedRow};
use hashlane_lab::report::Facts;
use hashlane_lab::report::facts::without_empty_columns;
use hashlane_lab::report::words;
use hashlane_lab::report::{Bar, BarPlot, BarPlots, Block, Group, Role, Section, Shown, Table};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{self, count, figure, interval, ratio};

pub(crate) const MODEL: &str = "render";

/// The message that hostile ones are compared with, per byte.
const ORDINARY: &str = "response/a500";

/// The renderer of this repository.
pub(crate) const OURS: &str = "ours";

/// Start of the ids of our compressor behind the builder of `domain`: no other renderer.
pub(crate) const COMPOSER: &str = "composer/";

/// The source's renderer with a hash table.
pub(crate) const NEW: &str = "new";

/// The source's renderer with an ordered set.
pub(crate) const OLD: &str = "old";

/// The source's renderer that compresses nothing.
pub(crate) const DUMB: &str = "dumb";

/// The source's renderers, of its benchmark.
pub(crate) const SOURCE: [&str; 3] = [NEW, OLD, DUMB];

/// `true` for other forms of the source's hash table.
pub(crate) fn is_form(scheme: &str) -> bool {
    scheme.strip_prefix(NEW).is_some_and(|form| form.starts_with('/'))
}

/// The table of figures of renderers that were measured elsewhere.
const ELSEWHERE: &str = "elsewhere";

/// The renderer that was measured elsewhere and is measured here.
const COMMON: &str = "domain/hash-reused";

/// Prefix of the workloads of hostile names.
pub(crate) const HOSTILE: &str = "hostile/";

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let view = View { definition, facts: &facts };
    let hostile = |w: &&str| w.starts_with(HOSTILE) || *w == ORDINARY;
    let hostile: Vec<&str> = facts.workloads.iter().copied().filter(hostile).collect();
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(view.source_table().map(Block::Table));
    for workload in facts.workloads.iter().filter(|w| !w.starts_with(HOSTILE)) {
        blocks.push(Block::Bars(view.bars(&[workload], "ns", metric::NS, &|w, s| view.ns(w, s))));
    }
    let all = &facts.workloads;
    blocks.push(Block::Table(
        view.table("ns per message", all, Shown::Open, &|w, s| view.ns(w, s).map(|ns| figure(ns.value))),
    ));
    blocks.push(Block::Table(
        view.table("bytes per message", all, Shown::Open, &|w, s| {
            facts.value(w, s, metric::OCTETS).map(count)
        }),
    ));
    blocks.push(Block::Table(view.table(
        &format!("time as a ratio to {}", definition.reference),
        all,
        Shown::Folded,
        &|w, s| {
            let to = &definition.reference;
            match facts.records.ratio(facts.study, w, s, to) {
                None => (s == to && view.ns(w, s).is_some()).then(|| "1".to_owned()),
                Some(record) => Some(words::ratio_with_bounds(record.interval())),
            }
        },
    )));
    blocks.extend(view.rivals().map(Block::Table));
    blocks.extend(view.elsewhere().map(Block::Table));
    if hostile.len() > 1 {
        blocks.push(Block::Bars(
            view.bars(&hostile, "ns per byte", "ns per byte written", &|w, s| view.per_byte(w, s)),
        ));
        blocks.push(Block::Table(view.table("ns per byte written", &hostile, Shown::Open, &|w, s| {
            view.per_byte(w, s).map(|ns| figure(ns.value))
        })));
    }
    Some(Section {
        title: "Rendering messages".to_owned(),
        note: facts.note(
            "Time of a message, with its names converted to the renderer's own types beforehand. Bytes \
             include the header. Rendered messages are parsed and compared before anything is timed."
                .to_owned(),
        ),
        findings: view.findings(),
        blocks,
    })
}

struct View<'a> {
    definition: &'a Definition,
    facts: &'a Facts<'a>,
}

/// The role of a renderer: the source's are history, third-party crates are peers.
pub(crate) fn role(scheme: &str) -> Role {
    match scheme {
        OURS => Role::Ours,
        _ if SOURCE.contains(&scheme) || is_form(scheme) => Role::Historical,
        _ => Role::Peer,
    }
}

/// A figure of a scheme on a workload.
type Value<'a> = &'a dyn Fn(&str, &str) -> Option<Interval>;

impl View<'_> {
    fn ns(&self, workload: &str, scheme: &str) -> Option<Interval> {
        self.facts.record(workload, scheme, metric::NS).map(Record::interval)
    }

    fn per_byte(&self, workload: &str, scheme: &str) -> Option<Interval> {
        let bytes = self.facts.value(workload, scheme, metric::OCTETS).filter(|bytes| *bytes > 0.0)?;
        Some(self.ns(workload, scheme)?.scaled(1.0 / bytes))
    }

    /// Millions of names per second.
    fn names(&self, workload: &str, scheme: &str) -> Option<f64> {
        let names = self.facts.value(workload, scheme, metric::NAMES)?;
        Some(1000.0 * names / self.ns(workload, scheme).filter(|ns| ns.value > 0.0)?.value)
    }

    /// The source's figures next to ours.
    fn source_table(&self) -> Option<Table> {
        let published = self.definition.published("names-per-second");
        let rows: Vec<&str> = match published {
            Some(table) => table.rows.iter().map(|row| row.id.as_str()).collect(),
            None => self.facts.workloads.iter().copied().filter(|id| !id.starts_with(HOSTILE)).collect(),
        };
        let rows: Vec<&str> = rows.into_iter().filter(|id| self.facts.workloads.contains(id)).collect();
        let mut columns = vec!["scheme".to_owned()];
        for workload in &rows {
            columns.extend([(*workload).to_owned(), "source".to_owned()]);
        }
        let row = |scheme: &&str| {
            let mut row = vec![(*scheme).to_owned()];
            for workload in &rows {
                let theirs = published.and_then(|table| table.figure(workload, scheme));
                let theirs = theirs.map(|names| names / 1e6);
                let both = [self.names(workload, scheme), theirs];
                row.extend(both.map(|names| names.map_or_else(format::none, |names| format!("{names:.2}"))));
            }
            row
        };
        let cells: Vec<Vec<String>> = self.facts.schemes.iter().map(row).collect();
        (!rows.is_empty()).then(|| {
            without_empty_columns(Table {
                caption: "millions of names per second, and what the source printed".to_owned(),
                columns,
                left: 1,
                rows: cells,
                shown: Shown::Open,
            })
        })
    }

    fn table(
        &self,
        caption: &str,
        workloads: &[&str],
        shown: Shown,
        cell: &dyn Fn(&str, &str) -> Option<String>,
    ) -> Table {
        let row = |scheme: &&str| {
            let cells = workloads.iter().map(|workload| cell(workload, scheme).unwrap_or_else(format::none));
            [(*scheme).to_owned()].into_iter().chain(cells).collect()
        };
        Table {
            caption: caption.to_owned(),
            columns: ["scheme"].iter().chain(workloads).map(|&name| name.to_owned()).collect(),
            left: 1,
            rows: self.facts.schemes.iter().map(row).collect(),
            shown,
        }
    }

    fn bars(&self, workloads: &[&str], unit: &str, what: &str, value: Value<'_>) -> BarPlots {
        let plot = |workload: &&str| {
            let bar = |id: &&str| {
                let value = value(workload, id);
                let title = match value {
                    Some(v) => format!("{id}: {} {} {unit}", figure(v.value), interval(v, figure)),
                    None => format!("{id}: not measured"),
                };
                let figure = value.map_or_else(String::new, |v| figure(v.value));
                Bar { title, ..Bar::new(id, role(id), value, &figure) }
            };
            BarPlot {
                caption: format!("{workload}, {unit}"),
                title: format!("{workload}: {what} by renderer"),
                groups: vec![Group {
                    heading: None,
                    bars: self.facts.schemes_with(workload, &[metric::NS]).iter().map(bar).collect(),
                }],
            }
        };
        BarPlots {
            axis: format!("{what}, {unit}"),
            whiskers: Some("95 %".to_owned()),
            plots: workloads.iter().map(plot).collect(),
            ..BarPlots::default()
        }
    }

    /// The ratio of two schemes' times, as it was measured pair by pair.
    fn ratio(&self, workload: &str, of: &str, to: &str) -> Option<Interval> {
        self.facts.records.ratio(self.facts.study, workload, of, to).map(Record::interval)
    }

    fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        let published = self.definition.published("names-per-second");
        for PublishedRow { id: workload, .. } in published.iter().flat_map(|table| &table.rows) {
            let of_source = |id| published?.figure(workload, id);
            let (Some(measured), Some(old), Some(new)) =
                (self.ratio(workload, "new", "old"), of_source("old"), of_source("new"))
            else {
                continue;
            };
            findings.push(format!(
                "{workload}: new takes {} of old; {} by the source's figures.",
                words::ratio_with_bounds(measured),
                ratio(old / new)
            ));
        }
        findings.extend(self.beside_bind());
        findings
    }

    /// Figures of renderers that this study does not run, with the sizes of messages that are not the
    /// smallest.
    fn elsewhere(&self) -> Option<Table> {
        let times = self.definition.published(ELSEWHERE)?;
        let sizes = self.definition.published("elsewhere/octets");
        let cell = |row: &str, column: &str| {
            let Some(ns) = times.figure(row, column) else { return format::none() };
            match sizes.and_then(|sizes| sizes.figure(row, column)) {
                Some(bytes) => format!("{} ({} B)", count(ns), count(bytes)),
                None => count(ns),
            }
        };
        let row = |row: &PublishedRow| {
            let cells = times.columns.iter().map(|column| cell(&row.id, column));
            [row.id.clone()].into_iter().chain(cells).collect()
        };
        Some(Table {
            caption: format!(
                "ns per message, not of this run: {}; bytes where not the smallest",
                times.source
            ),
            columns: ["workload"].map(str::to_owned).into_iter().chain(times.columns.clone()).collect(),
            left: 1,
            rows: times.rows.iter().map(row).collect(),
            shown: Shown::Folded,
        })
    }

    /// Our time as a ratio to that of BIND 9 on the source's messages, by way of a renderer that was measured
    /// both here and there.
    fn beside_bind(&self) -> Option<String> {
        const BIND: &str = "BIND 9 small table";
        let times = self.definition.published(ELSEWHERE)?;
        let there = |row, column| times.figure(row, column).filter(|ns| *ns > 0.0);
        let ratios = times.rows.iter().filter_map(|PublishedRow { id, .. }| {
            let here = self.ratio(id, COMMON, OURS).filter(|ratio| ratio.value > 0.0)?;
            let to_bind = there(id, COMMON)? / there(id, BIND)? / here.value;
            Some(format!("{} on {id}", ratio(to_bind)))
        });
        let ratios: Vec<String> = ratios.collect();
        (!ratios.is_empty()).then(|| {
            format!(
                "ours takes about {} of the time of BIND 9's compressor, which was measured elsewhere, beside \
                 {COMMON} in both places.",
                ratios.join(", ")
            )
        })
    }

    /// On each workload the fastest of the other renderers with the smallest message.
    fn rivals(&self) -> Option<Table> {
        let rows: Vec<_> = self.facts.workloads.iter().filter_map(|workload| self.rival(workload)).collect();
        (!rows.is_empty()).then(|| Table {
            caption: format!(
                "the fastest other renderer with the smallest message, and its time as a ratio to {OURS}"
            ),
            columns: ["workload", "renderer", "bytes", "bytes of ours", "ratio"].map(str::to_owned).into(),
            left: 2,
            rows,
            shown: Shown::Folded,
        })
    }

    fn rival(&self, workload: &str) -> Option<Vec<String>> {
        let bytes = |scheme: &str| self.facts.value(workload, scheme, metric::OCTETS);
        let least = self.facts.schemes.iter().filter_map(|s| bytes(s)).min_by(f64::total_cmp)?;
        let other = |scheme: &&str| *scheme != OURS && !scheme.starts_with(COMPOSER);
        let others = self.facts.schemes.iter().copied().filter(|s| other(s) && bytes(s) == Some(least));
        let timed = others.filter_map(|scheme| Some((scheme, self.ratio(workload, scheme, OURS)?)));
        let (fastest, ratio) = timed.min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
        let cells = [workload, fastest].map(str::to_owned);
        let figures = [count(least), count(bytes(OURS)?), words::ratio_with_bounds(ratio)];
        Some(cells.into_iter().chain(figures).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = include_str!("../dns-render/study.toml");

    /// `(workload, scheme, ns, octets, names)`.
    fn records(facts: &[(&str, &str, f64, f64, f64)]) -> RecordSet {
        let mut records = RecordSet::new();
        for &(workload, scheme, ns, bytes, names) in facts {
            for (metric, unit, value) in
                [(metric::NS, "ns", ns), (metric::OCTETS, "octets", bytes), (metric::NAMES, "names", names)]
            {
                let columns = ["dns-render", MODEL, workload, scheme, "rounds", metric, unit];
                records.insert(Record::new(columns, [value; 3], 15, 6)).unwrap();
            }
        }
        records
    }

    #[test]
    fn shows_the_source_s_table_sizes_and_findings() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        assert_eq!(section(&definition, &RecordSet::new()), None);
        let mut records = records(&[
            ("positive", "old", 4200.0, 153.0, 42.0),
            ("positive", "new", 2100.0, 153.0, 42.0),
            ("positive", "dumb", 100.0, 639.0, 42.0),
            ("positive", "ours", 420.0, 153.0, 42.0),
            ("positive", "domain/hash", 2000.0, 153.0, 42.0),
            ("positive", "domain/hash-reused", 1680.0, 153.0, 42.0),
            ("positive", "domain/static", 500.0, 171.0, 42.0),
            ("servfail", "dumb", 5.0, 29.0, 1.0),
            ("servfail", "ours", 7.5, 29.0, 1.0),
            ("response/a500", "ours", 5000.0, 5000.0, 500.0),
            ("hostile/deep", "ours", 20_000.0, 10_000.0, 64.0),
            ("hostile/distinct", "ours", 9_000.0, 10_000.0, 500.0),
        ]);
        for (workload, of, to, value) in [
            ("positive", "new", "old", 0.5),
            ("positive", "old", "ours", 10.0),
            ("positive", "domain/hash", "ours", 4.8),
            ("positive", "domain/hash-reused", "ours", 4.0),
            ("servfail", "dumb", "ours", 0.667),
        ] {
            let first = records.iter().next().unwrap().clone();
            let (workload, scheme, metric, unit) =
                (workload.into(), of.into(), metric::RATIO.into(), to.into());
            let (low, high) = (value * 0.99, value * 1.01);
            records.insert(Record { workload, scheme, metric, unit, value, low, high, ..first }).unwrap();
        }
        let section = section(&definition, &records).unwrap();
        let source = section.table("millions of names per second");
        assert_eq!(source.columns, ["scheme", "positive", "source", "servfail", "source"]);
        assert_eq!(source.rows[1], ["new", "20.00", "3.10", "—", "1.22"]);
        let bytes = section.table("bytes per message");
        assert_eq!(bytes.rows[2][..2], ["dumb", "639"]);
        let per_byte = section.table("ns per byte");
        assert_eq!(per_byte.columns[1..], ["response/a500", "hostile/deep", "hostile/distinct"]);
        let found = "positive: new takes 0.500 [0.495, 0.505] of old; 0.129 by the source's figures.";
        // 1,744 ns against 1,299 there, 4 times ours here.
        let beside = "ours takes about 0.336 on positive of the time of BIND 9's compressor, which was \
                      measured elsewhere, beside domain/hash-reused in both places.";
        assert_eq!(section.findings, [found, beside]);
        let elsewhere = section.table("ns per message, not of this run");
        assert_eq!(elsewhere.rows[3][..3], ["500 addresses", "29,243 (5,345 B)", "27,419"]);
        let rivals = section.table("the fastest other renderer");
        assert_eq!(rivals.rows[0], ["positive", "domain/hash-reused", "153", "153", "4.00 [3.96, 4.04]"]);
        assert_eq!(rivals.rows[1], ["servfail", "dumb", "29", "29", "0.667 [0.660, 0.674]"]);
    }

    #[test]
    fn the_ticket_s_words_have_their_verdicts_on_committed_records() {
        const RECORDS: &str = include_str!("../../../../records/epyc-avx512-2vcpu/dns-render/records.csv");
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        let records = RecordSet::parse(RECORDS.as_bytes(), "records.csv").unwrap();
        let verdicts: Vec<String> = definition
            .claim_outcomes(&records)
            .iter()
            .map(|outcome| format!("{}: {}", outcome.claim.id, words::comparisons(outcome.counts())))
            .collect();
        assert_eq!(
            verdicts[..4],
            [
                "3-to-7-times: agrees: 1 of 2 comparisons; disagrees: 1",
                "2-to-5-times: agrees: 2 of 2 comparisons",
                "nxdomain-3-times: disagrees: 1 of 1 comparison",
                "one-name-slower: agrees: 1 of 1 comparison",
            ]
        );
        // Those records have neither the forms of the table nor `dumb` beside the source's others.
        let rest = verdicts[4..].iter();
        assert!(
            verdicts.len() == 10 && rest.clone().all(|line| line.contains(": not measured: ")),
            "{rest:?}"
        );
        assert!(section(&definition, &records).is_some());
    }

    #[test]
    fn compares_nothing_that_was_not_measured_in_pairs() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        let records =
            records(&[("positive", "old", 4200.0, 153.0, 42.0), ("positive", "ours", 60.0, 153.0, 42.0)]);
        assert_eq!(section(&definition, &records).unwrap().findings, [""; 0]);
    }
}
