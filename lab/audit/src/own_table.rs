//! The audit of a table in a shared object: the keys of all attacks on known functions are inserted into it.

use crate::attack::{About, USUAL_LENGTH};
use crate::draw::Draw;
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
    /// True if its counts depend on the keys, and not on the seed.
    pub ignores_seed: bool,
    /// Failure that has ended the audit.
    pub fault: Option<TrialFault>,
}

/// Seeds under which the same keys are counted.
const SEEDS: usize = 4;

/// Keys that are counted under different seeds, at least: of few, the counts agree by chance.
const COUNTED: usize = 1024;

/// True if the table ignores its seed, found by random keys.
fn ignores_seed(table: &mut Table, choices: Choices) -> Result<bool, TableFault> {
    let mut draw = Draw::new(choices.seed);
    let seeds = [(); SEEDS].map(|()| draw.key());
    let length = choices.length.unwrap_or(USUAL_LENGTH);
    let [keys, others] = [(); 2].map(|()| draw.keys(choices.count.max(COUNTED), length));
    table.ignores_seed(&seeds, &keys, &others)
}

/// Inserts the keys of every attack that needs nothing, made for each scheme of `subjects` that it aims at,
/// and compares with random keys; before the first, it counts the same keys under different seeds. `tell` is
/// called before each with the attack and the scheme.
pub fn audit(
    table: &mut Table,
    subjects: &mut [Registered],
    choices: Choices,
    tell: &mut dyn FnMut(&str, &str),
) -> Report {
    let mut report = Report::default();
    let result = key_sets(subjects, choices, Schemes::All, tell, &mut |set, draw| {
        let random = draw.like(&set.keys);
        let ignores = match report.trials.is_empty() {
            true => ignores_seed(table, choices).map(|ignores| report.ignores_seed = ignores),
            false => Ok(()),
        };
        let compared = ignores
            .and_then(|()| table.compare(&draw.key(), true, set.keys.len() as u64, &set.keys, &random));
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

    /// True if the table fails, or ignores its seed and no keys are known that flood it.
    pub fn is_faulty(&self) -> bool {
        self.fault.is_some() || self.ignores_seed && !self.is_floodable()
    }

    /// True if keys flood the table.
    pub fn is_floodable(&self) -> bool {
        self.floods().next().is_some()
    }

    /// The verdict in one or two words.
    pub fn word(&self) -> &'static str {
        match (self.is_faulty(), self.is_floodable()) {
            (true, _) => "faulty",
            (false, true) => "floodable",
            (false, false) => "no attack known",
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
            (None, Some(worst)) => {
                worst.fmt(f)?;
                if self.ignores_seed { f.write_str("; ignores its seed") } else { Ok(()) }
            }
            (None, None) if self.ignores_seed => f.write_str(
                "faulty: ignores its seed: the same keys compare as many entries under every seed; set the \
                 key of its hash from the seed of hashlane_audit_init",
            ),
            (None, None) => {
                let sets = count(self.trials.len() as f64);
                write!(f, "no attack known to this audit: none of {sets} sets of keys floods it")?;
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
