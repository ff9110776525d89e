//! Reports by the study files on small studies.

use crate::sample;
use crate::spread::BUSIEST;
use crate::{Cost, Floods, Tables};
use hashlane_lab::evidence::Doubt;
use hashlane_lab::report::{Answer, BarPlots, Block, LinePlots, Role, Section};
use hashlane_lab::study::Studies;
use hashlane_records::{Record, RecordSet};

const STUDIES: Studies = Studies(&[&Cost, &Floods, &Tables]);

/// Places of the sample studies.
const HASH: usize = 0;
const FLOOD: usize = 1;
const TABLE: usize = 2;

const BATCHED: &str = "batched/siphash-1-3/burst";

fn answer(study: usize, records: &RecordSet) -> Answer {
    STUDIES.answer(&sample::definitions()[study], records).unwrap()
}

fn text(study: usize, records: &RecordSet) -> String {
    answer(study, records).sentence.unwrap().text
}

fn section(study: usize, title: &str, records: &RecordSet) -> Section {
    let sections = STUDIES.sections(&sample::definitions()[study], records);
    sections.into_iter().find(|section| section.title.starts_with(title)).unwrap()
}

fn bars(block: Option<&Block>) -> &BarPlots {
    let Some(Block::Bars(bars)) = block else { panic!("{block:?}") };
    bars
}

fn lines(block: Option<&Block>) -> &LinePlots {
    let Some(Block::Lines(lines)) = block else { panic!("{block:?}") };
    lines
}

/// The sample records with other bounds of those for which `which` holds.
fn with(which: impl Fn(&Record) -> bool, low: f64, high: f64) -> RecordSet {
    sample::changed(&sample::records(), |record| {
        if which(record) {
            (record.value, record.low, record.high) = ((low + high) / 2.0, low, high);
        }
    })
}

#[test]
fn doubts_withhold_the_answers() {
    let noisy = with(|r| r.scheme.ends_with("/again") && r.metric == "ratio", 1.1, 1.2);
    for study in [HASH, FLOOD, TABLE] {
        let none = answer(study, &RecordSet::new());
        assert!(matches!(none.sentence, Err(Doubt::NotMeasured { .. })) && none.chart.is_none());
        let noisy = answer(study, &noisy);
        assert!(matches!(noisy.sentence, Err(Doubt::Control { .. })), "{:?}", noisy.sentence);
        assert!(noisy.surprises.is_empty(), "{:?}", noisy.surprises);
    }
    let wide = with(|r| r.scheme == "siphash-1-3/burst" && r.metric == "ratio", 0.3, 0.5);
    assert!(matches!(answer(HASH, &wide).sentence, Err(Doubt::Wide { .. })));
}

#[test]
fn speaks_of_the_users_packets() {
    let records = sample::own_records();
    assert_eq!(
        text(HASH, &records),
        "3,214 flows in 1.2 M packets. RSS over 8 queues: busiest 1.31 × mean (by chance 1.10 to 1.62). In \
         bursts SipHash-1-3 takes 0.43 × Linux's base hash."
    );
    assert_eq!(
        text(FLOOD, &records),
        "3,214 flows in 1.2 M packets: beside 65,536 hostile flows (local), a lookup of yours takes 1.00 × \
         its time in our table, 1.00 × in Linux's (jhash2); of an attacked flow 1.00 × and 2,460 ×."
    );
    assert_eq!(
        text(TABLE, &records),
        "3,214 flows in 1.2 M packets: in their order, a lookup costs 40.1 ns in a burst, 0.30 × hashbrown \
         with SipHash-1-3, 0.34 × with ahash; with new and expired flows 40.1 ns."
    );
    for (study, has_chart) in [(HASH, true), (FLOOD, true), (TABLE, false)] {
        let answer = answer(study, &records);
        assert!(answer.chart.is_some() == has_chart && answer.surprises.is_empty(), "{study}");
    }
}

