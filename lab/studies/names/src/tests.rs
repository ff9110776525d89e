//! The study file, a small run, and the report of believable records.

use crate::blocks::Part;
use crate::in_c::{Source, is_in_c};
use crate::packed::{ENCODINGS, Names};
use crate::shape::Shape;
use crate::{Names as Study, metric, sample, schemes, tables};
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::{CriterionFigure, Definition, Rule, Selection, Size};
use hashlane_lab::probe::c_program::compiler_or_skip;
use hashlane_lab::report::terminal::{self, Colours};
use hashlane_lab::study::{Event, FindError, Loaded, Outcome, Settings, Studies, run};
use hashlane_name::component::Component;
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

const STUDIES: Studies = Studies(&[&Study]);
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
    let study = sample::definition();
    assert_eq!(study.slug, "name-encodings");
    assert_eq!(study.workloads.len(), 7);
    assert_eq!(study.schemes.len(), 3 * 13 + 12 + 3 + 3 + 8);
    assert!(study.schemes.contains(&study.reference));
    assert_eq!(study.size.full, Size { items: 1_000_000, repetitions: 20 });
    assert_eq!(tables::repeatability(&study).unwrap().unwrap().below, 1.0);
    assert_eq!((study.metric.as_str(), study.per.as_str()), ("cycles_mean", "name"));
    assert_eq!(study.criteria.len(), 4);
    assert_eq!(study.claims[2].rule, Rule::LittleMore);
    let expects = tables::expects(&study).unwrap();
    assert!(expects.iter().map(|expect| &expect.workload).eq(&study.workloads));
    assert!(expects.iter().all(|expect| expect.names <= study.size.quick.items));
}

#[test]
fn lists_each_ratio_once() {
    let study = changed("pairs = [", "pairs = [[\"ndn/walk\", \"ccnx/walk\"],").unwrap();
    let pairs = study.ratio_pairs();
    let distinct: HashSet<_> = pairs.iter().collect();
    assert_eq!(distinct.len(), pairs.len());
    // 64 to the reference, among them the four criteria; the control; six of ALU's penalty, and three of our
    // code over C; seven of the claims in C, and as many in Rust; and the one that was added.
    assert_eq!(pairs.len(), 64 + 1 + 9 + 14 + 1);
    assert!(pairs.contains(&("ccnx/one-by-one/crc32c", "offset/one-by-one/crc32c")));
    assert!(pairs.contains(&("ndn/walk", "ccnx/walk")));
    assert!(pairs.iter().all(|(of, to)| of != to));
}

#[test]
fn reads_expected_answers() {
    let first = "components = 20480\nchecksum = { offset = \"0x2818cedc272f\"";
    let second = "components = 500\nchecksum = { offset = \"0xffffffffffffffff\"";
    let study = changed(first, second).unwrap();
    let expects = tables::expects(&study).unwrap();
    assert_eq!((expects[0].components, expects[0].checksum["offset"].0), (500, u64::MAX));
    for expect in expects {
        assert!(ENCODINGS.iter().all(|id| expect.checksum.contains_key(*id)), "{}", expect.workload);
    }
}

#[test]
fn reads_criteria_and_metrics() {
    let reference = "reference = \"ndn/one-by-one/crc32c\"";
    let study = changed(reference, &format!("metric = \"ns\"\n{reference}")).unwrap();
    assert_eq!((study.metric.as_str(), study.per.as_str()), ("ns", "name"));
    let other = "ndn/one-by-one/crc32c".to_owned();
    for (line, figure) in [
        ("", CriterionFigure::Metric),
        ("more_than = \"ndn/one-by-one/crc32c\"", CriterionFigure::Difference(other)),
        ("metric = \"octets\"", CriterionFigure::OtherMetric("octets".to_owned())),
        ("times = \"domain\"", CriterionFigure::RatioToWorkload("domain".to_owned())),
    ] {
        assert_eq!(with_criterion(line).unwrap().criteria.pop().unwrap().figure, figure);
    }
}

fn with_criterion(line: &str) -> Result<Definition, FindError> {
    let criterion = "of = \"ndn/one-pass/crc32c\"\nworkload = \"12Bx5\"\nat_most = 3.0";
    STUDIES.parse(&format!("{STUDY}\n[[criterion]]\n{criterion}\n{line}\n"), "study.toml")
}

