//! Console protocol of a kernel's first process: one report per line, and its only output.

use std::fmt;
use std::str::FromStr;

/// Mark at the start of every line; the kernel's own lines do not have it.
const MARK: &str = "hashlane:";

/// Most figures of a line.
const MOST_FIGURES: usize = 4096;

/// Something that was found inside.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// Work in progress, for the display.
    Doing(String),
    /// Number of the kernel's hashes that equal our crates' hashes for the same tuples and secrets.
    Checked(u64),
    /// Throughput of all streams together with messages of this size in bytes: Mbit/s, of each slice of time.
    Streams(u32, Vec<f64>),
    /// Counts of the time-stamp counter per call, of each repetition.
    Cycles(String, Vec<f64>),
    /// Counts per SYN after this many hostile ones of this set, of each block.
    Syn(String, u32, Vec<f64>),
    /// Counts per segment that is sent in the same way and meets no table.
    Floor(Vec<f64>),
    /// After the last SYN of a set: how many entries the fullest bucket has.
    Longest(String, u64),
    /// After the last SYN of a set: how many SYNs were sent, and how many entries the table has.
    Table(String, u64, u64),
    /// Entries that stay in the table after each request of a set was reset.
    Left(String, u64),
    /// A set was ended before its last SYN because it took too long; number of SYNs sent.
    Short(String, u32),
    /// It cannot go on.
    Failed(String),
    /// All was done.
    Done,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, figures: &[f64]| {
            figures.iter().try_for_each(|figure| write!(f, " {figure}"))
        };
        write!(f, "{MARK} ")?;
        match self {
            Self::Doing(what) => write!(f, "doing {what}"),
            Self::Checked(count) => write!(f, "checked {count}"),
            Self::Streams(size, figures) => {
                write!(f, "streams {size}")?;
                list(f, figures)
            }
            Self::Cycles(what, figures) => {
                write!(f, "cycles {what}")?;
                list(f, figures)
            }
            Self::Syn(set, before, figures) => {
                write!(f, "syn {set} {before}")?;
                list(f, figures)
            }
            Self::Floor(figures) => {
                write!(f, "floor")?;
                list(f, figures)
            }
            Self::Longest(set, entries) => write!(f, "longest {set} {entries}"),
            Self::Table(set, sent, entries) => write!(f, "table {set} {sent} {entries}"),
            Self::Left(set, entries) => write!(f, "left {set} {entries}"),
            Self::Short(set, sent) => write!(f, "short {set} {sent}"),
            Self::Failed(why) => write!(f, "failed {why}"),
            Self::Done => write!(f, "done"),
        }
    }
}

/// It is a line of the kernel's, or one that was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotOurs;

impl FromStr for Line {
    type Err = NotOurs;

    fn from_str(line: &str) -> Result<Self, NotOurs> {
        let said = line.trim_end().strip_prefix(MARK).ok_or(NotOurs)?.trim_start();
        let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
        let mut parts = rest.split_ascii_whitespace();
        let line = match word {
            "doing" => return Ok(Self::Doing(rest.to_owned())),
            "failed" => return Ok(Self::Failed(rest.to_owned())),
            "done" => Self::Done,
            "checked" => Self::Checked(number(parts.next())?),
            "streams" => Self::Streams(number(parts.next())?, figures(&mut parts)?),
            "cycles" => Self::Cycles(word_of(parts.next())?, figures(&mut parts)?),
            "syn" => Self::Syn(word_of(parts.next())?, number(parts.next())?, figures(&mut parts)?),
            "floor" => Self::Floor(figures(&mut parts)?),
            "longest" => Self::Longest(word_of(parts.next())?, number(parts.next())?),
            "table" => Self::Table(word_of(parts.next())?, number(parts.next())?, number(parts.next())?),
            "left" => Self::Left(word_of(parts.next())?, number(parts.next())?),
            "short" => Self::Short(word_of(parts.next())?, number(parts.next())?),
            _ => return Err(NotOurs),
        };
        if parts.next().is_some() { Err(NotOurs) } else { Ok(line) }
    }
}

fn number<T: FromStr>(part: Option<&str>) -> Result<T, NotOurs> {
    part.and_then(|part| part.parse().ok()).ok_or(NotOurs)
}

fn word_of(part: Option<&str>) -> Result<String, NotOurs> {
    part.map(str::to_owned).ok_or(NotOurs)
}

/// The rest of a line: one figure at least, all finite and none below 0.
fn figures<'a>(parts: &mut impl Iterator<Item = &'a str>) -> Result<Vec<f64>, NotOurs> {
    let figure = |part: &str| part.parse::<f64>().ok().filter(|figure| figure.is_finite() && *figure >= 0.0);
    let figures: Option<Vec<f64>> = parts.take(MOST_FIGURES).map(figure).collect();
    figures.filter(|figures| !figures.is_empty()).ok_or(NotOurs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_it_writes() {
        let lines = [
            Line::Doing("32 streams, 64 octets".into()),
            Line::Checked(256),
            Line::Streams(64, vec![13.25, 15.0]),
            Line::Cycles("independent".into(), vec![13.2, 14.0]),
            Line::Syn("xor".into(), 4096, vec![1e6]),
            Line::Floor(vec![9000.5]),
            Line::Longest("xor".into(), 4352),
            Line::Table("xor".into(), 16640, 9052),
            Line::Left("xor".into(), 300),
            Line::Short("xor".into(), 9000),
            Line::Failed("no /proc/hashlane".into()),
            Line::Done,
        ];
        for line in lines {
            assert_eq!(format!("{line}\r\n").parse(), Ok(line));
        }
    }

    #[test]
    fn passes_over_what_is_not_its_own() {
        for line in [
            "",
            "Kernel panic - not syncing",
            "hashlane:",
            "hashlane: syn xor",
            "hashlane: syn xor 64",
            "hashlane: cycles independent NaN",
            "hashlane: streams 64 -1",
            "hashlane: checked 1 2",
            "hashlane: table xor 16640",
            "hashlane: table xor 1 2 3",
            "hashlane: left xor -1",
            "hashlane: done it",
        ] {
            assert_eq!(line.parse::<Line>(), Err(NotOurs), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn survives_any_line(line in "(hashlane: )?(doing|checked|streams|cycles|syn|floor|longest|table|left|short|failed|done)?.{0,60}") {
            let _ = line.parse::<Line>();
        }
    }
}