#[test]
fn a_keyed_burst_costs_less_more_or_neither_by_the_whole_interval() {
    let answer = answer(HASH, &sample::records());
    let statement = answer.sentence.unwrap();
    assert_eq!(
        statement.text,
        "No: in bursts SipHash-1-3 of the whole tuple takes 0.43 × Linux's base hash; one at a time 1.90 ×."
    );
    assert_eq!((statement.figures.len(), answer.surprises.len()), (2, 1));
    let chart = bars(answer.chart.as_ref());
    let bars = &chart.plots[0].groups[0].bars;
    assert!(bars.windows(2).all(|pair| pair[0].value.unwrap().value <= pair[1].value.unwrap().value));
    let role = |label: &str| bars.iter().find(|bar| bar.label == label).map(|bar| bar.role);
    assert_eq!(["base", "siphash-1-3, burst"].map(role), [Some(Role::Historical), Some(Role::Ours)]);
    assert_eq!(chart.reference, Some((14.2, "Linux's base".to_owned())));

    let of = |low, high| {
        let records = with(|r| r.scheme == "siphash-1-3/burst" && r.metric == "ratio", low, high);
        text(HASH, &records).split(':').next().unwrap().to_owned()
    };
    assert_eq!([of(1.01, 1.2), of(0.97, 1.02), of(0.9, 0.99)], ["Yes", "No difference seen", "No"]);
}

#[test]
fn counts_the_sets_that_a_hash_piles_up() {
    let mut records = sample::records();
    let of_siphash = |r: &&Record| r.model == "spread" && r.scheme == "siphash";
    let added: Vec<Record> = records.iter().filter(of_siphash).cloned().collect();
    for record in added {
        records.insert(Record { scheme: "siphash-1-3".to_owned(), ..record }).unwrap();
    }
    let text = text(HASH, &records);
    assert!(
        text.ends_with(" Base collapses on 1 of 2 sets of tuples, SipHash of the whole tuple on none."),
        "{text}"
    );
}

#[test]
fn reports_receive_queues_that_chance_does_not_explain() {
    let records = sample::changed(&sample::own_records(), |record| {
        if record.metric == BUSIEST[0] {
            (record.value, record.low, record.high) = (3.5, 3.5, 3.5);
        }
    });
    let surprises = answer(HASH, &records).surprises;
    assert!(surprises[0].contains("the busiest queue has 3.50 × the mean"), "{surprises:?}");
}

#[test]
fn judges_a_spread_by_what_chance_explains_and_draws_it_as_the_source_does() {
    let section = section(HASH, "Spread", &sample::records());
    let verdicts: Vec<&str> = section.table("spread/seed").rows.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(verdicts, ["collapsed", "even", "even", "uneven"]);
    assert_eq!(section.findings, ["spread/seed collapses 1 of 4 schemes: base."]);
    let Some(Block::Text(picture)) = section.blocks.get(1) else { panic!("{:?}", section.blocks) };
    assert!(picture.text.starts_with("base\n    0 -  6552 :          0 : \n"), "{}", picture.text);
    assert!(picture.text.contains("\n19660 - 26213 :    1048576 : ****"), "{}", picture.text);
    assert!(picture.text.contains("\n\njhash2\n    0 -  6552 :     104"), "{}", picture.text);
    assert!(picture.text.ends_with(" : *********\n"), "{}", picture.text);
}

#[test]
fn states_the_growth_under_the_attack_that_no_secret_stops() {
    let answer = answer(FLOOD, &sample::records());
    let statement = answer.sentence.unwrap();
    assert_eq!(
        statement.text,
        "Ours: 1.00 × under local, where Linux's jhash2 takes 2,460 × as long, hsiphash 2,270 ×, siphash \
         2,360 ×. None of the 3 attacks slows ours."
    );
    assert_eq!(statement.figures.len(), 4);
    assert!(answer.surprises[0].contains("takes 2,360 × as long"), "{:?}", answer.surprises);
    let chart = lines(answer.chart.as_ref());
    let labels: Vec<_> =
        chart.series.iter().filter(|s| s.emphasised).map(|s| (s.role, s.label.as_deref())).collect();
    let linux = Some("Linux, all keyed variants of the source");
    assert_eq!(labels, [(Role::Danger, linux), (Role::Ours, Some("ours"))]);
    assert_eq!(chart.plots[0].lines.len(), chart.series.len());

    let ours = format!("{BATCHED}@65536");
    let slowed = with(|r| r.workload == "xor" && r.scheme == ours && r.metric == "ratio", 1.4, 1.6);
    let text = text(FLOOD, &slowed);
    assert!(text.ends_with("Ours is not slowed by 2 of 3 attacks."), "{text}");
}

