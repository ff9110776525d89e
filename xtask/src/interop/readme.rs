//! The commands of the page about the name server, run in a shell as they stand.

use crate::run;
use std::fs;

/// Until the server listens, as a user waits for its log.
const WAIT: &str =
    "until hashlane dns control --socket dns.sock status > /dev/null 2>&1; do sleep 0.05; done\n";
/// The end that the page gives.
const END: &str = "kill %1\nwait %1\necho ended";

/// Lines that the commands print, in this order.
const EXPECTED: [&str; 6] = [
    "192.0.2.80",
    "example.com: loaded, serial 1",
    "www.example.com.",
    "192.0.2.80",
    "dns.toml is a valid configuration",
    "ended",
];

/// Runs the commands in a new folder.
///
/// # Errors
/// A command fails, or prints something else.
pub(super) fn name_server() -> Result<(), String> {
    let page = run::root().join("docs/start/name-server.md");
    let text = fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;
    let section = text.split("\n## ").next().unwrap_or_default();
    let blocks: Vec<&str> =
        section.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let [serve, ask, configure] = blocks[..] else {
        return Err(format!("the first section of {} has {} blocks, not 3", page.display(), blocks.len()));
    };
    if !section.contains("`kill %1` ends the server") {
        return Err(format!("{} does not say how to end the server", page.display()));
    }

    let target = run::target_dir()?;
    let folder = target.join("interop/dns-readme");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let path = format!("{}:{}", target.join("debug").display(), std::env::var("PATH").unwrap_or_default());
    let script = format!(
        "set -e\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{serve}{WAIT}{ask}{configure}{END}"
    );
    let mut command = run::command(&["timeout", "60", "bash", "-c", &script]);
    let output = command.current_dir(&folder).env("PATH", path).output();
    let output = output.map_err(|error| format!("bash: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let said_nothing_else = format!("{said}{}", String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("the page's commands failed: {}\n{said_nothing_else}", output.status));
    }
    let mut lines = said.lines();
    for expected in EXPECTED {
        if !lines.any(|line| line.contains(expected)) {
            return Err(format!("the page's commands did not print {expected:?}:\n{said_nothing_else}"));
        }
    }
    println!("the commands of {} do what it says", page.display());
    Ok(())
}
