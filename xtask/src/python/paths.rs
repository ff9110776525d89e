//! Folders of the Python package, and files that maturin writes.

use crate::run;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the package.
pub(crate) fn package() -> PathBuf {
    run::root().join("python")
}

/// Folder of the virtual environments.
///
/// # Errors
/// As [`run::target_dir`].
pub(crate) fn folder() -> Result<PathBuf, String> {
    Ok(run::target_dir()?.join("python"))
}

fn files(out: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(out).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.to_string_lossy().ends_with(end)).collect()
}

/// Removes the files of earlier versions, which `pip install dist/*.whl` would install, too.
///
/// # Errors
/// A file cannot be removed.
pub(super) fn remove(out: &Path, end: &str) -> Result<(), String> {
    files(out, end)
        .iter()
        .try_for_each(|path| fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display())))
}

/// The file in `out` whose name ends so.
///
/// # Errors
/// No name ends so.
pub(super) fn find(out: &Path, end: &str) -> Result<PathBuf, String> {
    files(out, end).pop().ok_or_else(|| format!("maturin has written no file *{end} to {}", out.display()))
}
