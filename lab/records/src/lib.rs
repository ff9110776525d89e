//! Records of a run, one per fact, and comparisons of runs. The crate knows no study and no report.
//!
//! - [`Record`], [`RecordSet`]: the rows of `records.csv`, read, written and looked up.
//! - [`metric`]: names of metrics that several kinds of studies share.
//! - [`over_launches`]: bounds that hold for a further launch.
//! - [`compare`]: two builds that were launched alternately, or two runs.
//! - [`write_atomically`]: a file that is there whole or not at all.
#![forbid(unsafe_code)]

mod atomic;
pub mod compare;
mod csv;
mod launches;
pub mod metric;
mod prediction;
mod set;

/// Name of the file of records in the folder of a run.
pub const FILE_NAME: &str = "records.csv";

pub use self::atomic::write_atomically;
pub use self::csv::ReadError;
pub use self::prediction::over_launches;
pub use self::set::{Key, Record, RecordSet};
