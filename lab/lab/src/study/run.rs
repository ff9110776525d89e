//! A run of a study.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::error::RunError;
use super::kind::Study;
use super::session::{Event, Session, Settings};
use crate::definition::Definition;
use crate::probe::clock::{self, Rates};
use hashlane_records::RecordSet;

/// Results of a run.
#[derive(Debug)]
pub struct Outcome {
    /// All records, also those that were made before a failure.
    pub records: RecordSet,
    /// The run was stopped before its end.
    pub stopped: bool,
    /// The reason why the run ended early, if it failed.
    pub failed: Option<RunError>,
    /// The counter's and the core's rates before and after.
    pub rates: (Rates, Rates),
    /// Remarks needed to read the figures.
    pub notes: Vec<String>,
    /// Duration in seconds.
    pub seconds: f64,
    /// Samples of all records, and the outliers among them.
    pub samples: (u64, u64),
}

/// Runs the study `definition` of the kind `study`; reports steps and results to `observer`, and ends soon
/// after `stop` is set.
///
/// A study fails if its file names something unknown, or if a result is not the one that it expects. The
/// outcome keeps the records made before.
pub fn run(
    study: &dyn Study,
    definition: &Definition,
    settings: &Settings<'_>,
    stop: &AtomicBool,
    observer: &mut dyn FnMut(Event<'_>),
) -> Outcome {
    let begun = Instant::now();
    let before = clock::calibrate();
    let mut session = Session::new(definition, settings, stop, observer, before);
    let measured = study.run(&mut session);
    session.report();
    let stopped = session.stopped();
    let Session { records, notes, samples, .. } = session;
    let (rates, seconds) = ((before, clock::calibrate()), begun.elapsed().as_secs_f64());
    Outcome { records, stopped, failed: measured.err(), rates, notes, seconds, samples }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::study::{Fact, StudyFile};

    /// Adds a record for each workload; fails on the second, if so asked.
    struct Counting {
        fails: bool,
    }

    impl Study for Counting {
        fn model(&self) -> &'static str {
            "sample"
        }

        fn files(&self) -> &'static [StudyFile] {
            &[]
        }

        fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
            for (at, workload) in session.definition.workloads.iter().enumerate() {
                session.step(workload, "counting");
                if self.fails && at == 1 {
                    let (workload, what) = (workload.clone(), "the second".into());
                    return Err(RunError::Expectation { workload, what });
                }
                session.add("sample", workload, "s", "p", "m", "u", Fact::exact(1.0, 1));
            }
            Ok(())
        }
    }

    /// Outcome, and for each event the step, or the workloads with records.
    fn events(fails: bool) -> (Outcome, Vec<String>) {
        let definition = sample::definition();
        let settings = Settings::new(&definition, false, "hashlane".into());
        let mut events = Vec::new();
        let study = Counting { fails };
        let outcome =
            run(&study, &definition, &settings, &AtomicBool::new(false), &mut |event| match event {
                Event::Step(step) => events.push(format!("{} {}", step.workload, step.what)),
                Event::Measured { records, .. } => events.push(records.workloads("sample").join(" and ")),
            });
        (outcome, events)
    }

    #[test]
    fn reports_the_records_after_every_workload() {
        let (outcome, events) = events(false);
        assert!(outcome.failed.is_none() && !outcome.stopped);
        assert_eq!(events, ["12Bx5 counting", "12Bx5", "6Bx10 counting", "12Bx5 and 6Bx10"]);
    }

    #[test]
    fn a_failure_costs_no_records() {
        let (outcome, events) = events(true);
        assert!(matches!(outcome.failed, Some(RunError::Expectation { .. })));
        assert_eq!(outcome.records.workloads("sample"), ["12Bx5"]);
        assert_eq!(events.last().map(String::as_str), Some("6Bx10 counting"));
    }
}
