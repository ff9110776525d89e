//! Signatures for a zone, made by the programs of BIND or ldns.

use crate::zone::APEX;
use hashlane_lab::study::TurnError;
use hashlane_rig::program::find;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Note on missing programs.
pub(crate) const MISSING: &str = "the signed zone is not measured, as neither dnssec-signzone nor \
                                  ldns-signzone is installed: `apt-get install bind9-utils` or `ldnsutils`";

/// Algorithm of the keys: signatures of 64 bytes.
const ALGORITHM: &str = "ECDSAP256SHA256";

/// Signs a zone with NSEC records, and returns the path of the signed one; `None` if no program for that is
/// installed. The times of the signatures are the programs' own: 30 days.
pub(crate) fn sign(zone: &Path, folder: &Path) -> Result<Option<PathBuf>, TurnError> {
    let signed = zone.with_extension("signed");
    if let (Some(keygen), Some(signzone)) = (find("dnssec-keygen"), find("dnssec-signzone")) {
        let keys = folder.as_os_str();
        for kind in [&["-f", "KSK"][..], &[]] {
            let mut command = Command::new(&keygen);
            run(command.args(["-q", "-a", ALGORITHM, "-K"]).arg(keys).args(kind).arg(APEX))?;
        }
        let mut command = Command::new(signzone);
        // Smart signing finds the keys; the check of all signatures afterwards is left out.
        command.args(["-q", "-S", "-P", "-K"]).arg(keys).args(["-d"]).arg(keys);
        command.args(["-o", APEX, "-f"]).arg(&signed).arg(zone);
        run(&mut command)?;
    } else if let (Some(keygen), Some(signzone)) = (find("ldns-keygen"), find("ldns-signzone")) {
        let mut command = Command::new(keygen);
        let key = run(command.current_dir(folder).args(["-a", ALGORITHM, APEX]))?;
        let key = folder.join(key.trim());
        run(Command::new(signzone).args([OsStr::new("-o"), OsStr::new(APEX), OsStr::new("-f")]).args([
            signed.as_path(),
            zone,
            key.as_path(),
        ]))?;
    } else {
        return Ok(None);
    }
    Ok(Some(signed))
}

/// Runs a program to its end, and returns its output.
fn run(command: &mut Command) -> Result<String, TurnError> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(TurnError::io("cannot start a program that signs"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.trim().lines().last().unwrap_or("no output").to_owned();
        let program = command.get_program().to_string_lossy().into_owned();
        return Err(TurnError::Failed(format!("{program} failed ({}): {last}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
