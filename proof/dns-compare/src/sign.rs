//! Signing zones by the programs of Debian.

use crate::process::run;
use crate::rules::World;
use crate::zone::{Signed, Zone, folded, parent};
use std::fs;
use std::path::Path;
use std::process::Command;

const ALGORITHM: &str = "ECDSAP256SHA256";

/// Makes keys for the zones that are to be signed, writes all zones, and signs those; their files are the
/// signed ones then. A signed zone above a signed one gets its DS record. The DNSKEY records of the others
/// are returned, as trust anchors.
pub(crate) fn sign(zones: &mut [Zone], folder: &Path) -> Result<String, String> {
    let mut keys = Vec::new();
    for zone in zones.iter() {
        keys.push(if zone.is_signed() { Some(keygen(zone, folder)?) } else { None });
    }
    let mut anchors = String::new();
    let world = World::new(zones);
    for (number, keys) in keys.iter().enumerate() {
        let Some([_, key]) = keys else { continue };
        let key = folder.join(format!("{key}.key"));
        let apex = zones[number].apex_name();
        match world.zone(&folded(parent(apex.view()))).filter(|above| zones[*above].is_signed()) {
            Some(above) => {
                let printed = run(Command::new("dnssec-dsfromkey").args(["-2"]).arg(&key))?;
                let data = printed.trim().split_once(" DS ").ok_or("dnssec-dsfromkey prints no DS record")?.1;
                let apex = zones[number].apex.clone();
                let above = &mut zones[above];
                let owner =
                    apex.strip_suffix(&format!(".{}", above.apex)).ok_or("a zone is not below its parent")?;
                above.add(owner, "DS", data);
            }
            None => add_anchor(&key, &mut anchors)?,
        }
    }
    for (zone, keys) in zones.iter_mut().zip(keys) {
        zone.write(folder)?;
        if let Some(keys) = keys {
            sign_one(zone, folder, &keys)?;
            zone.read_hashed()?;
        }
    }
    Ok(anchors)
}

/// Makes keys. Returns the names of two files, of the zone and of the keys.
fn keygen(zone: &Zone, folder: &Path) -> Result<[String; 2], String> {
    let make = |program: &str, words: &[&str]| {
        let mut keygen = Command::new(program);
        keygen.args(["-a", ALGORITHM]).args(words).arg(&zone.apex).current_dir(folder);
        Ok::<_, String>(run(&mut keygen)?.trim().to_owned())
    };
    if zone.is_signed_by_ldns() {
        return Ok([make("ldns-keygen", &[])?, make("ldns-keygen", &["-k"])?]);
    }
    Ok([make("dnssec-keygen", &["-q"])?, make("dnssec-keygen", &["-q", "-f", "KSK"])?])
}

fn sign_one(zone: &mut Zone, folder: &Path, keys: &[String; 2]) -> Result<(), String> {
    let signed = zone.file.with_extension("signed");
    let mut sign = Command::new(if zone.is_signed_by_ldns() { "ldns-signzone" } else { "dnssec-signzone" });
    match zone.signed {
        Signed::No | Signed::Nsec | Signed::LdnsNsec => {}
        Signed::Nsec3(iterations, salt, opt_out) => {
            sign.args(["-3", salt, "-H", &iterations.to_string()]).args(opt_out.then_some("-A"));
        }
        Signed::LdnsNsec3(iterations, salt, opt_out) => {
            sign.args(["-n", "-t", &iterations.to_string(), "-s", salt]).args(opt_out.then_some("-p"));
        }
    }
    if zone.is_signed_by_ldns() {
        sign.args(["-o", &zone.apex, "-f"]).arg(&signed).arg(&zone.file).args(keys);
    } else {
        // With smart signing it takes the keys of the folder. A resolver checks the signatures later.
        sign.args(["-q", "-P", "-S", "-K"]).arg(folder).args(["-d"]).arg(folder);
        sign.args(["-o", &zone.apex, "-f"]).arg(&signed).arg(&zone.file);
    }
    run(sign.current_dir(folder))?;
    zone.file = signed;
    Ok(())
}

fn add_anchor(key: &Path, anchors: &mut String) -> Result<(), String> {
    let text = fs::read_to_string(key).map_err(|error| format!("{}: {error}", key.display()))?;
    anchors.extend(text.lines().filter(|line| line.contains("DNSKEY")).map(|line| format!("{line}\n")));
    Ok(())
}
