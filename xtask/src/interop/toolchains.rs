//! Go and Node.js in the versions that the peers need, fetched from their package registries if the installed
//! ones are older: Debian 12 has Go 1.19 and Node.js 18.

use crate::install::once;
use crate::run;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Oldest Go that builds ndnd, from its `go.mod`.
const GO: (u32, u32) = (1, 24);
/// Fetched if the installed Go is older: since Go 1.21 toolchains are modules, `golang.org/toolchain`.
const GO_TOOLCHAIN: &str = "go1.24.3";
/// Oldest major version of Node.js that runs NDNts.
const NODE: u32 = 20;
/// Fetched if the installed Node.js is older: the npm package `node` contains the program.
const NODE_PACKAGE: &str = "node@20.19.5";

/// Path of a Go that builds ndnd; below `dir` if it was fetched.
///
/// # Errors
/// Names the step that failed, and how to install Go.
pub(super) fn go(dir: &Path) -> Result<PathBuf, String> {
    if said(&["go", "version"]).and_then(|text| version(&text)).is_some_and(|found| found >= GO) {
        return Ok("go".into());
    }
    let folder = dir.join("go");
    once(&folder, GO_TOOLCHAIN, fetch_go).map_err(|error| {
        let (major, minor) = GO;
        format!("{error}\nGo {major}.{minor} or newer is needed: https://go.dev/doc/install")
    })?;
    Ok(folder.join("root/bin/go"))
}

fn fetch_go(folder: &Path) -> Result<(), String> {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => return Err(format!("no Go toolchain to fetch for {other}")),
    };
    let module = format!("golang.org/toolchain@v0.0.1-{GO_TOOLCHAIN}.linux-{arch}");
    run::show(run::command(&["go", "mod", "download", &module]).current_dir(folder))?;
    let modules = said(&["go", "env", "GOMODCACHE"]).ok_or("`go env GOMODCACHE` fails")?;
    let root = folder.join("root");
    run::show(run::command(&["cp", "--recursive"]).arg(Path::new(modules.trim()).join(module)).arg(&root))?;
    // Modules carry no executable bits, and the cache of modules is read-only: the copy is ours to change.
    run::show(run::command(&["chmod", "--recursive", "u+w"]).arg(&root))?;
    for programs in [root.join("bin"), root.join(format!("pkg/tool/linux_{arch}"))] {
        let failed = |error: std::io::Error| format!("{}: {error}", programs.display());
        for program in fs::read_dir(&programs).map_err(failed)? {
            let path = program.map_err(failed)?.path();
            fs::set_permissions(path, Permissions::from_mode(0o755)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Path of a Node.js that runs NDNts; below `dir` if it was fetched.
///
/// # Errors
/// Names the step that failed, and how to install Node.js.
pub(super) fn node(dir: &Path) -> Result<PathBuf, String> {
    let found = said(&["node", "--version"]).and_then(|text| version(&text));
    if found.is_some_and(|(major, _)| major >= NODE) {
        return Ok("node".into());
    }
    let folder = dir.join("node");
    let npm =
        ["npm", "install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix", ".", NODE_PACKAGE];
    once(&folder, NODE_PACKAGE, |folder| run::show(run::command(&npm).current_dir(folder))).map_err(
        |error| format!("{error}\nNode.js {NODE} or newer is needed: https://nodejs.org/en/download"),
    )?;
    Ok(folder.join("node_modules/node/bin/node"))
}

/// Standard output of a program that succeeds.
fn said(words: &[&str]) -> Option<String> {
    let output = run::command(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Major and minor version in a text like `go version go1.19.8 linux/amd64` or `v20.19.5`.
fn version(text: &str) -> Option<(u32, u32)> {
    text.split_whitespace().find_map(|word| {
        let numbers = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let mut parts = numbers.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_versions_that_go_and_node_print() {
        assert_eq!(version("go version go1.19.8 linux/amd64\n"), Some((1, 19)));
        assert_eq!(version("go version go1.26rc1 linux/amd64"), None);
        assert_eq!(version("v20.19.5\n"), Some((20, 19)));
        assert_eq!(version("zsh: command not found: go"), None);
    }
}
