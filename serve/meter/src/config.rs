//! The configuration: one TOML file, in which every value has a default.

#[cfg(test)]
mod tests;

pub use crate::outputs::{Format, OutputConfig, Target};
pub use hashlane_daemon::config::{ConfigError, Metrics, Server};

use crate::meter::MeterOptions;
use crate::outputs::Origin;
use crate::time;
use hashlane_daemon::config::{self, Keys, Service, parse, to_toml};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Interface.
    pub input: Input,
    /// Timeouts, limits, workers.
    pub meter: Meter,
    /// Counters over HTTP.
    pub metrics: Metrics,
    /// User to run as.
    pub server: Server,
    /// Socket for `hashlane flow control`.
    pub control: Control,
    /// Files and collectors.
    pub output: Vec<OutputConfig>,
}

/// Source of the packets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Input {
    /// Interface to meter; empty: as given on the command line.
    pub interface: String,
    /// Meters also packets to other hosts, as behind a mirror port.
    pub promiscuous: bool,
    /// Source of the frames.
    pub io: Io,
}

/// Source of the frames of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Io {
    /// Packet sockets: XDP is never chosen for the user, as it takes the frames from the kernel.
    #[default]
    Auto,
    /// Packet sockets (AF_PACKET), which get copies of what the interface receives and sends.
    Packet,
    /// XDP (AF_XDP), which takes what the interface receives from the kernel: for mirror ports and taps.
    Xdp,
}

impl FromStr for Io {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "packet" => Ok(Self::Packet),
            "xdp" => Ok(Self::Xdp),
            _ => Err("expected auto, packet or xdp".to_owned()),
        }
    }
}

/// Timeouts, limits, workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Meter {
    /// Time without a packet after which a flow ends.
    #[serde(with = "time::required")]
    pub idle: Duration,
    /// Time since its first packet after which a flow ends; it goes on as a new one.
    #[serde(with = "time::required")]
    pub active: Duration,
    /// Limit of the flows in memory, at most 150 bytes each. Valid: 64..=2^30.
    pub flows: usize,
    /// Meters the packets inside IP-in-IP, GRE, VXLAN and GTP-U, not the tunnels.
    pub tunnels: bool,
    /// Meters one packet of this many. Valid: 1..=2^30.
    pub sampling: u32,
    /// Workers, each with its share of the flows. Valid: 1..=64.
    pub workers: usize,
    /// Observation domain of the first worker; the others have the next numbers.
    pub domain: u32,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(60),
            active: Duration::from_secs(300),
            flows: 1 << 20,
            tunnels: false,
            sampling: 1,
            workers: 1,
            domain: 1,
        }
    }
}

impl Meter {
    /// Settings of a meter for packets of an interface with this index, or of captures (0).
    #[must_use]
    pub fn options(&self, ingress: u32) -> MeterOptions {
        MeterOptions {
            flows: self.flows,
            idle: time::nanoseconds(self.idle),
            active: time::nanoseconds(self.active),
            tunnels: self.tunnels,
            sampling: self.sampling,
            domain: self.domain,
            ingress,
        }
    }

    /// Largest number for [`domain`](Self::domain) with which each worker gets a different one.
    #[must_use]
    pub const fn last_domain(&self) -> u32 {
        // At most 64 workers.
        u32::MAX - (self.workers as u32).saturating_sub(1)
    }
}

/// Socket for `hashlane flow control`.
pub type Control = config::Control<FlowMeter>;

/// The flow meter, for the default place of its control socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowMeter;

impl Service for FlowMeter {
    const NAME: &'static str = "hashlane-flow";
}

/// The end of a file without outputs.
const NO_OUTPUT: &str = "
# [[output]]
# format = \"ipfix\"
# to = \"udp:192.0.2.1:4739\"
";

