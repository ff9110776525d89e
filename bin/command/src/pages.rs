//! Subcommands that every command has: completions for shells, and manual pages.

use crate::sibling::SIBLINGS;
use anyhow::{Context, Result};
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const COMPLETIONS: &str = "completions";
const MAN: &str = "man";

/// Place in the list of subcommands: after the command's own.
const LAST: usize = 900;

/// Adds the subcommands to a command. `name` is the program's.
pub(crate) fn add(command: Command, name: &str) -> Command {
    let shell = Arg::new("shell")
        .required(true)
        .value_name("SHELL")
        .value_parser(value_parser!(Shell))
        .help("Shell that reads the script");
    let completions = Command::new(COMPLETIONS)
        .about("Print a script that completes the arguments of this command in a shell")
        .arg(shell)
        .display_order(LAST)
        .after_help(format!(
            "\
Examples:
  {name} completions bash > ~/.local/share/bash-completion/completions/{name}
  {name} completions zsh > \"${{fpath[1]}}/_{name}\"
  {name} completions fish > ~/.config/fish/completions/{name}.fish"
        ));
    let folder = Arg::new("folder")
        .required(true)
        .value_name("FOLDER")
        .value_parser(value_parser!(PathBuf))
        .help("Folder for the pages, which is created if it is missing");
    let man = Command::new(MAN)
        .about("Write manual pages of this command and its subcommands")
        .arg(folder)
        .display_order(LAST + 1)
        .after_help(format!(
            "\
Examples:
  {name} man ~/.local/share/man/man1
  man {name}"
        ));
    command.subcommand(completions).subcommand(man)
}

/// Runs the subcommand if it is one of these. `command` is the whole command, `name` the program's.
pub(crate) fn run(command: &Command, name: &'static str, matches: &ArgMatches) -> Option<Result<ExitCode>> {
    let (subcommand, arguments) = matches.subcommand()?;
    // Pages and scripts are for the program that users call by its own name.
    let mut command = command.clone().name(name).bin_name(name);
    match subcommand {
        COMPLETIONS => {
            let shell = *arguments.get_one::<Shell>("shell")?;
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, name, &mut script);
            if shell == Shell::Bash {
                script = String::from_utf8_lossy(&script).replace(&wrong_label(name), &label(name)).into();
            }
            Some(io::stdout().write_all(&script).map(|()| ExitCode::SUCCESS).map_err(Into::into))
        }
        MAN => {
            let folder = arguments.get_one::<PathBuf>("folder")?;
            let write = fs::create_dir_all(folder).and_then(|()| write_manual(command, folder));
            let failed = || format!("cannot write manual pages to {}", folder.display());
            Some(write.map(|()| ExitCode::SUCCESS).with_context(failed))
        }
        _ => None,
    }
}

/// Writes the manual pages of a command and its subcommands. Pages of subcommands that are programs of their
/// own are left to these: packages of both would else have the same files.
fn write_manual(command: Command, folder: &Path) -> io::Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let is_program = |command: &Command| {
        SIBLINGS.iter().any(|sibling| command.get_display_name() == Some(sibling.program))
    };
    let mut commands = vec![command];
    while let Some(command) = commands.pop() {
        let own = command.get_subcommands().filter(|command| !command.is_hide_set() && !is_program(command));
        commands.extend(own.cloned());
        clap_mangen::Man::new(command).generate_to(folder)?;
    }
    Ok(())
}

/// The label of a program in its script for Bash.
fn label(name: &str) -> String {
    name.replace('-', "__")
}

/// The label of a program before the labels of its subcommands: `clap_complete` 4.6 separates the parts of a
/// program's name there as it does a subcommand from its command, and never comes to these cases.
fn wrong_label(name: &str) -> String {
    name.replace('-', "__subcmd__")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command as Process;

    /// A command with these subcommands, started with those arguments.
    fn parsed(arguments: &[&str]) -> (Command, ArgMatches) {
        let serve = Command::new("serve").about("Serve zones");
        let command = add(Command::new("hashlane dns").subcommand(serve), "hashlane-dns");
        let matches = command.clone().try_get_matches_from([&["hashlane-dns"], arguments].concat()).unwrap();
        (command, matches)
    }

    #[test]
    fn manual_pages_have_the_name_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("man1");
        let (command, matches) = parsed(&["man", pages.to_str().unwrap()]);
        run(&command, "hashlane-dns", &matches).unwrap().unwrap();
        let read = |page: &str| fs::read_to_string(pages.join(page)).unwrap();
        assert!(read("hashlane-dns.1").contains("hashlane\\-dns\\-serve(1)"), "{}", read("hashlane-dns.1"));
        assert!(read("hashlane-dns-serve.1").contains("Serve zones"));
    }

    #[test]
    fn a_subcommand_that_is_a_program_writes_its_pages_itself() {
        let folder = tempfile::tempdir().unwrap();
        let zone = Command::new("dns").subcommand(Command::new("zone"));
        let list = Command::new("study").subcommand(Command::new("list"));
        let command = add(Command::new("hashlane").subcommands([zone, list]), "hashlane");
        let words = ["hashlane", "man", folder.path().to_str().unwrap()];
        let matches = command.clone().try_get_matches_from(words).unwrap();
        run(&command, "hashlane", &matches).unwrap().unwrap();
        let files = fs::read_dir(folder.path()).unwrap();
        let mut files: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        let expected = ["completions", "man", "study-list", "study"].map(|name| format!("hashlane-{name}.1"));
        assert_eq!(files, [&expected[..], &["hashlane.1".to_owned()]].concat());
    }

    #[test]
    fn bash_completes_the_words_of_subcommands() {
        let show = Command::new("list-zones").arg(Arg::new("quiet").long("quiet").num_args(0));
        let command = Command::new("hashlane dns").subcommand(Command::new("zone").subcommand(show));
        let mut command = add(command, "hashlane-dns").name("hashlane-dns").bin_name("hashlane-dns");
        let mut script = Vec::new();
        clap_complete::generate(Shell::Bash, &mut command, "hashlane-dns", &mut script);
        let script = String::from_utf8(script).unwrap();
        let script = script.replace(&wrong_label("hashlane-dns"), &label("hashlane-dns"));
        let complete = |words: &str, word: &str| {
            let words = format!(
                "{script}\nCOMP_WORDS=({words})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
                 _hashlane__dns hashlane-dns '{word}' ''\necho \"${{COMPREPLY[@]}}\""
            );
            let said = Process::new("bash").args(["-c", &words]).output().unwrap();
            String::from_utf8(said.stdout).unwrap().trim().to_owned()
        };
        assert_eq!(complete("hashlane-dns zo", "zo"), "zone");
        assert_eq!(complete("hashlane-dns zone li", "li"), "list-zones");
        assert_eq!(complete("hashlane-dns zone list-zones --q", "--q"), "--quiet");
    }

    #[test]
    fn pages_in_a_folder_that_cannot_be_made_are_an_error_that_names_it() {
        let (command, matches) = parsed(&["man", "/dev/null/man1"]);
        let error = run(&command, "hashlane-dns", &matches).unwrap().unwrap_err();
        assert!(
            format!("{error:#}").starts_with("cannot write manual pages to /dev/null/man1: "),
            "{error:#}"
        );
    }

    #[test]
    fn other_subcommands_are_the_commands_own() {
        let (command, matches) = parsed(&["serve"]);
        assert!(run(&command, "hashlane-dns", &matches).is_none());
    }
}
