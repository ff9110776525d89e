//! `cargo xtask deny`

use crate::need::{self, Need};
use crate::run::{self, Outcome};
use clap::Args;

/// Check the dependencies: licenses, sources, duplicates, known vulnerabilities
///
/// Runs cargo-deny with deny.toml. The database of vulnerabilities comes from the network; without it the
/// other checks still run, and the step says that vulnerabilities were not checked.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Deny {}

const EXAMPLES: &str = "\
Needs cargo-deny; with CI=true, installs it.

Examples:
  cargo xtask deny";

const NEEDS: [Need; 1] = [Need {
    name: "cargo-deny",
    probe: &["cargo", "deny", "--version"],
    install: "cargo install cargo-deny --locked",
}];

/// The checks that need no network.
const LOCAL: [&str; 7] = ["cargo", "deny", "--workspace", "--all-features", "check", "bans", "licenses"];

impl Deny {
    pub(crate) fn run(&self) -> Outcome {
        if let Err(outcome) = need::meet(&NEEDS) {
            return outcome;
        }
        let local = run::show(run::command(&LOCAL).arg("sources"));
        if let Err(why) = run::show(&mut run::command(&["cargo", "deny", "fetch", "db"])) {
            return without_advisories(local, &why);
        }
        let known = ["cargo", "deny", "--workspace", "--all-features", "check", "advisories"];
        let known = run::show(&mut run::command(&known));
        local.and(known).into()
    }
}

/// The outcome if the database of vulnerabilities cannot be fetched. In continuous integration that is a
/// failure.
fn without_advisories(local: Result<(), String>, why: &str) -> Outcome {
    let unchecked = format!("known vulnerabilities were NOT checked: cannot fetch their database: {why}");
    match local {
        Err(why) => Outcome::Failed(format!("{why}; {unchecked}")),
        Ok(()) if run::is_ci() => Outcome::Failed(unchecked),
        Ok(()) => Outcome::Skipped(format!("bans, licenses and sources are fine; {unchecked}")),
    }
}
