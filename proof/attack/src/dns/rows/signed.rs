//! Floods of NOTIFY, and of signed queries.

use super::super::messages;
use super::super::scene::{Scene, Testbed, thousands};
use super::super::table::Line;
use super::MB;
use super::udp::flood;
use crate::stats::digits;
use crate::verdict::Check;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Memory that a flood of datagrams may cost.
const GROWTH: u64 = 64 * MB;

/// Seconds between two questions that NOTIFY brings, as `docs/dns-transfer.md` says.
const LEAST: u64 = 2;

/// A primary that closes each connection. Counts them.
fn primary() -> Result<(SocketAddr, Arc<AtomicU64>), String> {
    let failed = |error: std::io::Error| format!("a primary: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let (address, count) = (listener.local_addr().map_err(failed)?, Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&count);
    thread::spawn(move || {
        for _ in listener.incoming() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    Ok((address, count))
}

/// NOTIFY for a zone with a primary, and for one without, from networks that may send it and others.
pub(in super::super) fn notify(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    let (primary, asked) = primary()?;
    let folder = crate::cleanup::folder()?;
    let toml = format!(
        "transfer.folder = \"{}\"\n[[zone]]\nname = \"notified.example.com\"\nprimaries = [\"{primary}\"]\n\
         allow_notify = [\"127.67.0.0/18\"]\n",
        folder.path().display()
    );
    let scene = Scene::open(bench, &toml, false)?;
    let before = asked.load(Ordering::Relaxed);
    let attack = scene.attack(|| flood(bench.speed(), scene.address(), messages::notify))?;
    let asked = asked.load(Ordering::Relaxed) - before;
    let notified = attack.count("/udp/notified");
    // One that was due before, and one that is under way.
    let most = (attack.took.as_secs_f64() / LEAST as f64) as u64 + 2;
    let found = format!(
        "{} taken of {}; the primary was asked {asked} times, at most {most}",
        thousands(notified as f64),
        thousands(attack.count("/udp/special") as f64)
    );
    let rate = attack.rate("messages");
    let check = Check::new(notified > 0 && asked <= most, found);
    scene.close(name, &attack, rate, GROWTH, vec![check])
}

/// Queries that are signed by a key that the server does not have, and by one that it has with a wrong
/// signature.
pub(in super::super) fn wrong_keys(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    let toml = "[[key]]\nname = \"transfer.example\"\nalgorithm = \"hmac-sha256\"\n\
                secret = \"c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0\"\n";
    let scene = Scene::open(bench, toml, false)?;
    let attack = scene.attack(|| flood(bench.speed(), scene.address(), messages::wrong_key))?;
    // The last datagrams may be in the kernel's queue.
    thread::sleep(Duration::from_millis(50));
    let bad = attack.count("/udp/bad_signatures");
    let (received, sent) = (attack.count("/udp/received_bytes"), attack.count("/udp/sent_bytes"));
    let factor = digits(sent as f64 / received.max(1) as f64);
    let checks = vec![
        Check::new(bad > 0, format!("{} signatures refused", thousands(bad as f64))),
        Check::new(sent <= received, format!("{factor} bytes sent for each byte received")),
    ];
    let rate = attack.rate("queries");
    scene.close(name, &attack, rate, GROWTH, checks)
}
