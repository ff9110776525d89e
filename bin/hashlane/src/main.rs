//! `hashlane`: a lab for the step from packet bytes to key, hash and entry.

#![forbid(unsafe_code)]

mod cmd;
mod ids;
mod output;
mod siblings;
mod studies;

use clap::{Parser, Subcommand};
use hashlane_command::sibling::SIBLINGS;
use hashlane_link::memory::Allocator;
use std::ffi::OsString;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Hash functions, name encodings and lookup tables: measure them with your traffic, and run data planes on
/// them.
#[derive(Debug, Parser)]
#[command(name = "hashlane", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  hashlane study run all --quick            every study, in minutes
  hashlane study run name-encodings --names names.txt
                                            one study, with the names in a file
  hashlane compare --run ./before ./after   two builds, launched alternately: faster, slower, or not
  hashlane dns serve example.com.zone --listen 127.0.0.1:5353
                                            an authoritative name server
  hashlane dns render example.com.zone --explain
                                            the zone as DNS messages, with the form of each name
  hashlane flow show trace.pcap             top hosts, conversations, services, protocols
  hashlane flow meter trace.pcap --ipfix flows.ipfix
                                            the flows of a capture, for collectors
  hashlane names match ads.txt < names.txt  the names that a list of domains matches
  hashlane ndn ping /example                round trips to a producer
  hashlane audit --scheme xxh3              can a table under this hash be flooded, and with what?
  hashlane schemes                          the registered hashes, and where each is safe";

#[derive(Debug, Subcommand)]
enum Command {
    /// List and run studies
    Study(cmd::study::Study),
    /// Redraw the report from the records in a folder
    Report(cmd::report::Report),
    /// Compare two builds, launched alternately, or two folders of records
    Compare(cmd::compare::Compare),
    /// Tell if a hash table can be flooded, for any hash function, with the keys that do it
    Audit(Box<cmd::audit::Audit>),
    /// Serve zones as a DNS name server, and render DNS messages: the command hashlane-dns
    Dns(Other),
    /// Meter flows: packets of captures in, records of flows out: the command hashlane-flow
    Flow(Other),
    /// Match domain names against block lists, hosts files, RPZ zones: the command hashlane-names
    Names(Other),
    /// Run, use and manage a forwarder of Named Data Networking: the command hashlane-ndn
    Ndn(Other),
    #[command(hide = true)]
    Lab(cmd::lab::Lab),
    /// List the registered hashes: source, width, keying, check value, where each is safe
    Schemes(cmd::schemes::Schemes),
}

/// Arguments of a command beside this one. They are handed over before clap sees them; this is their place in
/// the help.
#[derive(Debug, clap::Args)]
struct Other {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    if let Err(error) = ids::check() {
        output::tell(&format!("hashlane: {error:#}"));
        // As for arguments that are refused; 1 is a verdict of `audit`.
        return ExitCode::from(2);
    }
    hand_over();
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    cmd::audit::Audit::print_usage_error(&arguments, || Cli::try_parse().map(|_| ()));
    hashlane_command::main(None, |cli: Cli| match cli.command {
        Command::Study(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Audit(command) => command.run(),
        Command::Lab(command) => command.run(),
        Command::Schemes(command) => command.run(),
        Command::Dns(_) | Command::Flow(_) | Command::Names(_) | Command::Ndn(_) => {
            unreachable!("handed over before")
        }
    })
}

/// Runs the command beside this one that the arguments name, in place of this process: `hashlane dns …`, and
/// `hashlane help dns …`.
fn hand_over() {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (verb, rest) = match arguments.as_slice() {
        [help, verb, rest @ ..] if help == "help" => {
            (verb, [[OsString::from("help")].as_slice(), rest].concat())
        }
        [verb, rest @ ..] => (verb, rest.to_vec()),
        [] => return,
    };
    if let Some(sibling) = SIBLINGS.iter().find(|sibling| verb == sibling.verb) {
        let Err(error) = sibling.replace_process(rest);
        output::tell(&format!("hashlane: {error:#}"));
        std::process::exit(1);
    }
}