#[test]
fn refuses_what_breaks_a_rule() {
    for (line, expected) in [
        (
            "times = \"domain\"\nmore_than = \"ndn/one-by-one/crc32c\"",
            ": takes one of metric, to, more_than and times",
        ),
        ("metric = \" \"", ".metric: takes some words"),
        ("times = \"12Bx5\"", ".times: takes another workload"),
        ("times = \"4Bx2\"", ".times: \"4Bx2\" is not in the study"),
        ("more_than = \"ndn\"", ".more_than: \"ndn\" is not in the study"),
    ] {
        let error = message(with_criterion(line));
        assert!(error.starts_with(&format!("study.toml: criterion[4]{expected}")), "{error}");
    }
    for (from, to, expected) in [
        ("0x2818cedc272f", "3", "\"3\" is not `0x`"),
        ("slug =", "sluge =", "sluge"),
        ("at_most = 0.45", "at_most = 0.45\nat_least = 0.1", "at_least"),
        ("per = \"name\"", "per = \" \"", ": per: takes some words"),
        ("pairs = [", "pairs = [[\"ndn/walk\", \"ndn\"],", ": pairs[0]: \"ndn\" is not in the study"),
        ("pairs = [", "pairs = [[\"ndn/walk\", \"ndn/walk\"],", ": pairs[0]: takes two different schemes"),
        // Values out of range.
        ("slug = \"name-encodings\"", "slug = \"../x\"", ": slug: takes "),
        ("items = 16384", "items = 0", ": size.quick.items: takes "),
        ("items = 1000000", "items = 10000001", ": size.full.items: takes "),
        ("repetitions = 10 ", "repetitions = 1 ", ": size.quick.repetitions: takes "),
        ("at_most = 0.13", "at_most = nan", ": criterion[1].at_most: takes "),
        ("at_most = 0.13", "at_most = -1", ": criterion[1].at_most: takes "),
        ("tolerance = 0.15", "tolerance = 1.0", ": claim[2].tolerance: takes "),
        ("below = 1.0", "below = -inf", ": repeatability.below: takes "),
        // Duplicates and braces.
        ("\"12Bx5\", \"6Bx10\"", "\"12Bx5\", \"12Bx5\"", ": workloads: \"12Bx5\" is repeated"),
        ("{offset,ccnx,ndn}/walk\"", "{ndn,ccnx,ndn}/walk\"", ": schemes: \"ndn/walk\" is repeated"),
        (
            "ndn-a-little-worse/in-c",
            "no-penalty-2+2/in-c",
            ": claim[2].id: \"no-penalty-2+2/in-c\" is repeated",
        ),
        (
            "{offset,ccnx,ndn}/walk\"",
            "{offset,ccnx,ndn/walk\"",
            ": schemes[15]: the brace opened at offset 0 is not closed",
        ),
        // Unknown schemes and workloads, with those that are known.
        ("reference = \"ndn/one-by-one/crc32c\"", "reference = \"ndn/nothing\"", "\n  ccnx/walk/burst"),
        ("workload = \"N(7.3,var=11.7)Bx8\"", "workload = \"8Bx8\"", ": criterion[0].workload: \"8Bx8\""),
        ("workload = \"N(7.3,var=11.7)Bx8\"", "workload = \"8Bx8\"", "\n  ircache"),
        (
            "[\"ndn/one-by-one/crc32c\", \"ccnx/one-by-one/crc32c\"]",
            "[\"ndn/one-by-one/crc32c\", \"ccnx/one-by-one/md5\"]",
            ": claim[3].pairs[0]: \"ccnx/one-by-one/md5\"",
        ),
    ] {
        let error = message(changed(from, to));
        assert!(error.starts_with("study.toml: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn rejects_an_endless_file() {
    let text = "#".repeat((1 << 20) + 1);
    assert_eq!(message(STUDIES.parse(&text, "x")), "x: the study file is longer than 1048576 bytes");
    let deep = format!("slug = {}", "[".repeat(100_000));
    assert!(message(STUDIES.parse(&deep, "x")).starts_with("x: TOML parse error"));
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
fn prints_sections_claims_and_criteria() {
    let print = |definition: &Definition| {
        let records = sample::records(definition, &["names.txt"]);
        let sections = STUDIES.sections(definition, &records);
        terminal::tables(definition, &records, &sections, 100, Colours::Never)
    };
    let mut definition = sample::definition();
    let printed = print(&definition);
    assert!(printed.contains("ndn/all-at-once/longest-first/rapidhash "), "ids stay on one line");
    assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
    let of = ["ccnx", "ndn"].map(|id| [format!("{id}/one-by-one/crc32c"), format!("{id}/burst/crc32c")]);
    let workloads = vec!["12Bx5".to_owned()];
    definition.select(&Selection { schemes: of.concat(), workloads, repetitions: None }).unwrap();
    insta::assert_snapshot!(print(&definition));
}

/// Runs the study's first 300 names in two repetitions, with a selection of schemes and workloads.
fn selected(schemes: &[&str], workloads: &[&str]) -> Outcome {
    let mut definition = sample::definition();
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    let selection = Selection { schemes: ids(schemes), workloads: ids(workloads), repetitions: Some(2) };
    definition.select(&selection).unwrap();
    let size = Size { items: 300, repetitions: 2 };
    let settings = Settings { size, ..Settings::new(&definition, false, "hashlane".into()) };
    let outcome = run(&Study, &definition, &settings, &AtomicBool::new(false), &mut |_| ());
    assert!(outcome.failed.is_none(), "{schemes:?} {workloads:?}: {:?}", outcome.failed);
    outcome
}

#[test]
fn runs_each_scheme_alone_with_its_control() {
    let definition = sample::definition();
    for scheme in &definition.schemes {
        let records = selected(&[scheme], &["12Bx5"]).records;
        let again = format!("{scheme}/again");
        assert!(records.ratio("name-encodings", "12Bx5", &again, scheme).is_some(), "{scheme}");
        let value = |name| records.metric("name-encodings", "12Bx5", scheme, name).unwrap().value;
        let (mean, minima) = (value(metric::CYCLES_MEAN), value(metric::CYCLES_MIN_MEAN));
        assert!(minima <= mean, "{scheme}: mean {mean}, mean of the minima {minima}");
        assert!((1.0..=256.0).contains(&value(metric::NAMES_PER_READING)), "{scheme}");
    }
}

#[test]
fn the_names_of_a_workload_do_not_depend_on_the_selection() {
    let definition = sample::definition();
    let scheme = "ndn/burst/crc32c";
    let hashed = |outcome: &Outcome, workload: &str| {
        ["separated", "offset", "ccnx", "ndn"].map(|encoding| {
            outcome.records.metric("name-encodings", workload, encoding, metric::HASHED_BYTES).unwrap().value
        })
    };
    let all = selected(&[scheme], &[]);
    for workload in &definition.workloads {
        let one = selected(&[scheme], &[workload]);
        assert_eq!(hashed(&one, workload), hashed(&all, workload), "{workload}");
        assert_eq!(one.records.workloads("name-encodings"), [workload]);
    }
    // The bytes of the source.
    assert_eq!(hashed(&all, "12Bx5"), [65.0, 60.0, 80.0, 70.0]);
    assert_eq!(hashed(&all, "6Bx10"), [70.0, 60.0, 100.0, 80.0]);
}

#[test]
fn own_names_replace_the_generated_ones_unless_both_are_wanted() {
    let definition = sample::definition();
    let names = "ircache".parse::<Shape>().unwrap().generate(300, 1).unwrap();
    let own = Loaded::new("names:list.txt".to_owned(), names);
    let size = Size { items: 300, repetitions: 2 };
    for (with_generated, workloads) in [(false, 1), (true, 8)] {
        let settings = Settings::new(&definition, false, "hashlane".into());
        let settings = Settings { size, own: Some(&own), with_generated, ..settings };
        let mut last = (0, 0);
        let outcome = run(&Study, &definition, &settings, &AtomicBool::new(false), &mut |event| {
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
fn the_source_s_program_gives_our_hashes_of_every_workload() {
    if compiler_or_skip().is_none() {
        return;
    }
    let definition = sample::definition();
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
                assert_eq!(source.method(id).unwrap().digest(&part), sum, "{id}, {workload}");
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
