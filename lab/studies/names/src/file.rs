//! Names from a file or from standard input, one to a line.

use super::packed::{Names, PackError};
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_line;
use hashlane_stats::format::plural;
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest line that can be a name, in bytes: each byte of a name of 64 KiB may be written as three.
const LONGEST_LINE: u64 = 3 * 65_536;

/// Most bytes read, so that reading an endless file ends. A full workload takes at most 768 MiB: its 256 MiB,
/// with each byte written as three.
const LONGEST_FILE: u64 = 1 << 30;

/// Path that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// A list of names that is read line by line.
pub(crate) trait Lines: Default {
    /// Lines that are names, for errors.
    const EXAMPLES: &'static str;

    /// Number of names.
    fn count(&self) -> usize;

    /// Adds the name of a line, which is not empty.
    ///
    /// # Errors
    /// The line is no name, or the list is full.
    fn add(&mut self, line: &[u8]) -> Result<(), Unread>;
}

/// Reason why a line gave no name.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is no name, in words.
    Skipped(String),
    /// The list is full, in words.
    Full(String),
}

impl Lines for Names {
    const EXAMPLES: &'static str = "/usr/share or ndn:/a/b";

    fn count(&self) -> usize {
        self.len()
    }

    fn add(&mut self, line: &[u8]) -> Result<(), Unread> {
        let name = parse_line::<Ndn>(line).map_err(|error| Unread::Skipped(error.to_string()))?;
        self.push(name.view().components()).map_err(|error| match error {
            PackError::Full => Unread::Full(error.to_string()),
            error => Unread::Skipped(error.to_string()),
        })
    }
}

/// Workload read from a file, and the lines skipped.
#[derive(Debug)]
pub(crate) struct FromFile<N> {
    /// The names, in the file's order.
    pub(crate) names: N,
    /// Lines that are no name: the first few, each with its number, counted from 1, and the reason.
    pub(crate) skipped: Vec<(usize, String)>,
    /// Number of skipped lines; empty lines are not counted.
    pub(crate) skipped_count: usize,
    /// Lines in the file, as far as it was read.
    pub(crate) lines: usize,
    /// Limit at which reading stopped, in words, if it stopped before the end of the file.
    pub(crate) limit: Option<String>,
}

/// Skipped lines whose reason is kept.
const KEPT_REASONS: usize = 20;

/// Byte order mark of UTF-8, with which some editors begin a file. It is skipped.
const UTF_8: &[u8] = "\u{feff}".as_bytes();

/// Byte order marks of UTF-16, of either byte order.
const UTF_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// Reasons for which a file gives no workload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FileError {
    /// It cannot be read.
    #[error("cannot read names from {}", shown(.path))]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        error: io::Error,
    },
    /// No line of it is a name.
    #[error(fmt = write_no_names)]
    NoNames {
        /// The file.
        path: PathBuf,
        /// Lines that were skipped, empty ones aside.
        skipped: usize,
        /// The first of them and the reason.
        first: Option<(usize, String)>,
        /// Lines that are names.
        examples: &'static str,
    },
}

fn write_no_names(
    path: &Path,
    skipped: &usize,
    first: &Option<(usize, String)>,
    examples: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "no names in {}", shown(path))?;
    if let Some((line, reason)) = first {
        write!(f, ": {} skipped, line {line}: {reason}", plural(*skipped, "line"))?;
    }
    write!(f, "; write one name per line, such as {examples}")
}

/// Name of a file for messages and labels.
pub(crate) fn shown(path: &Path) -> Cow<'_, str> {
    if path == Path::new(STANDARD_INPUT) { "stdin".into() } else { path.to_string_lossy() }
}

/// Reads up to `most` names from `path`, or from standard input if it is `-`: one to a line. Lines that are
/// no name are skipped and reported. Of an endless file, the first 1 GiB is read.
///
/// # Errors
/// The file cannot be read, or no line of it is a name.
pub(crate) fn read<N: Lines>(path: &Path, most: usize) -> Result<FromFile<N>, FileError> {
    let io = |error| FileError::Io { path: path.into(), error };
    let read = if path == Path::new(STANDARD_INPUT) {
        read_lines(io::stdin().lock(), most, LONGEST_FILE)
    } else {
        let file = File::open(path).map_err(io)?;
        read_lines(BufReader::with_capacity(1 << 16, file), most, LONGEST_FILE)
    };
    let read: FromFile<N> = read.map_err(io)?;
    if read.names.count() == 0 {
        let (first, examples) = (read.skipped.into_iter().next(), N::EXAMPLES);
        return Err(FileError::NoNames { path: path.into(), skipped: read.skipped_count, first, examples });
    }
    Ok(read)
}

