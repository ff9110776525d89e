//! Configurations: one TOML file, in which every value has a default, and unknown keys are refused with a
//! suggestion.

use crate::{control, text};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// Longest configuration in bytes: 100,000 zones of a name server have some 6 MB.
const MAX_LEN: u64 = 64 << 20;

/// Error of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not TOML, or a value has the wrong type: line, column, and the parser's message.
    #[error("{0}")]
    Toml(String),
    /// An unknown key.
    #[error(fmt = write_unknown_key)]
    UnknownKey {
        /// Line of the key, counted from 1.
        line: usize,
        /// Column of the key in characters, counted from 1.
        column: usize,
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

fn write_unknown_key(
    line: &usize,
    column: &usize,
    key: &str,
    nearest: &Option<String>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "line {line}, column {column}: unknown key `{key}`")?;
    nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; did you mean `{nearest}`?"))
}

/// The table `[server]` of a server that has no other keys there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// User to run as once the sockets are bound, by name or number; empty: the user who started the server.
    pub user: String,
    /// Group to run as; empty: the group of `user`.
    pub group: String,
}

/// The table `[metrics]`: counters over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// Addresses and ports at which `/metrics` is served in the text format of Prometheus.
    pub listen: Vec<SocketAddr>,
}

/// The table `[control]` of a server: the socket for its commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, bound = "S: Service")]
pub struct Control<S> {
    /// Path of the Unix socket, which only root and the user of the server can use; empty: none.
    pub path: PathBuf,
    #[serde(skip)]
    service: PhantomData<S>,
}

/// Kind of a server that has a control socket.
pub trait Service {
    /// Name of the folder and the file of its socket, if the configuration names no other.
    const NAME: &'static str;
}

impl<S: Service> Default for Control<S> {
    fn default() -> Self {
        Self { path: control::default_path(S::NAME), service: PhantomData }
    }
}

impl<S: Service> Control<S> {
    /// Path at which a client finds the socket of a server with the default configuration.
    pub fn find() -> PathBuf {
        control::find(S::NAME)
    }

    /// The socket of this configuration.
    pub fn socket(&self) -> control::Socket {
        control::Socket::new(&self.path, S::NAME)
    }
}

/// Rules for the keys of a configuration, in addition to the keys of its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys {
    /// Tables whose keys are free, by their paths.
    pub free: &'static [&'static str],
    /// Keys of earlier versions, and the keys that replace them.
    pub replaced: &'static [(&'static str, &'static str)],
}

impl ConfigError {
    /// The error of a value.
    pub fn value(key: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Value { key: key.into(), why: why.into() }
    }
}

