//! Folders that are installed once.

use std::fs;
use std::path::Path;

/// Runs `install` in an empty folder, unless it has run there for the same `what`.
pub(crate) fn once(
    folder: &Path,
    what: &str,
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    // A virtual environment cannot be moved.
    let what = format!("{what}\n{}\n", folder.display());
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == what) {
        return Ok(());
    }
    let broken = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(broken)?;
    }
    fs::create_dir_all(folder).map_err(broken)?;
    install(folder)?;
    fs::write(&stamp, what).map_err(broken)
}
