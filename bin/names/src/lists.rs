//! The lists of the command line, read into one table of rules.

use crate::input::{BLOCK, Input, Stop, is_stdin};
use crate::progress::Progress;
use anyhow::{Context as _, Result, anyhow, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use hashlane_name_lists::{Format, ListError, ListReader, Options, Report};
use hashlane_name_map::{Builder, Key, MAX_LISTS, Rules, Target};
use hashlane_stats::format::plain;
use std::path::PathBuf;
use std::time::Duration;

/// Lists, and the meaning of their lines.
#[derive(Debug, Args)]
pub(crate) struct Lists {
    /// Lists of names, at most 64; - for one on standard input
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<PathBuf>,
    /// Format of the lists; detected for each from its content by default
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Names that a plain domain of a list covers
    #[arg(long, value_enum, default_value = "exact", value_name = "WHICH")]
    plain: Plain,
}

/// Targets of plain domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Plain {
    /// The name alone
    Exact,
    /// The name and all names below it
    Subtree,
}

/// Parser of a format by its id.
fn formats() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::id)).try_map(|id| id.parse::<Format>())
}

/// A list that was read.
pub(crate) struct List {
    /// Its path as it was given.
    pub(crate) name: String,
    pub(crate) report: Report,
}

/// All lists.
pub(crate) struct Loaded {
    pub(crate) lists: Vec<List>,
    pub(crate) rules: Rules,
    /// Time to read the lists and build the table.
    pub(crate) time: Duration,
}

impl Lists {
    /// Tests if a list comes from standard input.
    pub(crate) fn take_stdin(&self) -> bool {
        self.lists.iter().any(|path| is_stdin(path))
    }

    /// Reads all lists. `None` after a signal.
    ///
    /// # Errors
    /// A list cannot be read, or there are too many.
    pub(crate) fn load(&self, stop: &Stop) -> Result<Option<Loaded>> {
        if self.lists.len() > MAX_LISTS {
            bail!("{} lists; at most {MAX_LISTS} are taken: join lists of one format", self.lists.len());
        }
        if self.lists.iter().filter(|path| is_stdin(path)).count() > 1 {
            bail!("two lists are -, and there is one standard input; name a file");
        }
        let mut builder = Builder::new(&Key::random().context("cannot draw a key")?);
        let (mut lists, mut progress) = (Vec::new(), Progress::new());
        let mut room = vec![0; BLOCK];
        for (number, path) in self.lists.iter().enumerate() {
            let mut input = Input::open(path, stop)?;
            let options = Options { format: self.format, plain: self.plain.target() };
            let mut reader = ListReader::new(number, options);
            let failed = |name: &str, error: ListError| match error {
                ListError::UnknownFormat => anyhow!("{name}: {error} (--format)"),
                error => anyhow!("{name}: {error}"),
            };
            let (mut lines, mut bytes) = (0, 0);
            loop {
                let len = input.read(&mut room)?;
                if stop.is_set() {
                    return Ok(None);
                }
                let Some(piece) = room.get(..len).filter(|piece| !piece.is_empty()) else { break };
                reader.push(piece, &mut builder).map_err(|error| failed(input.name(), error))?;
                bytes += len as u64;
                lines += memchr::memchr_iter(b'\n', piece).count() as u64;
                progress.refresh(input.name(), lines, bytes, input.len());
            }
            let report = reader.finish(&mut builder).map_err(|error| failed(input.name(), error))?;
            lists.push(List { name: plain(input.name()), report });
        }
        let rules = builder.build();
        Ok(Some(Loaded { lists, rules, time: progress.elapsed() }))
    }
}

impl Plain {
    const fn target(self) -> Target {
        match self {
            Self::Exact => Target::Exact,
            Self::Subtree => Target::Subtree,
        }
    }
}
