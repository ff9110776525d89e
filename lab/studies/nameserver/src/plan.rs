//! Settings of a run.

use crate::workloads::SERIAL;
use crate::zone::Zone;
use hashlane_lab::probe::Cores;
use hashlane_lab::study::RunError;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The machine and the settings of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    /// Folder for zones and the state of servers.
    pub(crate) folder: &'a Path,
    /// Core of the server, and of the load.
    pub(crate) cores: Cores,
    /// `true` with `--full`.
    pub(crate) full: bool,
    /// Rounds.
    pub(crate) rounds: usize,
    /// Time of a turn under full load.
    pub(crate) time: Duration,
}

impl Plan<'_> {
    /// Writes a zone file, and returns its path and records.
    pub(crate) fn write(&self, name: &str, zone: Zone) -> Result<(PathBuf, u64), RunError> {
        let path = self.folder.join(format!("{name}.zone"));
        let written = File::create(&path).and_then(|file| {
            let mut file = BufWriter::with_capacity(1 << 20, file);
            let records = zone.write(SERIAL, &mut file)?;
            file.flush()?;
            Ok(records)
        });
        let failed = |error: std::io::Error| RunError::Generate(name.to_owned(), error.to_string());
        Ok((path, written.map_err(failed)?))
    }
}
