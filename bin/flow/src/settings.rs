//! Flags that say how flows are metered.

use anyhow::{Result, bail};
use clap::Args;
use hashlane_command::number;
use hashlane_meter::config::Meter;
use hashlane_meter::time;
use std::time::Duration;

/// Timeouts, limits and workers.
#[derive(Clone, Debug, Args)]
pub(super) struct Settings {
    /// End a flow after this time without a packet: 500ms, 60s, 5min, 1h [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    idle: Option<Duration>,
    /// End a flow this long after its first packet; it goes on as a new one [default: 300s]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    active: Option<Duration>,
    /// Limit of the flows in memory, 64 or more, at most 150 bytes each; in a full table, short flows that
    /// were never answered give way [default: 1048576]
    #[arg(long, value_name = "NUMBER", value_parser = number::within(64_usize, 1 << 30))]
    flows: Option<usize>,
    /// Meter the packets inside IP-in-IP, GRE, VXLAN and GTP-U, not the tunnels
    #[arg(long)]
    tunnels: bool,
    /// Meter one packet of this many [default: 1]
    #[arg(long, value_name = "NUMBER", value_parser = number::within(1_u32, 1 << 30))]
    sampling: Option<u32>,
    /// Workers, each with its share of the flows and its own observation domain [default: 1]
    #[arg(long, value_name = "NUMBER", value_parser = number::within(1_usize, 64))]
    threads: Option<usize>,
    /// Observation domain of the first worker [default: 1]
    #[arg(long, value_name = "NUMBER")]
    domain: Option<u32>,
}

impl Settings {
    /// Overrides the values of a configuration by the flags.
    ///
    /// # Errors
    /// Not every worker can have a different observation domain.
    pub(super) fn override_values(&self, meter: &mut Meter) -> Result<()> {
        meter.idle = self.idle.unwrap_or(meter.idle);
        meter.active = self.active.unwrap_or(meter.active);
        meter.flows = self.flows.unwrap_or(meter.flows);
        meter.tunnels |= self.tunnels;
        meter.sampling = self.sampling.unwrap_or(meter.sampling);
        meter.workers = self.threads.unwrap_or(meter.workers);
        meter.domain = self.domain.unwrap_or(meter.domain);
        let last = meter.last_domain();
        if meter.domain > last && (self.domain.is_some() || self.threads.is_some()) {
            let workers = meter.workers;
            bail!("--domain is at most {last} with --threads {workers}: each has its own domain");
        }
        Ok(())
    }
}
