//! The study file, a small run, and the report of believable records.

use crate::blocks::Part;
use crate::in_c::{Source, is_in_c};
use crate::packed::{ENCODINGS, Names};
use crate::shape::Shape;
use crate::subject::Subject;
use crate::{Names as Kind, metric, sample, schemes, tables};
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::{CriterionFigure, Definition, DefinitionError, Rule, Selection, Size};
use hashlane_lab::probe::c_program::compiler_or_skip;
use hashlane_lab::report::terminal::{self, Colours};
use hashlane_lab::study::{Event, FindError, Loaded, Outcome, Settings, Studies, run};
use hashlane_name::component::Component;
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

const STUDIES: Studies = Studies(&[&Kind]);
const STUDY: &str = include_str!("../name-encodings/study.toml");

fn changed(from: &str, to: &str) -> Result<Definition, FindError> {
    assert!(STUDY.contains(from), "{from}");
    STUDIES.parse(&STUDY.replacen(from, to, 1), "study.toml")
}

fn message(result: Result<Definition, FindError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn reads_the_study_of_name_encodings() {
    let study = STUDIES.parse(STUDY, "study.toml").unwrap();
    assert_eq!(study.slug, "name-encodings");
    assert_eq!(study.workloads.len(), 7);
    assert_eq!(study.schemes.len(), 3 * 13 + 12 + 3 + 3 + 8);
    assert!(study.schemes.contains(&study.reference));
    assert_eq!(study.size.full, Size { items: 1_000_000, repetitions: 20 });
    assert_eq!(tables::repeatability(&study).unwrap().unwrap().below, 1.0);
    assert_eq!((study.metric.as_str(), study.per.as_str()), ("cycles_mean", "name"));
    assert_eq!(study.criteria.len(), 4);
    assert_eq!(study.claims[2].rule, Rule::LittleMore);
    assert_eq!(study.charts[1].schemes.len(), 6);
    let expects = tables::expects(&study).unwrap();
    assert!(expects.iter().map(|expect| &expect.workload).eq(&study.workloads));
    assert!(expects.iter().all(|expect| expect.names <= study.size.quick.items));
}

#[test]
fn lists_each_ratio_once() {
    let study = STUDIES.parse(STUDY, "study.toml").unwrap();
    let pairs = study.ratio_pairs();
    let distinct: HashSet<_> = pairs.iter().collect();
    assert_eq!(distinct.len(), pairs.len());
    // 64 to the reference, among them the four criteria; the control; six of ALU's penalty, and three of our
    // code over C; seven of the claims in C, and as many in Rust.
    assert_eq!(pairs.len(), 64 + 1 + 9 + 14);
    assert!(pairs.contains(&("ccnx/one-by-one/crc32c", "offset/one-by-one/crc32c")));
    assert!(pairs.iter().all(|(of, to)| of != to));
}

#[test]
fn reads_expected_answers() {
    let first = "components = 20480\nchecksum = { offset = \"0x2818cedc272f\"";
    let second = "components = 500\nchecksum = { offset = \"0xffffffffffffffff\"";
    let study = changed(first, second).unwrap();
    assert_eq!(tables::expects(&study).unwrap()[0].components, 500);
    assert_eq!(tables::expects(&study).unwrap()[0].checksum["offset"].0, u64::MAX);
    let error = message(changed(first, &second.replace("0xffffffffffffffff", "3")));
    assert!(error.contains("\"3\" is not `0x`"), "{error}");
}

#[test]
fn reads_criteria() {
    let with = |lines: &str| {
        let text = format!(
            "{STUDY}\n[[criterion]]\nof = \"ndn/one-pass/crc32c\"\nworkload = \"12Bx5\"\nat_most = \
             3.0\n{lines}\n"
        );
        STUDIES.parse(&text, "study.toml")
    };
    let figure = |lines| with(lines).unwrap().criteria.pop().unwrap().figure;
    assert_eq!(figure(""), CriterionFigure::Metric);
    let other = "ndn/one-by-one/crc32c".to_owned();
    assert_eq!(figure("more_than = \"ndn/one-by-one/crc32c\""), CriterionFigure::Difference(other));
    let domain = "domain".to_owned();
    assert_eq!(figure("metric = \"octets\""), CriterionFigure::OtherMetric("octets".to_owned()));
    assert_eq!(figure("times = \"domain\""), CriterionFigure::RatioToWorkload(domain));
    let error = message(with("times = \"domain\"\nmore_than = \"ndn/one-by-one/crc32c\""));
    assert_eq!(error, "study.toml: criterion[4]: takes one of metric, to, more_than and times");
    for (lines, field) in [
        ("metric = \" \"", "criterion[4].metric: takes some words"),
        ("times = \"12Bx5\"", "criterion[4].times: takes another workload"),
        ("times = \"4Bx2\"", "criterion[4].times: \"4Bx2\" is not in the study"),
        ("more_than = \"ndn\"", "criterion[4].more_than: \"ndn\" is not in the study"),
    ] {
        let error = message(with(lines));
        assert!(error.contains(field), "{error}");
    }
}

#[test]
fn reads_what_a_figure_is_for() {
    let reference = "reference = \"ndn/one-by-one/crc32c\"";
    let study = changed(reference, &format!("metric = \"ns\"\n{reference}")).unwrap();
    assert_eq!((study.metric.as_str(), study.per.as_str()), ("ns", "name"));
    let error = message(changed("per = \"name\"", "per = \" \""));
    assert_eq!(error, "study.toml: per: takes some words");
}

#[test]
fn measures_the_pairs_of_the_file() {
    let with = |pair: &str| changed("pairs = [", &format!("pairs = [[{pair}],"));
    let study = with("\"ndn/walk\", \"ccnx/walk\"").unwrap();
    assert!(study.ratio_pairs().contains(&("ndn/walk", "ccnx/walk")));
    assert_eq!(study.ratio_pairs().len(), 64 + 1 + 9 + 14 + 1);
    let error = message(with("\"ndn/walk\", \"ndn\""));
    assert!(error.contains("pairs[0]: \"ndn\" is not in the study"), "{error}");
    let error = message(with("\"ndn/walk\", \"ndn/walk\""));
    assert_eq!(error, "study.toml: pairs[0]: takes two different schemes");
}

#[test]
fn rejects_a_field_that_no_study_has() {
    let error = message(changed("slug =", "sluge ="));
    assert!(error.starts_with("study.toml: ") && error.contains("sluge"), "{error}");
    let error = message(changed("at_most = 0.45", "at_most = 0.45\nat_least = 0.1"));
    assert!(error.contains("at_least"), "{error}");
}

#[test]
fn lists_what_there_is_when_a_scheme_or_workload_is_unknown() {
    let error = message(changed("reference = \"ndn/one-by-one/crc32c\"", "reference = \"ndn/nothing\""));
    assert!(error.contains("reference: \"ndn/nothing\" is not in the study; known:"), "{error}");
    assert!(error.contains("\n  ccnx/walk/burst"), "{error}");
    let error = message(changed("workload = \"N(7.3,var=11.7)Bx8\"", "workload = \"8Bx8\""));
    assert!(error.contains("criterion[0].workload: \"8Bx8\""), "{error}");
    assert!(error.contains("\n  ircache"), "{error}");
    let error = message(changed(
        "[\"ndn/one-by-one/crc32c\", \"ccnx/one-by-one/crc32c\"]",
        "[\"ndn/one-by-one/crc32c\", \"ccnx/one-by-one/md5\"]",
    ));
    assert!(error.contains("claim[3].pairs[0]: \"ccnx/one-by-one/md5\""), "{error}");
    let error = message(changed("\"ndn/walk\",\n  \"ndn/walk/burst\"", "\"ndn/run\""));
    assert!(error.contains("chart[3].schemes: \"ndn/run\""), "{error}");
}

#[test]
fn rejects_values_out_of_range() {
    for (from, to, field) in [
        ("slug = \"name-encodings\"", "slug = \"../x\"", "slug"),
        ("items = 16384", "items = 0", "size.quick.items"),
        ("items = 1000000", "items = 10000001", "size.full.items"),
        ("repetitions = 10 ", "repetitions = 1 ", "size.quick.repetitions"),
        ("at_most = 0.13", "at_most = nan", "criterion[1].at_most"),
        ("at_most = 0.13", "at_most = -1", "criterion[1].at_most"),
        ("tolerance = 0.15", "tolerance = 1.0", "claim[2].tolerance"),
        ("below = 1.0", "below = -inf", "repeatability.below"),
    ] {
        let error = message(changed(from, to));
        assert!(error.starts_with(&format!("study.toml: {field}: takes ")), "{error}");
    }
}

#[test]
fn rejects_duplicates() {
    let error = message(changed("\"12Bx5\", \"6Bx10\"", "\"12Bx5\", \"12Bx5\""));
    assert_eq!(error, "study.toml: workloads: \"12Bx5\" is repeated");
    let error = message(changed("{offset,ccnx,ndn}/walk\"", "{ndn,ccnx,ndn}/walk\""));
    assert_eq!(error, "study.toml: schemes: \"ndn/walk\" is repeated");
    let error = message(changed("ndn-a-little-worse/in-c", "no-penalty-2+2/in-c"));
    assert_eq!(error, "study.toml: claim[2].id: \"no-penalty-2+2/in-c\" is repeated");
}

#[test]
fn names_the_field_whose_braces_do_not_expand() {
    let error = message(changed("{offset,ccnx,ndn}/walk\"", "{offset,ccnx,ndn/walk\""));
    assert_eq!(error, "study.toml: schemes[15]: the brace opened at offset 0 is not closed");
}

#[test]
fn rejects_an_endless_file() {
    let text = "#".repeat((1 << 20) + 1);
    assert!(matches!(STUDIES.parse(&text, "x"), Err(FindError::Definition(DefinitionError::TooLong { .. }))));
    let deep = format!("slug = {}", "[".repeat(100_000));
    assert!(matches!(STUDIES.parse(&deep, "x"), Err(FindError::Definition(DefinitionError::Toml { .. }))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn survives_a_file_with_any_byte_changed(at in 0..STUDY.len(), to in "[{}\\[\\]\"=a0\n,]") {
        let mut text = STUDY.to_owned();
        if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
            text.replace_range(at..at + 1, &to);
        }
        if let Ok(study) = STUDIES.parse(&text, "study.toml") {
            prop_assert!(study.schemes.contains(&study.reference));
        }
    }
}

#[test]
fn no_mean_of_minima_lies_above_its_mean() {
    let mut definition = STUDIES.parse(STUDY, "study.toml").unwrap();
    definition.workloads.truncate(1);
    let size = Size { items: 512, repetitions: 4 };
    let settings = Settings { size, ..Settings::new(&definition, false, "hashlane".into()) };
    let outcome = run(&Kind, &definition, &settings, &AtomicBool::new(false), &mut |_| ());
    assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
    for scheme in &definition.schemes {
        let value = |name| {
            let record = outcome.records.metric("name-encodings", &definition.workloads[0], scheme, name);
            record.unwrap().value
        };
        let (mean, minima) = (value(metric::CYCLES_MEAN), value(metric::CYCLES_MIN_MEAN));
        assert!(minima <= mean, "{scheme}: mean {mean}, mean of the minima {minima}");
        assert!((1.0..=256.0).contains(&value(metric::NAMES_PER_READING)), "{scheme}");
    }
}

#[test]
fn stays_within_100_columns() {
    let definition = STUDIES.parse(STUDY, "study.toml").unwrap();
    let records = sample::records(&definition, &[]);
    let printed = terminal::tables(
        &definition,
        &records,
        &STUDIES.sections(&definition, &records),
        100,
        Colours::Never,
    );
    assert!(printed.contains("ndn/all-at-once/longest-first/rapidhash "), "ids stay on one line");
    for line in printed.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn prints_sections_claims_and_criteria() {
    let definition = sample::definition();
    let records = sample::records(&definition, &["names.txt"]);
    let sections = STUDIES.sections(&definition, &records);
    insta::assert_snapshot!(terminal::tables(&definition, &records, &sections, 100, Colours::Never));
}

/// Runs the study's first 300 names in two repetitions, with a selection of schemes and workloads.
fn selected(schemes: &[&str], workloads: &[&str]) -> Outcome {
    let mut definition = STUDIES.parse(STUDY, "study.toml").unwrap();
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    let selection = Selection { schemes: ids(schemes), workloads: ids(workloads), repetitions: Some(2) };
    definition.select(&selection).unwrap();
    let size = Size { items: 300, repetitions: 2 };
    let settings = Settings { size, ..Settings::new(&definition, false, "hashlane".into()) };
    let outcome = run(&Kind, &definition, &settings, &AtomicBool::new(false), &mut |_| ());
    assert!(outcome.failed.is_none(), "{schemes:?} {workloads:?}: {:?}", outcome.failed);
    outcome
}

#[test]
fn runs_each_scheme_alone_with_its_control() {
    let definition = STUDIES.parse(STUDY, "study.toml").unwrap();
    for scheme in &definition.schemes {
        let outcome = selected(&[scheme], &["12Bx5"]);
        let again = format!("{scheme}/again");
        assert!(outcome.records.ratio("name-encodings", "12Bx5", &again, scheme).is_some(), "{scheme}");
    }
}

#[test]
fn the_names_of_a_workload_do_not_depend_on_the_selection() {
    let definition = STUDIES.parse(STUDY, "study.toml").unwrap();
    let scheme = "ndn/burst/crc32c";
    let all = selected(&[scheme], &[]);
    for workload in &definition.workloads {
        let one = selected(&[scheme], &[workload]);
        let hashed = |outcome: &Outcome, encoding: &str| {
            let record = outcome.records.metric("name-encodings", workload, encoding, metric::HASHED_BYTES);
            record.unwrap().value
        };
        for encoding in ["offset", "separated", "ccnx", "ndn"] {
            assert_eq!(hashed(&one, encoding), hashed(&all, encoding), "{workload}");
        }
        assert_eq!(one.records.workloads("name-encodings"), [workload]);
    }
}

#[test]
fn hashes_the_bytes_of_the_source() {
    let outcome = selected(&["ndn/walk"], &["12Bx5", "6Bx10"]);
    for (workload, lengths) in [("12Bx5", [65.0, 60.0, 80.0, 70.0]), ("6Bx10", [70.0, 60.0, 100.0, 80.0])] {
        for (encoding, bytes) in ["separated", "offset", "ccnx", "ndn"].into_iter().zip(lengths) {
            let record = outcome.records.metric("name-encodings", workload, encoding, metric::HASHED_BYTES);
            assert_eq!(record.unwrap().value, bytes, "{workload} {encoding}");
        }
    }
}

#[test]
fn own_names_replace_the_generated_ones_unless_both_are_wanted() {
    let definition = STUDIES.parse(STUDY, "study.toml").unwrap();
    let names = "ircache".parse::<Shape>().unwrap().generate(300, 1).unwrap();
    let own = Loaded::new("names:list.txt".to_owned(), names);
    let size = Size { items: 300, repetitions: 2 };
    for (with_generated, workloads) in [(false, 1), (true, 8)] {
        let settings = Settings::new(&definition, false, "hashlane".into());
        let settings = Settings { size, own: Some(&own), with_generated, ..settings };
        let mut last = (0, 0);
        let outcome = run(&Kind, &definition, &settings, &AtomicBool::new(false), &mut |event| {
            if let Event::Step(step) = event {
                last = (step.done, step.total);
            }
        });
        assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
        let found = outcome.records.workloads("name-encodings");
        assert_eq!((found.len(), found.contains(&"names:list.txt")), (workloads, true));
        assert_eq!(last.0 + 1, last.1, "the progress ends at the total");
    }
}

#[test]
fn expects_every_encoding() {
    let study = STUDIES.parse(STUDY, "study.toml").unwrap();
    for expect in tables::expects(&study).unwrap() {
        assert!(ENCODINGS.iter().all(|id| expect.checksum.contains_key(*id)), "{}", expect.workload);
    }
}

#[test]
fn the_source_s_program_gives_our_hashes_of_every_workload() {
    if compiler_or_skip().is_none() {
        return;
    }
    let definition = STUDIES.parse(STUDY, "study.toml").unwrap();
    let source = Source::start().unwrap();
    let schemes: Vec<_> = definition.schemes.iter().filter(|id| is_in_c(id)).collect();
    assert_eq!(schemes.len(), 12);
    // And names of many and of long components, whose lengths take three bytes in NDN.
    let mut long = Names::default();
    for value in [vec![7; 252], vec![8; 253], vec![9; 5000]].iter().cycle().take(300) {
        long.push([Component::generic(value), Component::generic(b"a")].into_iter()).unwrap();
    }
    let generated = definition.workloads.iter().map(String::as_str).chain(["1Bx250"]);
    let generated = generated.map(|id| (id, id.parse::<Shape>().unwrap().generate(300, 2015).unwrap()));
    for (workload, names) in generated.chain([("long", long)]) {
        source.load(&names);
        for id in &schemes {
            let packed = names.packed(id.split('/').next().unwrap()).unwrap();
            let ours = id.replace("-in-c", "");
            for range in [0..300, 17..18, 290..300] {
                let part = Part::new(packed, range);
                let sum = schemes::names(&ours, &Key::VECTOR).unwrap().digest(&part);
                assert_eq!(source.subject(id).unwrap().digest(&part), sum, "{id}, {workload}");
            }
        }
    }
    assert_eq!(source.empty().failure(), None);
}

#[test]
fn the_source_s_program_takes_its_turns_among_the_others() {
    let outcome = selected(&["ndn/one-by-one/crc32c", "ndn/one-by-one/crc32c-in-c"], &["12Bx5"]);
    let value = |scheme: &str, name| outcome.records.metric("name-encodings", "12Bx5", scheme, name);
    if compiler_or_skip().is_none() {
        let note = "crc32c-in-c: not measured: no C compiler found; install one";
        assert!(outcome.notes.iter().any(|other| other.starts_with(note)), "{:?}", outcome.notes);
        assert!(value("ndn/one-by-one/crc32c-in-c", metric::CYCLES_MEAN).is_none());
        return;
    }
    let note = "crc32c-in-c: the source's algorithm in C, -O3 -msse4.2, by ";
    assert!(outcome.notes.iter().any(|other| other.starts_with(note)), "{:?}", outcome.notes);
    for name in [metric::CYCLES_MEAN, metric::CYCLES_MIN_MEAN, metric::CYCLES_STREAM] {
        assert!(value("ndn/one-by-one/crc32c-in-c", name).is_some(), "{name}");
    }
    let (of, to) = ("ndn/one-by-one/crc32c-in-c", "ndn/one-by-one/crc32c");
    assert!(outcome.records.ratio("name-encodings", "12Bx5", of, to).is_some());
    let probes = outcome.records.iter().filter(|record| record.scheme.starts_with("empty-in-c/"));
    assert_eq!(probes.count(), 2, "mean and fewest of its own probe");
}