#[test]
fn lists_every_scheme_by_its_verdict() {
    let of_flood = section(FLOOD, "Under flood", &sample::records());
    let found = "Attack local, 65,536 hostile flows: slowed: chained/base/single 2,680 ×, \
                 chained/jhash2/single 2,460 ×, chained/hsiphash/single 2,270 ×, chained/siphash/single \
                 2,360 ×; slowed by less than 2: chained/flat/single 1.50 × [1.48, 1.52]; not slowed: \
                 chained/crc32c/single, batched/siphash-1-3/burst.";
    assert!(of_flood.findings.iter().any(|finding| finding == found), "{:?}", of_flood.findings);
    let chart = lines(of_flood.blocks.first());
    assert_eq!(chart.series[0].name, "chained/base/single", "the reference comes first");
    let local = chart.plots.iter().find(|plot| plot.caption == "local").unwrap();
    assert!(local.note.contains("whatever its secret") && local.note.contains(found));
    assert_eq!(
        of_flood.table("growth of the time per lookup, most over fewest hostile flows, by").columns,
        ["scheme", "xor", "local", "crc32c"]
    );

    let verdict = |low, high| {
        let of_flat = |r: &Record| r.workload == "xor" && r.scheme.starts_with("chained/flat");
        let records = with(|r| of_flat(r) && r.metric == "ratio", low, high);
        let finding = section(FLOOD, "Under flood", &records).findings.remove(0);
        let before = finding.split("chained/flat").next().unwrap();
        before.rsplit(": ").nth(1).unwrap().rsplit("; ").next().unwrap().to_owned()
    };
    assert_eq!(verdict(2.0, 2.5), "slowed");
    assert_eq!(
        [(1.45, 1.55), (1.9, 2.2)].map(|(low, high)| verdict(low, high)),
        ["slowed by less than 2"; 2]
    );
    assert_eq!([verdict(0.97, 1.1), verdict(1.0, 1.2)], ["not slowed", "undecided"]);

    let mut records = RecordSet::new();
    for record in sample::records().iter().filter(|r| !r.metric.starts_with("ratio")) {
        records.insert(record.clone()).unwrap();
    }
    let without_growth = section(FLOOD, "Under flood", &records);
    assert!(without_growth.findings.is_empty(), "{:?}", without_growth.findings);
}

#[test]
fn states_the_cost_of_a_lookup_among_a_million_flows() {
    let mut records = sample::records();
    let statement = answer(TABLE, &records).sentence.unwrap();
    assert_eq!(
        statement.text,
        "29.6 ns keyed, in a burst of 32: 0.30 × hashbrown with SipHash-1-3, 0.36 × with ahash."
    );
    assert_eq!(statement.figures.len(), 3);
    let plain = answer(TABLE, &records);
    let chart = lines(plain.chart.as_ref());
    let labels: Vec<_> = chart.series.iter().filter_map(|s| s.label.as_deref()).collect();
    assert_eq!(labels, ["ours, burst", "hashbrown, ahash", "hashbrown, SipHash-1-3"]);
    assert!(chart.shades.is_empty(), "no record states the caches");

    // 64 bytes a flow.
    let mebibyte = 1_048_576.0;
    for (model, workload, scheme, metric, bytes) in [
        ("table", "16Mi/hit", BATCHED, "memory", 1024.0 * mebibyte),
        ("caches", "caches", "L2", "bytes", mebibyte),
        ("caches", "caches", "L3", "bytes", 32.0 * mebibyte),
    ] {
        let columns = ["flow-table", model, workload, scheme, "sysfs", metric, "bytes"];
        records.insert(Record::new(columns, [bytes; 3], 1, 1)).unwrap();
    }
    let shaded = answer(TABLE, &records);
    let ends: Vec<_> = lines(shaded.chart.as_ref()).shades.iter().map(|s| (s.label.as_str(), s.to)).collect();
    assert_eq!(ends, [("L2", 16_384.0), ("L3", 524_288.0), ("memory", f64::INFINITY)]);
}
