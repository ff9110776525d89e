//! Indexes of the pending Interest table: the source's table printed again, full load, operations on the PIT,
//! parts of the forwarder, digests.

use super::busy::LEAST as BUSY_LEAST;
use super::load::BUSY;
use super::parts_section::{digests, none, parts_table};
use crate::metric;
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::Evidence;
use hashlane_lab::report::Facts;
use hashlane_lab::report::facts::without_empty_columns;
use hashlane_lab::report::words;
use hashlane_lab::report::{Block, Section, Shown, Table};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{count, figure, interval, ratio};

/// Operations on the PIT.
pub(crate) const MODEL: &str = "pit";
/// Models of the additional measurements, shown in this section.
pub(crate) const LOAD: &str = "pit-load";
pub(crate) const PARTS: &str = "pit-parts";
pub(crate) const DIGEST: &str = "pit-digest";

/// Rows of the source's network: components of names, index, CPU in per cent from and to, and mean round-trip
/// time in milliseconds.
fn published(definition: &Definition) -> impl Iterator<Item = (&str, &str, [f64; 3])> {
    let rows = definition.published("network").into_iter().flat_map(|table| &table.rows);
    rows.filter_map(|row| {
        let (components, index) = row.id.split_once('/')?;
        Some((components, index, row.figures.as_slice().try_into().ok()?))
    })
}

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let alone = Facts::of(definition, records, MODEL);
    let load = Facts::of(definition, records, LOAD);
    let parts = Facts::of(definition, records, PARTS);
    let digest = Facts::of(definition, records, DIGEST);
    let any = [&alone, &load, &parts, &digest].into_iter().find_map(Option::as_ref)?;
    let reference = definition.reference.as_str();
    let (mut blocks, mut findings) = (Vec::new(), Vec::new());
    if let Some(facts) = &load {
        blocks.extend(network(definition, facts, reference, "paced/", PACED));
        blocks.extend(network(definition, facts, reference, BUSY, BUSY_CAPTION));
        blocks.extend(saturated(facts, reference));
        findings.extend(network_findings(definition, records, facts));
        findings.extend(of_kind(facts, BUSY).filter_map(|workload| busy_finding(facts, workload, reference)));
    }
    if let Some(facts) = &alone {
        blocks.push(operations(facts, reference));
    }
    if let Some(facts) = &parts {
        blocks.push(parts_table(facts, load.as_ref()));
    }
    if let Some(facts) = &digest {
        blocks.push(digests(facts, alone.as_ref(), reference));
    }
    let note = "Intervals are of 95 % over rounds in which each index had its turn. name-again is an A/A \
                control: any difference from name is noise. digest satisfies every entry that the name of \
                the Data answers, as name and token do; digest-one, as the source proposed, only the entry \
                of the digest. Rows with a star are the source's: NFD of 2017, on hardware of the Open \
                Network Laboratory. Compare differences between rows of one machine, not rows of two.";
    let title = "The index of the pending Interest table".to_owned();
    Some(Section { title, note: any.note(note.to_owned()), findings, blocks })
}

/// Three digits behind the point: milliseconds, microseconds of CPU time.
fn fine(value: f64) -> String {
    format!("{value:.3}")
}

fn bounds(estimate: Interval, show: fn(f64) -> String) -> String {
    format!("{} {}", show(estimate.value), interval(estimate, show))
}

fn shown(facts: &Facts<'_>, workload: &str, scheme: &str, metric: &str, show: fn(f64) -> String) -> String {
    facts.record(workload, scheme, metric).map_or_else(none, |record| bounds(record.interval(), show))
}

fn to_reference(facts: &Facts<'_>, workload: &str, scheme: &str, reference: &str) -> String {
    let found = facts.records.ratio(facts.study, workload, scheme, reference).map(Record::interval);
    found.map_or_else(none, words::ratio_with_bounds)
}

/// Workloads that begin with `kind`.
fn of_kind<'f>(facts: &'f Facts<'_>, kind: &'f str) -> impl Iterator<Item = &'f str> {
    facts.workloads.iter().copied().filter(move |workload| workload.starts_with(kind))
}

