//! Answer: the CPU time of an exchange under full load, and where it goes.

use super::parts_section::{OURS, Part, parts_of};
use super::section::{MODEL, PARTS};
use crate::metric;
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Bar, BarPlot, BarPlots, Block, Facts, Group, Role, Statement};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::format::{interval, significant};

/// Workloads of the sentence, and the components of their names.
const LOADS: [(&str, &str); 2] = [("unix/4", "4"), ("unix/11", "11")];

/// Forwarders of other projects.
const PEERS: [&str; 2] = ["ndnd", "nfd"];

/// Copies datagrams and knows nothing of NDN.
const RELAY: &str = "relay";

/// Workload on which the relay is compared.
const DATAGRAMS: &str = "udp/4";

/// Share of our cost from which the relay's is a surprise.
const MOST_OF_IT: f64 = 0.7;

pub(crate) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let Some(load) = Facts::of(definition, records, MODEL) else {
        return Answer::new(Err(Doubt::NotMeasured { figure: "the study".to_owned() }));
    };
    let evidence = Evidence::new(definition, records);
    Answer {
        sentence: sentence(definition, &load, evidence),
        chart: chart(&load, Facts::of(definition, records, PARTS).as_ref()),
        surprises: relay(evidence).into_iter().collect(),
        limits: vec![
            "Full load favours forwarders that handle many packets at once; one-at-a-time shows a lone \
             packet."
                .to_owned(),
            "No name repeats, so the content store never answers; one thread forwards small packets."
                .to_owned(),
        ],
    }
}

fn sentence(definition: &Definition, load: &Facts<'_>, evidence: Evidence<'_>) -> Result<Statement, Doubt> {
    let named = LOADS.iter().copied().filter(|(workload, _)| load.workloads.contains(workload));
    let mut loads: Vec<(&str, &str)> = named.collect();
    if loads.is_empty() {
        loads.extend(load.workloads.first().map(|workload| (*workload, *workload)));
    }
    let (mut figures, mut costs) = (Vec::new(), Vec::new());
    for (workload, components) in &loads {
        let us = evidence.figure(workload, OURS, metric::CPU_US)?;
        let value = significant(us.value);
        costs.push(match (costs.len(), LOADS.contains(&(*workload, *components))) {
            (0, true) => format!("{value} µs of CPU with {components} components"),
            (_, true) => format!("{value} with {components}"),
            (_, false) => format!("{value} µs of CPU on {workload}"),
        });
        figures.push(us);
    }
    let mut text = costs.join(", ");
    if loads.iter().any(|load| LOADS.contains(load)) {
        text += ", under full load over Unix sockets";
    }
    if let Some((workload, _)) = loads.first() {
        let mut missing = Vec::new();
        for peer in PEERS.iter().filter(|peer| definition.schemes.iter().any(|id| id == *peer)) {
            match evidence.ratio(workload, peer, OURS) {
                Ok(ratio) => {
                    text += &format!("; {peer} takes {} ×", significant(ratio.value));
                    figures.push(ratio);
                }
                Err(Doubt::NotMeasured { .. }) if has_failed(load, peer) => {
                    text += &format!("; {peer} failed")
                }
                Err(Doubt::NotMeasured { .. }) if load.schemes.contains(peer) => {}
                Err(Doubt::NotMeasured { .. }) => missing.push(*peer),
                Err(_) => text += &format!("; {peer} undecided"),
            }
        }
        if !missing.is_empty() {
            text += &format!("; {} not installed", missing.join(" and "));
        }
    }
    text.push('.');
    Ok(Statement { text, figures })
}

/// `true` if a forwarder was installed and could not be measured.
fn has_failed(load: &Facts<'_>, id: &str) -> bool {
    load.workloads.iter().any(|workload| load.record(workload, id, metric::FAILED).is_some())
}

/// Over UDP most of the cost may be that of moving datagrams.
fn relay(evidence: Evidence<'_>) -> Option<String> {
    let ratio = evidence.ratio(DATAGRAMS, RELAY, OURS).ok().filter(|ratio| ratio.low > MOST_OF_IT)?;
    Some(format!(
        "Over UDP, system calls are most of the cost: a relay that only copies datagrams takes {} × ours.",
        significant(ratio.value)
    ))
}

/// Our process with its parts stacked, beside the forwarders of other projects.
fn chart(load: &Facts<'_>, parts: Option<&Facts<'_>>) -> Option<Block> {
    let bar = |workload: &str, shape: &str, id: &str| {
        let us = load.record(workload, id, metric::CPU_US).map(Record::interval)?;
        let figure = format!("{} µs", significant(us.value));
        let role = if id == OURS { Role::Ours } else { Role::Peer };
        let mut bar = Bar::new(id, role, Some(us), &figure);
        if id == OURS {
            bar.segments = parts.map_or_else(Vec::new, |parts| segments(parts, shape, us.value));
        }
        let stacked = bar.segments.iter().map(|(name, us)| format!("; {name} {}", significant(*us)));
        bar.title = format!("{id}: {figure} {}{}", interval(us, significant), stacked.collect::<String>());
        Some(bar)
    };
    let group = |(workload, shape): &(&str, &str)| {
        let bars: Vec<Bar> = [OURS].iter().chain(&PEERS).filter_map(|id| bar(workload, shape, id)).collect();
        (!bars.is_empty()).then(|| Group { heading: Some(format!("{shape} components")), bars })
    };
    let groups: Vec<Group> = LOADS.iter().filter_map(group).collect();
    (!groups.is_empty()).then(|| {
        Block::Bars(BarPlots {
            axis: "CPU time per exchange over Unix sockets (µs)".to_owned(),
            whiskers: Some("95 %".to_owned()),
            plots: vec![BarPlot {
                caption: String::new(),
                title: "CPU time per exchange by forwarder, ours by part".to_owned(),
                groups,
            }],
            ..BarPlots::default()
        })
    })
}

