//! softflowd, which sends NetFlow v9 to nfcapd.

use super::flows::Flows;
use super::{TIMEOUT, nfdump};
use crate::interop::collector;
use crate::interop::program::Program;
use crate::run;
use std::path::Path;

/// The flows that softflowd exports of a capture.
pub(super) fn meter(capture: &Path, folder: &Path) -> Result<Flows, String> {
    collector::nfcapd(folder, TIMEOUT, |port| {
        let to = format!("127.0.0.1:{port}");
        let mut command = run::command(&["softflowd", "-d", "-6", "-a", "-v", "9", "-c", "none", "-n", &to]);
        command.arg("-p").arg(folder.with_extension("pid")).arg("-r").arg(capture);
        Program::run("softflowd", &mut command, TIMEOUT).map(drop)
    })?;
    nfdump(folder)
}
