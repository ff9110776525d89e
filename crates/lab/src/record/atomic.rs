//! Files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes `octets` to the file `path`, replacing it: into a file beside it, which then takes its name.
///
/// A reader, or a run that is stopped half way, sees the old file or the new one, never a part.
///
/// # Errors
/// Whatever keeps the file beside it from being written, or from taking the name; nothing is left behind then.
pub fn write_atomically(path: &Path, octets: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(beside);
    let written = (|| {
        let mut file = File::create(&beside)?;
        file.write_all(octets)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        // The first error is the one to tell; that the leftover cannot be removed either adds nothing to it.
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_a_file_and_leaves_nothing_beside_it() {
        let dir = crate::record::tests::folder("atomic");
        let path = dir.join("records.csv");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn leaves_nothing_behind_when_it_fails() {
        let dir = crate::record::tests::folder("atomic-fails");
        let path = dir.join("taken");
        fs::create_dir_all(path.join("not-empty")).unwrap();
        assert!(write_atomically(&path, b"x").is_err());
        assert!(write_atomically(Path::new("/"), b"x").is_err());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        fs::remove_dir_all(dir).unwrap();
    }
}
