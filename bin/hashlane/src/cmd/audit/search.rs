//! `hashlane audit --minutes N`: a search without priors, until its time is over or Ctrl-C ends it.

use crate::output::{self, progress::Progress};
use anyhow::Result;
use clap::Args;
use hashlane_audit::audit::{Report, Settings, audit_and_search};
use hashlane_audit::blind::{Blind, Searched};
use hashlane_audit::epsilon::vectors::Pair;
use hashlane_audit::subject::AuditedHash;
use hashlane_daemon::signals::on_stop;
use hashlane_lab::study::Step;
use hashlane_stats::format::count;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// Time between two reports of progress.
const REPORTED: Duration = Duration::from_millis(500);

/// Options of the search without priors.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search without priors")]
#[group(skip)]
pub(super) struct Search {
    /// Search for floods without knowledge of the function, up to N minutes for each function that no attack
    /// floods without the seed; Ctrl-C ends it with the results so far
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_080))]
    minutes: Option<u32>,
    /// Leave out all attacks: the verdict is the search's alone
    #[arg(long, requires = "minutes")]
    without_priors: bool,
}

impl Search {
    /// True if a search is asked for.
    pub(super) fn is_chosen(&self) -> bool {
        self.minutes.is_some()
    }

    /// Lets the first Ctrl-C end all searches, and the second one the process.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub(super) fn prepare(&self) -> Result<()> {
        if self.minutes.is_none() {
            return Ok(());
        }
        on_stop(|| {
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(hashlane_command::STOPPED));
            }
            output::tell("Ctrl-C: the search ends, and the rest of the audit goes on; again to end at once");
        })?;
        Ok(())
    }

    /// Audits a function, and shows its step: functions or attacks `done` of `total`.
    pub(super) fn audit(
        &self,
        subject: &mut dyn AuditedHash,
        settings: &Settings,
        pairs: &[Pair],
        (progress, done, total): (&Progress, &dyn Fn() -> usize, usize),
    ) -> Report {
        let id = subject.info().id.clone();
        let limit = self.minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
        let mut begin = None;
        let mut reported = Duration::ZERO;
        let goes_on = &mut |hashes: u64| {
            let elapsed = begin.get_or_insert_with(Instant::now).elapsed();
            if elapsed >= reported {
                reported = elapsed + REPORTED;
                let limit = limit.unwrap_or_default().as_secs();
                let hashed = count(hashes as f64);
                let what =
                    format!("search without priors, {} of {limit} s, {hashed} keys", elapsed.as_secs());
                progress.show(Step { done: done(), total, workload: &id, what: &what });
            }
            limit.is_some_and(|limit| elapsed < limit) && !STOP.load(Ordering::Relaxed)
        };
        let blind = self.minutes.map(|_| Blind { alone: self.without_priors, goes_on });
        audit_and_search(subject, settings, pairs, blind, &mut |what| {
            progress.show(Step { done: done(), total, workload: &id, what });
        })
    }
}

/// The work of a search in one clause.
pub(super) fn clause(searched: &Searched) -> String {
    let keys = count(searched.hashes as f64);
    match searched.found_by {
        Some(id) => format!("search without priors: {id}, after {keys} keys hashed"),
        None => format!("search without priors: {keys} keys hashed"),
    }
}

/// The work of a search as JSON.
pub(super) fn json(searched: Option<&Searched>) -> Value {
    searched.map_or(
        Value::Null,
        |searched| json!({"keys_hashed": searched.hashes, "found_by": searched.found_by}),
    )
}
