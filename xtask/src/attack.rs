//! `cargo xtask attack`: builds the forwarder, the name server and the attacks, and runs them.
//!
//! The attacks are a package of their own, so that the other tasks need none of its dependencies.

use crate::interop;
use crate::run::{self, Outcome};
use clap::Args;

/// Attack a forwarder and a name server, and measure the service of everyone else during and after
///
/// Builds the release command and the package hashlane-attack, and runs the latter with the options.
/// `cargo xtask attack --help` lists them.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = EXAMPLES)]
pub(crate) struct Attack {
    /// Options: see `cargo xtask attack --help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    words: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask attack                        all rows, about twelve minutes
  cargo xtask attack --quick --dns          the short form of the name server's rows
  cargo xtask attack --quick --row 4        the short form of one row";

impl Attack {
    /// The short form of all rows. A row fails if it fails three times: the tests share their machine.
    pub(crate) fn quick() -> Self {
        Self { words: ["--quick", "--attempts", "3"].map(str::to_owned).to_vec() }
    }

    /// All rows in full. A row fails if it fails three times.
    pub(crate) fn full() -> Self {
        Self { words: ["--attempts", "3"].map(str::to_owned).to_vec() }
    }

    pub(crate) fn run(&self) -> Outcome {
        self.attack().into()
    }

    fn attack(&self) -> Result<(), String> {
        // With the features of the tests, so that nothing is built twice.
        let build = ["cargo", "build", "--workspace", "--all-features", "--bin", "hashlane-attack"];
        run::show(&mut run::command(&build))?;
        let mut command = run::command(&[run::target_dir()?.join("debug/hashlane-attack")]);
        if !self.words.iter().any(|word| word == "--help" || word == "-h") {
            command.arg("--hashlane").arg(run::build_release()?);
            if wants_ndnd(&self.words) {
                command.arg("--ndnd").arg(interop::install_ndnd()?);
            }
        }
        run::show(command.args(&self.words))
    }
}

/// True if ndnd is to be attacked, and not at a path of the user's.
fn wants_ndnd(words: &[String]) -> bool {
    let is_ndnd = |pair: &[String]| matches!(pair, [flag, name] if flag == "--forwarder" && name == "ndnd");
    words.windows(2).any(is_ndnd) || words.iter().any(|word| word == "--forwarder=ndnd")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ndnd_is_installed_where_it_is_chosen_without_a_path() {
        let wants = |line: &str| wants_ndnd(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert!(wants("--quick --forwarder ndnd --row 4") && wants("--forwarder=ndnd"));
        assert!(!wants("--forwarder ndnd:/usr/bin/ndnd") && !wants("--table ndnd") && !wants(""));
    }
}
