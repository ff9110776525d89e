//! The lists of the command line, read into one table of rules.

use crate::compiled;
use crate::input::{Input, Stop, is_stdin};
use crate::loaded::{List, Loaded};
use crate::progress::Progress;
use anyhow::{Context as _, Result, anyhow, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use hashlane_name_lists::{CompiledList, Format, ListError, ListReader, Options, is_compiled};
use hashlane_name_map::{Builder, Key, MAX_LISTS, Target};
use hashlane_stats::format::plain as text;
use std::path::PathBuf;

/// Lists, and the meaning of their lines.
#[derive(Clone, Debug, Args)]
pub(crate) struct Lists {
    /// Lists of names, at most 64, or one file of `names compile`; - for one on standard input
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<PathBuf>,
    /// Format of the lists; detected for each from its content by default
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Names that a plain domain of a list covers [default: exact]
    #[arg(long, value_enum, value_name = "WHICH")]
    plain: Option<Plain>,
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

impl Lists {
    /// The paths of the lists.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.lists
    }

    /// Tests if a list comes from standard input.
    pub(crate) fn take_stdin(&self) -> bool {
        self.lists.iter().any(|path| is_stdin(path))
    }

    /// Reads all lists. `None` after a signal.
    ///
    /// # Errors
    /// A list cannot be read, or there are too many.
    pub(crate) fn load(&self, stop: &Stop, mut progress: Progress) -> Result<Option<Loaded>> {
        if self.lists.len() > MAX_LISTS {
            bail!("{} lists; at most {MAX_LISTS} are taken: join lists of one format", self.lists.len());
        }
        if self.lists.iter().filter(|path| is_stdin(path)).count() > 1 {
            bail!("two lists are -, and there is one standard input; name a file");
        }
        let mut builder = Builder::new(&Key::random().context("cannot draw a key")?);
        let mut lists = Vec::new();
        for (number, path) in self.lists.iter().enumerate() {
            let mut input = Input::open(path, stop)?;
            let mut piece = input.start()?;
            if is_compiled(&piece) {
                self.check_compiled(input.name())?;
                return compiled::read(input, piece, stop, &progress);
            }
            let plain = self.plain.map_or(Target::Exact, Plain::target);
            let mut reader = ListReader::new(number, Options { format: self.format, plain });
            let name = input.name().to_owned();
            let failed = |error: ListError| match error {
                ListError::UnknownFormat => anyhow!("{name}: {error} (--format)"),
                error => anyhow!("{name}: {error}"),
            };
            let (mut lines, mut bytes) = (0, 0);
            while !piece.is_empty() {
                reader.push(&piece, &mut builder).map_err(failed)?;
                bytes += piece.len() as u64;
                lines += memchr::memchr_iter(b'\n', &piece).count() as u64;
                progress.refresh(&name, lines, bytes, input.len());
                input.next(&mut piece)?;
            }
            if stop.is_set() {
                return Ok(None);
            }
            let report = reader.finish(&mut builder).map_err(failed)?;
            let about = CompiledList::new(text(&name), &report);
            lists.push(List { about, counts: Some(report.counts) });
        }
        let rules = builder.build()?;
        Ok(Some(Loaded { lists, rules, time: progress.elapsed() }))
    }

    /// Checks that a compiled file stands alone.
    fn check_compiled(&self, name: &str) -> Result<()> {
        if self.lists.len() > 1 {
            bail!("{name} has compiled rules, which stand alone; compile all lists together");
        }
        if self.format.is_some() || self.plain.is_some() {
            bail!("{name} has compiled rules; --format and --plain belong to `names compile`");
        }
        Ok(())
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