/// Reads up to `most` names from the first `longest` bytes.
fn read_lines<N: Lines>(input: impl BufRead, most: usize, longest: u64) -> io::Result<FromFile<N>> {
    let mut input = input.take(longest);
    let mut read =
        FromFile { names: N::default(), skipped: Vec::new(), skipped_count: 0, lines: 0, limit: None };
    let mut line = Vec::new();
    while read.names.count() < most {
        line.clear();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        read.lines += 1;
        let ends = line.last() == Some(&b'\n');
        let reason = if !ends && line.len() as u64 == LONGEST_LINE {
            input.skip_until(b'\n')?;
            format!("longer than {LONGEST_LINE} bytes, which no name is")
        } else if !ends && input.limit() == 0 {
            // The limit cuts this line.
            break;
        } else {
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let text = text.strip_prefix(UTF_8).filter(|_| read.lines == 1).unwrap_or(text);
            if text.is_empty() {
                continue;
            }
            match read.names.add(text) {
                Ok(()) => continue,
                Err(Unread::Full(limit)) => {
                    read.limit = Some(limit);
                    return Ok(read);
                }
                Err(Unread::Skipped(_))
                    if read.lines == 1 && UTF_16.iter().any(|mark| text.starts_with(mark)) =>
                {
                    "UTF-16 text; convert the file by iconv -f UTF-16 -t UTF-8".to_owned()
                }
                Err(Unread::Skipped(reason)) => reason,
            }
        };
        read.skipped_count += 1;
        if read.skipped.len() < KEPT_REASONS {
            read.skipped.push((read.lines, reason));
        }
    }
    if input.limit() == 0 {
        read.limit = Some(format!("at most {longest} bytes are read"));
    } else if !input.fill_buf()?.is_empty() {
        read.limit = Some(format!("at most {most} names are measured"));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::walk::{Encoding, Walk};

    #[test]
    fn reads_paths_and_uris_and_says_what_it_skips() {
        let text = b"/usr/share/a=b%\n\nndn:/hello/v=3\nno name\r\nndn:/%zz\n/caf\xc3\xa9\n/last";
        let read = read_lines::<Names>(&text[..], 100, u64::MAX).unwrap();
        assert_eq!(read.names.len(), 4);
        let components = |at| {
            Ndn::walk(read.names.ndn.name(at))
                .map(|mut walk| std::iter::from_fn(|| walk.next_end().transpose()).count())
        };
        assert_eq!([0, 1, 2, 3].map(components), [Ok(3), Ok(2), Ok(1), Ok(1)]);
        assert_eq!((read.lines, read.skipped_count, read.limit), (7, 2, None));
        assert_eq!(read.skipped.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn reads_as_far_as_the_limits_and_skips_what_is_no_name() {
        let long_name = format!("/{}\n", "x".repeat(70_000));
        let long_line = "y".repeat(LONGEST_LINE as usize * 2);
        let too_long = format!("{long_name}{}\n{long_line}\n/good\n", "/x".repeat(256));
        let wanted = Some("at most 2 names are measured".to_owned());
        let bytes = |limit: u64| Some(format!("at most {limit} bytes are read"));
        // Names, skipped lines, and the limit.
        for (text, most, longest, expected) in [
            (too_long.as_bytes(), 100, u64::MAX, (1, 3, None)),
            (b"/a\n/b\n/c\n", 2, u64::MAX, (2, 0, wanted)),
            (b"/a\n/b\n", 2, u64::MAX, (2, 0, None)),
            // The limit cuts a line.
            (b"/usr\n/usr/share\n", 9, 9, (1, 0, bytes(9))),
            (b"/usr\n/usr", 9, 10, (2, 0, None)),
            // One line without an end, and lines without end.
            (&[0; 1 << 20], 2, 1 << 19, (0, 1, bytes(1 << 19))),
            (&[b'\n'; 1 << 20], 2, 1 << 19, (0, 0, bytes(1 << 19))),
            (b"\xef\xbb\xbf/a\r\n/b\r\n", 9, u64::MAX, (2, 0, None)),
        ] {
            let read = read_lines::<Names>(text, most, longest).unwrap();
            assert_eq!((read.names.len(), read.skipped_count, read.limit), expected, "{most}, {longest}");
        }
        let read = read_lines::<Names>(&b"\xff\xfe/\0a\0\n\0"[..], 9, u64::MAX).unwrap();
        assert!(read.skipped[0].1.starts_with("UTF-16 text; convert"), "{:?}", read.skipped);
    }

    #[test]
    fn a_file_without_names_is_an_error() {
        let missing = read::<Names>(Path::new("/nonexistent/names"), 1).unwrap_err();
        assert_eq!(missing.to_string(), "cannot read names from /nonexistent/names");
        let empty = read::<Names>(Path::new("/dev/null"), 1).unwrap_err();
        let next = "write one name per line, such as /usr/share or ndn:/a/b";
        assert_eq!(empty.to_string(), format!("no names in /dev/null; {next}"));
        let path = Path::new(STANDARD_INPUT).to_owned();
        let none = FileError::NoNames {
            path,
            skipped: 1,
            first: Some((3, "not a name".into())),
            examples: Names::EXAMPLES,
        };
        let expected = format!("no names in stdin: 1 line skipped, line 3: not a name; {next}");
        assert_eq!(none.to_string(), expected);
    }
}