impl Config {
    /// Reads and checks a configuration file. Paths of outputs in it are relative to its folder.
    ///
    /// # Errors
    /// The file cannot be read, is longer than 64 MiB or no UTF-8 text; the first error in its text.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut config = config::read(path, Self::parse)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for output in &mut config.output {
            match &mut output.to {
                to if to.is_standard_output() => {}
                Target::File(path) => *path = folder.join(&path),
                Target::Udp(_) | Target::Tcp(_) => {}
            }
        }
        Ok(config)
    }

    /// Parses and checks a configuration.
    ///
    /// # Errors
    /// The first error in the text.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        // One output, for the names of its keys.
        let known = Self { output: vec![OutputConfig::default()], ..Self::default() };
        let config = parse(text, &known, &Keys { free: &[], replaced: &REPLACED }).map_err(in_words)?;
        config.check()?;
        Ok(config)
    }

    /// The configuration as a file that sets every value. Without outputs, it ends with one in comments.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let text = to_toml(self);
        match text.strip_prefix("output = []\n") {
            // An empty array could not be followed by [[output]].
            Some(text) => text.trim_start().to_owned() + NO_OUTPUT,
            None => text,
        }
    }

    /// Checks the values that are not valid for every value of their type.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { input, meter, control, output, .. } = self;
        let within = |key: &str, value: u64, least: u64, most: u64| {
            let why = || format!("is {value}, but must be between {least} and {most}");
            if (least..=most).contains(&value) { Ok(()) } else { Err(ConfigError::value(key, why())) }
        };
        // The kernel has names of at most 15 bytes.
        if input.interface.len() > 15 || input.interface.contains(['/', '\0']) {
            let why = format!("is {:?}, which no interface can have as its name", input.interface);
            return Err(ConfigError::value("input.interface", why));
        }
        within("meter.flows", meter.flows as u64, 64, 1 << 30)?;
        within("meter.sampling", meter.sampling.into(), 1, 1 << 30)?;
        within("meter.workers", meter.workers as u64, 1, 64)?;
        if meter.domain > meter.last_domain() {
            let (domain, last, workers) = (meter.domain, meter.last_domain(), meter.workers);
            let why = format!("is {domain}, but at most {last} with {workers} workers: each has one");
            return Err(ConfigError::value("meter.domain", why));
        }
        if control.path.to_str().is_none() {
            return Err(ConfigError::value("control.path", "is not UTF-8; choose another path"));
        }
        for output in output {
            within("output.rotate_mib", output.rotate_mib, 0, 1 << 20)?;
            check_output(output)?;
        }
        Ok(())
    }
}

/// Keys with the names of flags.
const REPLACED: [(&str, &str); 3] = [
    ("meter.threads", "meter.workers"),
    ("output.force", "output.overwrite"),
    ("meter.interface", "input.interface"),
];

/// Checks the keys of an output against each other.
fn check_output(output: &OutputConfig) -> Result<(), ConfigError> {
    let OutputConfig { format, to, .. } = output;
    match to.path() {
        Some(path) if path.as_os_str().is_empty() => {
            let why = "is missing; name a file, udp:HOST:PORT or tcp:HOST:PORT";
            return Err(ConfigError::value("output.to", why));
        }
        Some(_) if !to.is_standard_output() => {}
        _ if output.rotates() => {
            let key = if output.rotate_mib > 0 { "output.rotate_mib" } else { "output.rotate_every" };
            return Err(ConfigError::value(key, format!("is for files, which {to} is not; remove it")));
        }
        _ => {}
    }
    if output.nanoseconds && *format != Format::Ipfix {
        let why = format!("is for the format ipfix; {} has its own times", format.name());
        return Err(ConfigError::value("output.nanoseconds", why));
    }
    let refused = |why| ConfigError::value("output.to", format!("is refused: {why}"));
    output.check(Origin::File).map_err(refused)
}

/// The parser's error about outputs, in the words of this configuration.
fn in_words(error: ConfigError) -> ConfigError {
    match error {
        ConfigError::Toml(why) => ConfigError::Toml(why.replace(
            "invalid type: map, expected an array, in brackets",
            "not an array; write [[output]] for an output",
        )),
        error => error,
    }
}
