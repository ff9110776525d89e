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
        key: &'static str,
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

/// Keys of earlier versions, and the keys that replace them.
const REPLACED: [(&str, &str); 1] =
    [("management.loopback", "faces.tcp.loopback` or `faces.websocket.loopback")];

/// Refuses keys of `given` that are not in `known`.
pub(super) fn check_keys(given: &Table, known: &Table, path: &str) -> Result<(), ConfigError> {
    for (key, value) in given {
        // The keys of this table are prefixes.
        if path.is_empty() && key == "strategies" {
            continue;
        }
        match (known.get(key), value) {
            (Some(Value::Table(known)), Value::Table(given)) => {
                check_keys(given, known, &format!("{path}{key}."))?;
            }
            (Some(_), _) => {}
            (None, _) => {
                let near =
                    known.keys().map(|other| (strsim::normalized_damerau_levenshtein(key, other), other));
                let nearest = near.filter(|(like, _)| *like > 0.5).max_by(|a, b| a.0.total_cmp(&b.0));
                let key = format!("{path}{key}");
                let replaced = REPLACED.iter().find(|(old, _)| *old == key).map(|(_, new)| (*new).to_owned());
                let nearest = replaced.or_else(|| nearest.map(|(_, other)| format!("{path}{other}")));
                return Err(ConfigError::UnknownKey { key, nearest });
            }
        }
    }
    Ok(())
}
