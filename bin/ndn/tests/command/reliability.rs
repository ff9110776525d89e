//! Link reliability between two forwarders, over a relay that drops datagrams.

use crate::forwarder::{Folder, block_on, fetch, produce, until};
use hashlane_client::Client;
use hashlane_ndn::mgmt::values::FACE_LP_RELIABILITY;
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A relay between two forwarders: each sees it at another address.
struct Relay {
    ends: [SocketAddr; 2],
    threads: Vec<JoinHandle<()>>,
    state: Arc<RelayState>,
}

#[derive(Default)]
struct RelayState {
    ends: AtomicBool,
    relayed: AtomicU64,
    dropped: AtomicU64,
}

impl Relay {
    /// Starts a relay between the UDP sockets of two forwarders that drops this many of 1000 datagrams, drawn
    /// from a seed.
    fn start(forwarders: [SocketAddr; 2], loss: u64, seed: u64) -> Self {
        let bind = || Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
        let sockets = [bind(), bind()];
        let ends = sockets.each_ref().map(|socket| socket.local_addr().unwrap());
        let state = Arc::new(RelayState::default());
        let threads = (0..2).map(|from| {
            let (socket, out, to) = (sockets[from].clone(), sockets[1 - from].clone(), forwarders[1 - from]);
            let (state, mut draw) = (state.clone(), seed + from as u64);
            socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                while !state.ends.load(Ordering::Relaxed) {
                    let Ok(len) = socket.recv(&mut buffer) else { continue };
                    draw = draw.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    if (draw >> 33) % 1000 < loss {
                        state.dropped.fetch_add(1, Ordering::Relaxed);
                    } else {
                        state.relayed.fetch_add(1, Ordering::Relaxed);
                        out.send_to(&buffer[..len], to).unwrap();
                    }
                }
            })
        });
        let threads = threads.collect();
        Self { ends, threads, state }
    }

    /// Datagrams that it has passed on, and dropped.
    fn counts(&self) -> [u64; 2] {
        [&self.state.relayed, &self.state.dropped].map(|count| count.load(Ordering::Relaxed))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.state.ends.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// The flags of the face that `hashlane ndn face` shows.
fn flags(folder: &Folder, face: &str) -> u64 {
    let shown = folder.run(&["face", "show", face, "--json"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    let flags = text.split("\"flags\":").nth(1).unwrap_or_else(|| panic!("flags in {text}"));
    flags.trim_start().split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// Fetches names by 20 consumers at once, each name once. Returns the number of those that arrive.
fn fetch_all(folder: &Folder, count: usize) -> usize {
    let arrived = AtomicU64::new(0);
    thread::scope(|scope| {
        for consumer in 0..20 {
            let arrived = &arrived;
            scope.spawn(move || {
                block_on(async {
                    let client = Client::connect(&folder.transport()).await.unwrap();
                    for number in (consumer..count).step_by(20) {
                        let came = fetch(&client, &format!("/a/{number}")).await;
                        arrived.fetch_add(came.into(), Ordering::Relaxed);
                    }
                });
            });
        }
    });
    arrived.into_inner() as usize
}

/// Outcome of a run over a lossy link.
struct Outcome {
    arrived: usize,
    /// Datagrams that the relay has passed on, and dropped.
    relayed: [u64; 2],
    /// The log line of the first forwarder about its link packets.
    line: String,
}

/// Fetches `count` names through two forwarders. Interests are sent once, so that each loss that is not
/// repaired is a name that does not arrive.
fn measure(more: &[&str], loss: u64, state: &str, count: usize) -> Outcome {
    let folders = [Folder::new(), Folder::new()];
    let forwarders = folders.each_ref().map(|folder| folder.forwarder(more));
    let relay = Relay::start(forwarders.each_ref().map(|forwarder| forwarder.udp), loss, 7);
    let [near, far] = &folders;
    produce(far, "/a", |incoming| {
        // Three of four need several fragments.
        let name = incoming.interest().name().to_string();
        let number: usize = name.rsplit('/').next().unwrap().parse().unwrap();
        vec![7; 10 + number % 4 * 1500]
    });
    for (folder, end) in [(far, 1), (near, 0)] {
        let uri = format!("udp4://{}", relay.ends[end]);
        let made = folder.run(&["face", "create", &uri, "--reliability", state, "--mtu", "1400"]);
        assert!(made.status.success(), "{made:?}");
        assert_eq!(flags(folder, &uri) & FACE_LP_RELIABILITY != 0, state == "on");
    }
    let uri = format!("udp4://{}", relay.ends[0]);
    let route = near.run(&["route", "add", "/a", &uri]);
    assert!(route.status.success(), "{route:?}");
    let arrived = fetch_all(near, count);
    let is_quiet = || {
        let before = relay.counts();
        thread::sleep(Duration::from_millis(1500));
        relay.counts() == before
    };
    until(is_quiet, || "the last Acks".into());
    let relayed = relay.counts();
    let destroyed = near.run(&["face", "destroy", &uri]);
    assert!(destroyed.status.success(), "{destroyed:?}");
    let process = &forwarders[0].process;
    let line = if state == "on" {
        process.wait_for("link packets of a reliable face", 1);
        let lines = process.lines.lock().unwrap();
        lines.iter().find(|line| line.contains("link packets of a reliable face")).unwrap().clone()
    } else {
        String::new()
    };
    for forwarder in &forwarders {
        forwarder.process.signal("-TERM");
    }
    println!("{more:?} {loss} ‰ {state}: {arrived} of {count}, relayed and dropped {relayed:?}, {line}");
    Outcome { arrived, relayed, line }
}

/// A number of the log line.
fn number(line: &str, key: &str) -> u64 {
    let value = line.split(&format!("{key}=")).nth(1).unwrap_or_else(|| panic!("{key} in {line}"));
    value.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

#[test]
fn a_link_that_loses_a_tenth_delivers_everything_with_reliability() {
    let with = measure(&[], 100, "on", 400);
    assert!(with.arrived >= 398, "{} of 400", with.arrived);
    assert!(with.relayed[1] > 100, "the relay drops datagrams: {:?}", with.relayed);
    assert!(number(&with.line, "retransmitted") > 10 && number(&with.line, "acknowledged") >= 380);
    assert!(number(&with.line, "lost") <= 20 && number(&with.line, "unprotected") == 0, "{}", with.line);
    let without = measure(&[], 100, "off", 100);
    assert!(without.arrived < 95, "{} of 100 without reliability", without.arrived);
}

#[test]
fn a_link_without_loss_sends_nothing_again() {
    let outcome = measure(&[], 0, "on", 400);
    assert_eq!((outcome.arrived, number(&outcome.line, "lost")), (400, 0));
    // A thread that gets no processor for 200 ms makes its peer time out.
    assert!(number(&outcome.line, "retransmitted") < 100, "{}", outcome.line);
}

#[test]
fn several_threads_repair_losses_as_one_does() {
    let outcome = measure(&["--shards", "2"], 100, "on", 400);
    assert!(outcome.arrived >= 398, "{} of 400", outcome.arrived);
    assert!(number(&outcome.line, "retransmitted") > 10, "{}", outcome.line);
}

#[test]
fn the_configuration_names_reliable_neighbours() {
    let (folder, config) = (Folder::new(), "forwarder.toml");
    let uri = "udp4://127.0.0.1:7";
    fs::write(folder.path(config), format!("[faces]\nreliability = [\"{uri}\"]\n")).unwrap();
    let _forwarder = folder.forwarder(&["--config", config]);
    assert!(folder.run(&["face", "create", uri]).status.success());
    assert_eq!(flags(&folder, uri) & FACE_LP_RELIABILITY, FACE_LP_RELIABILITY);
    let updated = folder.run(&["face", "update", uri, "--reliability", "off"]);
    assert!(updated.status.success(), "{updated:?}");
    assert_eq!(flags(&folder, uri) & FACE_LP_RELIABILITY, 0);
    // The options of `create` are applied to a face that exists.
    let again = folder.run(&["face", "create", uri, "--reliability", "on"]);
    assert!(String::from_utf8_lossy(&again.stdout).starts_with("face-updated"), "{again:?}");
    assert_eq!(flags(&folder, uri) & FACE_LP_RELIABILITY, FACE_LP_RELIABILITY);
    let again = folder.run(&["face", "create", uri, "--reliability", "on"]);
    assert!(String::from_utf8_lossy(&again.stdout).starts_with("face-exists"), "{again:?}");

    fs::write(folder.path(config), "[faces]\nreliability = [\"tcp4://127.0.0.1:7\"]\n").unwrap();
    let refused = folder.run(&["check-config", config]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && text.contains("faces.reliability"), "{text}");
}

#[test]
fn connections_have_no_reliability() {
    let (folder, other) = (Folder::new(), Folder::new());
    let (_forwarder, neighbour) = (folder.forwarder(&[]), other.forwarder(&[]));
    let uri = format!("tcp4://{}", neighbour.tcp);
    let refused = folder.run(&["face", "create", &uri, "--reliability", "on"]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && text.contains("406") && text.contains("reliability"), "{text}");
    assert!(folder.run(&["face", "create", &uri, "--reliability", "off"]).status.success());
    let refused = folder.run(&["face", "update", &uri, "--reliability", "on"]);
    assert!(!refused.status.success(), "{refused:?}");
}
