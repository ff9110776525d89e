//! Answer of a study of hashes: the cost of a keyed hash over the whole tuple against Linux's base hash.

use crate::hashes::tuple_hashes;
use crate::metric::{CYCLES_THROUGHPUT, RATIO_LATENCY};
use crate::own::Traffic;
use crate::spread::{self, BUSIEST, RSS};
use crate::words::{number, times, times_with_bounds};
use hashlane_hash::scheme::Keying;
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Bar, BarPlot, BarPlots, Block, Facts, Group, Role, Statement};
use hashlane_records::RecordSet;
use hashlane_stats::Interval;
use std::collections::HashMap;

/// The hash of Linux until 2023.
const BASE: &str = "base/single";

const BURST: &str = "siphash-1-3/burst";
const SINGLE: &str = "siphash-1-3/single";

/// Keyed hash that the source compares with the base hash, and its cycles over the base's in the source's
/// simulation: 191 to 155.
const SIMULATED: (&str, f64) = ("siphash/single", 191.0 / 155.0);

pub(crate) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let evidence = Evidence::new(definition, records);
    let traffic = Traffic::of(definition, records);
    let workload = match &traffic {
        Some(traffic) => traffic.label,
        None => definition.workloads.first().map_or("", String::as_str),
    };
    let (sentence, surprise) = match &traffic {
        Some(traffic) => (of_traffic(&evidence, traffic), crowded(&evidence, traffic)),
        None => (sentence(&evidence, workload), surprise(&evidence, workload)),
    };
    Answer {
        sentence,
        chart: chart(definition, records, workload),
        surprises: surprise.into_iter().collect(),
        limits: vec![
            "A burst needs 32 packets that are there together, and SipHash alone has one written for vector \
             lanes."
                .to_owned(),
            "Throughput overlaps with itself in a loop; a lookup that waits for its hash pays the latency."
                .to_owned(),
        ],
    }
}

fn sentence(evidence: &Evidence<'_>, workload: &str) -> Result<Statement, Doubt> {
    let burst = evidence.ratio(workload, BURST, BASE)?;
    let single = evidence.ratio(workload, SINGLE, BASE)?;
    let (burst_factor, single_factor) = (times(burst.value), times(single.value));
    let answer = match burst {
        burst if burst.high < 1.0 => "No",
        burst if burst.low > 1.0 => "Yes",
        _ => "No difference seen",
    };
    let mut text = format!(
        "{answer}: in bursts SipHash-1-3 of the whole tuple takes {burst_factor} Linux's base hash; one at \
         a time {single_factor}."
    );
    if let Some(facts) = Facts::of(evidence.definition, evidence.records, spread::MODEL) {
        let ((base, all), (ours, of)) =
            (spread::piled_up(&facts, "base"), spread::piled_up(&facts, "siphash-1-3"));
        if all > 0 && of == all {
            let ours = if ours.is_empty() { "none".to_owned() } else { ours.len().to_string() };
            text += &format!(
                " Base collapses on {} of {all} sets of tuples, SipHash of the whole tuple on {ours}.",
                base.len()
            );
        }
    }
    Ok(Statement { text, figures: vec![burst, single] })
}

fn of_traffic(evidence: &Evidence<'_>, traffic: &Traffic<'_>) -> Result<Statement, Doubt> {
    let ratio = evidence.ratio(traffic.label, BURST, BASE)?;
    let mut text = format!("{traffic}.");
    if let Some((found, chance)) = queues(evidence, traffic) {
        let (low, high) = (number(chance.low), number(chance.high));
        let expected = if low == high { String::new() } else { format!(" (by chance {low} to {high})") };
        text += &format!(" RSS over 8 queues: busiest {} mean{expected}.", times(found));
    }
    text += &format!(" In bursts SipHash-1-3 takes {} Linux's base hash.", times(ratio.value));
    Ok(Statement { text, figures: vec![ratio] })
}

