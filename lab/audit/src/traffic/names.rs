//! Names of a file, one in a line.

use super::lines::{TextError, lines};
use crate::keys::Keys;
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_line;
use hashlane_stats::format::count;
use std::collections::HashSet;
use std::fmt;
use std::io::BufRead;

/// Longest line, in bytes: each byte of a name of 64 KiB may be written as three.
const LONGEST: u64 = 3 * 65_536;

/// Limit of the distinct names together, in MiB.
const MOST_MIB: usize = 128;

/// Names of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The distinct names in NDN's encoding, in the order of their first lines.
    pub names: Keys,
    /// Names in the file, as far as it was read.
    pub seen: u64,
    /// Limit at which reading stopped, in words, if it stopped before the end of the file.
    pub limit: Option<String>,
}

/// `12 names from 80 lines`
impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let names = self.names.len() as u64;
        let [found, seen] = [names, self.seen].map(|number| count(number as f64));
        write!(f, "{found} distinct name{} from {seen} line{}", plural(names), plural(self.seen))?;
        match &self.limit {
            Some(limit) => write!(f, "; the rest was not read: limit of {limit} reached"),
            None => Ok(()),
        }
    }
}

/// Reads a file of names, to its end or to the first distinct name beyond `most`, or beyond 128 MiB of names.
/// A line is a path or a URI ([`parse_line`]). `progress` gets the number of names so far.
///
/// # Errors
/// The file cannot be read, or a line is no name.
pub fn read(from: impl BufRead, most: usize, progress: &mut dyn FnMut(u64)) -> Result<Names, TextError> {
    let mut found = Names::default();
    let mut known: HashSet<Box<[u8]>> = HashSet::new();
    let mut bytes = 0;
    lines(from, LONGEST, &mut |_, line| {
        let name = parse_line::<Ndn>(line).map_err(|error| error.to_string())?.into_bytes();
        if !known.contains(name.as_slice()) {
            if known.len() >= most {
                found.limit = Some(format!("{} distinct names", count(most as f64)));
                return Ok(false);
            }
            if bytes + name.len() > MOST_MIB << 20 {
                found.limit = Some(format!("{MOST_MIB} MiB of names"));
                return Ok(false);
            }
            bytes += name.len();
            found.names.push(&name);
            known.insert(name.into());
        }
        found.seen += 1;
        progress(found.seen);
        Ok(true)
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_names_are_kept_once() {
        let names = read(&b"/a/b\nndn:/a/b\n\n/c\n"[..], 9, &mut |_| ()).unwrap();
        assert_eq!(names.to_string(), "2 distinct names from 3 lines");
        assert_eq!(names.names.get(1), Some(&b"\x07\x03\x08\x01c"[..]));
        let names = read(&b"/a\n/a\n/b\n/c\n"[..], 1, &mut |_| ()).unwrap();
        assert_eq!((names.names.len(), names.seen), (1, 2));
        let expected =
            "1 distinct name from 2 lines; the rest was not read: limit of 1 distinct names reached";
        assert_eq!(names.to_string(), expected);
    }

    #[test]
    fn a_line_that_is_no_name_is_named_with_its_number() {
        let error = read(&b"/a\nno name\n"[..], 9, &mut |_| ()).unwrap_err().to_string();
        assert!(error.starts_with("line 2: "), "{error}");
    }
}
