//! Results of a run: records, one per fact, and the facts of the machine that they come from.

mod atomic;
mod csv;
pub mod date;
mod launches;
pub mod machine;
pub mod metric;
pub mod noise;
mod prediction;
mod set;
mod studies;

pub use self::atomic::write_atomically;
pub use self::csv::ReadError;
pub use self::machine::Machine;
pub use self::noise::{Activity, Noise};
pub use self::prediction::over_launches;
pub use self::set::{Key, Record, RecordSet};
pub use self::studies::{RunStudies, RunStudy};

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    /// An empty folder of this process's own.
    pub(super) fn folder(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("hashlane-lab-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }
}
