//! Times and counts of a table while it fills.

use super::foreign::TableFunctions;
use crate::keys::Keys;
use nix::time::{ClockId, clock_gettime};
use std::io;

/// Times and counts of one batch of a measurement: keys that are inserted, and as many lookups of keys spread
/// evenly over all that were inserted so far.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// Keys inserted so far, this batch included.
    pub inserted: u64,
    /// Keys that the table has refused so far.
    pub refused: u64,
    /// Entries of the table, as it says.
    pub len: u64,
    /// CPU time of the insertions in nanoseconds.
    pub insert_ns: u64,
    /// Lookups of this batch, as many as insertions.
    pub looked_up: u64,
    /// Lookups that found their key. A table that refuses or evicts entries has fewer than `looked_up`.
    pub found: u64,
    /// Lookups that missed a key that the table has taken. Only a table that evicts entries has any.
    pub lost: u64,
    /// CPU time of the lookups in nanoseconds.
    pub find_ns: u64,
    /// Entries compared by the insertions and by the lookups. `None` if the table does not count them.
    pub compared: Option<(u64, u64)>,
}

/// Inserts the keys into a new table, `batch` at a time, and passes a sample of each batch to `report`.
///
/// # Errors
/// `report` has failed. The inner error is the reason why there is no table, in words.
pub(super) fn fill(
    functions: &TableFunctions,
    seed: &[u8; 16],
    capacity: u64,
    batch: u64,
    keys: &Keys,
    report: &mut dyn FnMut(Sample) -> io::Result<()>,
) -> io::Result<Result<(), String>> {
    let Some(mut table) = functions.init(seed, capacity as usize) else {
        return Ok(Err("hashlane_audit_init has returned NULL".to_owned()));
    };
    let batch = (batch as usize).max(1);
    let (mut taken, mut refused) = (Vec::with_capacity(keys.len()), 0);
    for start in (0..keys.len()).step_by(batch) {
        let end = keys.len().min(start.saturating_add(batch));
        let counted = [table.compared()];
        let insert_ns = cpu_time(|| {
            for key in (start..end).filter_map(|number| keys.get(number)) {
                taken.push(table.insert(key));
            }
        })?;
        let counted = [counted[0], table.compared()];
        refused += taken.iter().skip(start).filter(|taken| !**taken).count() as u64;
        let (mut found, mut lost, lookups) = (0, 0, end - start);
        let find_ns = cpu_time(|| {
            for number in (0..lookups).map(|number| number * end / lookups) {
                let (Some(key), Some(taken)) = (keys.get(number), taken.get(number)) else { continue };
                let finds = table.find(key);
                found += u64::from(finds);
                lost += u64::from(*taken && !finds);
            }
        })?;
        let compared = match [counted[0], counted[1], table.compared()] {
            [Some(before), Some(between), Some(after)] => {
                Some((between.wrapping_sub(before), after.wrapping_sub(between)))
            }
            _ => None,
        };
        report(Sample {
            inserted: end as u64,
            refused,
            len: table.len() as u64,
            insert_ns,
            looked_up: lookups as u64,
            found,
            lost,
            find_ns,
            compared,
        })?;
    }
    Ok(Ok(()))
}

/// CPU time of this thread in `work`, in nanoseconds.
fn cpu_time(work: impl FnOnce()) -> io::Result<u64> {
    let now = || clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    let start = now()?;
    work();
    let time = std::time::Duration::from(now()? - start);
    Ok(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
