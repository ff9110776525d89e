//! Schemes that take turns on workloads, the results of their turns, and the records of them.

use super::error::{RunError, TurnError};
use super::fact::Fact;
use super::rounds::{Rounds, order};
use super::session::Session;

/// A scheme on a workload that takes turns with others.
#[derive(Clone, Debug)]
pub struct Contender<S, T> {
    /// Id of the workload.
    pub workload: String,
    /// Id of the scheme.
    pub id: String,
    /// The program or function that takes the turns, and its state.
    pub subject: S,
    /// `true` if it is another project's program, which may have its reasons to fail.
    pub is_foreign: bool,
    /// Results of its turns.
    pub turns: Vec<T>,
    /// `true` if it could not be measured; a note has the reason.
    pub has_failed: bool,
}

impl<S, T> Contender<S, T> {
    /// A contender without turns.
    pub fn new(workload: &str, id: &str, subject: S, is_foreign: bool) -> Self {
        let (workload, id) = (workload.to_owned(), id.to_owned());
        Self { workload, id, subject, is_foreign, turns: Vec::new(), has_failed: false }
    }
}

/// The contenders as on another workload of the same turns; `of` converts each result.
pub fn views<S, T, U>(
    contenders: &[Contender<S, T>],
    workload: &str,
    of: impl Fn(&T) -> U,
) -> Vec<Contender<(), U>> {
    let view = |contender: &Contender<S, T>| Contender {
        turns: contender.turns.iter().map(&of).collect(),
        has_failed: contender.has_failed,
        ..Contender::new(workload, &contender.id, (), contender.is_foreign)
    };
    contenders.iter().map(view).collect()
}

/// Gives all contenders their turn in each round: workload by workload, in their [`order`]. `turn` gets the
/// contender and the number of the round.
///
/// A foreign program that fails is left out from then on, with a note; the failure of any other ends the
/// study. `record` adds the records of the whole rounds so far: they are reported after each round, and kept
/// at the end, even an early one. A single round of several has no bounds, and so no records.
///
/// # Errors
/// A turn of a contender that is not foreign failed.
pub fn take_turns<S, T>(
    session: &mut Session<'_>,
    contenders: &mut [Contender<S, T>],
    rounds: usize,
    mut turn: impl FnMut(&mut Session<'_>, &mut Contender<S, T>, usize) -> Result<T, TurnError>,
    record: impl Fn(&mut Session<'_>, &[Contender<S, T>]),
) -> Result<(), RunError> {
    let (mut ended, mut whole) = (Ok(()), 0);
    'rounds: for round in 0..rounds {
        for group in contenders.chunk_by_mut(|a, b| a.workload == b.workload) {
            for at in order(group.len(), round) {
                let Some(contender) = group.get_mut(at) else { continue };
                if session.stopped() {
                    break 'rounds;
                }
                let step = format!("{}, round {} of {rounds}", contender.id, round + 1);
                session.step(&contender.workload, &step);
                if contender.has_failed {
                    continue;
                }
                match turn(session, contender, round) {
                    Ok(turn) => contender.turns.push(turn),
                    Err(why @ (TurnError::Failed(_) | TurnError::Raised(_))) if contender.is_foreign => {
                        contender.has_failed = true;
                        let Contender { id, workload, .. } = contender;
                        session.notes.push(format!("{id} was not measured on {workload}: {why}"));
                    }
                    Err(error) => {
                        ended = error.end(&contender.workload, &contender.id);
                        break 'rounds;
                    }
                }
            }
        }
        whole = round + 1;
        if (2..rounds).contains(&whole) {
            session.report_rounds(|session| record(session, contenders));
        }
    }
    contenders.iter_mut().for_each(|contender| contender.turns.truncate(whole));
    if whole >= rounds.min(2) {
        record(session, contenders);
    }
    ended
}

/// Summary of the figures of all turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summary {
    /// The median.
    Median,
    /// The median, and the ratios to other contenders that the study asks for.
    Ratio,
    /// The sum of counts, which is exact.
    Sum,
    /// The largest value, which is exact.
    Most,
}

/// A figure of each turn: its summary, and probe, metric and unit of the records.
pub type Figure<T> = (Summary, &'static str, &'static str, &'static str, fn(&T) -> f64);

/// Figures of contenders in the records.
#[derive(Clone, Copy, Debug)]
pub struct Figures<T: 'static> {
    /// Model of the records.
    pub model: &'static str,
    /// `true` if each turn launches a program: bounds hold between launches.
    pub are_launches: bool,
    /// The figures. One that is not finite was not measured in that turn.
    pub list: &'static [Figure<T>],
}

impl<T> Figures<T> {
    /// Adds records of all turns so far, workload by workload, but none of contenders that failed.
    pub fn record<S>(&self, session: &mut Session<'_>, contenders: &[Contender<S, T>]) {
        let measured: Vec<_> = contenders.iter().filter(|contender| !contender.has_failed).collect();
        for group in measured.chunk_by(|a, b| a.workload == b.workload) {
            let Some(workload) = group.first().map(|contender| contender.workload.as_str()) else { continue };
            for figure in self.list {
                self.add(session, workload, group, figure);
            }
        }
    }

