//! Checks that no output overwrites an input or another output.

use super::settings::{Origin, OutputConfig};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Identity of a file, also under another name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileId {
    /// Device and inode of a file that exists.
    Inode(u64, u64),
    /// A file that does not exist yet: folder, without links, and name.
    New(PathBuf),
}

/// Checks that all outputs can be opened together: no file is another output's, or one of `inputs`. Creates
/// nothing.
///
/// # Errors
/// The first conflict; the message names both sides and the next step.
pub fn check(outputs: &[OutputConfig], inputs: &[PathBuf], origin: Origin) -> Result<(), String> {
    for output in outputs {
        output.check(origin)?;
        if let Some(input) = inputs.iter().find(|input| destroys(output, input)) {
            let (named, input) = (origin.named(output), input.display());
            return Err(format!("{named} would overwrite the input {input}: choose another name"));
        }
    }
    for (number, output) in outputs.iter().enumerate() {
        for other in outputs.iter().take(number) {
            let (Some(path), Some(same)) = (output.to.path(), other.to.path()) else { continue };
            let (one, two) = (origin.named(other), origin.named(output));
            if is_standard(path) && is_standard(same) {
                return Err(format!("{one} and {two} both write to standard output: name a file for one"));
            }
            if is_same(place(path, io::stdout()), place(same, io::stdout())) {
                return Err(format!("{one} and {two} are the same file: choose another name for one"));
            }
        }
    }
    Ok(())
}

/// Tests if writing to `output` destroys `input`.
fn destroys(output: &OutputConfig, input: &Path) -> bool {
    let Some(path) = output.to.path() else { return false };
    if !output.rotates() || is_standard(path) {
        return is_same(place(path, io::stdout()), place(input, io::stdin()));
    }
    // Files that rotate have numbers: `flows-0001.ipfix`.
    let without = without_number(input).and_then(|input| new(&input));
    without.is_some() && without == new(path)
}

fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn is_same(one: Option<FileId>, other: Option<FileId>) -> bool {
    one.is_some() && one == other
}

/// The place of a path; the path - stands for `standard`. `None`: a device such as /dev/null, which many can
/// write to, or a path that cannot be a file.
pub(super) fn place(path: &Path, standard: impl AsFd) -> Option<FileId> {
    let inode =
        |data: &Metadata| (!data.file_type().is_char_device()).then(|| FileId::Inode(data.dev(), data.ino()));
    if is_standard(path) {
        let file = File::from(standard.as_fd().try_clone_to_owned().ok()?);
        return inode(&file.metadata().ok()?);
    }
    match path.metadata() {
        Ok(data) => inode(&data),
        Err(_) => new(path).map(FileId::New),
    }
}

/// A path with its folder as it is without links.
fn new(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new(".")).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

/// The path that gets this one by a number before its extension.
fn without_number(path: &Path) -> Option<PathBuf> {
    let stem = path.file_stem()?.to_str()?;
    let (name, number) = stem.rsplit_once('-')?;
    if number.len() < 4 || !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let mut name = PathBuf::from(name).into_os_string();
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    Some(path.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_file_is_taken_off() {
        assert_eq!(without_number(Path::new("a/b-0001.pcap")), Some("a/b.pcap".into()));
        assert_eq!(without_number(Path::new("b-12345")), Some("b".into()));
        for other in ["b-1.pcap", "b.pcap", "b-000x.pcap"] {
            assert_eq!(without_number(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_device_has_no_place_and_a_file_has_one_under_all_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "").unwrap();
        std::fs::hard_link(path("file"), path("link")).unwrap();
        let at = |path: &Path| place(path, io::stdin());
        assert_eq!(at(Path::new("/dev/null")), None);
        assert!(is_same(at(&path("file")), at(&path("link"))));
        assert!(is_same(at(&path("new")), at(&path("./new"))));
        assert!(!is_same(at(&path("new")), at(&path("file"))));
    }
}