/// Reads the text of a configuration file, and parses it.
///
/// # Errors
/// The file is not a regular file (a pipe would wait for its writer, and a device has no end), cannot be
/// read, is longer than 64 MiB, or is not UTF-8 text; its text is refused by `parse`.
pub fn read<C>(path: &Path, parse: impl FnOnce(&str) -> Result<C, ConfigError>) -> io::Result<C> {
    let shown = path.display();
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let why = format!("{shown} is not a regular file; name a configuration file");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    parse(&text::read(path, MAX_LEN)?).map_err(|error| {
        let why = format!("{shown} is not a valid configuration: {error}");
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

/// Parses a configuration, and refuses keys that `known` does not have: a configuration that has every key.
/// An array of tables in it has one table, which names the keys of all.
///
/// # Errors
/// The text is not TOML; a key is unknown; a value has the wrong type.
pub fn parse<C: Serialize + DeserializeOwned>(text: &str, known: &C, keys: &Keys) -> Result<C, ConfigError> {
    let invalid = |error| ConfigError::Toml(describe(&error, text));
    let given = DeTable::parse(text).map_err(invalid)?;
    match Table::try_from(known) {
        Ok(known) => Check { keys, text }.table(given.get_ref(), &known, "")?,
        // Serde then refuses unknown keys, without a "did you mean".
        Err(error) => debug_assert!(false, "the default configuration has keys and values: {error}"),
    }
    toml::from_str(text).map_err(invalid)
}

/// A configuration as a file that sets every value.
pub fn to_toml(config: &impl Serialize) -> String {
    toml::to_string_pretty(config).unwrap_or_else(|error| {
        debug_assert!(false, "a configuration has keys and values: {error}");
        format!("# this configuration cannot be written: {error}\n")
    })
}

/// A check of the keys of a text.
struct Check<'c> {
    keys: &'c Keys,
    text: &'c str,
}

impl Check<'_> {
    /// Refuses keys of `given` that are not in `known`.
    fn table(&self, given: &DeTable<'_>, known: &Table, path: &str) -> Result<(), ConfigError> {
        for (key, value) in given {
            let here = format!("{path}{}", key.get_ref());
            match (known.get(key.get_ref().as_ref()), value.get_ref()) {
                _ if self.keys.free.contains(&here.as_str()) => {}
                (Some(Value::Table(known)), DeValue::Table(given)) => {
                    self.table(given, known, &format!("{here}."))?;
                }
                (Some(Value::Array(known)), DeValue::Array(given)) => {
                    let Some(Value::Table(known)) = known.first() else { continue };
                    for given in given.iter().filter_map(|value| value.get_ref().as_table()) {
                        self.table(given, known, &format!("{here}."))?;
                    }
                }
                (Some(_), _) => {}
                (None, _) => return Err(self.unknown(here, key.span().start, path, known)),
            }
        }
        Ok(())
    }

    fn unknown(&self, key: String, at: usize, path: &str, known: &Table) -> ConfigError {
        let last = key.strip_prefix(path).unwrap_or(&key);
        let near = known.keys().map(|other| (strsim::normalized_damerau_levenshtein(last, other), other));
        let nearest = near.filter(|(like, _)| *like > 0.5).max_by(|a, b| a.0.total_cmp(&b.0));
        let replaced = self.keys.replaced.iter().find(|(old, _)| *old == key);
        let replaced = replaced.map(|(_, new)| (*new).to_owned());
        let nearest = replaced.or_else(|| nearest.map(|(_, other)| format!("{path}{other}")));
        let (line, column) = place(self.text.get(..at).unwrap_or_default());
        ConfigError::UnknownKey { line, column, key, nearest }
    }
}

/// Line and column after a text, counted from 1.
fn place(before: &str) -> (usize, usize) {
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (before.matches('\n').count() + 1, column)
}

/// Words of the parser, and TOML's words for them.
const WORDS: [(&str, &str); 9] = [
    (
        "invalid socket address syntax",
        "not an address and port, such as \"192.0.2.1:8080\" or \"[2001:db8::1]:8080\"",
    ),
    ("invalid IP address syntax", "not an address, such as \"192.0.2.1\" or \"2001:db8::1\""),
    ("expected a sequence", "expected an array, in brackets"),
    ("expected usize", "expected a whole number"),
    ("expected u8", "expected a whole number up to 255"),
    ("expected u16", "expected a whole number up to 65535"),
    ("expected u32", "expected a whole number"),
    ("expected u64", "expected a whole number"),
    ("expected a boolean", "expected true or false"),
];

/// An error of the parser in one line, in the words of a configuration.
fn describe(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    let message = WORDS.iter().fold(message, |message, (rust, words)| message.replace(rust, words));
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message };
    let (line, column) = place(before);
    format!("line {line}, column {column}: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Config {
        server: Server,
        free: BTreeMap<String, u8>,
        route: Vec<Server>,
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Server {
        user: String,
        workers: u16,
    }

    fn error(text: &str) -> String {
        let known = Config { route: vec![Server::default()], ..Config::default() };
        let keys = Keys { free: &["free"], replaced: &[("server.threads", "server.workers")] };
        parse(text, &known, &keys).map_or_else(|error| error.to_string(), |found| to_toml(&found))
    }

    #[test]
    fn unknown_keys_are_refused_with_a_suggestion() {
        assert!(error("[free]\nanything = 1").contains("anything = 1"));
        assert_eq!(
            error("[server]\nworker = 1"),
            "line 2, column 1: unknown key `server.worker`; did you mean `server.workers`?"
        );
        assert_eq!(
            error("[server]\nthreads = 1"),
            "line 2, column 1: unknown key `server.threads`; did you mean `server.workers`?"
        );
        // Of the second table, after characters of several bytes.
        assert_eq!(
            error("[[route]]\nuser = \"ä\"\n[[route]]\n  usr = \"\""),
            "line 4, column 3: unknown key `route.usr`; did you mean `route.user`?"
        );
        assert_eq!(
            error("route = [{ user = \"ä\", usr = \"\" }]"),
            "line 1, column 24: unknown key `route.usr`; did you mean `route.user`?"
        );
        assert_eq!(error("\n[zzz]\na = 1"), "line 2, column 2: unknown key `zzz`");
        assert_eq!(error("zzz = 1"), "line 1, column 1: unknown key `zzz`");
        assert!(error("[server]\nworkers = 70000").contains("expected a whole number up to 65535"));
    }

    #[test]
    fn errors_of_the_text_are_one_line_with_the_place() {
        for (text, words) in [
            ("[server]\nworkers = 70000", "line 2, column 11: "),
            ("\n\n[server]\n\nuser = \"ä\" x", "line 5, column 12: "),
            ("a =", "line 1, column 4: "),
            ("a = 1\na = 2", "line 2, column 1: duplicate key"),
            ("a = \"", "line 1, column 6: "),
            ("[[server]]", "line 1, column "),
        ] {
            let error = error(text);
            assert!(error.starts_with(words) && error.lines().count() == 1, "{text}: {error}");
        }
    }
}