/// Packets of the busiest receive queue over the mean, and what chance gives.
fn queues(evidence: &Evidence<'_>, traffic: &Traffic<'_>) -> Option<(f64, Interval)> {
    let workload = format!("spread/{}", traffic.label);
    let [found, by_chance] =
        BUSIEST.map(|metric| evidence.records.metric(&evidence.definition.slug, &workload, RSS, metric));
    Some((found?.value, by_chance?.interval()))
}

/// A sentence if the receive queues are less even than chance explains.
fn crowded(evidence: &Evidence<'_>, traffic: &Traffic<'_>) -> Option<String> {
    let (found, chance) = queues(evidence, traffic).filter(|(found, chance)| *found > chance.high)?;
    Some(format!(
        "RSS under the published key is less even than chance: the busiest queue has {} the mean, and 97 of \
         100 random assignments of your flows stay below {}.",
        times(found),
        times(chance.high)
    ))
}

/// A sentence if the keyed hash of the source costs more than its simulation says.
fn surprise(evidence: &Evidence<'_>, workload: &str) -> Option<String> {
    let (scheme, simulated) = SIMULATED;
    let throughput = evidence.ratio(workload, scheme, BASE).ok().filter(|ratio| ratio.low > simulated)?;
    let latency = evidence.ratio_in(RATIO_LATENCY, workload, scheme, BASE).ok()?;
    Some(format!(
        "The source's simulator put siphash at {} base; measured, it takes {} for independent packets, {} \
         in latency.",
        times(simulated),
        times_with_bounds(throughput),
        times_with_bounds(latency)
    ))
}

/// Cycles per tuple of all hashes, the cheapest first.
fn chart(definition: &Definition, records: &RecordSet, workload: &str) -> Option<Block> {
    let keying: HashMap<&str, Keying> = tuple_hashes().iter().map(|h| (h.info.id, h.info.keying)).collect();
    let figure = |id: &str| {
        let record = records.metric(&definition.slug, workload, id, CYCLES_THROUGHPUT)?;
        Some(record.interval())
    };
    let mut figures: Vec<(&str, Interval)> =
        definition.schemes.iter().filter_map(|id| Some((id.as_str(), figure(id)?))).collect();
    figures.sort_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
    let bar = |(id, cycles): &(&str, Interval)| {
        let (hash, manner) = id.split_once('/').unwrap_or((id, ""));
        let role = match keying.get(hash) {
            _ if LINUX.contains(&hash) => Role::Historical,
            Some(Keying::Secret(_)) => Role::Ours,
            _ => Role::Peer,
        };
        let label = if manner == "single" { hash.to_owned() } else { format!("{hash}, {manner}") };
        Bar::new(&label, role, Some(*cycles), &number(cycles.value))
    };
    let legend = [
        (Role::Historical, "Linux's, over part of the tuple or with 32 bits of key"),
        (Role::Peer, "no secret key, whole tuple"),
        (Role::Ours, "secret key, whole tuple"),
    ];
    (!figures.is_empty()).then(|| {
        Block::Bars(BarPlots {
            axis: format!("cycles per {}", definition.per),
            legend: legend.map(|(role, words)| (role, words.to_owned())).to_vec(),
            whiskers: Some("95 %".to_owned()),
            reference: figure(BASE).map(|base| (base.value, "Linux's base".to_owned())),
            plots: vec![BarPlot {
                title: format!("{workload}: throughput, cycles per {}", definition.per),
                groups: vec![Group { heading: None, bars: figures.iter().map(bar).collect() }],
                ..BarPlot::default()
            }],
            ..BarPlots::default()
        })
    })
}

