//! Errors of a configuration, and the check for unknown keys.

use std::fmt;
use toml::{Table, Value};

/// Error of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not TOML, or a value has the wrong type: the parser's message, with the place.
    Toml(String),
    /// An unknown key.
    UnknownKey {
        /// Path of the key.
        key: String,
        /// The most similar key that exists.
        nearest: Option<String>,
    },
    /// An invalid value.
    Value {
        /// Path of the key.
        key: String,
        /// The rule that it breaks.
        why: String,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Toml(why) => f.write_str(why),
            Self::UnknownKey { key, nearest: Some(nearest) } => {
                write!(f, "unknown key `{key}`; did you mean `{nearest}`?")
            }
            Self::UnknownKey { key, nearest: None } => write!(f, "unknown key `{key}`"),
            Self::Value { key, why } => write!(f, "`{key}` {why}"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Refuses keys of `given` that are not in `known`. An array of tables in `known` has one table, which names
/// the keys of all.
pub(super) fn check_keys(given: &Table, known: &Table, path: &str) -> Result<(), ConfigError> {
    for (key, value) in given {
        let here = format!("{path}{key}");
        match (known.get(key), value) {
            (Some(Value::Table(known)), Value::Table(given)) => {
                check_keys(given, known, &format!("{here}."))?;
            }
            (Some(Value::Array(known)), Value::Array(given)) => {
                let Some(Value::Table(known)) = known.first() else { continue };
                for given in given.iter().filter_map(Value::as_table) {
                    check_keys(given, known, &format!("{here}."))?;
                }
            }
            (Some(_), _) => {}
            (None, _) => {
                let near =
                    known.keys().map(|other| (strsim::normalized_damerau_levenshtein(key, other), other));
                let nearest = near.filter(|(like, _)| *like > 0.5).max_by(|a, b| a.0.total_cmp(&b.0));
                let nearest = nearest.map(|(_, other)| format!("{path}{other}"));
                return Err(ConfigError::UnknownKey { key: here, nearest });
            }
        }
    }
    Ok(())
}
