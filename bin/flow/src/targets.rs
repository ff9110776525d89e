//! Flags that say where flows go.

use clap::Args;
use hashlane_command::number;
use hashlane_meter::outputs::{Format, OutputConfig, Target};
use hashlane_meter::time;
use std::path::PathBuf;
use std::time::Duration;

/// Formats and their targets.
#[derive(Debug, Args)]
pub(super) struct Targets {
    /// IPFIX (RFC 7011, biflows by RFC 5103) to a file, udp:HOST:PORT or tcp:HOST:PORT
    #[arg(long, value_name = "TARGET", value_parser = target)]
    ipfix: Vec<Target>,
    /// NetFlow v9 (RFC 3954) to a file or udp:HOST:PORT; each direction is a flow
    #[arg(long, value_name = "TARGET", value_parser = target)]
    netflow9: Vec<Target>,
    /// One JSON object in a line, to a file or - for standard output
    #[arg(long, value_name = "FILE")]
    json: Vec<PathBuf>,
    /// Comma-separated values, to a file or - for standard output
    #[arg(long, value_name = "FILE")]
    csv: Vec<PathBuf>,
    /// Apache Parquet, to a file
    #[arg(long, value_name = "FILE")]
    parquet: Vec<PathBuf>,
    /// Times in IPFIX to the nanosecond; without this, to the millisecond, which every collector reads
    #[arg(long, requires = "ipfix")]
    nanoseconds: bool,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
    /// Begin a new file after this time; files get numbers
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    rotate_every: Option<Duration>,
    /// Begin a new file after this many MiB; files get numbers
    #[arg(long, value_name = "MIB", value_parser = number::within(1_u64, 1 << 20))]
    rotate_mib: Option<u64>,
}

/// Parses a target, and looks up its host.
fn target(text: &str) -> Result<Target, String> {
    Target::parse(text)?.resolved()
}

impl Targets {
    /// Overrides the outputs of a configuration by the flags' outputs, if they name any; else `--force` and
    /// the limits of files hold for all files of the configuration. Returns true if the flags name outputs.
    pub(super) fn override_outputs(&self, outputs: &mut Vec<OutputConfig>) -> bool {
        let named = self.outputs();
        let is_named = !named.is_empty();
        if is_named {
            *outputs = named;
        }
        for output in outputs {
            self.apply_to(output);
        }
        is_named
    }

    /// Sets what flags say about every output.
    fn apply_to(&self, output: &mut OutputConfig) {
        output.nanoseconds |= self.nanoseconds && output.format == Format::Ipfix;
        output.overwrite |= self.force;
        if output.to.path().is_some() && !output.to.is_standard_output() {
            output.rotate_every = self.rotate_every.or(output.rotate_every);
            output.rotate_mib = self.rotate_mib.unwrap_or(output.rotate_mib);
        }
    }

    /// The outputs that the flags name.
    fn outputs(&self) -> Vec<OutputConfig> {
        let files = |format, paths: &[PathBuf]| -> Vec<_> {
            paths.iter().map(|path| (format, Target::File(path.clone()))).collect()
        };
        let targets = |format, targets: &[Target]| -> Vec<_> {
            targets.iter().map(|target| (format, target.clone())).collect()
        };
        let all = [
            targets(Format::Ipfix, &self.ipfix),
            targets(Format::Netflow9, &self.netflow9),
            files(Format::Json, &self.json),
            files(Format::Csv, &self.csv),
            files(Format::Parquet, &self.parquet),
        ];
        let output = |(format, to)| OutputConfig { format, to, ..OutputConfig::default() };
        all.into_iter().flatten().map(output).collect()
    }
}
