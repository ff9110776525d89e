//! Comparisons as text.

use super::{sample as alternated, text};
use crate::report::sample;
use hashlane_records::compare::repeats::repeats;
use hashlane_records::compare::{Comparison, folders};
use hashlane_records::{Record, RecordSet, metric};

/// The records of a scheme that takes `factor` times as long.
fn scaled(record: &mut Record, factor: f64) {
    for figure in [&mut record.value, &mut record.low, &mut record.high] {
        *figure *= factor;
    }
}

/// B: the first scheme faster by a fifth, the second as before, the third unknown to A.
fn two() -> (RecordSet, RecordSet) {
    let b = sample::changed(&[], |record| {
        if record.scheme == "quux/by-element/summed" {
            scaled(record, 0.8);
        }
        if record.scheme == "foo/idle" {
            record.scheme = "\x1bfoo/run".into();
        }
    });
    (sample::changed(&[], |_| ()), b)
}

fn own(_: &str) -> Option<String> {
    Some(metric::CYCLES_MEAN.into())
}

fn compare(a: &RecordSet, b: &RecordSet) -> Comparison {
    folders::compare(a, b, &[], own)
}

#[test]
fn prints_ratios_and_missing_rows() {
    let (a, b) = two();
    insta::assert_snapshot!(text::comparison(&compare(&a, &b), 100));
}

#[test]
fn names_both_schemes_of_a_ratio() {
    let (a, b) = two();
    let printed = text::comparison(&folders::compare(&a, &b, &["ratio".into()], own), 160);
    assert!(printed.contains("foo/by-element/summed / quux/by-element/summed"), "{printed}");
    assert!(!printed.contains('\x1b') && !printed.contains("cycles_mean"));
}

#[test]
fn gives_no_verdict_on_separate_runs_however_far_apart() {
    let (a, b) = (two().0, sample::changed(&[], |record| scaled(record, 0.5)));
    let printed = text::comparison(&compare(&a, &b), 100);
    for verdict in ["faster", "slower", "no difference"] {
        assert!(!printed.contains(verdict), "{printed}");
    }
    let ends = [
        "16 rows, B / A from 0.500 to 0.500. Geometric mean B / A 0.500.",
        "No verdict: A and B are separate",
    ];
    assert!(ends.iter().all(|end| printed.contains(end)), "{printed}");
}

#[test]
fn ends_long_lists() {
    let (a, _) = two();
    let comparison = compare(&a, &RecordSet::new());
    assert!(comparison.studies.is_empty());
    let printed = text::comparison(&comparison, 100);
    assert!(printed.starts_with("Only in A: 16 of sample\n  sample · "), "{printed}");
    assert!(printed.contains("and 11 more\n"), "{printed}");
}

#[test]
fn prints_verdicts_and_the_control() {
    insta::assert_snapshot!(text::comparison(&alternated::comparison(24), 110));
}

#[test]
fn prints_how_many_intervals_hold() {
    let (a, _) = two();
    let printed = text::repeats(&repeats(&[a.clone(), a]), 100);
    assert!(printed.contains("sample  ratios") && printed.contains("100.0 %"), "{printed}");
}
