//! The table `[threads]` of the configuration.

use hashlane_ndn_fw::shard::MAX_SHARDS;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Forwarding threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Threads {
    /// Number of forwarding threads, each with a shard of the names, or `"auto"`: one for each processor. The
    /// first one has the sockets, too. Valid: 1..=64. Takes effect at the start.
    pub shards: Shards,
}

/// Number of shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Shards {
    /// This many.
    Count(u16),
    /// One for each processor.
    Auto(Auto),
}

/// The word `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Auto {
    /// One for each processor.
    Auto,
}

impl Default for Shards {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Shards {
    /// One for each processor that the process may use.
    pub const AUTO: Self = Self::Auto(Auto::Auto);

    /// The number, at least 1 and at most [`MAX_SHARDS`].
    pub(crate) fn count(self) -> usize {
        let count = match self {
            Self::Count(count) => count.into(),
            Self::Auto(_) => std::thread::available_parallelism().map_or(1, usize::from),
        };
        count.clamp(1, MAX_SHARDS)
    }

    /// True if the number is valid.
    pub(super) fn is_valid(self) -> bool {
        !matches!(self, Self::Count(count) if count == 0 || usize::from(count) > MAX_SHARDS)
    }
}

impl<'de> Deserialize<'de> for Shards {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Value {
            Number(i64),
            Text(String),
        }
        let shards = match Value::deserialize(from) {
            Ok(Value::Text(text)) if text == "auto" => Some(Self::AUTO),
            Ok(Value::Number(number)) => u16::try_from(number).ok().map(Self::Count),
            _ => None,
        };
        let why =
            || format!("`threads.shards` must be a number of 1 to {MAX_SHARDS}, without quotes, or \"auto\"");
        shards.filter(|shards| shards.is_valid()).ok_or_else(|| D::Error::custom(why()))
    }
}

/// Parses a number or `auto`.
impl std::str::FromStr for Shards {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = if text == "auto" { Some(Self::AUTO) } else { text.parse().ok().map(Self::Count) };
        parsed
            .filter(|shards| shards.is_valid())
            .ok_or_else(|| format!("{text:?} is not a number of 1 to {MAX_SHARDS}, or `auto`"))
    }
}
