//! Answer of a study of tables: the cost of a lookup among a million flows, or among the user's.

use super::caches;
use crate::metric;
use crate::own::Traffic;
use crate::words::{number, times};
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Block, Line, LinePlot, LinePlots, Role, Series, Shade, Statement};
use hashlane_records::RecordSet;

/// The shape and hash of `hashlane_flow::table::Flows`.
const OURS: &str = "batched/siphash-1-3/burst";

/// The same, one lookup at a time.
const OURS_SINGLE: &str = "batched/siphash-1-3/single";

const HASHBROWN: &str = "hashbrown/siphash-1-3/single";
const AHASH: &str = "hashbrown/ahash/single";

/// A million flows, all of them there.
const WORKLOAD: &str = "1Mi/hit";

pub(crate) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let evidence = Evidence::new(definition, records);
    if let Some(traffic) = Traffic::of(definition, records) {
        return Answer::new(of_traffic(&evidence, &traffic));
    }
    Answer {
        sentence: sentence(&evidence),
        chart: chart(definition, records),
        surprises: surprise(&evidence).into_iter().collect(),
        limits: vec![
            "hashbrown has no bursts, and packets that come alone gain nothing from ours.".to_owned(),
            "ahash runs without AES unless the build is for the CPU at hand (see README).".to_owned(),
            "All tables of a size are in memory at once and evict each other: each would be faster alone."
                .to_owned(),
        ],
    }
}

fn sentence(evidence: &Evidence<'_>) -> Result<Statement, Doubt> {
    let ns = evidence.figure(WORKLOAD, OURS, metric::NS)?;
    let figures = [ns, evidence.ratio(WORKLOAD, OURS, HASHBROWN)?, evidence.ratio(WORKLOAD, OURS, AHASH)?];
    let text = format!(
        "{} ns keyed, in a burst of 32: {} hashbrown with SipHash-1-3, {} with ahash.",
        number(figures[0].value),
        times(figures[1].value),
        times(figures[2].value)
    );
    Ok(Statement { text, figures: figures.to_vec() })
}

/// A sentence if our table is slower than hashbrown one lookup at a time.
fn surprise(evidence: &Evidence<'_>) -> Option<String> {
    let single = evidence.ratio(WORKLOAD, OURS_SINGLE, HASHBROWN).ok().filter(|ratio| ratio.low > 1.0)?;
    Some(format!(
        "The burst makes the difference, not the table: one lookup at a time, ours takes {} hashbrown under \
         the same hash.",
        times(single.value)
    ))
}

fn of_traffic(evidence: &Evidence<'_>, traffic: &Traffic<'_>) -> Result<Statement, Doubt> {
    let hit = format!("{}/hit", traffic.label);
    let mut figures = vec![
        evidence.figure(&hit, OURS, metric::NS)?,
        evidence.ratio(&hit, OURS, HASHBROWN)?,
        evidence.ratio(&hit, OURS, AHASH)?,
    ];
    let mut text = format!(
        "{traffic}: in their order, a lookup costs {} ns in a burst, {} hashbrown with SipHash-1-3, {} with \
         ahash",
        number(figures[0].value),
        times(figures[1].value),
        times(figures[2].value)
    );
    let replay = format!("{}/replay", traffic.label);
    if let Ok(received) = evidence.figure(&replay, OURS, metric::NS) {
        text += &format!("; with new and expired flows {} ns", number(received.value));
        figures.push(received);
    }
    Ok(Statement { text: text + ".", figures })
}

