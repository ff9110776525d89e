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

/// Tests if `wait` has passed since a time. If the clock was set back behind it, the wait begins anew: it
/// would else last until the clock has caught up.
fn has_passed(since: &mut u64, wait: u64, now: u64) -> bool {
    *since = now.min(*since);
    now - *since >= wait
}

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

#[cfg(test)]
mod tests {
    use super::testing::{START, samples};
    use super::*;
    use std::net::UdpSocket;

    /// Writes a flow, sets the clock back by a day, and lets time go on until the flow is delivered. Returns
    /// the seconds that this takes; 60 if it takes longer.
    fn seconds_until_delivered(exporter: &mut dyn Exporter) -> u64 {
        exporter.write(&samples()[0], START).unwrap();
        let after = START - 86_400 * SECOND;
        let is_delivered = |seconds: &u64| {
            exporter.tick(after + seconds * SECOND).unwrap();
            exporter.totals().flows > 0
        };
        (0..60).find(is_delivered).unwrap_or(60)
    }

    #[test]
    fn records_leave_on_time_after_the_clock_was_set_back() {
        let collector = UdpSocket::bind("127.0.0.1:0").unwrap();
        let udp = || Sink::udp(collector.local_addr().unwrap()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| FileOptions::new(dir.path().join(name));
        let mut ipfix = IpfixExporter::new(udp(), IpfixOptions::default());
        assert_eq!(seconds_until_delivered(&mut ipfix), 1);
        let mut netflow9 = Netflow9Exporter::new(udp(), Netflow9Options::default());
        assert_eq!(seconds_until_delivered(&mut netflow9), 1);
        let mut json = JsonExporter::new(Sink::file(file("flows.json")).unwrap());
        assert_eq!(seconds_until_delivered(&mut json), 1);
        #[cfg(feature = "parquet")]
        {
            let mut parquet = ParquetExporter::create(file("flows.parquet")).unwrap();
            assert_eq!(seconds_until_delivered(&mut parquet), 10);
        }
    }
}