    fn add<S>(
        &self,
        session: &mut Session<'_>,
        workload: &str,
        contenders: &[&Contender<S, T>],
        figure: &Figure<T>,
    ) {
        let (summary, probe, metric, unit, of) = *figure;
        let finite = |contender: &&Contender<S, T>| {
            let values: Vec<f64> = contender.turns.iter().map(of).filter(|value| value.is_finite()).collect();
            (!values.is_empty()).then(|| (contender.id.clone(), values))
        };
        let (ids, values): (Vec<String>, Vec<Vec<f64>>) = contenders.iter().filter_map(finite).unzip();
        let exact = |fold: fn(f64, f64) -> f64| -> Vec<Fact> {
            let fact = |values: &Vec<f64>| {
                Fact::exact(values.iter().copied().reduce(fold).unwrap_or_default(), values.len())
            };
            values.iter().map(fact).collect()
        };
        let facts = match summary {
            Summary::Sum => exact(|sum, value| sum + value),
            Summary::Most => exact(f64::max),
            Summary::Median | Summary::Ratio => {
                let rounds = if self.are_launches { Rounds::of_launches } else { Rounds::of }(values);
                session.add_rounds([self.model, workload, probe, metric, unit], &ids, &rounds);
                if summary == Summary::Ratio {
                    session.add_ratios(self.model, workload, probe, &ids, |of, to| rounds.ratio(of, to));
                }
                return;
            }
        };
        for (id, fact) in ids.iter().zip(facts) {
            session.add(self.model, workload, id, probe, metric, unit, fact);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::clock;
    use crate::report::sample;
    use crate::study::Settings;
    use hashlane_records::{RecordSet, metric};
    use std::sync::atomic::AtomicBool;

    const FIGURES: Figures<f64> = Figures {
        model: "sample",
        are_launches: false,
        list: &[
            (Summary::Ratio, "tsc", metric::NS, "ns", |turn| *turn),
            (Summary::Sum, "count", "lost", "packets", |turn| *turn),
            (Summary::Most, "proc", "peak", "bytes", |turn| if *turn > 50.0 { f64::NAN } else { *turn }),
        ],
    };

    /// The records and notes of four rounds, and their outcome. Another project's program fails in the third
    /// round, and the control in the round `ours`.
    fn run(ours: usize) -> (RecordSet, Vec<String>, Result<(), RunError>) {
        let definition = sample::definition();
        let (reference, again) = ("foo/by-element/summed", "foo/by-element/summed/again");
        let settings = Settings::new(&definition, false, "hashlane".into());
        let (stop, mut observer) = (AtomicBool::new(false), |_: crate::study::Event<'_>| ());
        let mut session = Session::new(&definition, &settings, &stop, &mut observer, clock::calibrate());
        let mut contenders = [
            Contender::new("12Bx5", reference, (2.0, usize::MAX), false),
            Contender::new("12Bx5", again, (3.0, ours), false),
            Contender::new("12Bx5", "theirs", (9.0, 2), true),
            Contender::new("6Bx10", "other", (99.0, usize::MAX), true),
        ];
        let turn = |_: &mut Session<'_>, contender: &mut Contender<(f64, usize), f64>, round| {
            let (figure, fails) = contender.subject;
            let failed = || TurnError::Failed("it ended".to_owned());
            (round != fails).then_some(figure * (round + 1) as f64).ok_or_else(failed)
        };
        let ended = take_turns(&mut session, &mut contenders, 4, turn, |s, all| FIGURES.record(s, all));
        (session.records, session.notes, ended)
    }

    #[test]
    fn a_foreign_program_that_fails_is_left_out() {
        let (records, notes, ended) = run(usize::MAX);
        assert!(ended.is_ok());
        assert_eq!(notes, ["theirs was not measured on 12Bx5: it ended"]);
        let of = |workload, id, metric| records.metric("sample", workload, id, metric).map(|of| of.value);
        assert_eq!(of("12Bx5", "foo/by-element/summed", metric::NS), Some(5.0));
        assert_eq!(of("12Bx5", "foo/by-element/summed", "lost"), Some(20.0));
        assert_eq!(of("12Bx5", "foo/by-element/summed", "peak"), Some(8.0));
        assert_eq!(of("6Bx10", "other", metric::NS), Some(247.5));
        assert_eq!((of("6Bx10", "other", "peak"), of("12Bx5", "theirs", metric::NS)), (None, None));
        let ratio =
            records.ratio("sample", "12Bx5", "foo/by-element/summed/again", "foo/by-element/summed").unwrap();
        assert_eq!(ratio.value, 1.5);
    }

    #[test]
    fn our_failure_ends_the_study_with_the_whole_rounds() {
        let (records, _, ended) = run(3);
        let why = "workload 12Bx5, foo/by-element/summed/again: it ended";
        assert_eq!(ended.unwrap_err().to_string(), why);
        let ns = records.metric("sample", "12Bx5", "foo/by-element/summed", metric::NS);
        assert_eq!(ns.map(|ns| ns.value), Some(4.0));
        // A single round has no bounds.
        assert!(run(1).0.is_empty());
    }
}
