//! Settings of an output: format, target, and files.

use crate::export::ExportError;
use crate::time;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Format of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// IPFIX (RFC 7011), biflows by RFC 5103.
    #[default]
    Ipfix,
    /// NetFlow v9 (RFC 3954); each direction is a record.
    Netflow9,
    /// A JSON object a line.
    Json,
    /// Comma-separated values (RFC 4180).
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// The name in configurations, and of the flag.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ipfix => "ipfix",
            Self::Netflow9 => "netflow9",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// Tests if the format has a form on standard output.
    pub(super) const fn is_text(self) -> bool {
        matches!(self, Self::Json | Self::Csv)
    }
}

/// File or collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file; `-` for standard output.
    File(PathBuf),
    /// A collector over UDP: `HOST:PORT`.
    Udp(String),
    /// A collector over TCP: `HOST:PORT`.
    Tcp(String),
}

impl Default for Target {
    fn default() -> Self {
        Self::File(PathBuf::new())
    }
}

impl Target {
    /// Parses a path, `udp:HOST:PORT` or `tcp:HOST:PORT`, without a lookup of the host.
    ///
    /// # Errors
    /// There is no host or port after `udp:` or `tcp:`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let collector = |rest: &str| {
            let parts = rest.rsplit_once(':').filter(|(host, _)| !host.is_empty());
            match parts.and_then(|(_, port)| port.parse::<u16>().ok()) {
                Some(_) => Ok(rest.to_owned()),
                None => Err(format!("{rest:?} is not HOST:PORT, as in udp:192.0.2.1:4739")),
            }
        };
        match text.split_once(':') {
            Some(("udp", rest)) => collector(rest).map(Self::Udp),
            Some(("tcp", rest)) => collector(rest).map(Self::Tcp),
            _ => Ok(Self::File(text.into())),
        }
    }

    /// The target with the address of its host in place of the name.
    ///
    /// # Errors
    /// The host has no address.
    pub fn resolved(self) -> Result<Self, String> {
        let resolve = |collector: &str| {
            lookup(collector).map(|address| address.to_string()).map_err(|error| {
                format!("{error}; expected HOST:PORT after udp: or tcp:, as in udp:192.0.2.1:4739")
            })
        };
        Ok(match self {
            Self::File(path) => Self::File(path),
            Self::Udp(collector) => Self::Udp(resolve(&collector)?),
            Self::Tcp(collector) => Self::Tcp(resolve(&collector)?),
        })
    }

    /// Tests if it is standard output.
    #[must_use]
    pub fn is_standard_output(&self) -> bool {
        self.path().is_some_and(|path| path.as_os_str() == "-")
    }

    /// The path of a file, or `-`.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Udp(_) | Self::Tcp(_) => None,
        }
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// The first address of a collector.
fn lookup(collector: &str) -> io::Result<SocketAddr> {
    let none = || io::Error::new(io::ErrorKind::NotFound, format!("{collector} has no address"));
    collector.to_socket_addrs()?.next().ok_or_else(none)
}

/// The address of a collector, for its socket.
pub(super) fn address(collector: &str) -> Result<SocketAddr, ExportError> {
    lookup(collector).map_err(|error| ExportError::Lookup(collector.to_owned(), error))
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Udp(address) => write!(f, "udp:{address}"),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
        }
    }
}

/// An output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputConfig {
    /// Format.
    pub format: Format,
    /// File or collector.
    pub to: Target,
    /// Times in IPFIX to the nanosecond.
    pub nanoseconds: bool,
    /// Overwrites a file that exists.
    pub overwrite: bool,
    /// Time after which a new file begins; files get numbers.
    #[serde(with = "time::optional")]
    pub rotate_every: Option<Duration>,
    /// MiB after which a new file begins; files get numbers. 0: no limit.
    pub rotate_mib: u64,
}

/// Place where outputs were set, for errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Flags of the command line.
    Flags,
    /// A configuration file.
    File,
}

impl Origin {
    /// An output as the user has named it.
    pub(super) fn named(self, output: &OutputConfig) -> String {
        let (format, to) = (output.format.name(), &output.to);
        match self {
            Self::Flags => format!("--{format} {to}"),
            Self::File => format!("the {format} output {to}"),
        }
    }

