//! The main function of a command.

use crate::pages;
use crate::sibling::SIBLINGS;
use crate::terminal::{is_broken_pipe, tell};
use anyhow::Result;
use clap::{Command, CommandFactory, FromArgMatches};
use std::env;
use std::path::Path;
use std::process::ExitCode;

/// Parses the arguments of a command, and runs it. An error is one line on standard error, and exit code 1; a
/// closed reader of the output (`| head`) is no error.
///
/// `verb` is the name of a command beside `hashlane`, such as `dns`: started as `hashlane-dns`, its help says
/// `hashlane-dns` where it says `hashlane dns` otherwise.
pub fn main<C: CommandFactory + FromArgMatches>(
    verb: Option<&str>,
    run: impl FnOnce(C) -> Result<ExitCode>,
) -> ExitCode {
    let mut command = C::command();
    let sibling = SIBLINGS.iter().find(|sibling| verb == Some(sibling.verb));
    let program = sibling.map_or("hashlane", |sibling| sibling.program);
    let spaced = program.replace('-', " ");
    let is_renamed = verb.is_some() && is_started_as(program);
    command = pages::add(command, program);
    if is_renamed {
        command = renamed(command, &spaced, program);
    }
    let matches = command.clone().get_matches();
    let result = match pages::run(&command, program, &matches) {
        Some(done) => done,
        None => C::from_arg_matches(&matches).map_or_else(|error| error.exit(), run),
    };
    match result {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("hashlane: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Tests if the first argument of this process is a path to `program`.
fn is_started_as(program: &str) -> bool {
    env::args_os().next().is_some_and(|first| Path::new(&first).file_name() == Some(program.as_ref()))
}

/// The command with another name in its texts.
fn renamed(command: Command, from: &str, to: &str) -> Command {
    let text = |text: Option<&clap::builder::StyledStr>| text.map(|text| text.to_string().replace(from, to));
    let (about, long, after) =
        (text(command.get_about()), text(command.get_long_about()), text(command.get_after_help()));
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = about.into_iter().fold(command, Command::about);
    let command = long.into_iter().fold(command, Command::long_about);
    let command = after.into_iter().fold(command, Command::after_help);
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, |sub| renamed(sub, from, to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_all_subcommands_name_the_command_that_was_started() {
        let sub = Command::new("serve").about("Serve").after_help("hashlane dns serve a.zone");
        let command =
            Command::new("hashlane dns").after_help("hashlane dns serve, or hashlane study").subcommand(sub);
        let renamed = renamed(command, "hashlane dns", "hashlane-dns");
        let after = |command: &Command| command.get_after_help().map(ToString::to_string);
        assert_eq!(after(&renamed).as_deref(), Some("hashlane-dns serve, or hashlane study"));
        let sub = renamed.find_subcommand("serve");
        assert_eq!(sub.and_then(after).as_deref(), Some("hashlane-dns serve a.zone"));
    }
}