/// The source's table, on workloads that begin with `kind`: the router's CPU and the mean round-trip time.
fn network(
    definition: &Definition,
    facts: &Facts<'_>,
    reference: &str,
    kind: &str,
    caption: &str,
) -> Option<Block> {
    let mut rows = Vec::new();
    for workload in of_kind(facts, kind) {
        for scheme in facts.schemes_with(workload, &[metric::CPU_PERCENT]) {
            let more = |metric, show: fn(f64) -> String| shown(facts, workload, scheme, metric, show);
            rows.push(vec![
                workload.to_owned(),
                scheme.to_owned(),
                more(metric::CPU_PERCENT, figure_2),
                if scheme == reference { none() } else { more(metric::MORE, figure_2) },
                more(metric::RTT_MS, fine),
                if scheme == reference { none() } else { more(metric::RATIO_RTT, ratio) },
                facts.value(workload, scheme, metric::RTT_P50_MS).map_or_else(none, fine),
                facts.value(workload, scheme, metric::RTT_P99_MS).map_or_else(none, fine),
                facts.value(workload, scheme, metric::RATE).map_or_else(none, count),
            ]);
        }
    }
    if rows.is_empty() {
        return None;
    }
    for (components, index, [low, high, rtt]) in published(definition) {
        let baseline = published(definition).find(|row| row.0 == components).map(|row| row.2);
        let (points, times) = match baseline.filter(|_| index != "baseline") {
            // Of the middles of both ranges.
            Some([a, b, base]) => (figure((low + high) / 2.0 - f64::midpoint(a, b)), ratio(rtt / base)),
            None => (none(), none()),
        };
        rows.push(vec![
            format!("source/{components} *"),
            index.to_owned(),
            format!("{low:.0} to {high:.0}"),
            points,
            format!("{rtt:.2}"),
            times,
            none(),
            none(),
            none(),
        ]);
    }
    Some(Block::Table(Table {
        caption: caption.to_owned(),
        columns: [
            "network",
            "index",
            "CPU, % of a core",
            "points more",
            "RTT, ms",
            "ratio",
            "p50",
            "p99",
            "answered/s",
        ]
        .map(str::to_owned)
        .into(),
        left: 2,
        rows,
        shown: Shown::Open,
    }))
}

/// Captions of the source's table.
const PACED: &str =
    "the source's network: 16 pairs, each consumer 1000 Interests a second, through one forwarder";
const BUSY_CAPTION: &str = "the source's load on the router: 16 pairs, at the pace at which the forwarder by name \
                            takes 90 % of a core or more; the same for every index";

/// The share of a core that the reference took of a load that was to take nearly all of one.
fn busy_finding(facts: &Facts<'_>, workload: &str, reference: &str) -> Option<String> {
    let percent = facts.record(workload, reference, metric::CPU_PERCENT)?.interval();
    let rate = facts.value(workload, reference, metric::RATE)?;
    let rtt = facts.record(workload, reference, metric::RTT_MS)?.interval();
    let reached = if percent.value < BUSY_LEAST {
        "; 90 % was not reached, so no index is compared with it"
    } else {
        ""
    };
    Some(format!(
        "{workload}: {reference} took {} % of a core {}, at {} answered Interests a second, with a mean \
         round-trip time of {} ms {}{reached}.",
        figure(percent.value),
        interval(percent, figure),
        count(rate.round()),
        fine(rtt.value),
        interval(rtt, fine),
    ))
}

fn figure_2(value: f64) -> String {
    format!("{value:.2}")
}

/// CPU time for an exchange under full load.
fn saturated(facts: &Facts<'_>, reference: &str) -> Option<Block> {
    let row = |workload: &str| {
        let cell = |scheme: &&str| {
            let us = shown(facts, workload, scheme, metric::CPU_US, figure_2);
            if *scheme == reference {
                us
            } else {
                format!("{us}; {}", to_reference(facts, workload, scheme, reference))
            }
        };
        [workload.to_owned()].into_iter().chain(facts.schemes.iter().map(cell)).collect::<Vec<_>>()
    };
    let rows: Vec<_> = of_kind(facts, "load/").map(row).collect();
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            caption: format!(
                "full load: CPU microseconds per exchange, and the ratio to {reference}, round by round"
            ),
            columns: ["workload"].iter().chain(&facts.schemes).map(|&name| name.to_owned()).collect(),
            left: 1,
            rows,
            shown: Shown::Open,
        })
    })
}

