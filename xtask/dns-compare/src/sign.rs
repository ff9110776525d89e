//! Signing zones by the programs of Debian.

use crate::process::run;
use crate::zone::{Signed, Zone};
use std::fs;
use std::path::Path;
use std::process::Command;

const ALGORITHM: &str = "ECDSAP256SHA256";

/// Signs a zone that is to be signed; its file is the signed one then. The DNSKEY records are added to
/// `anchors`.
pub(crate) fn sign(zone: &mut Zone, folder: &Path, anchors: &mut String) -> Result<(), String> {
    match zone.signed {
        Signed::No => return Ok(()),
        Signed::Nsec => bind(zone, folder, &[], anchors)?,
        Signed::Nsec3(iterations, salt, opt_out) => {
            let iterations = iterations.to_string();
            let mut words = vec!["-3", salt, "-H", &iterations];
            words.extend(opt_out.then_some("-A"));
            bind(zone, folder, &words, anchors)?;
        }
        Signed::LdnsNsec => ldns(zone, folder, &[], anchors)?,
        Signed::LdnsNsec3(iterations, salt, opt_out) => {
            let iterations = iterations.to_string();
            let mut words = vec!["-n", "-t", &iterations, "-s", salt];
            words.extend(opt_out.then_some("-p"));
            ldns(zone, folder, &words, anchors)?;
        }
    }
    zone.read_hashed()
}

fn bind(zone: &mut Zone, folder: &Path, words: &[&str], anchors: &mut String) -> Result<(), String> {
    for flags in [&[][..], &["-f", "KSK"]] {
        let mut keygen = Command::new("dnssec-keygen");
        keygen.args(["-q", "-a", ALGORITHM, "-K"]).arg(folder).args(flags).arg(&zone.apex);
        let key = run(&mut keygen)?;
        if !flags.is_empty() {
            add_anchor(&folder.join(format!("{}.key", key.trim())), anchors)?;
        }
    }
    let signed = zone.file.with_extension("signed");
    let mut sign = Command::new("dnssec-signzone");
    // With smart signing it takes the keys of the folder; the signatures are checked later, by a resolver.
    sign.args(["-q", "-P", "-S", "-K"]).arg(folder).args(["-d"]).arg(folder).args(words);
    run(sign.args(["-o", &zone.apex, "-f"]).arg(&signed).arg(&zone.file))?;
    zone.file = signed;
    Ok(())
}

fn ldns(zone: &mut Zone, folder: &Path, words: &[&str], anchors: &mut String) -> Result<(), String> {
    let mut keys = Vec::new();
    for flags in [&[][..], &["-k"]] {
        let mut keygen = Command::new("ldns-keygen");
        keygen.args(["-a", ALGORITHM]).args(flags).arg(&zone.apex).current_dir(folder);
        keys.push(run(&mut keygen)?.trim().to_owned());
        if !flags.is_empty() {
            add_anchor(&folder.join(format!("{}.key", keys[keys.len() - 1])), anchors)?;
        }
    }
    let signed = zone.file.with_extension("signed");
    let mut sign = Command::new("ldns-signzone");
    sign.args(words).args(["-o", &zone.apex, "-f"]).arg(&signed).arg(&zone.file);
    run(sign.args(keys).current_dir(folder))?;
    zone.file = signed;
    Ok(())
}

fn add_anchor(key: &Path, anchors: &mut String) -> Result<(), String> {
    let text = fs::read_to_string(key).map_err(|error| format!("{}: {error}", key.display()))?;
    anchors.extend(text.lines().filter(|line| line.contains("DNSKEY")).map(|line| format!("{line}\n")));
    Ok(())
}