    /// The error of an output whose file is being written with other settings, with the next step.
    pub(super) fn explain_open(self, output: &OutputConfig) -> String {
        let how = if output.rotates() {
            "choose another name, or restart"
        } else {
            "rename the file and reload again, or choose another name"
        };
        format!("{} is being written with other settings; {how}", self.named(output))
    }

    /// The error of an output that does not open, with the next step.
    #[must_use]
    pub fn explain(self, error: &ExportError) -> String {
        match error {
            ExportError::Exists(path) => {
                let how = match self {
                    Self::Flags => "add --force",
                    Self::File => "set overwrite = true",
                };
                format!("{} exists: choose another name, or {how} to overwrite it", path.display())
            }
            error => error.to_string(),
        }
    }
}

impl OutputConfig {
    /// Tests if files get numbers.
    #[must_use]
    pub const fn rotates(&self) -> bool {
        self.rotate_every.is_some() || self.rotate_mib > 0
    }

    /// The name for people.
    #[must_use]
    pub fn name(&self) -> String {
        if self.to.is_standard_output() { "standard output".to_owned() } else { self.to.to_string() }
    }

    /// Checks that the format can go to the target.
    ///
    /// # Errors
    /// It cannot; the message names the output and the next step.
    pub fn check(&self, origin: Origin) -> Result<(), String> {
        let named = origin.named(self);
        match (self.format, &self.to) {
            (format, to) if to.is_standard_output() && !format.is_text() => {
                let instead = match origin {
                    Origin::Flags => "use --json - or --csv -",
                    Origin::File => "use the format json or csv",
                };
                Err(format!("{named} has no form on standard output: name a file, or {instead}"))
            }
            (Format::Netflow9, to @ Target::Tcp(_)) => {
                let instead = match origin {
                    Origin::Flags => format!("--ipfix {to}"),
                    Origin::File => "the format ipfix".to_owned(),
                };
                Err(format!("NetFlow v9 has no form over TCP; use {instead}, or udp:HOST:PORT"))
            }
            (Format::Json | Format::Csv | Format::Parquet, Target::Udp(_) | Target::Tcp(_)) => {
                Err(format!("{named} has no form for collectors: name a file, or use the format ipfix"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_paths_or_collectors() {
        assert_eq!(Target::parse("a/b.ipfix"), Ok(Target::File("a/b.ipfix".into())));
        assert_eq!(Target::parse("udp:[::1]:4739"), Ok(Target::Udp("[::1]:4739".into())));
        assert_eq!(Target::parse("tcp:collector:4739"), Ok(Target::Tcp("collector:4739".into())));
        for wrong in ["udp:", "udp:192.0.2.1", "tcp::4739", "udp:a:70000"] {
            assert!(Target::parse(wrong).unwrap_err().contains("not HOST:PORT"), "{wrong}");
        }
        let resolved = Target::Udp("127.0.0.1:9".into()).resolved();
        assert_eq!(resolved, Ok(Target::Udp("127.0.0.1:9".into())));
        assert!(Target::parse("-").unwrap().is_standard_output());
    }

    #[test]
    fn formats_go_to_targets_that_have_a_form_for_them() {
        let check = |format, to: &str, origin| {
            OutputConfig { format, to: Target::parse(to).unwrap(), ..OutputConfig::default() }.check(origin)
        };
        for (format, to, flags, file) in [
            (Format::Ipfix, "-", "--ipfix - has no form", "the ipfix output - has no form"),
            (Format::Netflow9, "tcp:a:1", "use --ipfix tcp:a:1", "use the format ipfix"),
            (Format::Csv, "udp:a:1", "--csv udp:a:1 has no form", "the csv output udp:a:1 has no form"),
        ] {
            assert!(check(format, to, Origin::Flags).unwrap_err().contains(flags), "{to}");
            assert!(check(format, to, Origin::File).unwrap_err().contains(file), "{to}");
        }
        for (format, to) in [(Format::Json, "-"), (Format::Netflow9, "udp:a:1"), (Format::Parquet, "a")] {
            assert_eq!(check(format, to, Origin::File), Ok(()));
        }
    }
}
