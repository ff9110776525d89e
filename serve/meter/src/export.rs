//! Export of flows: one [`Exporter`] for each format, over a [`Sink`] to a file or a collector.
//!
//! Exporters hand their sink whole *blocks*: messages, or lines. A file holds whole blocks only, so it stays
//! readable if the process is killed; [`Sink`] tells what happens to blocks that cannot be delivered.
//!
//! Times that the methods take are nanoseconds since 1970, of the clock on the wall.

mod columns;
mod csv;
mod error;
mod ipfix;
mod json;
mod lines;
mod message;
mod netflow9;
#[cfg(feature = "parquet")]
pub mod parquet;
mod shape;
mod sink;
#[cfg(test)]
mod testing;

pub use csv::CsvExporter;
pub use error::ExportError;
pub use ipfix::{IpfixExporter, IpfixOptions, Times};
pub use json::JsonExporter;
pub use netflow9::{Netflow9Exporter, Netflow9Options};
#[cfg(feature = "parquet")]
pub use parquet::ParquetExporter;
pub use sink::{FileOptions, Rotation, Sink, Totals};

pub(crate) use hashlane_ipfix::time::SECOND;

use crate::record::FlowRecord;
use crate::stats::MeterStats;
/// Time that records wait for their block to fill.
const DELAY: u64 = SECOND;

/// A format that flows are written in.
pub trait Exporter: Send {
    /// Adds a flow. It leaves with its block: when the block is full, or by [`Exporter::tick`].
    ///
    /// # Errors
    /// A file cannot be written. The flows of the block are lost and counted; the exporter stays usable.
    fn write(&mut self, flow: &FlowRecord, now: u64) -> Result<(), ExportError>;

    /// Sends blocks that have waited for a second, goes on with connections and queues, and repeats
    /// templates. To be called about four times a second.
    ///
    /// # Errors
    /// See [`Exporter::write`].
    fn tick(&mut self, now: u64) -> Result<(), ExportError>;

    /// Adds statistics of the meter for an observation domain; formats without statistics ignore them.
    ///
    /// # Errors
    /// See [`Exporter::write`].
    fn report(&mut self, _domain: u32, _stats: &MeterStats, _now: u64) -> Result<(), ExportError> {
        Ok(())
    }

    /// Sends what is left, and completes files. Waits for collectors, at most five seconds.
    ///
    /// # Errors
    /// A file cannot be written. Flows that a collector did not take in time are no error; [`Totals`] has
    /// them.
    fn finish(&mut self, now: u64) -> Result<(), ExportError>;

    /// The file or the collector.
    fn sink(&self) -> &Sink;

    /// Counts of what was delivered and lost.
    fn totals(&self) -> Totals {
        self.sink().totals()
    }
}
