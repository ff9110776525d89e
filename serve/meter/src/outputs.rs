//! Outputs of a run: from their settings to files, collectors and the flows in them.
//!
//! [`OutputConfig`] says where flows go in which format; [`check`] refuses outputs that overwrite an input or
//! each other; [`Exporters::open`] opens them. [`SharedExporters`] are exchanged while a run goes on.

mod exporters;
mod places;
mod settings;
mod shared;

pub use exporters::{Exporters, Finished, OutputStatus};
pub use places::check;
pub use settings::{Format, Origin, OutputConfig, Target};
pub use shared::{Exchanged, SharedExporters};

use crate::export::{
    CsvExporter, ExportError, Exporter, FileOptions, IpfixExporter, IpfixOptions, JsonExporter,
    Netflow9Exporter, Netflow9Options, Rotation, Sink, Times,
};
use std::io;

/// Facts of a run that its outputs state.
#[derive(Clone, Debug, Default)]
pub struct RunFacts {
    /// Indexes and names of the interfaces that packets come from.
    pub interfaces: Vec<(u32, String)>,
    /// Observation domain of the first worker.
    pub domain: u32,
    /// One packet of this many is metered.
    pub sampling: u32,
}

impl OutputConfig {
    /// Opens the file, or the socket for the collector.
    fn open(&self, facts: &RunFacts) -> Result<Box<dyn Exporter>, ExportError> {
        Ok(match self.format {
            Format::Ipfix => {
                let options = IpfixOptions {
                    times: if self.nanoseconds { Times::Nanoseconds } else { Times::Milliseconds },
                    interfaces: facts.interfaces.clone(),
                    sampling: facts.sampling,
                    ..IpfixOptions::default()
                };
                Box::new(IpfixExporter::new(self.sink()?, options))
            }
            Format::Netflow9 => Box::new(Netflow9Exporter::new(self.sink()?, Netflow9Options::default())),
            Format::Json => Box::new(JsonExporter::new(self.sink()?)),
            Format::Csv => Box::new(CsvExporter::new(self.sink()?)),
            #[cfg(feature = "parquet")]
            Format::Parquet => Box::new(crate::export::ParquetExporter::create(self.file())?),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {
                let why = "this build has none; it takes the feature `parquet` of hashlane-meter";
                return Err(ExportError::Parquet(self.to.to_string(), why.to_owned()));
            }
        })
    }

    fn sink(&self) -> Result<Sink, ExportError> {
        match &self.to {
            target if target.is_standard_output() => {
                Ok(Sink::writer("standard output", Box::new(io::stdout())))
            }
            Target::File(_) => Sink::file(self.file()),
            Target::Udp(collector) => Sink::udp(settings::address(collector)?),
            Target::Tcp(collector) => Ok(Sink::tcp(settings::address(collector)?)),
        }
    }

    fn file(&self) -> FileOptions {
        let rotation = self.rotates().then(|| Rotation {
            bytes: self.rotate_mib << 20,
            seconds: self.rotate_every.map_or(0, |time| time.as_secs().max(1)),
        });
        let path = self.to.path().map(Into::into).unwrap_or_default();
        FileOptions { path, overwrite: self.overwrite, rotation }
    }
}