/// Forms of Linux's hash of connections.
const LINUX: [&str; 8] = ["base", "v1", "jhash2", "hsiphash", "siphash", "lport", "flat", "v4"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use hashlane_records::Record;

    fn answer_with(change: impl Fn(&mut Record)) -> Answer {
        answer(&sample::definitions()[0], &sample::changed(change))
    }

    #[test]
    fn answers_no_if_a_keyed_burst_costs_less() {
        let answer = answer_with(|_| {});
        let statement = answer.sentence.unwrap();
        assert_eq!(
            statement.text,
            "No: in bursts SipHash-1-3 of the whole tuple takes 0.43 × Linux's base hash; one at a time \
             1.90 ×."
        );
        assert_eq!(statement.figures.len(), 2);
        assert_eq!(answer.surprises.len(), 1, "{:?}", answer.surprises);
        let Some(Block::Bars(chart)) = answer.chart else { panic!("no chart") };
        let bars = &chart.plots[0].groups[0].bars;
        assert!(bars.windows(2).all(|pair| pair[0].value.unwrap().value <= pair[1].value.unwrap().value));
        let role = |label: &str| bars.iter().find(|bar| bar.label == label).map(|bar| bar.role);
        assert_eq!(role("base"), Some(Role::Historical));
        assert_eq!(role("siphash-1-3, burst"), Some(Role::Ours));
        assert_eq!(chart.reference, Some((14.2, "Linux's base".to_owned())));
    }

    #[test]
    fn answers_yes_or_neither_by_the_whole_interval() {
        let of = |low: f64, high: f64| {
            let answer = answer_with(|record| {
                if record.scheme == BURST && record.metric == "ratio" {
                    (record.value, record.low, record.high) = ((low + high) / 2.0, low, high);
                }
            });
            answer.sentence.unwrap().text.split(':').next().unwrap().to_owned()
        };
        assert_eq!([of(1.01, 1.2), of(0.97, 1.02), of(0.9, 0.99)], ["Yes", "No difference seen", "No"]);
    }

    #[test]
    fn counts_the_sets_that_a_hash_piles_up() {
        let mut records = sample::records();
        let added: Vec<Record> = records
            .iter()
            .filter(|r| r.model == spread::MODEL && r.scheme == "siphash")
            .map(|r| Record { scheme: "siphash-1-3".to_owned(), ..r.clone() })
            .collect();
        added.into_iter().for_each(|record| records.insert(record).unwrap());
        let text = answer(&sample::definitions()[0], &records).sentence.unwrap().text;
        assert!(
            text.ends_with(" Base collapses on 1 of 2 sets of tuples, SipHash of the whole tuple on none."),
            "{text}"
        );
    }

    #[test]
    fn withholds_the_sentence_without_records_and_on_a_noisy_machine() {
        let none = answer(&sample::definitions()[0], &RecordSet::new());
        assert!(matches!(none.sentence, Err(Doubt::NotMeasured { .. })) && none.chart.is_none());
        let noisy = answer_with(|record| {
            if record.scheme.ends_with("/again") {
                (record.value, record.low, record.high) = (1.05, 1.04, 1.06);
            }
        });
        assert!(matches!(noisy.sentence, Err(Doubt::Control { .. })) && noisy.surprises.is_empty());
        let wide = answer_with(|record| {
            if record.scheme == BURST {
                record.high = 1.6 * record.low;
            }
        });
        assert!(matches!(wide.sentence, Err(Doubt::Wide { .. })), "{:?}", wide.sentence);
    }

    #[test]
    fn speaks_of_the_users_packets() {
        let answer = answer(&sample::definitions()[0], &sample::own_records());
        assert_eq!(
            answer.sentence.unwrap().text,
            "3,214 flows in 1.2 M packets. RSS over 8 queues: busiest 1.31 × mean (by chance 1.10 to 1.62). \
             In bursts SipHash-1-3 takes 0.43 × Linux's base hash."
        );
        assert!(answer.chart.is_some() && answer.surprises.is_empty());
    }

    #[test]
    fn reports_receive_queues_that_chance_does_not_explain() {
        let mut records = RecordSet::new();
        for record in sample::own_records().iter() {
            let mut record = record.clone();
            if record.metric == BUSIEST[0] {
                (record.value, record.low, record.high) = (3.5, 3.5, 3.5);
            }
            records.insert(record).unwrap();
        }
        let surprises = answer(&sample::definitions()[0], &records).surprises;
        assert!(surprises[0].contains("the busiest queue has 3.50 × the mean"), "{surprises:?}");
    }
}
