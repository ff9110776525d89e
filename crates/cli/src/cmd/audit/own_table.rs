//! `hashlane audit --table ./libmytable.so`

use super::{Audit, FAILED, chosen, launcher, random_seed};
use crate::output::{self, progress::Progress};
use anyhow::{Context as _, Result};
use hashlane_audit::epsilon::vectors::hex;
use hashlane_audit::library::Table;
use hashlane_audit::own_table::{Choices, Trial, trials};
use hashlane_audit::verdict::rounded;
use hashlane_lab::report::format::count;
use hashlane_lab::stats::Interval;
use hashlane_lab::study::Step;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// True if the name of a table is that of a shared object.
pub(super) fn is_library(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "so" || extension == "dylib")
}

/// Audits the table of a shared object.
pub(super) fn run(audit: &Audit) -> Result<ExitCode> {
    let limit = Duration::from_secs(audit.timeout);
    let mut table = Table::load(launcher()?, Path::new(&audit.table), limit)
        .with_context(|| format!("cannot use the table {}", audit.table))?;
    let choices = Choices {
        length: audit.length.map(|length| length as usize),
        count: audit.count as usize,
        seed: audit.seed.map_or_else(random_seed, Ok)?,
    };
    let mut subjects = chosen(&audit.schemes)?;
    let progress = Progress::new("audit")?;
    let (mut done, total) = (0, 64);
    let result = trials(&mut table, &mut subjects, choices, &mut |attack, scheme| {
        progress.show(Step { done, total, workload: scheme, what: attack });
        done = (done + 1).min(total - 1);
    });
    drop(progress);
    let trials = match result {
        Ok(trials) => trials,
        Err((attack, scheme, fault)) => {
            let table = &audit.table;
            output::print(&format!("{table}: faulty under keys of {attack} for {scheme}: {fault}\n"))?;
            return Ok(ExitCode::from(FAILED));
        }
    };
    let flooded: Vec<&Trial> = trials.iter().filter(|trial| trial.comparison.is_flooded()).collect();
    if let Some(path) = &audit.write_keys {
        let mut text = String::new();
        for trial in &flooded {
            // A `String` takes everything.
            let _ = writeln!(text, "# {}: {} for {}", audit.table, trial.about.id, trial.scheme);
            trial.keys.iter().for_each(|key| text += &(hex(key) + "\n"));
        }
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let text =
        if audit.json { json(audit, choices.seed, &trials)? } else { text(audit, choices.seed, &trials) };
    output::print(&text)?;
    Ok(if flooded.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn text(audit: &Audit, seed: u64, trials: &[Trial]) -> String {
    let mut text = format!("Table: {}. Seed {seed}. No connection is opened.\n\n", audit.table);
    let flooded = trials.iter().filter(|trial| trial.comparison.is_flooded());
    for trial in flooded.clone() {
        let keys = count(trial.keys.len() as f64);
        let mut line = format!("floodable ({} for {}): {keys} keys", trial.about.id, trial.scheme);
        let (compared, time) = (trial.comparison.lookup_compared(), trial.comparison.lookup_time());
        for (ratio, what) in [(compared, "more entries compared by a lookup"), (time, "slower lookups")] {
            if let Some(Interval { value, low, high, .. }) = ratio {
                let [value, low, high] = [value, low, high].map(rounded);
                // A `String` takes everything.
                let _ = write!(line, ", {value} × {what} [{low}, {high}]");
            }
        }
        text += &(line + "\n");
    }
    if flooded.count() == 0 {
        let _ = writeln!(text, "no attack known to this audit: {} sets of keys do no harm", trials.len());
    }
    text
}

fn json(audit: &Audit, seed: u64, trials: &[Trial]) -> Result<String> {
    let interval = |ratio: Option<Interval>| {
        ratio.map(|ratio| json!({"value": ratio.value, "low": ratio.low, "high": ratio.high}))
    };
    let trials = trials.iter().map(|trial| {
        json!({
            "attack": trial.about.id,
            "source": trial.about.source,
            "scheme": trial.scheme,
            "keys": trial.keys.len(),
            "floodable": trial.comparison.is_flooded(),
            "compared_ratio": interval(trial.comparison.lookup_compared()),
            "time_ratio": interval(trial.comparison.lookup_time()),
        })
    });
    let document = json!({"seed": seed, "table": audit.table, "trials": trials.collect::<Vec<_>>()});
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
