//! Filling of a forwarder's tables before anything is measured.

use super::{Drive, IDLE, wait};
use crate::load::control;
use crate::load::plan::TIMEOUT;
use crate::load::port::connect;
use crate::load::tables::Tables;
use hashlane_lab::study::{Child, TurnError};
use hashlane_ndn::wire::LpHeader;
use mio::Events;
use std::path::Path;
use std::time::{Duration, Instant};

/// Interests sent before the arrived ones are counted.
const FLOOD_STEP: usize = 256;
/// Interval of the checks of the content store.
const FILL_STEP: Duration = Duration::from_millis(20);

impl Drive<'_> {
    /// Exchanges packets until the content store has had as many as it holds.
    pub(super) fn fill_store(
        &mut self,
        tables: Tables,
        events: &mut Events,
        process: &mut Child,
    ) -> Result<(), TurnError> {
        let (mut answered, mut last) = (0, Instant::now());
        while answered < tables.packets as u64 {
            self.exchange_until(events, Instant::now() + FILL_STEP)?;
            process.check()?;
            let before = answered;
            answered = self.counts().answered;
            if answered > before {
                last = Instant::now();
            } else if last.elapsed() > TIMEOUT {
                return Err(
                    process.failed(&format!("the content store was filled with only {answered} packets"))
                );
            }
        }
        Ok(())
    }

    /// Fails unless the forwarder reports tables as large as the workload's.
    pub(super) fn check_tables(&self, tables: Tables, socket: &Path) -> Result<(), TurnError> {
        let status = control::status(&mut connect(socket)?)?;
        for (table, entries, least) in [
            ("FIB", status.fib_entries, tables.prefixes),
            ("PIT", status.pit_entries, self.workload.pending),
            ("content store", status.cs_entries, tables.packets),
        ] {
            if entries < least as u64 {
                return Err(TurnError::Failed(format!(
                    "the {table} has {entries} entries, but the workload needs {least}"
                )));
            }
        }
        Ok(())
    }

    /// Sends the Interests that stay pending, no faster than they arrive at the producer.
    pub(super) fn flood(&mut self, events: &mut Events, process: &mut Child) -> Result<(), TurnError> {
        let mut template = self.silent()?;
        let (consumer, producer) = (2 * self.pairs.len(), 2 * self.pairs.len() + 1);
        let (mut sent, mut arrived) = (0, 0);
        let mut last = Instant::now();
        while arrived < self.workload.pending {
            if sent == arrived && sent < self.workload.pending {
                let end = (sent + FLOOD_STEP).min(self.workload.pending);
                let Some(port) = self.ports.get_mut(consumer) else { break };
                port.send(&mut self.batches, |out| {
                    (sent..end).try_for_each(|number| {
                        out.push(&LpHeader::default(), template.interest(number as u64))
                    })
                })?;
                sent = end;
            }
            self.check_stop()?;
            wait(&mut self.poll, events, IDLE)?;
            for at in [producer, consumer] {
                let Some(port) = self.ports.get_mut(at) else { break };
                let before = arrived;
                port.receive(&mut self.batches, |_, _| {
                    arrived += usize::from(at == producer);
                    Ok(())
                })?;
                if arrived > before {
                    last = Instant::now();
                }
            }
            process.check()?;
            if last.elapsed() > TIMEOUT {
                return Err(process.failed(&format!("of {sent} pending Interests only {arrived} arrived")));
            }
        }
        Ok(())
    }
}
