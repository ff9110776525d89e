//! Keys and certificates of ndnsec, as the credentials of an operator.

use super::lab::Lab;
use super::node::{Forwarder, Namespace, Node, Operators, Setup};
use crate::interop::program::{Ended, Program};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

pub(super) const NAME: &str = "ndnsec, authorizations";

/// User and group of a stranger to the forwarder: nobody.
const NOBODY: &str = "65534";

/// A key signs its request, an operator's key the certificate. A user without rights gives commands with it,
/// and is refused with another key.
///
/// # Errors
/// A command failed, or a command is answered that must be refused.
pub(super) fn run(lab: &Lab, forwarder: Forwarder) -> Result<String, String> {
    let keys = lab.folder("keys")?;
    let home = |name: &str| keys.join(name);
    let ndnsec = |name: &str, words: &[&str], input: &[u8]| ndnsec(lab, &home(name), words, input);
    ndnsec("site", &["key-gen", "/site"], b"")?;
    let request = ndnsec("operator", &["key-gen", "/site/operator"], b"")?;
    let certificate = ndnsec("site", &["cert-gen", "-s", "/site", "-"], &request)?;
    ndnsec("operator", &["cert-install", "-"], &certificate)?;
    ndnsec("stranger", &["key-gen", "/site/stranger"], b"")?;
    let listed = ndnsec("operator", &["list", "-c"], b"")?;
    if !String::from_utf8_lossy(&listed).contains("/site/operator/KEY/") {
        return Err(format!("ndnsec list: {}", String::from_utf8_lossy(&listed)));
    }
    let file = keys.join("operator.ndncert");
    // ndnsec rounds the beginning of the validity up to a second.
    thread::sleep(Duration::from_millis(1100));
    fs::write(&file, &certificate).map_err(|error| format!("{}: {error}", file.display()))?;
    // The tools open the keys as nobody.
    let mut chown = Command::new("chown");
    chown.arg("--recursive").arg(format!("{NOBODY}:{NOBODY}")).args([home("operator"), home("stranger")]);
    Program::run("chown", &mut chown, TIMEOUT)?;

    let setup = Setup { operators: Operators::Certificate(file), ..Setup::default() };
    let node = Node::start(lab, Namespace::new("s")?, forwarder, &setup)?;
    let socket = node.dir.join("nfd.sock");
    Program::run("chmod", Command::new("chmod").args(["0666"]).arg(&socket), TIMEOUT)?;
    let trusted = create(&node, &home("operator"))?;
    if trusted.code != Some(0) {
        return Err(format!("the operator's key is refused: {}", trusted.text().trim()));
    }
    let refused = create(&node, &home("stranger"))?;
    if refused.code == Some(0) || !refused.text().contains("403") {
        return Err(format!("another key is not refused with 403: {}", refused.text().trim()));
    }
    node.stop()?;
    Ok("the operator's key permitted, another refused".to_owned())
}

const TIMEOUT: Duration = Duration::from_secs(20);

/// Runs ndnsec with the keys below `home`, and returns its output.
fn ndnsec(lab: &Lab, home: &Path, words: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    fs::create_dir_all(home).map_err(|error| format!("{}: {error}", home.display()))?;
    let mut command = Command::new(lab.programs.get("ndnsec")?);
    command.args(words).env("HOME", home);
    let mut program = Program::start(&format!("ndnsec {}", words.join(" ")), &mut command)?;
    program.feed(input)?;
    program.finish(TIMEOUT)
}

/// `nfdc face create` by nobody, with the keys below `home`. An existing face is not changed.
fn create(node: &Node<'_>, home: &Path) -> Result<Ended, String> {
    let mut command = node.command_at(Path::new("setpriv"));
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
    command.arg(node.lab.programs.get("nfdc")?).args(["face", "create", "udp4://127.0.0.1:7777"]);
    let mut program = Program::start("nfdc", command.env("HOME", home))?;
    program.feed(b"")?;
    program.end(TIMEOUT)
}
