//! The page and the terminal's tables of small studies.

use crate::sample;
use crate::{Cost, Floods, Tables};
use hashlane_lab::definition::Definition;
use hashlane_lab::report::terminal::{Colours, tables};
use hashlane_lab::report::{Part, html};
use hashlane_lab::run::Machine;
use hashlane_lab::study::{Settings, Studies, run};
use hashlane_records::{Record, RecordSet};
use std::process::Command;
use std::sync::atomic::AtomicBool;

const STUDIES: Studies = Studies(&[&Cost, &Floods, &Tables]);

fn print(definition: &Definition, records: &RecordSet, width: u16) -> String {
    tables(definition, records, &STUDIES.sections(definition, records), width, Colours::Never)
}

/// The page of the studies.
fn flows(records: &RecordSet) -> String {
    let (definitions, machine) = (sample::definitions(), Machine::default());
    let part = |definition| {
        let (answer, sections) = (STUDIES.answer(definition, records), STUDIES.sections(definition, records));
        Part { definition, records, machine: &machine, run: None, answer, sections }
    };
    let page = html(&definitions.iter().map(part).collect::<Vec<_>>()).unwrap();
    // The page ends with a script, which is cut off.
    page.split("<script>\n// Adds").next().unwrap_or_default().to_owned()
}

/// A study file of this room.
fn study(slug: &str) -> Definition {
    let file = STUDIES.files().find(|file| file.slug == slug).unwrap();
    STUDIES.parse(file.text, slug).unwrap()
}

#[test]
fn the_page_has_each_section_once() {
    let page = flows(&sample::records());
    for heading in [
        "<h2>Cost: cycles per tuple",
        "<h2>What llvm-mca",
        "<h2>Spread",
        "<h2>Under flood",
        "<h2>As the table",
    ] {
        assert_eq!(page.matches(heading).count(), 1, "{heading}");
    }
}

#[test]
fn speaks_of_names_only_where_names_are_measured() {
    let page = flows(&sample::records());
    for words in [
        "per name",
        "All figures",
        "How far from the floor",
        "Encoding against",
        "The probe's own cost",
        "barriers",
    ] {
        assert!(!page.contains(words), "{words}");
    }
    assert!(!page.contains("No measurement of this run answers"));
}

#[test]
fn has_no_section_without_records() {
    let page = flows(&RecordSet::new());
    assert_eq!(page.matches("<h2>").count(), 0);
    assert!(!page.contains("<figure") && !page.contains("NaN"));
}

#[test]
fn escapes_what_the_records_of_flows_say() {
    const HOSTILE: &str = "\"'><script>alert(1)</script><b onclick=x>&{{ 7*7 }}\u{202e}";
    let mut records = RecordSet::new();
    for record in sample::records().iter() {
        let mut record: Record = record.clone();
        for text in [&mut record.workload, &mut record.scheme, &mut record.unit] {
            for word in ["sip", "lo", "sky", "seq", "hit", "rand"] {
                *text = text.replace(word, HOSTILE);
            }
        }
        records.insert(record).unwrap();
    }
    let page = flows(&records);
    assert!(page.contains("alert(1)"));
    assert!(!page.contains("<script") && !page.contains("<b onclick") && !page.contains(">49<"));
    assert!(!page.contains('\u{202e}'));
    for tag in page.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
    }
}

#[test]
fn survives_any_finite_figure() {
    for figure in [0.0, -1.0, 1e-300, 1e300, f64::MAX] {
        let mut records = RecordSet::new();
        for (i, record) in sample::records().iter().enumerate() {
            let mut record: Record = record.clone();
            if i % 3 != 0 {
                (record.value, record.low, record.high) = (figure, figure, figure);
            }
            records.insert(record).unwrap();
        }
        let page = flows(&records);
        for wrong in ["NaN", ">inf", "\"inf", " inf"] {
            let near = page.find(wrong).and_then(|at| page.get(at.saturating_sub(200)..at + 20));
            assert_eq!(near, None, "{figure:e}");
        }
    }
}

#[test]
fn prints_what_is_known_of_flows() {
    let records = sample::records();
    for definition in sample::definitions() {
        let printed = print(&definition, &records, 100);
        for line in printed.lines().filter(|line| !line.contains("****")) {
            assert!(line.chars().count() <= 100, "{line}");
        }
        insta::assert_snapshot!(definition.slug.clone(), printed);
    }
}

#[test]
fn repeats_the_words_of_a_table_that_is_too_wide() {
    let definition = &sample::definitions()[2];
    let printed = print(definition, &sample::records(), 60);
    assert!(printed.lines().all(|line| line.chars().count() <= 60), "{printed}");
    let ratios = printed.split("hit: ratio").nth(1).unwrap().split("miss").next().unwrap();
    assert_eq!(ratios.matches("batched/aes/burst").count(), 4, "{ratios}");
}

#[test]
fn prints_no_section_without_records() {
    for definition in sample::definitions() {
        let printed = print(&definition, &RecordSet::new(), 100);
        assert_eq!(printed, format!("Nothing of {} was measured.\n", definition.slug));
    }
}

#[test]
fn every_kind_of_record_has_its_section() {
    let records = sample::records();
    for (definition, count) in sample::definitions().iter().zip([3, 1, 1]) {
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
    let study = study("flow-table");
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
