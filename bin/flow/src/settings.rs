//! Flags that say how flows are metered.

use anyhow::{Result, bail};
use clap::Args;
use hashlane_command::number;
use hashlane_meter::MeterOptions;
use std::time::Duration;

/// Timeouts, limits and workers.
#[derive(Clone, Debug, Args)]
pub(super) struct Settings {
    /// End a flow after this time without a packet: 500ms, 60s, 5min, 1h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    idle: Duration,
    /// End a flow this long after its first packet; it goes on as a new one
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = time)]
    active: Duration,
    /// Limit of the flows in memory, 64 or more, at most 150 bytes each; in a full table, short flows that
    /// were never answered give way
    #[arg(long, value_name = "NUMBER", default_value = "1048576",
        value_parser = number::within(64_usize, 1 << 30))]
    flows: usize,
    /// Meter the packets inside IP-in-IP, GRE, VXLAN and GTP-U, not the tunnels
    #[arg(long)]
    tunnels: bool,
    /// Meter one packet of this many
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = number::within(1_u32, 1 << 30))]
    sampling: u32,
    /// Workers, each with its share of the flows and an observation domain of its own
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = number::within(1_usize, 64))]
    pub(super) threads: usize,
    /// Observation domain of the first worker
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    domain: u32,
}

impl Settings {
    /// Checks that each worker can have an observation domain of its own.
    pub(super) fn check(&self) -> Result<()> {
        // At most 64.
        let last = u32::MAX - (self.threads as u32).saturating_sub(1);
        if self.domain > last {
            bail!("--domain is at most {last} with --threads {}: each has a domain of its own", self.threads);
        }
        Ok(())
    }

    /// The meter's settings for packets of an interface with this index, or of captures (0).
    pub(super) fn meter(&self, ingress: u32) -> MeterOptions {
        MeterOptions {
            flows: self.flows,
            idle: Self::nanoseconds(self.idle),
            active: Self::nanoseconds(self.active),
            tunnels: self.tunnels,
            sampling: self.sampling,
            domain: self.domain,
            ingress,
        }
    }

    /// A time in nanoseconds.
    pub(super) fn nanoseconds(time: Duration) -> u64 {
        u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Longest timeout: a fortnight.
const LONGEST: Duration = Duration::from_secs(14 * 24 * 3600);

/// Parses a time with its unit: `500ms`, `60s`, `5min`, `1h`.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => Some(0),
        "s" => Some(1),
        "min" | "m" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let time = seconds.zip(number.parse::<u64>().ok()).and_then(|(seconds, number)| match seconds {
        0 => Some(Duration::from_millis(number)),
        seconds => number.checked_mul(seconds).map(Duration::from_secs),
    });
    time.filter(|time| (Duration::from_millis(1)..=LONGEST).contains(time))
        .ok_or_else(|| "expected a time from 1ms to 336h with its unit: 500ms, 60s, 5min, 1h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_a_range() {
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("5min"), Ok(Duration::from_secs(300)));
        assert_eq!(time("1h"), Ok(Duration::from_secs(3600)));
        for wrong in ["", "5", "s", "0s", "-1s", "1.5s", "337h", "99999999999999999999s", "5 s"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
