//! Names from a file, one to a line.

use super::packed::{Names, PackError};
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_line;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest line that can be a name, in bytes: each byte of a name of 64 KiB may be written as three.
const LONGEST_LINE: u64 = 3 * 65_536;

/// Workload read from a file, and the lines skipped.
#[derive(Debug)]
pub struct FromFile {
    /// The names, in the file's order.
    pub names: Names,
    /// Lines that are no name: the first few, each with its number, counted from 1, and the reason.
    pub skipped: Vec<(u64, String)>,
    /// Number of skipped lines; empty lines are not counted.
    pub skipped_count: u64,
    /// Lines in the file, as far as it was read.
    pub lines: u64,
    /// `true` if reading stopped because the workload was full.
    pub full: bool,
}

/// Skipped lines of which the reason is kept.
const KEPT_REASONS: usize = 20;

/// Reasons for which a file gives no workload.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be read.
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
    /// No line of it is a name.
    NoNames {
        /// The file.
        path: PathBuf,
        /// Lines that were skipped, empty ones aside.
        skipped: u64,
        /// The first of them and the reason.
        first: Option<(u64, String)>,
    },
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // The cause is its source.
            Self::Io { path, .. } => write!(f, "cannot read names from {}", path.display()),
            Self::NoNames { path, skipped: 0, .. } => {
                write!(
                    f,
                    "{} has no names: write one per line, such as /usr/share or ndn:/a/b",
                    path.display()
                )
            }
            Self::NoNames { path, skipped, first } => {
                write!(f, "none of the {skipped} lines of {} is a name", path.display())?;
                match first {
                    Some((line, reason)) => write!(f, "; line {line}: {reason}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            Self::NoNames { .. } => None,
        }
    }
}

/// Reads up to `most` names from `path`, one to a line, each a path or a URI (see
/// [`hashlane_name::uri::parse_line`]). Lines that are no name are skipped and reported.
///
/// # Errors
/// The file cannot be read, or no line of it is a name.
pub fn read(path: &Path, most: usize) -> Result<FromFile, FileError> {
    let io = |error| FileError::Io { path: path.into(), error };
    let file = File::open(path).map_err(io)?;
    let read = read_lines(BufReader::with_capacity(1 << 16, file), most).map_err(io)?;
    if read.names.is_empty() {
        let first = read.skipped.into_iter().next();
        return Err(FileError::NoNames { path: path.into(), skipped: read.skipped_count, first });
    }
    Ok(read)
}

fn read_lines(mut input: impl BufRead, most: usize) -> io::Result<FromFile> {
    let mut read =
        FromFile { names: Names::default(), skipped: Vec::new(), skipped_count: 0, lines: 0, full: false };
    let mut line = Vec::new();
    while read.names.len() < most {
        line.clear();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(read);
        }
        read.lines += 1;
        let reason = if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST_LINE {
            input.skip_until(b'\n')?;
            format!("longer than {LONGEST_LINE} bytes, which no name is")
        } else {
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if text.is_empty() {
                continue;
            }
            match parse_line::<Ndn>(text) {
                Err(error) => error.to_string(),
                Ok(name) => match read.names.push(name.view().components()) {
                    Ok(()) => continue,
                    Err(PackError::Full) => {
                        read.full = true;
                        return Ok(read);
                    }
                    Err(error) => error.to_string(),
                },
            }
        };
        read.skipped_count += 1;
        if read.skipped.len() < KEPT_REASONS {
            read.skipped.push((read.lines, reason));
        }
    }
    read.full = !input.fill_buf()?.is_empty();
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::walk::{Encoding, Walk};

    #[test]
    fn reads_paths_and_uris_and_says_what_it_skips() {
        let text = b"/usr/share/a=b%\n\nndn:/hello/v=3\nno name\r\nndn:/%zz\n/caf\xc3\xa9\n/last";
        let read = read_lines(&text[..], 100).unwrap();
        assert_eq!(read.names.len(), 4);
        let components = |at| {
            Ndn::walk(read.names.ndn.name(at))
                .map(|mut walk| std::iter::from_fn(|| walk.next_end().transpose()).count())
        };
        assert_eq!([0, 1, 2, 3].map(components), [Ok(3), Ok(2), Ok(1), Ok(1)]);
        assert_eq!((read.lines, read.skipped_count, read.full), (7, 2, false));
        assert_eq!(read.skipped.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn skips_names_that_are_too_long_and_goes_on() {
        let mut text = vec![b'/'];
        text.resize(70_000, b'x');
        text.push(b'\n');
        text.extend("/x".repeat(256).bytes());
        text.push(b'\n');
        text.extend(std::iter::repeat_n(b'y', LONGEST_LINE as usize * 2));
        text.extend(b"\n/good\n");
        let read = read_lines(&text[..], 100).unwrap();
        assert_eq!((read.names.len(), read.skipped_count, read.lines), (1, 3, 4));
    }

    #[test]
    fn stops_at_the_number_of_names_wanted() {
        let read = read_lines(&b"/a\n/b\n/c\n"[..], 2).unwrap();
        assert_eq!((read.names.len(), read.full), (2, true));
        let read = read_lines(&b"/a\n/b\n"[..], 2).unwrap();
        assert_eq!((read.names.len(), read.full), (2, false));
    }

    #[test]
    fn a_file_without_names_is_an_error() {
        let missing = read(Path::new("/nonexistent/names"), 1).unwrap_err();
        assert!(missing.to_string().starts_with("cannot read names from /nonexistent/names"));
        let empty = read(Path::new("/dev/null"), 1).unwrap_err();
        assert!(empty.to_string().contains("has no names"), "{empty}");
    }
}
