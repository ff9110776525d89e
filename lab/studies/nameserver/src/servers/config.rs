//! Configurations and command lines of the servers: one thread, minimal responses, no limit of rates.

use super::place::FAR;
use super::{Io, Job, Program, Source};
use crate::zone::APEX;
use hashlane_lab::study::TurnError;
use hashlane_rig::nameservers::Served;
use hashlane_rig::program::words;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Writes the configuration of a server, and returns program and arguments.
pub(super) fn prepare(program: Program, job: &Job<'_>) -> Result<Vec<OsString>, TurnError> {
    let Job { command, folder, address, .. } = *job;
    let ours = |arguments: &[&str]| {
        std::iter::once(command.into()).chain(arguments.iter().map(OsString::from)).collect::<Vec<_>>()
    };
    let (name, text, mut program) = match program {
        Program::Echo if is_xdp(job) => {
            return Ok(ours(&["lab", "echo", &address.to_string(), "--interface", FAR]));
        }
        Program::Echo => return Ok(ours(&["lab", "echo", &address.to_string()])),
        Program::Ours => ("ours.toml", of_ours(job), ours(&["dns", "serve", "--config"])),
        Program::Nsd => ("nsd.conf", of_nsd(job), words("nsd", &["-d", "-c"])),
        Program::Knot => ("knot.conf", of_knot(job), words("knotd", &["-c"])),
        Program::Named => ("named.conf", of_named(job), words("named", &["-f", "-n", "1", "-U", "1", "-c"])),
    };
    let config = folder.join(name);
    fs::write(&config, text).map_err(TurnError::io("cannot write a configuration"))?;
    program.push(config.into());
    Ok(program)
}

/// `true` if queries reach the server by XDP.
fn is_xdp(job: &Job<'_>) -> bool {
    matches!(job.io, Some(Io::Native | Io::Generic))
}

/// The zone of a job. A secondary's is in a file of its folder, if the server keeps it in one.
fn served<'a>(job: &Job<'a>, received: &'a Path) -> Served<'a> {
    let zone = match job.source {
        Source::File(zone) | Source::Shared(zone) => zone,
        Source::Primary(_) => received,
    };
    Served { address: job.address, folder: job.folder, apex: APEX, zone }
}

fn of_ours(job: &Job<'_>) -> String {
    let received = job.folder.join("received");
    let served = served(job, &received);
    match job.source {
        Source::File(zone) if job.io.is_some() => {
            let xdp = format!("io = \"xdp\"\ninterfaces = [\"{FAR}\"]\n");
            let io = if is_xdp(job) { &xdp } else { "" };
            let zone = format!("file = \"{}\"\n", zone.display());
            // The address is one that other hosts could reach.
            served.ours_as(&format!("user = \"root\"\n{io}"), &zone)
        }
        Source::File(_) => served.ours(),
        Source::Shared(_) => served.ours() + "allow_transfer = [\"127.0.0.1\"]\n",
        Source::Primary(from) => {
            let folder = format!("[transfer]\nfolder = \"{}\"\n", received.display());
            served.ours_with(&format!("primaries = [\"{from}\"]\n")) + &folder
        }
    }
}

fn of_nsd(job: &Job<'_>) -> String {
    let Job { folder, address, .. } = *job;
    let (path, port, ip) = (folder.display(), address.port(), address.ip());
    let received = folder.join("received");
    let zone = served(job, &received).zone.display();
    let transfer = match job.source {
        Source::File(_) => String::new(),
        Source::Shared(_) => "  provide-xfr: 127.0.0.1 NOKEY\n".to_owned(),
        Source::Primary(from) => {
            format!("  request-xfr: {}@{} NOKEY\n  allow-notify: 127.0.0.1 NOKEY\n", from.ip(), from.port())
        }
    };
    format!(
        "server:\n  server-count: 1\n  ip-address: {ip}@{port}\n  username: \"\"\n  chroot: \"\"\n  \
         database: \"\"\n  zonesdir: \"{path}\"\n  pidfile: \"\"\n  logfile: \"{path}/nsd.log\"\n  \
         xfrdfile: \"{path}/xfrd.state\"\n  xfrdir: \"{path}\"\n  \
         zonelistfile: \"{path}/zone.list\"\n  cookie-secret-file: \"{path}/cookies\"\n  \
         minimal-responses: yes\n  rrl-ratelimit: 0\n  \
         rrl-whitelist-ratelimit: 0\n  verbosity: 0\nremote-control:\n  control-enable: no\n\
         zone:\n  name: {APEX}\n  zonefile: \"{zone}\"\n{transfer}"
    )
}

