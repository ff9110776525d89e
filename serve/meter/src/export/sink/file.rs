//! Files that hold whole blocks, one after the other, or a row of numbered files.

use super::{ExportError, Totals};
use crate::export::{SECOND, has_passed};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file to write flows to.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// Path of the file. With rotation, a number is put before the extension: `flows-0001.ipfix`.
    pub path: PathBuf,
    /// Replaces the content of an existing file, with the first bytes that are written. If false, an existing
    /// file is an error; with rotation its number is skipped.
    pub overwrite: bool,
    /// Limits of each file; `None` makes a single file.
    pub rotation: Option<Rotation>,
}

/// Limits of a file, after which the next number begins. The next file begins with the next block.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// Largest size in bytes; a single block may be larger. 0: no limit.
    pub bytes: u64,
    /// Longest time that a file is written to, in seconds. 0: no limit.
    pub seconds: u64,
}

impl FileOptions {
    /// A single new file.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), overwrite: false, rotation: None }
    }
}

pub(super) struct FileSink {
    output: Output,
    /// Path of the file, for errors.
    name: String,
    /// Bytes of whole blocks in the file.
    len: u64,
    opened: Option<u64>,
    /// Tests if the next block was given its place.
    begun: bool,
    /// The file, as long as it is new and was neither written nor completed.
    unused: Option<PathBuf>,
    /// Tests if the file still has the content of before.
    stale: bool,
    /// Options and number of the file, if files are rotated.
    rotated: Option<(FileOptions, u32)>,
}

enum Output {
    File(File),
    Other(Box<dyn Write + Send>),
}

impl fmt::Debug for FileSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileSink").field("name", &self.name).field("len", &self.len).finish_non_exhaustive()
    }
}

impl FileSink {
    pub(super) fn create(options: FileOptions) -> Result<Self, ExportError> {
        // With rotation, a file that exists is only used with `overwrite`.
        let may_exist = options.rotation.map_or(options.path.exists(), |_| options.overwrite);
        let (path, number, file) = match options.rotation {
            None => (options.path.clone(), 0, create(&options.path, options.overwrite)?),
            Some(_) => create_next(&options, 1)?,
        };
        let (unused, stale) = ((!may_exist).then(|| path.clone()), is_stale(&file));
        let rotated = options.rotation.is_some().then_some((options, number));
        Ok(Self {
            output: Output::File(file),
            name: path.display().to_string(),
            len: 0,
            opened: None,
            begun: false,
            unused,
            stale,
            rotated,
        })
    }

    pub(super) fn writer(name: &str, writer: Box<dyn Write + Send>) -> Self {
        let output = Output::Other(writer);
        Self {
            output,
            name: name.to_owned(),
            len: 0,
            opened: None,
            begun: false,
            unused: None,
            stale: false,
            rotated: None,
        }
    }

    #[cfg(feature = "parquet")]
    pub(super) fn begin(&mut self, add: usize, now: u64) -> Result<u64, ExportError> {
        self.rotate(add, now)?;
        self.begun = true;
        Ok(self.len)
    }

    /// Appends a block, after the prelude if the file is new.
    pub(super) fn append(
        &mut self,
        block: &[u8],
        flows: u64,
        prelude: &[u8],
        now: u64,
        totals: &mut Totals,
    ) -> Result<(), ExportError> {
        let begun = std::mem::take(&mut self.begun);
        let rotated = if begun { Ok(()) } else { self.rotate(block.len(), now) };
        let done = rotated.and_then(|()| {
            self.opened.get_or_insert(now);
            if self.len == 0 && !prelude.is_empty() {
                self.put(prelude)?;
                totals.bytes += prelude.len() as u64;
            }
            self.put(block)
        });
        match &done {
            Ok(()) => {
                totals.flows += flows;
                totals.bytes += block.len() as u64;
                totals.blocks += 1;
            }
            Err(_) => {
                totals.errors += 1;
                totals.flows_lost += flows;
                totals.blocks_lost += 1;
            }
        }
        done
    }

    /// Writes the prelude to a file without blocks, and hands all bytes to the system.
    pub(super) fn finish(&mut self, prelude: &[u8], totals: &mut Totals) -> Result<(), ExportError> {
        let mut put = Ok(());
        if self.len == 0 && (self.stale || !prelude.is_empty()) {
            put = self.put(prelude);
            totals.bytes += prelude.len() as u64 * u64::from(put.is_ok());
        }
        let done = put.and_then(|()| match &mut self.output {
            // Synchronising a file reports errors that were put off, such as errors of a network.
            Output::File(file) => match file.sync_all() {
                // Pipes and terminals cannot be synchronised.
                Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
                done => done.map_err(|error| ExportError::Write(self.name.clone(), error)),
            },
            Output::Other(writer) => {
                writer.flush().map_err(|error| ExportError::Write(self.name.clone(), error))
            }
        });
        totals.errors += u64::from(done.is_err());
        if done.is_ok() {
            self.unused = None;
        }
        done
    }

    /// Begins the next file if a limit of this one is reached.
    fn rotate(&mut self, add: usize, now: u64) -> Result<(), ExportError> {
        let Some((options, number)) = &mut self.rotated else {
            return Ok(());
        };
        let Some(rotation) = options.rotation else {
            return Ok(());
        };
        let full = rotation.bytes > 0 && self.len + add as u64 > rotation.bytes;
        let longest = rotation.seconds.saturating_mul(SECOND);
        let is_over = |opened: &mut u64| has_passed(opened, longest, now);
        let old = rotation.seconds > 0 && self.opened.as_mut().is_some_and(is_over);
        if self.len == 0 || !(full || old) {
            return Ok(());
        }
        let (path, next, file) = create_next(options, *number + 1)?;
        *number = next;
        self.stale = is_stale(&file);
        (self.output, self.name, self.len, self.opened) =
            (Output::File(file), path.display().to_string(), 0, None);
        Ok(())
    }

