//! The kernel's source, unpacked and edited.

use crate::cache::Cache;
use crate::edit;
use crate::needs::{self, BUILD_MIB, SOURCE_MIB};
use crate::watch::watch;
use anyhow::{Context, Result, anyhow, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, UNIX_EPOCH};

/// The folder of the source, and while it is being unpacked.
const FOLDER: &str = "linux";
const UNPACKING: &str = "unpacking";

/// Stamp with the archive that the folder was unpacked from and the width of the floating-point state;
/// written last.
const STAMP: &str = "hashlane-source";

const SILENCE: Duration = Duration::from_secs(600);

/// A source that is there, whole.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) folder: PathBuf,
    /// Archive and edits that it was made from.
    pub(crate) stamp: String,
}

/// Takes the folder that an earlier run unpacked from `archive`, or unpacks it; `doing` is called before long
/// steps.
pub(crate) fn prepare(
    cache: &Cache,
    archive: &Path,
    wide: bool,
    stop: &AtomicBool,
    doing: &mut dyn FnMut(&str),
) -> Result<Source> {
    let stamp = stamp(archive, wide)?;
    let folder = cache.path(FOLDER);
    let there = fs::read_to_string(folder.join(STAMP)).is_ok_and(|found| found == stamp);
    if there {
        needs::room(cache.folder(), BUILD_MIB)?;
        return Ok(Source { folder, stamp });
    }
    for old in [&folder, &cache.path(UNPACKING)] {
        if old.exists() {
            doing("removing an older source");
            fs::remove_dir_all(old).with_context(|| format!("cannot remove {}", old.display()))?;
        }
    }
    needs::room(cache.folder(), SOURCE_MIB + BUILD_MIB)?;
    doing("unpacking the source of Linux");
    let unpacking = cache.path(UNPACKING);
    fs::create_dir(&unpacking).with_context(|| format!("cannot make {}", unpacking.display()))?;
    let mut tar = Command::new("tar");
    tar.arg("-xJf").arg(archive).args(["--strip-components=1", "-C"]).arg(&unpacking);
    let ended = watch(tar, stop, SILENCE, &mut |_| ())?;
    if !ended.status.success() {
        bail!("`tar -xJf {}` failed; last output:\n{}", archive.display(), ended.said);
    }
    change(&unpacking, edit::FILE, edit::replace_hash)?;
    if wide {
        change(&unpacking, edit::SIZES, edit::widen)?;
    }
    write(&unpacking.join(STAMP), &stamp)?;
    fs::rename(&unpacking, &folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(Source { folder, stamp })
}

/// The archive's name, length and time, and the edits to it.
fn stamp(archive: &Path, wide: bool) -> Result<String> {
    let what = || format!("cannot read {}", archive.display());
    let file = fs::metadata(archive).with_context(what)?;
    let time = file.modified().with_context(what)?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let state = if wide { "wide" } else { "as it was" };
    Ok(format!(
        "{}\n{} octets of {}\nstate of floating point: {state}\n",
        archive.display(),
        file.len(),
        time.as_secs()
    ))
}

/// The version that the text of a top Makefile states: `6.12.117`.
pub(crate) fn stated_version(makefile: &str) -> String {
    let value = |name: &str| {
        let line = makefile.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('='));
        line.map_or("", str::trim)
    };
    format!("{}.{}.{}", value("VERSION"), value("PATCHLEVEL"), value("SUBLEVEL"))
}

fn change(folder: &Path, file: &'static str, change: fn(&str) -> Result<String>) -> Result<()> {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).map_err(|_| anyhow!(edit::unknown(file, "text")))?;
    write(&path, &change(&text)?)
}

/// Writes a file unless it has this text already, so that make keeps the objects built from it.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
