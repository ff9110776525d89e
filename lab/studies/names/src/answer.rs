//! The answer: which encoding hashes fastest, and with which method.

use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Block, Statement, facts};
use hashlane_records::RecordSet;
use hashlane_stats::Interval;
use hashlane_stats::format::count;

use crate::methods::{BURST, KEYED_BURST, ONE_BY_ONE};
use crate::packed::COMPARED;
use crate::{chart, methods, metric, penalty};

/// Largest quotient of the slowest and the fastest encoding at which they are called alike.
const ALIKE: f64 = 1.05;

/// A workload of components of one length, which the branch predictors learn.
const EQUAL: &str = "12Bx5";

/// Answers from the records of one workload: the user's own, or else the one of the first criterion.
pub(crate) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let evidence = Evidence::new(definition, records);
    let workloads = facts::workloads(definition, records);
    let own = workloads.iter().copied().find(|w| !definition.workloads.iter().any(|named| named == w));
    let typical = definition.criteria.first().map(|criterion| criterion.workload.as_str());
    let typical = typical.filter(|id| workloads.contains(id));
    let Some(workload) = own.or(typical).or(workloads.first().copied()) else {
        return Answer::new(Err(Doubt::NotMeasured { figure: "the study".to_owned() }));
    };
    Answer {
        sentence: sentence(&evidence, workload, own.is_some()),
        chart: chart::bars(definition, records, &[workload]).map(Block::Bars),
        surprises: penalty::sentence(&evidence, own).into_iter().collect(),
        limits: limits(&evidence),
    }
}

fn sentence(evidence: &Evidence<'_>, workload: &str, own: bool) -> Result<Statement, Doubt> {
    let spread = |method| evidence.figure(workload, method, metric::SLOWEST_TO_FASTEST);
    let reference = &evidence.definition.reference;
    let encoding = reference.split('/').next().unwrap_or_default();
    let to_reference = |method: &str| evidence.ratio(workload, &format!("{encoding}/{method}"), reference);
    let (one_by_one, in_a_burst) = (spread(ONE_BY_ONE)?, spread(BURST)?);
    let (burst, keyed) = (to_reference(BURST)?, to_reference(KEYED_BURST)?);
    let subject = if own { own_names(evidence, workload)? } else { names_like(workload) };
    let figures = vec![one_by_one, in_a_burst, burst, keyed];
    let method = format!("A burst takes {:.2} × one by one, a keyed one {:.2} ×", burst.value, keyed.value);
    let encodings = one_by_one.high.max(in_a_burst.high);
    let decides = if burst.high * encodings < 1.0 { ": the method decides" } else { "" };
    let text = format!(
        "{subject}: one by one, {}; in a burst, {}. {method}{decides}.",
        compared(evidence, workload, ONE_BY_ONE, one_by_one),
        compared(evidence, workload, BURST, in_a_burst),
    );
    Ok(Statement { text, figures })
}

/// The baseline's code, and the names that the gain needs.
fn limits(evidence: &Evidence<'_>) -> Vec<String> {
    let reference = &evidence.definition.reference;
    let encoding = reference.split('/').next().unwrap_or_default();
    let ratio = |method| evidence.ratio(EQUAL, &format!("{encoding}/{method}"), reference).ok();
    let equal = ratio(BURST).zip(ratio(KEYED_BURST)).map(|(burst, keyed)| {
        format!(
            "The gain needs components of varying lengths: over {EQUAL}, a burst takes {:.2} × one by one, \
             a keyed one {:.2} ×.",
            burst.value, keyed.value
        )
    });
    let typical = evidence.definition.criteria.first().map_or(EQUAL, |criterion| criterion.workload.as_str());
    let in_c = format!("{encoding}/{ONE_BY_ONE}-in-c");
    let took = match evidence.ratio(typical, reference, &in_c) {
        Ok(ratio) => format!("One by one takes {:.2} × the time of the source's C", ratio.value),
        Err(_) => {
            "In a trial apart from this study, one by one took 1.10 × the time of the source's C by gcc \
                   -O3"
            .to_owned()
        }
    };
    let compiler =
        format!("{took}; differences of up to 20 % between the encodings one by one may be the compiler's.");
    [compiler].into_iter().chain(equal).collect()
}

