//! The answer of the study file on sample records.

use crate::{Names, metric, sample};
use hashlane_lab::evidence::Doubt;
use hashlane_lab::report::{Answer, Block};
use hashlane_lab::study::Studies;
use hashlane_records::{Record, RecordSet};

const STUDIES: Studies = Studies(&[&Names]);

/// The answer to the sample records, each as `change` leaves it; with the user's names if wanted.
fn changed(own: &[&str], change: impl Fn(&mut Record)) -> Answer {
    let definition = sample::definition();
    let mut records = RecordSet::new();
    for record in sample::records(&definition, own).iter() {
        let mut record = record.clone();
        change(&mut record);
        records.insert(record).unwrap();
    }
    STUDIES.answer(&definition, &records).unwrap()
}

fn text(answer: &Answer) -> String {
    answer.sentence.as_ref().map_or_else(Doubt::to_string, |statement| statement.text.clone())
}

#[test]
fn names_the_encoding_and_the_method() {
    let answer = changed(&[], |_| ());
    assert_eq!(
        text(&answer),
        "Names like URIs: one by one, all three within 4 %; in a burst, CCNx takes 1.40 × the fastest. A \
         burst takes 0.12 × one by one, a keyed one 0.32 ×: the method decides."
    );
    assert!(text(&answer).chars().count() <= 200);
    assert_eq!(
        answer.surprises,
        ["ALU's penalty for TLV names (12Bx5) is 2.11 ×: 2.09 × from hashing component by component, \
             1.01 × from the encoding."]
    );
    assert!(answer.chart.is_some());
    assert_eq!(answer.limits.len(), 2);
}

#[test]
fn speaks_of_the_users_names() {
    let answer = changed(&["names:list.txt"], |_| ());
    let text = text(&answer);
    assert!(text.starts_with("Your 20 names (5.0 components, 72 B): one by one"), "{text}");
    let Some(Block::Bars(bars)) = answer.chart else { panic!("no bars") };
    assert_eq!(bars.plots.iter().map(|plot| plot.caption.as_str()).collect::<Vec<_>>(), ["names:list.txt"]);
}

#[test]
fn encodings_decide_where_the_method_gains_less() {
    let answer = changed(&[], |record| {
        if record.metric == metric::RATIO && record.scheme == "ndn/burst/crc32c" {
            (record.value, record.low, record.high) = (0.8, 0.79, 0.81);
        }
    });
    assert!(
        text(&answer).ends_with("A burst takes 0.80 × one by one, a keyed one 0.32 ×."),
        "{}",
        text(&answer)
    );
}

#[test]
fn doubts_withhold_the_sentence() {
    let off = changed(&[], |record| {
        if record.scheme.ends_with("/again") && record.metric == metric::RATIO {
            (record.value, record.low, record.high) = (1.11, 1.09, 1.12);
        }
    });
    assert!(matches!(off.sentence, Err(Doubt::Control { .. })) && off.surprises.is_empty());
    let wide = changed(&[], |record| {
        if record.metric == metric::SLOWEST_TO_FASTEST {
            (record.low, record.high) = (1.0, 2.0);
        }
    });
    assert!(matches!(wide.sentence, Err(Doubt::Wide { .. })));
    let partly = changed(&[], |record| {
        if record.scheme == "ndn/burst/siphash-2-4" {
            record.scheme = "ndn/burst/other".to_owned();
        }
    });
    let nothing = STUDIES.answer(&sample::definition(), &RecordSet::new()).unwrap();
    for answer in [partly, nothing] {
        assert!(matches!(answer.sentence, Err(Doubt::NotMeasured { .. })));
    }
}
