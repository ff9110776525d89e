//! Options of `study run` for the user's own workloads: those that the kinds of studies state.

use crate::studies::STUDIES;
use anyhow::{Result, bail};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use hashlane_lab::definition::Definition;
use hashlane_lab::study::{Input, Paths};
use std::ffi::OsString;
use std::path::PathBuf;

/// Files that the user gave, by option.
#[derive(Debug)]
pub(crate) struct InputArgs(Paths);

/// Options of all kinds of studies, each once.
fn inputs() -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for input in STUDIES.0.iter().flat_map(|study| study.inputs()) {
        if inputs.iter().all(|known| known.option != input.option) {
            inputs.push(*input);
        }
    }
    inputs
}

/// Tests if studies of a model take an option.
fn takes(option: &str, model: &str) -> bool {
    STUDIES.kind(model).is_some_and(|kind| kind.inputs().iter().any(|input| input.option == option))
}

impl InputArgs {
    /// Files by option.
    pub(crate) fn paths(&self) -> &Paths {
        &self.0
    }

    /// The options of `study run` with the files that a study takes.
    pub(crate) fn options_of(&self, study: &Definition) -> Vec<OsString> {
        let given = self.0.iter().filter(|(option, _)| takes(option, &study.model));
        given.flat_map(|(option, path)| [format!("--{option}").into(), path.into()]).collect()
    }

    /// Checks that each file is of use to one of the studies: otherwise it would be ignored silently.
    pub(crate) fn check(&self, definitions: &[Definition]) -> Result<()> {
        for option in self.0.keys() {
            if definitions.iter().any(|definition| takes(option, &definition.model)) {
                continue;
            }
            let kinds = STUDIES.0.iter().filter(|kind| takes(option, kind.model()));
            let slugs: Vec<&str> = kinds.flat_map(|kind| kind.files()).map(|file| file.slug).collect();
            match slugs.as_slice() {
                [slug] => bail!("--{option} is for {slug} only: add that study to the run"),
                _ => bail!("--{option} is for {}: add one of them to the run", slugs.join(", ")),
            }
        }
        Ok(())
    }
}

impl Args for InputArgs {
    fn augment_args(command: Command) -> Command {
        command.args(inputs().into_iter().map(|input| {
            Arg::new(input.option)
                .long(input.option)
                .value_name("FILE")
                .help(input.help)
                .value_parser(value_parser!(PathBuf))
                .conflicts_with_all(input.conflicts)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for InputArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let path = |input: Input| Some((input.option, matches.get_one::<PathBuf>(input.option)?.clone()));
        Ok(Self(inputs().into_iter().filter_map(path).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