/// Words for the three encodings with one method: alike, or the slowest over the fastest.
fn compared(evidence: &Evidence<'_>, workload: &str, method: &str, spread: Interval) -> String {
    if spread.high <= ALIKE {
        return format!("all three within {:.0} %", ((spread.high - 1.0) * 100.0).ceil());
    }
    let slowest = slowest(evidence, workload, method).map_or("the slowest", methods::encoding);
    format!("{slowest} takes {:.2} × the fastest", spread.value)
}

/// The encoding whose ratio to the reference lies above those of all others.
fn slowest<'a>(evidence: &Evidence<'_>, workload: &str, method: &str) -> Option<&'a str> {
    let reference = &evidence.definition.reference;
    let ratio = |encoding: &'static str| {
        let scheme = format!("{encoding}/{method}");
        let ratio = if scheme == *reference {
            Interval::exact(1.0)
        } else {
            evidence.ratio(workload, &scheme, reference).ok()?
        };
        Some((encoding, ratio))
    };
    let ratios: Vec<(&str, Interval)> = COMPARED.iter().copied().map(ratio).collect::<Option<_>>()?;
    let (slowest, most) = ratios.iter().copied().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    ratios.iter().all(|(id, other)| *id == slowest || other.high < most.low).then_some(slowest)
}

/// The user's names: number, mean components and bytes.
fn own_names(evidence: &Evidence<'_>, workload: &str) -> Result<String, Doubt> {
    let record = |metric: &str| {
        let record = evidence.records.metric(&evidence.definition.slug, workload, "ndn", metric);
        record.ok_or_else(|| Doubt::NotMeasured { figure: format!("{metric} of ndn, {workload}") })
    };
    let (components, bytes) = (record("components")?, record("octets")?);
    Ok(format!(
        "Your {} names ({:.1} components, {:.0} B)",
        count(components.samples as f64),
        components.value,
        bytes.value
    ))
}

fn names_like(workload: &str) -> String {
    if workload.starts_with("N(") { "Names like URIs".to_owned() } else { format!("{workload} names") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use hashlane_records::Record;

    /// The answer to the sample records, each as `change` leaves it; with the user's names if wanted.
    fn changed(own: &[&str], change: impl Fn(&mut Record)) -> Answer {
        let definition = sample::definition();
        let mut records = RecordSet::new();
        for record in sample::records(&definition, own).iter() {
            let mut record = record.clone();
            change(&mut record);
            records.insert(record).unwrap();
        }
        answer(&definition, &records)
    }

    fn text(answer: &Answer) -> String {
        answer.sentence.as_ref().map_or_else(Doubt::to_string, |statement| statement.text.clone())
    }

    #[test]
    fn names_the_encoding_and_the_method() {
        let answer = changed(&[], |_| ());
        assert_eq!(
            text(&answer),
            "12Bx5 names: one by one, all three within 4 %; in a burst, CCNx takes 1.40 × the fastest. A \
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
        assert_eq!(
            bars.plots.iter().map(|plot| plot.caption.as_str()).collect::<Vec<_>>(),
            ["names:list.txt"]
        );
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
    fn a_control_that_is_off_withholds_the_sentence() {
        let answer = changed(&[], |record| {
            if record.scheme.ends_with("/again") && record.metric == metric::RATIO {
                (record.value, record.low, record.high) = (1.11, 1.09, 1.12);
            }
        });
        assert!(matches!(answer.sentence, Err(Doubt::Control { .. })));
        assert!(answer.surprises.is_empty());
    }

    #[test]
    fn a_wide_figure_withholds_the_sentence() {
        let answer = changed(&[], |record| {
            if record.metric == metric::SLOWEST_TO_FASTEST {
                (record.low, record.high) = (1.0, 2.0);
            }
        });
        assert!(matches!(answer.sentence, Err(Doubt::Wide { .. })));
    }

    #[test]
    fn nothing_measured_is_no_answer() {
        let definition = sample::definition();
        assert!(matches!(answer(&definition, &RecordSet::new()).sentence, Err(Doubt::NotMeasured { .. })));
        let answer = changed(&[], |record| {
            if record.scheme == "ndn/burst/siphash-2-4" {
                record.scheme = "ndn/burst/other".to_owned();
            }
        });
        assert!(matches!(answer.sentence, Err(Doubt::NotMeasured { .. })));
    }
}
