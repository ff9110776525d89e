//! Files that are there whole or not at all.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Permissions of a new file before the umask, as [`std::fs::File::create`] sets them.
#[cfg(unix)]
const MODE: u32 = 0o666;

/// Writes `bytes` to the file `path`, replacing it: into a temporary file in the same folder, which is synced
/// to disk and then renamed.
///
/// A reader, or a run that is stopped half way, sees the old file or the new one, never a part.
///
/// # Errors
/// The temporary file cannot be written or renamed; it is removed then.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = temporary(path)?;
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path)?;
    Ok(())
}

/// A temporary file beside `path`, named `.NAME.RANDOM.tmp`: a later run finds by that name the leftovers of
/// a run that was killed.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let (Some(name), Some(dir)) = (path.file_name(), path.parent()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let prefix = [OsStr::new("."), name, OsStr::new(".")].join(OsStr::new(""));
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(MODE));
    builder.tempfile_in(dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn replaces_a_file_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.csv");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        let created = dir.path().join("created");
        File::create(&created).unwrap();
        assert_eq!(mode(&path), mode(&created));
        fs::remove_file(created).unwrap();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }

    #[test]
    fn a_temporary_file_has_the_name_that_is_cleaned_up() {
        let dir = tempfile::tempdir().unwrap();
        let file = temporary(&dir.path().join("records.csv")).unwrap();
        let name = file.path().file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(".records.csv.") && name.ends_with(".tmp"), "{name}");
    }

    #[test]
    fn leaves_nothing_behind_when_it_fails() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("taken");
        fs::create_dir_all(path.join("not-empty")).unwrap();
        assert!(write_atomically(&path, b"x").is_err());
        assert!(write_atomically(Path::new("/"), b"x").is_err());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }
}