/// Operations on the PIT in a forwarder without I/O.
fn operations(facts: &Facts<'_>, reference: &str) -> Block {
    let others: Vec<&str> = facts.schemes.iter().copied().filter(|id| *id != reference).collect();
    let row = |workload: &&str| {
        let cycles = facts
            .schemes
            .iter()
            .map(|id| facts.value(workload, id, metric::CYCLES).map_or_else(none, figure));
        let ratios = others.iter().map(|id| to_reference(facts, workload, id, reference));
        [(*workload).to_owned()].into_iter().chain(cycles).chain(ratios).collect()
    };
    let ratios = others.iter().map(|id| format!("{id} / {reference}"));
    let names = ["workload"].iter().chain(&facts.schemes).map(|&name| name.to_owned());
    Block::Table(without_empty_columns(Table {
        caption: "operations on the PIT of a forwarder without I/O, in bursts of 16 packets: cycles per \
                  operation, and ratios round by round. match and insert: the PIT's part of the last stage, \
                  for Data that satisfies an entry and for an Interest that gets one. data and interest: all \
                  stages for such a packet. expire: handling of timeouts, per expired entry"
            .to_owned(),
        columns: names.chain(ratios).collect(),
        left: 1,
        rows: facts.workloads.iter().map(row).collect(),
        shown: Shown::Open,
    }))
}