    /// Writes bytes whole, or not at all.
    fn put(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        let done = match &mut self.output {
            Output::File(file) => {
                let emptied = if self.stale { file.set_len(0) } else { Ok(()) };
                self.stale = emptied.is_err();
                emptied.and_then(|()| file.write_all(bytes)).inspect_err(|_| {
                    // Whatever was written of the block goes. If that fails, too, half a block stays.
                    let _ = file.set_len(self.len).and_then(|()| file.seek(SeekFrom::Start(self.len)));
                })
            }
            Output::Other(writer) => writer.write_all(bytes).and_then(|()| writer.flush()),
        };
        match done {
            Ok(()) => {
                self.len += bytes.len() as u64;
                self.unused = None;
            }
            Err(error) => return Err(ExportError::Write(self.name.clone(), error)),
        }
        Ok(())
    }
}

impl Drop for FileSink {
    /// Removes a file that a run left empty as it could not begin, so that the next one can create it.
    fn drop(&mut self) {
        if let Some(path) = &self.unused {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Tests if a file has content. Devices and pipes have none.
fn is_stale(file: &File) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.len() > 0)
}

/// Creates a file for writing, or opens one with its content. Devices and pipes are opened as they are.
pub(crate) fn create(path: &Path, overwrite: bool) -> Result<File, ExportError> {
    let other = path.metadata().is_ok_and(|found| !found.is_file());
    let mut options = OpenOptions::new();
    options.write(true);
    if !other {
        if overwrite {
            options.create(true).truncate(false);
        } else {
            options.create_new(true);
        }
    }
    options.open(path).map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            ExportError::Exists(path.to_owned())
        } else {
            ExportError::Create(path.to_owned(), error)
        }
    })
}

/// Creates the file with the first number from `number` on that may be used.
fn create_next(options: &FileOptions, mut number: u32) -> Result<(PathBuf, u32, File), ExportError> {
    loop {
        let path = numbered(&options.path, number);
        match create(&path, options.overwrite) {
            Ok(file) => return Ok((path, number, file)),
            Err(ExportError::Exists(path)) if number == u32::MAX => {
                let error = io::Error::other("all numbers are used");
                return Err(ExportError::Create(path, error));
            }
            Err(ExportError::Exists(_)) => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Path with a number before the extension.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    let mut name = stem.to_os_string();
    name.push(format!("-{number:04}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_goes_before_the_extension() {
        assert_eq!(numbered(Path::new("a/flows.ipfix"), 7), Path::new("a/flows-0007.ipfix"));
        assert_eq!(numbered(Path::new("flows"), 12_345), Path::new("flows-12345"));
    }

    #[test]
    fn an_existing_file_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flows.json");
        std::fs::write(&path, "kept").unwrap();
        let options = FileOptions::new(&path);
        let error = FileSink::create(options.clone()).unwrap_err();
        assert!(matches!(error, ExportError::Exists(_)), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"kept");
        // Until something is written, as another output may not open; a run without flows leaves it empty.
        let mut sink = FileSink::create(FileOptions { overwrite: true, ..options }).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"kept");
        sink.finish(b"", &mut Totals::default()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }

    #[test]
    fn each_numbered_file_starts_with_the_prelude() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f-0002.csv"), "kept").unwrap();
        let mut options = FileOptions::new(dir.path().join("f.csv"));
        options.rotation = Some(Rotation { bytes: 10, seconds: 60 });
        let (mut sink, mut totals) = (FileSink::create(options).unwrap(), Totals::default());
        let lines: [(&[u8], u64); 4] =
            [(b"aaa\n", 1), (b"bbb\n", 2), (b"ccc\n", 3), (b"ddd\n", 3 + 60 * SECOND)];
        for (line, now) in lines {
            sink.append(line, 1, b"h\n", now, &mut totals).unwrap();
        }
        let read =
            |number: u32| std::fs::read_to_string(dir.path().join(format!("f-000{number}.csv"))).unwrap();
        assert_eq!((read(1), read(2)), ("h\naaa\nbbb\n".to_owned(), "kept".to_owned()));
        assert_eq!((read(3), read(4)), ("h\nccc\n".to_owned(), "h\nddd\n".to_owned()));
        assert_eq!((totals.flows, totals.flows_lost), (4, 0));
    }

    #[test]
    fn a_file_ends_on_time_after_the_clock_was_set_back() {
        let dir = tempfile::tempdir().unwrap();
        let mut options = FileOptions::new(dir.path().join("f.csv"));
        options.rotation = Some(Rotation { bytes: 0, seconds: 60 });
        let (mut sink, mut totals) = (FileSink::create(options).unwrap(), Totals::default());
        for seconds in [3_600, 0, 59, 60] {
            sink.append(b"line\n", 1, b"", seconds * SECOND, &mut totals).unwrap();
        }
        let lines = |number: u32| {
            let text = std::fs::read_to_string(dir.path().join(format!("f-000{number}.csv")));
            text.map_or(0, |text| text.lines().count())
        };
        assert_eq!((lines(1), lines(2)), (3, 1));
    }

    #[test]
    fn a_full_disk_is_an_error_and_counted() {
        let mut sink = FileSink::create(FileOptions::new("/dev/full")).unwrap();
        let mut totals = Totals::default();
        let error = sink.append(b"line\n", 3, b"", 0, &mut totals).unwrap_err();
        assert!(error.to_string().contains("no space left"), "{error}");
        assert_eq!((totals.flows, totals.flows_lost, totals.errors), (0, 3, 1));
    }
}
