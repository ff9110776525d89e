//! Runs of the studies under selections, and on captures.

use crate::capture::Capture;
use crate::sample;
use crate::tuples::TupleSet;
use crate::{Cost, Floods, Tables};
use hashlane_lab::definition::{Definition, Selection, subject};
use hashlane_lab::study::{Loaded, Settings, Studies, Study, run};
use hashlane_records::{RecordSet, metric};
use std::sync::atomic::AtomicBool;

static STUDIES: [&dyn Study; 3] = [&Cost, &Floods, &Tables];

/// The records of a short run.
fn records(study: &dyn Study, definition: &Definition, own: Option<&Loaded>) -> RecordSet {
    let mut settings = Settings::new(definition, false, "hashlane".into());
    settings.size.items = 256;
    settings.own = own;
    let outcome = run(study, definition, &settings, &AtomicBool::new(false), &mut |_| ());
    assert!(outcome.failed.is_none(), "{}: {:?}", definition.slug, outcome.failed);
    outcome.records
}

/// Runs a selection, and checks that each selected scheme and the control were timed.
fn select(study: &dyn Study, schemes: &[&str], workload: &str) {
    let mut definition = sample::study(study);
    let schemes = schemes.iter().map(|id| (*id).to_owned()).collect();
    let selection = Selection { schemes, workloads: vec![workload.to_owned()], repetitions: Some(2) };
    definition.select(&selection).unwrap();
    let records = records(study, &definition, None);
    let of = |scheme: &str| records.metric(&definition.slug, workload, scheme, &definition.metric);
    for scheme in definition.schemes_on(workload) {
        assert_eq!(
            of(scheme).is_some(),
            crate::hashes::missing(subject(scheme)).is_none(),
            "{workload}, {scheme}"
        );
    }
    let (of, to) = definition.control.as_ref().unwrap();
    if definition.schemes_on(workload).contains(of) && crate::hashes::missing(to).is_none() {
        assert!(records.ratio(&definition.slug, workload, of, to).is_some(), "{workload}: {of}");
    }
    let named = |r: &hashlane_records::Record| r.workload == workload || r.workload == "caches";
    assert!(records.iter().all(named), "side runs were not selected");
}

#[test]
fn runs_with_each_single_scheme() {
    for study in STUDIES {
        let definition = sample::study(study);
        let workload = definition.workloads[0].clone();
        // Of the 96 schemes of a flood those with 0 and 65,536 hostile flows of some tables.
        let step = if definition.schemes.len() > 50 { 11 } else { 1 };
        for scheme in definition.schemes.iter().step_by(step) {
            select(study, &[scheme], &workload);
        }
    }
}

#[test]
fn runs_with_each_single_workload() {
    for study in STUDIES {
        let definition = sample::study(study);
        let first = definition.schemes[0].as_str();
        // Tables of a million flows take too long to fill.
        for workload in definition.workloads.iter().filter(|id| !id.contains("Mi/")) {
            select(study, &[first], workload);
        }
    }
}

/// The workloads of millions of flows, with a thousand.
#[test]
fn writes_to_small_tables_are_measured_as_to_large_ones() {
    let text = Tables.files()[0].text;
    let small = ["1Mi/fill", "1Mi/churn", "4Mi/longest"];
    let text = small.iter().fold(text.to_owned(), |text, id| text.replace(id, &format!("1Ki/{}", &id[4..])));
    for workload in ["1Ki/fill", "1Ki/churn", "1Ki/longest-room", "1Ki/longest-growing"] {
        let mut definition = Definition::parse(&text, "small").unwrap();
        let selection =
            Selection { schemes: Vec::new(), workloads: vec![workload.to_owned()], repetitions: Some(2) };
        definition.select(&selection).unwrap();
        let records = records(&Tables, &definition, None);
        for scheme in definition.schemes_on(workload) {
            let time = records.metric(&definition.slug, workload, scheme, &definition.metric);
            let is_there = crate::hashes::missing(subject(scheme)).is_none();
            assert_eq!(time.is_some_and(|time| time.value > 0.0), is_there, "{workload}, {scheme}");
        }
    }
}

#[test]
fn every_timed_workload_has_a_control() {
    for study in STUDIES {
        let definition = sample::study(study);
        let (control, _) = definition.control.as_ref().unwrap();
        for workload in &definition.workloads {
            assert!(definition.schemes_on(workload).contains(control), "{workload}");
        }
    }
}

#[test]
fn captures_of_any_length_are_measured_and_answered() {
    let tuples = TupleSet::V4Mapped.generate(7, 1, u64::MAX).unwrap();
    for packets in [vec![0], vec![0; 100], (0..7).collect(), (0..7).cycle().take(1000).collect::<Vec<u32>>()]
    {
        let flows = packets.iter().max().map_or(0, |most| *most as usize + 1);
        let capture = Capture { tuples: tuples[..flows].to_vec(), packets, ..Capture::default() };
        let own = Loaded::new("pcap:mine.pcap".to_owned(), capture);
        for study in STUDIES {
            let mut definition = sample::study(study);
            definition.size.quick.repetitions = 2;
            let schemes: Vec<String> = if definition.model == crate::flood::MODEL {
                let of = |id: &&String| id.contains("jhash2") || id.contains("batched/siphash-1-3/burst");
                let ends = |id: &&String| id.ends_with("@0") || id.ends_with("@65536");
                definition.schemes.iter().filter(of).filter(ends).cloned().collect()
            } else {
                Vec::new()
            };
            let workloads = if schemes.is_empty() { Vec::new() } else { vec!["local".to_owned()] };
            definition.select(&Selection { schemes, workloads, repetitions: Some(2) }).unwrap();
            let records = records(study, &definition, Some(&own));
            assert!(definition.is_on_own_data(&records), "{}", definition.slug);
            assert!(definition.criterion_outcomes(&records).is_empty());
            for workload in definition.own_workloads(&records) {
                let control = |r: &&hashlane_records::Record| {
                    r.workload == workload && r.metric == metric::RATIO && r.scheme.ends_with("/again")
                };
                assert!(records.iter().any(|r| control(&r)), "{workload}");
            }
            let studies = Studies(&STUDIES);
            assert!(!studies.sections(&definition, &records).is_empty());
            // Two rounds are too few for a sentence.
            assert!(studies.answer(&definition, &records).unwrap().sentence.is_err());
        }
    }
}
