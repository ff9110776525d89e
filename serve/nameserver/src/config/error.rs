//! Errors of a configuration, and the check for unknown keys.

use std::fmt;
use toml::{Table, Value};

/// Error of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not TOML, or a value has the wrong type: the parser's message, with the place.
    #[error("{0}")]
    Toml(String),
    /// An unknown key.
    #[error(fmt = write_unknown_key)]
    UnknownKey {
        /// Path of the key.
        key: String,
        /// The most similar key that exists.
        nearest: Option<String>,
    },
    /// An invalid value.
    #[error("`{key}` {why}")]
    Value {
        /// Path of the key.
        key: String,
        /// The rule that it breaks.
        why: String,
    },
}

fn write_unknown_key(key: &str, nearest: &Option<String>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match nearest {
        Some(nearest) => write!(f, "unknown key `{key}`; did you mean `{nearest}`?"),
        None => write!(f, "unknown key `{key}`"),
    }
}

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
