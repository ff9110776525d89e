//! Results of a run that differ from the sources' words or from common belief.

use super::part::Part;
use super::words;
use hashlane_stats::format::plain;

/// A result that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Topic of the study.
    pub topic: String,
    /// The source's words, and the finding; or the study's own sentence.
    pub text: String,
}

/// Results that differ, by study: first the studies' own sentences, then the claims that comparisons
/// contradict.
pub fn differences(parts: &[Part<'_>]) -> Vec<Difference> {
    let mut all = Vec::new();
    for part in parts {
        let topic = &part.definition.topic;
        let mut add = |text: String| all.push(Difference { topic: topic.clone(), text });
        part.answer.iter().flat_map(|answer| &answer.surprises).for_each(|text| add(plain(text)));
        for outcome in part.definition.claim_outcomes(part.records) {
            if outcome.counts().disagree > 0 {
                let (claim, found) = (words::quoted(outcome.claim), words::comparisons(outcome.counts()));
                add(format!("{claim} {found}. {}", words::range(&outcome)));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Answer, sample};
    use hashlane_records::metric;

    #[test]
    fn lists_surprises_and_contradicted_claims() {
        let definition = sample::definition();
        let records = sample::changed(&[], |record| {
            if record.metric == metric::RATIO && record.unit.starts_with("quux/by-element") {
                (record.value, record.low, record.high) = (0.9, 0.89, 0.91);
            }
        });
        let mut answer = Answer::new(Err(crate::evidence::Doubt::NotMeasured { figure: "x".into() }));
        answer.surprises.push("Nothing is faster.".into());
        let machine = sample::machine();
        let (run, sections) = (None, Vec::new());
        let part = Part {
            definition: &definition,
            records: &records,
            machine: &machine,
            run,
            answer: Some(answer),
            sections,
        };
        let found = differences(&[part]);
        assert_eq!((found.len(), found[0].topic.as_str()), (2, "encodings"));
        assert_eq!(found[0].text, "Nothing is faster.");
        assert!(
            found[1].text.starts_with("“generally a little bit worse” disagrees: 2 of 2"),
            "{}",
            found[1].text
        );
    }
}
