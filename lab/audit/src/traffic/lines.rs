//! Lines of an untrusted file of text.

use std::io::{self, BufRead};

/// Reason for which a file of text is of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The file cannot be read.
    #[error("cannot read it")]
    Read(#[source] io::Error),
    /// A line is wrong.
    #[error("line {number}: {why}")]
    Line {
        /// Its number, from 1.
        number: u64,
        /// The reason, and the form that is expected.
        why: String,
    },
}

/// Byte order mark of UTF-8, with which some editors begin a file. It is skipped.
const UTF_8: &[u8] = "\u{feff}".as_bytes();

/// Handler of a line: it gets the line and its number, and returns `true` if reading goes on, or the reason
/// for which the line is wrong.
pub(super) type TakeLine<'a> = dyn FnMut(u64, &[u8]) -> Result<bool, String> + 'a;

/// Passes each line to `take`, without its end. Empty lines and those that begin with `#` are skipped; a line
/// has at most `longest` bytes.
pub(super) fn lines(mut from: impl BufRead, longest: u64, take: &mut TakeLine<'_>) -> Result<(), TextError> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        // The line, its end, and a byte more if it is too long.
        let mut limited = io::Read::take(&mut from, longest + 2);
        if limited.read_until(b'\n', &mut line).map_err(TextError::Read)? == 0 {
            break;
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let text = text.strip_prefix(UTF_8).filter(|_| number == 1).unwrap_or(text);
        if text.len() as u64 > longest {
            return Err(TextError::Line { number, why: format!("longer than {longest} bytes") });
        }
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        if !take(number, text).map_err(|why| TextError::Line { number, why })? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_numbers_and_no_ends() {
        let mut found = Vec::new();
        let text = "\u{feff}a\r\n\n# comment\nbcd\ne";
        lines(text.as_bytes(), 10, &mut |number, line| {
            found.push((number, String::from_utf8(line.to_vec()).unwrap()));
            Ok(true)
        })
        .unwrap();
        assert_eq!(found, [(1, "a".into()), (4, "bcd".into()), (5, "e".into())]);
    }

    #[test]
    fn endless_lines_end_the_reading() {
        let error = lines(io::BufReader::new(io::repeat(b'x')), 100, &mut |_, _| Ok(true)).unwrap_err();
        assert_eq!(error.to_string(), "line 1: longer than 100 bytes");
    }
}
