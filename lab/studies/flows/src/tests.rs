//! The terminal's tables of small studies.

use crate::sample;
use crate::{Cost, Floods, Tables};
use hashlane_lab::definition::Definition;
use hashlane_lab::report::terminal::{Colours, tables};
use hashlane_lab::study::{Settings, Studies, run};
use hashlane_records::RecordSet;
use std::process::Command;
use std::sync::atomic::AtomicBool;

const STUDIES: Studies = Studies(&[&Cost, &Floods, &Tables]);

fn print(definition: &Definition, records: &RecordSet) -> String {
    tables(definition, records, &STUDIES.sections(definition, records), 100, Colours::Never)
}

#[test]
fn survives_any_finite_figure() {
    for figure in [0.0, -1.0, 1e-300, 1e300, f64::MAX] {
        let mut number = 0;
        let records = sample::changed(&sample::records(), |record| {
            if number % 3 != 0 {
                (record.value, record.low, record.high) = (figure, figure, figure);
            }
            number += 1;
        });
        for definition in sample::definitions() {
            let answer = STUDIES.answer(&definition, &records).unwrap();
            let words = answer.sentence.map(|statement| statement.text);
            let printed = format!("{}{words:?}{:?}", print(&definition, &records), answer.surprises);
            assert!(!printed.contains("NaN") && !printed.contains(" inf"), "{figure:e}: {printed}");
        }
    }
}

#[test]
fn prints_what_is_known_of_flows() {
    let records = sample::records();
    for definition in sample::definitions() {
        let printed = print(&definition, &records);
        for line in printed.lines().filter(|line| !line.contains("****")) {
            assert!(line.chars().count() <= 100, "{line}");
        }
        insta::assert_snapshot!(definition.slug.clone(), printed);
    }
}

#[test]
fn every_kind_of_record_has_its_section() {
    let records = sample::records();
    for (definition, count) in sample::definitions().iter().zip([4, 1, 1]) {
        assert_eq!(STUDIES.sections(definition, &records).len(), count, "{}", definition.slug);
        assert!(STUDIES.sections(definition, &RecordSet::new()).is_empty());
    }
}

#[test]
fn answers_have_at_most_200_characters() {
    let (generated, own) = (sample::records(), sample::own_records());
    for definition in sample::definitions() {
        for records in [&generated, &own] {
            let answer = STUDIES.answer(&definition, records).unwrap();
            let text = answer.sentence.unwrap().text;
            assert!(text.chars().count() <= 200, "{text}");
        }
    }
}

/// A part of the next test: it runs in a separate process, under a limit.
#[test]
#[ignore = "takes the memory of the study"]
fn runs_the_tables_of_a_quick_run() {
    let study = sample::study(&Tables);
    let settings = Settings::new(&study, false, "hashlane".into());
    let outcome = run(&Tables, &study, &settings, &AtomicBool::new(false), &mut |_| ());
    println!("failed: {}", outcome.failed.unwrap());
    assert!(outcome.records.is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn refuses_tables_before_it_starts_under_a_limit_of_memory() {
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 524288 && exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "tests::runs_the_tables_of_a_quick_run"])
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let message = printed.lines().find_map(|line| line.strip_prefix("failed: "));
    let message = message.unwrap_or_else(|| panic!("{printed}{}", String::from_utf8_lossy(&output.stderr)));
    assert!(output.status.success(), "{printed}");
    assert!(message.starts_with("flow-table was not started: it takes up to "), "{message}");
    assert!(message.contains("the limit on address space (ulimit -v) leaves "), "{message}");
    assert!(
        message.ends_with("raise the limit, or measure fewer flows: --workload 64Ki/hit fits"),
        "{message}"
    );
}
