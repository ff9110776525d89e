//! Files of a pattern, shared among the threads of a query.

use crate::api::{Output, Table, Type};
use crate::ends::mapped;
use glob::MatchOptions;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most files of a call.
const MOST: usize = 100_000;

/// Bytes of a file for each row, about.
const BYTES: u64 = 100;

/// Column after a format's: the path of the file.
const FILE: (&str, Type) = ("file", Type::Varchar);

/// Flags of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags {
    /// Addresses as text; as 16 bytes otherwise.
    pub(crate) text: bool,
    /// Packets that are left out otherwise are rows, too, with the reason.
    pub(crate) skipped: bool,
}

/// A file format: rows of one file.
pub(crate) trait Format: Send + Sized + 'static {
    /// Name of the table function.
    const NAME: &'static str;

    /// Flags that a call may have: `text`, then `skipped` if the format skips packets.
    const FLAGS: &'static [&'static str];

    /// A row.
    type Row: Send + 'static;

    /// Names and types of the columns; `address` is the type of addresses.
    fn columns(address: Type) -> Vec<(&'static str, Type)>;

    /// Opens a file, which is a regular one.
    ///
    /// # Errors
    /// The file cannot be read, or has another format.
    fn open(path: &Path) -> Result<Self, String>;

    /// Appends rows to `rows` until there are `most`, or they take some megabytes. No rows are the end.
    ///
    /// # Errors
    /// The file is damaged. Rows before the damage were appended.
    fn read(&mut self, flags: Flags, most: usize, rows: &mut Vec<Self::Row>) -> Result<(), String>;

    /// Writes a column.
    ///
    /// # Errors
    /// The output has another type.
    fn write(rows: &[Self::Row], column: usize, output: &mut Output<'_>) -> Result<(), String>;
}

/// A call over the files of a pattern.
pub(crate) struct Files<F> {
    paths: Vec<PathBuf>,
    flags: Flags,
    columns: Vec<(&'static str, Type)>,
    format: std::marker::PhantomData<fn() -> F>,
}

/// Work of a thread: the file that it reads.
pub(crate) struct Work<F: Format> {
    open: Option<F>,
    path: usize,
    rows: Vec<F::Row>,
    /// Error after the rows that were read last.
    failed: Option<String>,
}

impl<F: Format> Table for Files<F> {
    const NAME: &'static str = F::NAME;
    const FLAGS: &'static [&'static str] = F::FLAGS;

    type Work = Work<F>;

    fn bind(argument: &[String], flags: &[Option<bool>]) -> Result<Self, String> {
        let flag = |place: usize| flags.get(place).copied().flatten();
        let flags = Flags { text: flag(0).unwrap_or(true), skipped: flag(1).unwrap_or(false) };
        let mut columns = F::columns(if flags.text { Type::Varchar } else { Type::Blob });
        columns.push(FILE);
        let mut paths = Vec::new();
        argument.iter().try_for_each(|pattern| find(pattern, &mut paths))?;
        Ok(Self { paths, flags, columns, format: std::marker::PhantomData })
    }

    fn columns(&self) -> Vec<(&'static str, Type)> {
        self.columns.clone()
    }

    fn estimate(&self) -> u64 {
        let sizes = self.paths.iter().filter_map(|path| Some(std::fs::metadata(path).ok()?.len()));
        sizes.sum::<u64>() / BYTES
    }

    fn threads(&self) -> usize {
        self.paths.len()
    }

    fn work(&self) -> Work<F> {
        Work { open: None, path: 0, rows: Vec::new(), failed: None }
    }

    fn read(&self, claimed: &AtomicUsize, work: &mut Work<F>, most: usize) -> Result<usize, String> {
        work.rows.clear();
        if let Some(why) = work.failed.take() {
            return Err(why);
        }
        loop {
            if work.open.is_none() {
                work.path = claimed.fetch_add(1, Ordering::Relaxed);
                let Some(path) = self.paths.get(work.path) else { return Ok(0) };
                work.open = Some(open(path)?);
            }
            let (Some(file), Some(path)) = (&mut work.open, self.paths.get(work.path)) else { return Ok(0) };
            let read = file.read(self.flags, most, &mut work.rows);
            let read = read.map_err(|why| format!("{}: {why}", path.display()));
            if work.rows.is_empty() || read.is_err() {
                work.open = None;
            }
            match read {
                Err(why) if work.rows.is_empty() => return Err(why),
                Err(why) => work.failed = Some(why),
                Ok(()) if work.rows.is_empty() => continue,
                Ok(()) => {}
            }
            return Ok(work.rows.len());
        }
    }

    fn write(&self, work: &Work<F>, column: usize, output: &mut Output<'_>) -> Result<(), String> {
        if column + 1 < self.columns.len() {
            return F::write(&work.rows, column, output);
        }
        let path = self.paths.get(work.path).map(|path| path.display().to_string()).unwrap_or_default();
        (0..work.rows.len()).try_for_each(|row| output.text(row, &path))
    }
}

/// Opens a regular file: a pipe or a device may never answer, and a query could not be interrupted.
fn open<F: Format>(path: &Path) -> Result<F, String> {
    let named = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let data = std::fs::metadata(path).map_err(|error| named(&error))?;
    if !data.is_file() {
        return Err(named(&"not a regular file"));
    }
    F::open(path).map_err(|why| named(&why))
}

/// Appends the files of a pattern in the order of their names; a path of a file is a pattern of itself.
fn find(pattern: &str, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    if pattern.contains("://") {
        return Err(format!("{pattern:?} is no local path: copy the file first"));
    }
    // A file that is called `-` is not standard input.
    let pattern = if pattern == "-" { "./-" } else { pattern };
    if Path::new(pattern).exists() {
        return add(pattern.into(), pattern, paths);
    }
    let options = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let found = glob::glob_with(pattern, options).map_err(|error| format!("pattern {pattern:?}: {error}"))?;
    let before = paths.len();
    for path in found {
        let path = path.map_err(|error| format!("pattern {pattern:?}: {error}"))?;
        if path.is_dir() {
            continue;
        }
        add(path, pattern, paths)?;
    }
    if paths.len() == before { Err(format!("no file matches {pattern:?}")) } else { Ok(()) }
}

fn add(path: PathBuf, pattern: &str, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    if paths.len() >= MOST {
        return Err(format!("pattern {pattern:?} has more than {MOST} files: use a longer one"));
    }
    paths.push(path);
    Ok(())
}

/// Writes addresses, as text or as 16 bytes, IPv4 as IPv4-mapped. `None` is a null.
///
/// # Errors
/// The output has another type.
pub(crate) fn write_addresses(
    addresses: impl Iterator<Item = Option<IpAddr>>,
    output: &mut Output<'_>,
) -> Result<(), String> {
    let as_text = output.is(Type::Varchar);
    for (row, address) in addresses.enumerate() {
        match address {
            None => output.set_null(row),
            Some(address) if as_text => output.text(row, &address.to_string())?,
            Some(address) => output.blob(row, &mapped(address).octets())?,
        }
    }
    Ok(())
}

/// Writes texts; `None` is a null.
///
/// # Errors
/// The output has another type.
pub(crate) fn write_texts(
    texts: impl Iterator<Item = Option<impl AsRef<str>>>,
    output: &mut Output<'_>,
) -> Result<(), String> {
    for (row, text) in texts.enumerate() {
        match text {
            Some(text) => output.text(row, text.as_ref())?,
            None => output.set_null(row),
        }
    }
    Ok(())
}

/// Writes numbers; `None` is a null.
///
/// # Errors
/// The output has another type.
pub(crate) fn write_numbers<T: crate::api::Number>(
    numbers: impl Iterator<Item = Option<T>>,
    output: &mut Output<'_>,
) -> Result<(), String> {
    for (row, number) in numbers.enumerate() {
        match (number, output.numbers::<T>()?.get_mut(row)) {
            (Some(number), Some(place)) => *place = number,
            _ => output.set_null(row),
        }
    }
    Ok(())
}

/// Writes times in nanoseconds since 1970; `None`, and times after 2262, are nulls.
///
/// # Errors
/// The output has another type.
pub(crate) fn write_times(
    times: impl Iterator<Item = Option<u64>>,
    output: &mut Output<'_>,
) -> Result<(), String> {
    for (row, time) in times.enumerate() {
        let time = time.and_then(|time| i64::try_from(time).ok()).filter(|time| *time < i64::MAX);
        match (time, output.times()?.get_mut(row)) {
            (Some(time), Some(place)) => *place = time,
            _ => output.set_null(row),
        }
    }
    Ok(())
}
