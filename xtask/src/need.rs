//! Tools that a step needs, and how to come by them.

use crate::run::{self, Outcome};
use std::fmt;

/// A tool, how to tell that it is there, and how to come by it.
pub(crate) struct Need {
    pub(crate) name: &'static str,
    /// A command that succeeds where the tool is there.
    pub(crate) probe: &'static [&'static str],
    /// For the shell.
    pub(crate) install: &'static str,
}

impl Need {
    fn install(&self) -> Result<(), String> {
        println!("{self}");
        run::show(&mut run::command(&["sh", "-c", self.install]))?;
        // What is packaged may be older than what is needed.
        if run::works(self.probe) { Ok(()) } else { Err(format!("{} is still missing", self.name)) }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing: {}", self.name, self.install)
    }
}

/// Installs, in continuous integration, those of `needs` that are missing; elsewhere says how to, and that the step is
/// skipped.
///
/// # Errors
/// What the step that needs them came to.
pub(crate) fn meet(needs: &[Need]) -> Result<(), Outcome> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !run::works(need.probe)).collect();
    if !missing.is_empty() && !run::is_ci() {
        let commands: Vec<_> = missing.iter().map(|need| need.to_string()).collect();
        return Err(Outcome::Skipped(commands.join("; ")));
    }
    missing.iter().try_for_each(|need| need.install()).map_err(Outcome::Failed)
}