/// Differences to the reference where a sentence may state them, a sentence for each index and network.
fn network_findings(definition: &Definition, records: &RecordSet, facts: &Facts<'_>) -> Vec<String> {
    let evidence = Evidence::new(definition, records);
    let reference = definition.reference.as_str();
    let finding = |workload: &str, id: &str| {
        let points = evidence.difference(metric::CPU_PERCENT, workload, id, reference).ok()?;
        let is_control = definition.control.as_ref().is_some_and(|(again, _)| again == id);
        let who = if is_control { "A/A, the control" } else { id };
        let rtt = evidence.ratio_in(metric::RATIO_RTT, workload, id, reference).ok();
        let rtt = rtt.map(|rtt| format!(", and {} times its round-trip time", words::ratio_with_bounds(rtt)));
        Some(format!(
            "{workload}: {who}: {} points of CPU more than {reference}{}.",
            bounds(points, figure_2),
            rtt.unwrap_or_default()
        ))
    };
    let paced = of_kind(facts, "paced/").chain(of_kind(facts, BUSY));
    let pairs = paced.flat_map(|w| facts.schemes_with(w, &[metric::MORE]).into_iter().map(move |id| (w, id)));
    pairs.filter_map(|(workload, id)| finding(workload, id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_lab::report::terminal::{Colours, tables};

    const STUDY: &str = include_str!("../../pit-index/study.toml");

    fn records() -> RecordSet {
        let mut records = RecordSet::new();
        let mut add = |model: &str, workload: &str, scheme: &str, metric: &str, unit: &str, value: f64| {
            let columns = ["pit-index", model, workload, scheme, "p", metric, unit];
            records.insert(Record::new(columns, [value, value - 0.01, value + 0.01], 6, 6)).unwrap();
        };
        for (scheme, percent, more, rtt) in [("name", 12.0, 0.0, 0.1), ("digest", 11.5, -0.5, 0.09)] {
            add(LOAD, "paced/udp/4", scheme, metric::CPU_PERCENT, "%", percent);
            add(LOAD, "paced/udp/4", scheme, metric::RTT_MS, "ms", rtt);
            add(LOAD, "paced/udp/4", scheme, metric::RTT_P99_MS, "ms", 3.0 * rtt);
            add(LOAD, "load/unix/11", scheme, metric::CPU_US, "us", percent / 10.0);
            add(MODEL, "match/1Mi/11", scheme, metric::CYCLES, "cycles", 100.0 * percent);
            add(MODEL, "match/1Mi/11", scheme, metric::NS, "ns", 40.0 * percent);
            add(MODEL, "data/1Mi/11", scheme, metric::CYCLES, "cycles", 125.0 * percent);
            add(MODEL, "data/1Mi/11", scheme, metric::NS, "ns", 50.0 * percent);
            for (part, ns) in [
                ("decode", 200.0),
                ("prefetch", 40.0),
                ("pit", 150.0),
                ("fib", 50.0),
                ("store", 100.0),
                ("whole", 600.0),
            ] {
                add(PARTS, &format!("parts/11/{part}"), scheme, metric::NS, "ns", ns);
            }
            if more != 0.0 {
                add(LOAD, "paced/udp/4", scheme, metric::MORE, "name", more);
                add(LOAD, "paced/udp/4", scheme, metric::RATIO_RTT, "name", 0.9);
                add(LOAD, "load/unix/11", scheme, metric::RATIO, "name", 0.96);
                add(MODEL, "match/1Mi/11", scheme, metric::RATIO, "name", 0.96);
            }
        }
        add(DIGEST, "digest/11", "sha1", metric::NS, "ns", 130.0);
        records
    }

    fn table<'a>(section: &'a Section, caption: &str) -> &'a Table {
        let mut tables = section.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        });
        tables.find(|table| table.caption.starts_with(caption)).unwrap()
    }

    #[test]
    fn prints_the_source_s_table_beside_ours() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        assert_eq!(section(&definition, &RecordSet::new()), None);
        let records = records();
        let section = section(&definition, &records).unwrap();
        let network = table(&section, "the source's network");
        assert_eq!(
            network.rows[1][..5],
            ["paced/udp/4", "digest", "11.50 [11.49, 11.51]", "-0.50 [-0.51, -0.49]", "0.090 [0.080, 0.100]"]
        );
        assert_eq!(network.rows[3][..6], ["source/4 *", "digest", "91 to 94", "-2.0", "2.44", "0.637"]);
        assert_eq!(section.findings.len(), 1);
    }

    #[test]
    fn says_if_nine_tenths_of_a_core_were_not_reached() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        let findings = |percent: f64| {
            let mut records = RecordSet::new();
            for (metric, unit, value) in [
                (metric::CPU_PERCENT, "%", percent),
                (metric::RTT_MS, "ms", 0.25),
                (metric::RATE, "1/s", 96_000.0),
            ] {
                let at = ["busy/udp/4", "name", metric, unit];
                records.insert(crate::sample::record("pit-index", LOAD, at, (value, value, value))).unwrap();
            }
            let section = section(&definition, &records).unwrap();
            assert_eq!(section.table("the source's load on the router").rows[0][..2], ["busy/udp/4", "name"]);
            section.findings.join(" ")
        };
        let reached = findings(93.0);
        assert!(
            reached.contains("name took 93.0 % of a core [") && reached.contains("96,000 answered"),
            "{reached}"
        );
        assert!(!reached.contains("not reached"), "{reached}");
        let missed = findings(71.0);
        assert!(missed.contains("90 % was not reached"), "{missed}");
    }

    #[test]
    fn the_source_s_words_have_their_verdicts_on_committed_records() {
        const RECORDS: &str = include_str!("../../../../../records/epyc-avx512-2vcpu/pit-index/records.csv");
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        let records = RecordSet::parse(RECORDS.as_bytes(), "records.csv").unwrap();
        let verdict = |outcome: &hashlane_lab::outcome::ClaimOutcome<'_>| {
            format!("{}: {}", outcome.claim.id, words::comparisons(outcome.counts()))
        };
        let verdicts: Vec<String> = definition.claim_outcomes(&records).iter().map(verdict).collect();
        assert_eq!(
            verdicts,
            [
                "quickly-found: disagrees: 2 of 3 comparisons; undecided: 1",
                "minor-gain: disagrees: 1 of 4 comparisons; undecided: 3",
                // Those records are older than the loads that take nearly a whole core.
                "rtt-4: not measured: 2 of 2 comparisons",
                "rtt-11: not measured: 2 of 2 comparisons",
            ]
        );
        assert!(section(&definition, &records).is_some());
    }

    #[test]
    fn the_study_of_one_table_has_the_criteria_of_the_whole() {
        let of_match = |text| {
            let definition = Definition::parse(text, "a study").unwrap();
            let criteria = definition.criteria.into_iter();
            criteria.filter(|criterion| criterion.workload == "match/1Mi/11").collect::<Vec<_>>()
        };
        let criteria = of_match(include_str!("../../pit-index/match.toml"));
        assert_eq!((criteria.len(), &criteria), (2, &of_match(STUDY)));
    }

    #[test]
    fn sets_the_cost_of_a_digest_beside_what_it_saves() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        let records = records();
        let section = section(&definition, &records).unwrap();
        let digests = table(&section, "cost of a digest");
        assert_eq!(digests.rows[0], ["an Interest's digest by sha1", "130"]);
        assert_eq!(digests.rows[1], ["saved in the PIT's part, for Data, 1Mi entries", "20.0"]);
        assert_eq!(digests.rows[2], ["saved in all stages, for Data, 1Mi entries", "25.0"]);
        assert_eq!(digests.rows.len(), 3);
        let parts = table(&section, "where the time");
        assert_eq!(parts.rows[1][1..3], ["marks and prefetches", "40.0 (3.3 %)"]);
        assert_eq!(parts.rows[5][1..3], ["rest of forwarding (subtracted)", "60.0 (5.0 %)"]);
        assert_eq!(parts.rows[6][1..3], ["system calls, faces (subtracted)", "600 (50.0 %)"]);
    }

    #[test]
    fn the_terminal_prints_it() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        insta::assert_snapshot!(tables(
            &definition,
            &records(),
            &[section(&definition, &records()).unwrap()],
            100,
            Colours::Never
        ));
    }
}