/// Parts of our process, in microseconds; none if one of them was not measured, or if they are more than the
/// process, as they may be when the clock rate changed between the two measurements.
fn segments(parts: &Facts<'_>, shape: &str, process: f64) -> Vec<(String, f64)> {
    let all = parts_of(parts, shape, Some(1000.0 * process));
    let mut segments: Vec<(String, f64)> = Vec::new();
    // The last one is the process itself. Parts of one name are one segment.
    for Part { short, ns, .. } in all.iter().take(all.len().saturating_sub(1)) {
        let Some(us) = ns.filter(|ns| *ns >= 0.0).map(|ns| ns / 1000.0) else { return Vec::new() };
        let before = segments.iter().position(|(name, _)| name == short).map(|at| segments.remove(at).1);
        segments.push(((*short).to_owned(), us + before.unwrap_or_default()));
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    const STUDY: &str = include_str!("../../ndn-forwarder/study.toml");

    struct Adder(RecordSet);

    impl Adder {
        fn add(&mut self, model: &str, at: [&str; 4], bounds: (f64, f64, f64)) {
            self.0.insert(sample::record("ndn-forwarder", model, at, bounds)).unwrap();
        }

        fn cost(&mut self, workload: &str, scheme: &str, us: f64) {
            let bounds = (us, us * 0.95, us * 1.05);
            self.add(MODEL, [workload, scheme, metric::CPU_US, "us"], bounds);
        }

        fn ratio(&mut self, workload: &str, of: &str, value: f64) {
            let bounds = (value, value * 0.98, value * 1.02);
            self.add(MODEL, [workload, of, metric::RATIO, OURS], bounds);
        }
    }

    fn records() -> Adder {
        let mut all = Adder(RecordSet::new());
        for (workload, us) in [("unix/4", 0.85), ("unix/11", 0.99)] {
            all.cost(workload, OURS, us);
            all.ratio(workload, "ours-again", 1.0);
        }
        all
    }

    fn answered(records: &Adder) -> Answer {
        answer(&Definition::parse(STUDY, "study.toml").unwrap(), &records.0)
    }

    fn sentence(records: &Adder) -> Result<String, Doubt> {
        answered(records).sentence.map(|statement| statement.text)
    }

    #[test]
    fn states_the_cost_of_both_lengths_and_of_peers() {
        let mut all = records();
        let start = "0.85 µs of CPU with 4 components, 0.99 with 11, under full load over Unix sockets";
        assert_eq!(sentence(&all).unwrap(), format!("{start}; ndnd and nfd not installed."));
        all.cost("unix/4", "ndnd", 17.0);
        all.ratio("unix/4", "ndnd", 20.0);
        all.add(MODEL, ["udp/4", "nfd", metric::FAILED, "forwarders"], (1.0, 1.0, 1.0));
        assert_eq!(sentence(&all).unwrap(), format!("{start}; ndnd takes 20.0 ×; nfd failed."));
    }

    #[test]
    fn doubts_withhold_the_sentence() {
        let none = sentence(&Adder(RecordSet::new()));
        assert!(matches!(none, Err(Doubt::NotMeasured { .. })));
        let mut all = Adder(RecordSet::new());
        all.cost("unix/4", OURS, 0.85);
        all.ratio("unix/4", "ours-again", 1.2);
        assert!(matches!(sentence(&all), Err(Doubt::Control { .. })));
        let mut all = Adder(RecordSet::new());
        all.add(MODEL, ["unix/4", OURS, metric::CPU_US, "us"], (0.85, 0.5, 0.9));
        assert!(matches!(sentence(&all), Err(Doubt::Wide { .. })));
    }

    #[test]
    fn a_load_that_was_not_carried_is_in_no_sentence() {
        let mut all = Adder(RecordSet::new());
        all.cost("udp/4/paced-16k", OURS, 20.0);
        assert!(sentence(&all).unwrap().starts_with("20.0 µs of CPU on udp/4/paced-16k"));
        all.add(MODEL, ["udp/4/paced-16k", OURS, metric::CARRIED, "share"], (0.5, 0.5, 0.5));
        assert!(matches!(sentence(&all), Err(Doubt::NotCarried { .. })));
    }

    #[test]
    fn the_chart_stacks_the_parts_of_ours() {
        let mut all = records();
        let bars = |all: &Adder| match answered(all).chart {
            Some(Block::Bars(chart)) => chart.plots[0].groups[0].bars.clone(),
            other => panic!("{other:?}"),
        };
        assert!(bars(&all)[0].segments.is_empty());
        let parts = [("whole", 400.0), ("decode", 80.0), ("prefetch", 50.0), ("store", 40.0), ("pit", 70.0)];
        for (part, ns) in parts.into_iter().chain([("fib", 100.0)]) {
            all.add(PARTS, ["4", part, metric::NS, "ns"], (ns, ns, ns));
        }
        let bars = bars(&all);
        let segments = bars[0].segments.iter().map(|(name, us)| (name.as_str(), (us * 1000.0).round()));
        let expected = [("decode", 80.0), ("store", 40.0), ("PIT", 70.0), ("FIB", 100.0)];
        assert_eq!(
            segments.collect::<Vec<_>>(),
            expected.into_iter().chain([("rest", 110.0), ("I/O", 450.0)]).collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_cost_of_datagrams_is_a_surprise_if_it_is_most_of_ours() {
        let mut all = records();
        assert_eq!(answered(&all).surprises, [""; 0]);
        all.ratio("udp/4", RELAY, 0.9);
        assert!(answered(&all).surprises[0].ends_with("takes 0.90 × ours."));
    }
}