/// Without a journal, if the zone is from a file.
fn of_knot(job: &Job<'_>) -> String {
    let Job { folder, address, .. } = *job;
    let (path, port, ip) = (folder.display(), address.port(), address.ip());
    let received = folder.join("received");
    let zone = served(job, &received).zone.display();
    let acl = |action| format!("acl:\n  - id: all\n    address: 127.0.0.1\n    action: {action}\n");
    let file = "    zonefile-load: whole\n    journal-content: none\n";
    let (before, lines) = match job.source {
        Source::File(_) => (String::new(), file.to_owned()),
        Source::Shared(_) => (acl("transfer"), format!("{file}    acl: all\n")),
        Source::Primary(from) => {
            let remote = format!("remote:\n  - id: from\n    address: {}@{}\n", from.ip(), from.port());
            (remote + &acl("notify"), "    master: from\n    acl: all\n".to_owned())
        }
    };
    let xdp = if is_xdp(job) { format!("xdp:\n    listen: {FAR}@{port}\n") } else { String::new() };
    format!(
        "server:\n    rundir: \"{path}\"\n    listen: {ip}@{port}\n    udp-workers: 1\n    \
         tcp-workers: 1\n    background-workers: 1\n{xdp}\
         log:\n  - target: stderr\n    any: error\n\
         database:\n    storage: \"{path}\"\n{before}\
         zone:\n  - domain: {APEX}\n    file: \"{zone}\"\n    semantic-checks: off\n{lines}"
    )
}

fn of_named(job: &Job<'_>) -> String {
    let received = job.folder.join("received");
    let served = served(job, &received);
    match job.source {
        Source::File(_) => served.named(""),
        Source::Shared(zone) => {
            let zone = format!("type primary; file \"{}\"; allow-transfer {{ 127.0.0.1; }};", zone.display());
            served.named_with("", &zone)
        }
        Source::Primary(from) => {
            let (ip, port, file) = (from.ip(), from.port(), received.display());
            let primaries = format!("primaries {{ {ip} port {port}; }};");
            served.named_with("", &format!("type secondary; file \"{file}\"; {primaries}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::net::SocketAddr;
    use std::path::PathBuf;

    #[test]
    fn configurations_name_the_zone_and_the_address_and_stay_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let zone = folder.path().join("some.zone");
        let address: SocketAddr = "127.0.0.1:5399".parse().unwrap();
        let primary: SocketAddr = "127.0.0.1:5398".parse().unwrap();
        let command = Path::new("/bin/hashlane");
        let job = |source| Job { command, source, folder: folder.path(), address, io: None };
        for program in [Program::Ours, Program::Nsd, Program::Knot, Program::Named] {
            let mut texts = HashSet::new();
            for source in [Source::File(&zone), Source::Shared(&zone), Source::Primary(primary)] {
                let file = PathBuf::from(prepare(program, &job(source)).unwrap().pop().unwrap());
                let text = fs::read_to_string(&file).unwrap();
                let named = match source {
                    Source::Primary(_) => text.contains("5398"),
                    _ => text.contains(zone.to_str().unwrap()),
                };
                assert!(named && text.contains("5399") && text.contains(APEX), "{text}");
                assert!(file.starts_with(folder.path()) && texts.insert(text));
            }
        }
        let echo = prepare(Program::Echo, &job(Source::File(&zone))).unwrap();
        assert!(echo.iter().any(|word| word == "127.0.0.1:5399"));
    }

    #[test]
    fn configurations_name_the_interface_for_xdp_alone() {
        let folder = tempfile::tempdir().unwrap();
        let zone = folder.path().join("some.zone");
        let address: SocketAddr = "198.18.0.2:5300".parse().unwrap();
        let command = Path::new("/bin/hashlane");
        for (io, named) in [(Io::Sockets, false), (Io::Native, true), (Io::Generic, true)] {
            let job =
                Job { command, source: Source::File(&zone), folder: folder.path(), address, io: Some(io) };
            for program in [Program::Ours, Program::Knot] {
                let file = PathBuf::from(prepare(program, &job).unwrap().pop().unwrap());
                let text = fs::read_to_string(&file).unwrap();
                assert_eq!(text.contains("far"), named, "{text}");
            }
            let echo = prepare(Program::Echo, &job).unwrap();
            assert_eq!(echo.ends_with(&["--interface".into(), "far".into()]), named);
        }
    }
}
