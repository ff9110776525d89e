//! Configurations and command lines of the servers: one thread, minimal responses, no limit of rates.

use super::{Job, Program};
use crate::zone::APEX;
use hashlane_lab::study::TurnError;
use hashlane_rig::nameservers::Served;
use hashlane_rig::program::words;
use std::ffi::OsString;
use std::fs;

/// Writes the configuration of a server, and returns program and arguments.
pub(super) fn prepare(program: Program, job: &Job<'_>) -> Result<Vec<OsString>, TurnError> {
    let Job { command, zone, folder, address } = *job;
    let served = Served { address, folder, apex: APEX, zone };
    let (zone, path, port, ip) = (zone.display(), folder.display(), address.port(), address.ip());
    let ours = |arguments: &[&str]| {
        std::iter::once(command.into()).chain(arguments.iter().map(OsString::from)).collect::<Vec<_>>()
    };
    let (name, text, mut program) = match program {
        Program::Echo => return Ok(ours(&["lab", "echo", &address.to_string()])),
        Program::Ours => ("ours.toml", served.ours(), ours(&["dns", "serve", "--config"])),
        Program::Nsd => (
            "nsd.conf",
            format!(
                "server:\n  server-count: 1\n  ip-address: {ip}@{port}\n  username: \"\"\n  chroot: \"\"\n  \
                 database: \"\"\n  zonesdir: \"{path}\"\n  pidfile: \"\"\n  logfile: \"{path}/nsd.log\"\n  \
                 xfrdfile: \"{path}/xfrd.state\"\n  xfrdir: \"{path}\"\n  \
                 zonelistfile: \"{path}/zone.list\"\n  cookie-secret-file: \"{path}/cookies\"\n  \
                 minimal-responses: yes\n  rrl-ratelimit: 0\n  \
                 rrl-whitelist-ratelimit: 0\n  verbosity: 0\nremote-control:\n  control-enable: no\n\
                 zone:\n  name: {APEX}\n  zonefile: \"{zone}\"\n"
            ),
            words("nsd", &["-d", "-c"]),
        ),
        // No journal.
        Program::Knot => (
            "knot.conf",
            format!(
                "server:\n    rundir: \"{path}\"\n    listen: {ip}@{port}\n    udp-workers: 1\n    \
                 tcp-workers: 1\n    background-workers: 1\n\
                 log:\n  - target: stderr\n    any: error\n\
                 database:\n    storage: \"{path}\"\n\
                 zone:\n  - domain: {APEX}\n    file: \"{zone}\"\n    zonefile-load: whole\n    \
                 journal-content: none\n    semantic-checks: off\n"
            ),
            words("knotd", &["-c"]),
        ),
        Program::Named => {
            ("named.conf", served.named(""), words("named", &["-f", "-n", "1", "-U", "1", "-c"]))
        }
    };
    let config = folder.join(name);
    fs::write(&config, text).map_err(TurnError::io("cannot write a configuration"))?;
    program.push(config.into());
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::net::SocketAddr;
    use std::path::{Path, PathBuf};

    #[test]
    fn configurations_name_the_zone_and_the_address_and_stay_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let zone = folder.path().join("some.zone");
        let address: SocketAddr = "127.0.0.1:5399".parse().unwrap();
        let command = Path::new("/bin/hashlane");
        let job = Job { command, zone: &zone, folder: folder.path(), address };
        let mut files = HashSet::new();
        for program in [Program::Ours, Program::Nsd, Program::Knot, Program::Named] {
            let file = PathBuf::from(prepare(program, &job).unwrap().pop().unwrap());
            let text = fs::read_to_string(&file).unwrap();
            assert!(text.contains(zone.to_str().unwrap()) && text.contains("5399"), "{text}");
            assert!(text.contains(APEX) && file.starts_with(folder.path()), "{text}");
            assert!(files.insert(file));
        }
        assert!(prepare(Program::Echo, &job).unwrap().iter().any(|word| word == "127.0.0.1:5399"));
    }
}
