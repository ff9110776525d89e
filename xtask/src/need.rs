//! Tools that a step needs, and the commands that install them.

use crate::run::{self, Outcome};
use std::fmt;

/// A tool, a probe for it, and the command that installs it.
pub(crate) struct Need {
    pub(crate) name: &'static str,
    /// A command that succeeds if the tool is installed.
    pub(crate) probe: &'static [&'static str],
    /// A line for the shell.
    pub(crate) install: &'static str,
}

pub(crate) const PYTHON: Need = Need {
    name: "python 3.11 with venv",
    probe: &["python3", "-c", "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))"],
    install: "apt-get update && apt-get install --yes python3 python3-venv",
};

pub(crate) const JAVA: Need = Need {
    name: "java 17",
    // The versions before 9 are 1.5 to 1.8.
    probe: &["sh", "-c", r#"java -version 2>&1 | grep -Eq 'version "(1[7-9]|[2-9][0-9])'"#],
    install: "apt-get update && apt-get install --yes openjdk-17-jre-headless",
};

pub(crate) const NAMED: Need = Need {
    name: "named",
    probe: &["/usr/sbin/named", "-V"],
    install: "apt-get update && apt-get install --yes bind9",
};

pub(crate) const UNBOUND: Need = Need {
    name: "unbound",
    probe: &["/usr/sbin/unbound", "-V"],
    install: "apt-get update && apt-get install --yes unbound",
};

/// Any version.
pub(crate) const GO: Need = Need {
    name: "go",
    probe: &["go", "version"],
    install: "apt-get update && apt-get install --yes golang-go",
};

impl Need {
    fn install(&self) -> Result<(), String> {
        println!("{self}");
        run::show(&mut run::command(&["sh", "-c", self.install]))?;
        // The packaged version may be too old.
        if run::works(self.probe) { Ok(()) } else { Err(format!("{} is still missing", self.name)) }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing: {}", self.name, self.install)
    }
}

/// Checks that the tools are installed. In continuous integration, installs the missing ones.
///
/// # Errors
/// The outcome of the step: skipped, with the commands that install the missing tools; in continuous
/// integration, failed if a tool cannot be installed.
pub(crate) fn meet(needs: &[Need]) -> Result<(), Outcome> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !run::works(need.probe)).collect();
    if !missing.is_empty() && !run::is_ci() {
        let commands: Vec<_> = missing.iter().map(|need| need.to_string()).collect();
        return Err(Outcome::Skipped(commands.join("; ")));
    }
    missing.iter().try_for_each(|need| need.install()).map_err(Outcome::Failed)
}
