//! Row 2: log lines at will, while standard error takes none.

use super::state;
use crate::attacker::{Ports, connect, pace};
use crate::cleanup;
use crate::forwarder::Settings;
use crate::network::{Host, on_thread};
use crate::packets::{HOUR, Template};
use crate::scene::{Cast, Scene, Testbed};
use crate::stats::digits;
use crate::verdict::{Check, Criteria, Line};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::fs::{self, File, OpenOptions};
use std::io::{PipeReader, Write, pipe};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Most bytes of log a second: 64 lines of 256 bytes, and as much again for the forwarder's own.
const MOST_BYTES: f64 = 32_768.0;

/// Ports and connections a second.
const RATE: u32 = 4000;

/// A kind of standard error.
#[derive(Clone, Copy, Debug)]
enum Errors {
    File,
    FullDevice,
    FullDisk,
    ClosedPipe,
    UnreadPipe,
}

const KINDS: [(&str, (&str, Errors)); 5] = [
    ("2a", ("a file", Errors::File)),
    ("2b", ("/dev/full", Errors::FullDevice)),
    ("2c", ("a full disk", Errors::FullDisk)),
    ("2d", ("a closed pipe", Errors::ClosedPipe)),
    ("2e", ("an unread pipe", Errors::UnreadPipe)),
];

pub(super) fn run(bench: &Testbed) -> Result<Vec<Line>, String> {
    let hosts = KINDS.into_iter().zip(0..).map(|((id, kind), host)| (id, (kind, host)));
    Ok(state::run_parts(hosts, |id, ((name, errors), host)| part(bench, id, name, errors, host)))
}

fn part(bench: &Testbed, id: &str, name: &str, errors: Errors, host: u16) -> Result<Line, String> {
    let attack = format!("UDP ports, TCP connections and bad handshakes; standard error is {name}");
    let (stderr, reader) = match errors.open() {
        Ok(opened) => opened,
        Err(why) => return Ok(Line::not_applicable(id, &attack, why)),
    };
    let mut scene = Scene::open(bench, Settings { stderr, ..Settings::default() }, Cast::USUAL)?;
    // A pipe that is closed loses its reader once the forwarder has started.
    let _unread = reader.filter(|_| matches!(errors, Errors::UnreadPipe));
    let log = scene.running.folder().join("log");
    let size = || fs::metadata(&log).map_or(0, |data| data.len());
    let (before, begun) = (size(), Instant::now());
    scene.begin();
    let made = make_lines(&scene, host, bench.pick(Duration::from_millis(1500), Duration::from_secs(10)))?;
    let rate = (size() - before) as f64 / begun.elapsed().as_secs_f64();
    scene.calm();
    let runs = scene.running.ended()?.is_none();
    let mut checks = vec![
        Check::new(runs, if runs { "the process runs" } else { "the process has ended" }),
        Check::new(true, format!("{made} ports and connections")),
    ];
    if matches!(errors, Errors::File) {
        checks.push(Check::new(rate <= MOST_BYTES, format!("{} bytes of log a second", digits(rate))));
    }
    scene.close(id, &attack, Criteria::USUAL, checks)
}

/// Opens ports and connections for `lasting`. Returns their number. Each kind of standard error uses a
/// separate address: closed connections keep the ports of an address for a minute.
fn make_lines(scene: &Scene<'_>, host: u16, lasting: Duration) -> Result<u64, String> {
    let (network, running) = (&scene.bench.network, &scene.running);
    let (to, from) = (network.forwarder(Host::Attacker), network.source(host));
    scene.bench.attack(|| {
        let (begun, mut made) = (Instant::now(), 0);
        let mut template = Template::new("/attack/log", 0, HOUR)?;
        while begun.elapsed() < lasting {
            let mut ports = Ports::from_one_host(network, 32, running.udp(to))?;
            ports.send_each(10_000, |number, packet| packet.extend_from_slice(template.stamp(number)))?;
            made += 32;
            for _ in 0..16 {
                made += u64::from(connect(from, running.tcp(to)).is_ok());
                // Fails where the forwarder has no WebSocket, or closes first.
                let bad = connect(from, running.web_socket(to));
                made +=
                    u64::from(bad.is_ok_and(|mut stream| stream.write_all(b"GET / HTTP/9\r\n\r\n").is_ok()));
            }
            pace(begun, usize::try_from(made).unwrap_or(usize::MAX), RATE);
        }
        Ok(made)
    })
}

impl Errors {
    /// Opens it. A pipe stays open until its reader is dropped.
    fn open(self) -> Result<(Option<Stdio>, Option<PipeReader>), String> {
        let failed = |error: std::io::Error| error.to_string();
        match self {
            Self::File => Ok((None, None)),
            Self::FullDevice => {
                let file = OpenOptions::new().write(true).open("/dev/full").map_err(failed)?;
                Ok((Some(file.into()), None))
            }
            Self::FullDisk => full_disk().map(|file| (Some(file.into()), None)),
            Self::ClosedPipe | Self::UnreadPipe => {
                pipe().map_err(failed).map(|(reader, writer)| (Some(writer.into()), Some(reader)))
            }
        }
    }
}

/// A file on a disk of 16 KiB, in a mount namespace that ends with the thread; the disk ends with the file.
fn full_disk() -> Result<File, String> {
    let folder = cleanup::folder()?;
    on_thread(|| {
        let failed = |error| format!("no disk in memory: {error}");
        unshare(CloneFlags::CLONE_NEWNS).map_err(failed)?;
        let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        mount(None::<&str>, "/", None::<&str>, private, None::<&str>).map_err(failed)?;
        mount(Some("none"), folder.path(), Some("tmpfs"), MsFlags::empty(), Some("size=16k"))
            .map_err(failed)?;
        File::create(folder.path().join("log")).map_err(|error| error.to_string())
    })
}
