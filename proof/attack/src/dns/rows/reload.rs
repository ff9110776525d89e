//! Reloads of zones with errors.

use super::super::messages;
use super::super::scene::{Scene, Testbed};
use super::super::server;
use super::super::table::Line;
use super::MB;
use super::udp;
use crate::attacker::Speed;
use crate::verdict::Check;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Time between two reloads.
const PAUSE: Duration = Duration::from_millis(100);

/// Queries a second of random subdomains.
const RATE: u32 = 20_000;

/// Memory that two zones and 20,000 records before an error may cost.
const GROWTH: u64 = 64 * MB;

/// Records before the error, so that a load takes a while.
const RECORDS: usize = 20_000;

/// Reloads of zones that end in an error, and of zones whose apex has no SOA record, under a flood.
pub(in super::super) fn bad_zone(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    let scene = Scene::open(bench, "", false)?;
    let good = server::zone(1);
    let many: String = (0..RECORDS).map(|number| format!("r{number} IN A 192.0.2.1\n")).collect();
    let bad = [
        format!("{good}{many}www0 IN A 192.0.2.256\n"),
        good.replace("IN SOA", "IN TXT"),
        String::new(),
        "\u{1}(\"".repeat(10_000),
    ];
    let speed = Speed { rate: Some(RATE), lasting: bench.lasting() };
    let over = AtomicBool::new(false);
    let attack = scene.attack(|| {
        thread::scope(|scope| {
            let reloads = scope.spawn(|| {
                for zone in bad.iter().cycle() {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    scene.server.reload(zone)?;
                    thread::sleep(PAUSE);
                }
                Ok::<_, String>(())
            });
            let sent = udp::flood(speed, scene.address(), messages::random_subdomain);
            over.store(true, Ordering::Relaxed);
            reloads.join().map_err(|_| "a thread has panicked".to_owned())??;
            sent
        })
    })?;
    let (failed, loaded) = (attack.count("/reloads/failed"), attack.count("/reloads/loaded"));
    let found = format!("{failed} reloads failed, {loaded} loaded a zone");
    let rate = format!("{}, 10 reloads/s", attack.rate("queries"));
    scene.close(name, &attack, rate, GROWTH, vec![Check::new(failed > 0 && loaded == 0, found)])
}