/// Time of a lookup that hits against the number of flows, with the caches that hold our table.
fn chart(definition: &Definition, records: &RecordSet) -> Option<Block> {
    let hits = || {
        let sizes = definition.workloads.iter().filter_map(|id| Some((id, id.strip_suffix("/hit")?)));
        sizes.filter_map(|(id, size)| Some((id, super::section::flows(size)?)))
    };
    let of = |id: &str, scheme: &str, metric: &str| records.metric(&definition.slug, id, scheme, metric);
    let line = |scheme: &String| {
        let points = hits().filter_map(|(id, flows)| Some((flows, of(id, scheme, metric::NS)?.interval())));
        Line { name: scheme.clone(), points: points.collect() }
    };
    let lines: Vec<Line> = definition.schemes.iter().map(line).filter(|line| line.points.len() > 1).collect();
    let series = |line: &Line| match line.name.as_str() {
        OURS => Series::labelled(OURS, Role::Ours, "ours, burst"),
        HASHBROWN => Series::labelled(HASHBROWN, Role::Peer, "hashbrown, SipHash-1-3"),
        AHASH => Series::labelled(AHASH, Role::Peer, "hashbrown, ahash"),
        name => Series::new(name, Role::Historical, false),
    };
    let mut series: Vec<Series> = lines.iter().map(series).collect();
    series.sort_by_key(|series| (!series.emphasised, series.role != Role::Ours));
    let per_flow =
        hits().filter_map(|(id, flows)| Some(of(id, OURS, metric::MEMORY)?.value / flows)).next_back();
    let shades = per_flow.map_or_else(Vec::new, |bytes| shades(caches::sizes(definition, records), bytes));
    (!lines.is_empty()).then(|| {
        Block::Lines(LinePlots {
            x: "flows in the table".to_owned(),
            y: "time per lookup (ns)".to_owned(),
            series,
            shades,
            plots: vec![LinePlot {
                note: if per_flow.is_some() {
                    "Shades: the cache that holds our table.".to_owned()
                } else {
                    String::new()
                },
                lines,
                ..LinePlot::default()
            }],
        })
    })
}

/// Numbers of flows that fit L2, L3 and memory; none if the system did not state both sizes.
fn shades(caches: [Option<f64>; 2], bytes_per_flow: f64) -> Vec<Shade> {
    let [Some(l2), Some(l3)] = caches.map(|size| size.map(|bytes| bytes / bytes_per_flow)) else {
        return Vec::new();
    };
    let shade = |from, to, label: &str| Shade { from, to, label: label.to_owned() };
    vec![shade(1.0, l2, "L2"), shade(l2, l3, "L3"), shade(l3, f64::INFINITY, "memory")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use hashlane_records::Record;

    fn answer_with(change: impl Fn(&mut Record)) -> Answer {
        answer(&sample::definitions()[2], &sample::changed(change))
    }

    #[test]
    fn states_the_cost_of_a_lookup_among_a_million_flows() {
        let answer = answer_with(|_| {});
        let statement = answer.sentence.unwrap();
        assert_eq!(
            statement.text,
            "29.6 ns keyed, in a burst of 32: 0.30 × hashbrown with SipHash-1-3, 0.36 × with ahash."
        );
        assert_eq!(statement.figures.len(), 3);
        let Some(Block::Lines(chart)) = answer.chart else { panic!("no chart") };
        let labels: Vec<_> = chart.series.iter().filter_map(|s| s.label.as_deref()).collect();
        assert_eq!(labels, ["ours, burst", "hashbrown, ahash", "hashbrown, SipHash-1-3"]);
        assert!(chart.shades.is_empty(), "no record states the caches");
    }

    #[test]
    fn withholds_the_sentence_without_records_and_on_a_noisy_machine() {
        let none = answer(&sample::definitions()[2], &RecordSet::new());
        assert!(matches!(none.sentence, Err(Doubt::NotMeasured { .. })) && none.chart.is_none());
        let wide = answer_with(|record| {
            if record.scheme == OURS && record.metric == "ns" {
                record.high = record.low * 1.6;
            }
        });
        assert!(matches!(wide.sentence, Err(Doubt::Wide { .. })), "{:?}", wide.sentence);
        let noisy = answer_with(|record| {
            if record.scheme.ends_with("/again") {
                (record.value, record.low, record.high) = (0.9, 0.85, 0.95);
            }
        });
        assert!(matches!(noisy.sentence, Err(Doubt::Control { .. })), "{:?}", noisy.sentence);
    }

    #[test]
    fn speaks_of_the_users_packets() {
        let answer = answer(&sample::definitions()[2], &sample::own_records());
        assert_eq!(
            answer.sentence.unwrap().text,
            "3,214 flows in 1.2 M packets: in their order, a lookup costs 40.1 ns in a burst, 0.30 × \
             hashbrown with SipHash-1-3, 0.34 × with ahash; with new and expired flows 40.1 ns."
        );
    }

    #[test]
    fn shades_end_at_the_flows_that_fill_a_cache() {
        let shades = shades([Some(1024.0 * 1024.0), Some(32.0 * 1024.0 * 1024.0)], 64.0);
        let ends: Vec<_> = shades.iter().map(|s| (s.label.as_str(), s.to)).collect();
        assert_eq!(ends, [("L2", 16_384.0), ("L3", 524_288.0), ("memory", f64::INFINITY)]);
        assert!(super::shades([None, Some(1.0)], 64.0).is_empty());
    }
}
