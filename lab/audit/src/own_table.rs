//! The audit of a table in a shared object: the keys of all attacks on known functions are inserted into it.

use crate::attack::About;
use crate::key_sets::{Choices, Schemes, key_sets};
use crate::keys::Keys;
use crate::library::{Comparison, Table, TableFault};
use crate::registered::Registered;
use crate::verdict::rounded;
use core::fmt;
use hashlane_stats::Interval;
use hashlane_stats::format::count;

/// Keys of one attack in the table.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The attack.
    pub about: About,
    /// Scheme that its keys are made for.
    pub scheme: String,
    /// The keys.
    pub keys: Keys,
    /// Measurements of the table.
    pub comparison: Comparison,
}

/// Failure of the table under the keys of one attack.
#[derive(Clone, Debug)]
pub struct TrialFault {
    /// The attack.
    pub about: About,
    /// Scheme that its keys are made for.
    pub scheme: String,
    /// The failure.
    pub fault: TableFault,
}

/// Result of the audit of a table.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Keys of each attack in the table.
    pub trials: Vec<Trial>,
    /// Failure that has ended the audit.
    pub fault: Option<TrialFault>,
}

/// Inserts the keys of every attack that needs nothing, made for each scheme of `subjects` that it aims at,
/// and compares with random keys. `tell` is called before each with the attack and the scheme.
pub fn audit(
    table: &mut Table,
    subjects: &mut [Registered],
    choices: Choices,
    tell: &mut dyn FnMut(&str, &str),
) -> Report {
    let mut report = Report::default();
    let result = key_sets(subjects, choices, Schemes::All, tell, &mut |set, draw| {
        let random = draw.like(&set.keys);
        let compared = table.compare(&draw.key(), true, set.keys.len() as u64, &set.keys, &random);
        let (about, scheme, keys) = (set.about, set.scheme, set.keys);
        match compared {
            Ok(comparison) => report.trials.push(Trial { about, scheme, keys, comparison }),
            Err(fault) => return Err(Box::new(TrialFault { about, scheme, fault })),
        }
        Ok(())
    });
    report.fault = result.err().map(|failed| *failed);
    report
}

impl Report {
    /// The trials that flood the table.
    pub fn floods(&self) -> impl Iterator<Item = &Trial> + Clone {
        self.trials.iter().filter(|trial| trial.comparison.is_flooded())
    }

    /// The trial whose keys cost most, over random keys: of those that flood the table, if there are any.
    pub fn worst(&self) -> Option<&Trial> {
        let worst = |a: &&Trial, b: &&Trial| a.growth().total_cmp(&b.growth());
        self.floods().max_by(worst).or_else(|| self.trials.iter().max_by(worst))
    }

    /// True if keys flood the table.
    pub fn is_floodable(&self) -> bool {
        self.floods().next().is_some()
    }

    /// The verdict in one or two words.
    pub fn word(&self) -> &'static str {
        match (&self.fault, self.is_floodable()) {
            (Some(_), _) => "faulty",
            (None, true) => "floodable",
            (None, false) => "no attack known",
        }
    }
}

/// The verdict in a sentence.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.fault, self.floods().next().and(self.worst())) {
            (Some(TrialFault { about, scheme, fault }), _) => {
                write!(f, "faulty under keys of {} for {scheme}: {fault}", about.id)
            }
            (None, Some(worst)) => worst.fmt(f),
            (None, None) => {
                let sets = count(self.trials.len() as f64);
                write!(f, "no attack known to this audit: {sets} sets of keys do no harm")?;
                let fewest = self.trials.iter().filter_map(|trial| trial.comparison.stored()).min();
                fewest.map_or(Ok(()), |stored| {
                    let stored = count(stored as f64);
                    write!(f, "; the table refused or evicted keys, and held as few as {stored}")
                })
            }
        }
    }
}

impl Trial {
    /// Work of a lookup over the work for random keys: in entries compared if the table counts them, else in
    /// time.
    fn growth(&self) -> f64 {
        let ratio = self.comparison.lookup_compared().or_else(|| self.comparison.lookup_time());
        ratio.map_or(0.0, |ratio| ratio.value)
    }
}

/// The flood in a sentence.
impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = count(self.keys.len() as f64);
        write!(f, "floodable ({} for {}): {keys} keys", self.about.id, self.scheme)?;
        if let Some(stored) = self.comparison.stored() {
            write!(f, ", of which the table held {}", count(stored as f64))?;
        }
        let compared = self.comparison.lookup_compared();
        let (lookup, insert) = (self.comparison.lookup_time(), self.comparison.insert_time());
        for (ratio, words) in [
            (compared, "more entries compared by a lookup"),
            (lookup, "slower lookups"),
            (insert, "slower insertions"),
        ] {
            if let Some(Interval { value, low, high, .. }) = ratio {
                let [value, low, high] = [value, low, high].map(rounded);
                write!(f, ", {value} × {words} [{low}, {high}]")?;
            }
        }
        Ok(())
    }
}
