//! Pairs of servers: ours and another one, in both roles, through many changes.

use crate::Options;
use crate::certificate::Tls;
use crate::fetch::{KEY, records};
use crate::makers::{Maker, OTHERS, OVER_TLS};
use crate::node::{Node, free_ports};
use crate::place::{Place, Role};
use crate::zone::Zone;
use std::time::{Duration, Instant};

/// Sets of records that a zone begins with.
const SETS: usize = 200;

/// Time in which all processes of a server have a new version.
const HANDOVER: Duration = Duration::from_secs(2);

/// A secret that the primary does not have.
const WRONG: &str = "d3Jvbmcgd3Jvbmcgd3Jvbmcgd3Jvbmcgd3Jvbmc=";

pub(crate) fn run(options: &Options) -> Result<(), String> {
    println!(
        "primary -> secondary: changes compared record by record, milliseconds from a change to its arrival"
    );
    let mut failed = Vec::new();
    let pairs = OTHERS.into_iter().flat_map(|other| [(other, Maker::Ours), (Maker::Ours, other)]);
    let clear = [(Maker::Ours, Maker::Ours)].into_iter().chain(pairs).map(|pair| (pair, false));
    for ((primary, secondary), is_tls) in clear.chain(OVER_TLS.map(|pair| (pair, true))) {
        let tls = if is_tls { "-tls" } else { "" };
        let name = format!("{primary:?}-{secondary:?}{tls}").to_lowercase();
        if !name.contains(&options.only) {
            continue;
        }
        match pair(options, &name, (primary, secondary), is_tls) {
            Ok(line) => println!("{line}"),
            Err(why) => {
                println!("{primary:?} -> {secondary:?}{tls}: FAILED");
                failed.push(format!("{primary:?} -> {secondary:?}{tls}: {why}"));
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Runs a pair, and returns its line of the table.
fn pair(
    options: &Options,
    name: &str,
    (primary, secondary): (Maker, Maker),
    is_tls: bool,
) -> Result<String, String> {
    let [from, to, port] = free_ports()?;
    let tls = is_tls.then(|| Tls::new(port, &options.folder.join(name))).transpose()?;
    let node = |maker, role, port, part: &str| {
        let folder = options.folder.join(name).join(part);
        let place = Place::new(role, port, folder, &options.hashlane)?;
        Ok::<_, String>(Node::new(maker, Place { tls: tls.clone(), ..place }))
    };
    let mut primary = node(primary, Role::Primary(to), from, "primary")?;
    let mut secondary = node(secondary, Role::Secondary(from), to, "secondary")?;
    let mut zone = Zone::new(options.seed, SETS);
    primary.place.write("zone", zone.text())?;
    primary.start()?;
    primary.wait_for(zone.serial)?;
    secondary.start()?;
    secondary.wait_for(zone.serial)?;
    same(&primary, &secondary, zone.serial)?;
    let mut times = Vec::new();
    for _ in 0..options.changes {
        zone.change();
        // Servers tell a changed file by its time, to the second in some.
        let begun = Instant::now();
        primary.load(zone.text())?;
        let primary_has = primary.wait_for(zone.serial);
        if primary_has.is_err() {
            // A change within the same second.
            std::thread::sleep(Duration::from_millis(1100));
            primary.load(zone.text())?;
            primary.wait_for(zone.serial)?;
        }
        secondary.wait_for(zone.serial)?;
        times.push(begun.elapsed().as_millis());
        same(&primary, &secondary, zone.serial)?;
    }
    refused(&primary, &mut secondary, &mut zone)?;
    times.sort_unstable();
    let (median, most) = (times.get(times.len() / 2), times.last());
    let (median, most) = (median.copied().unwrap_or_default(), most.copied().unwrap_or_default());
    let (p, s) = (primary.maker, secondary.maker);
    let over = if is_tls { " over TLS" } else { "" };
    Ok(format!(
        "{p:?} -> {s:?}{over}: {} changes equal, {median} ms, at most {most}; wrong key refused",
        times.len()
    ))
}

/// Compares all records of both servers. A server of several processes may send the version before for a
/// while after it has told of the new one.
fn same(primary: &Node, secondary: &Node, serial: u32) -> Result<(), String> {
    let begun = Instant::now();
    let (theirs, ours) = loop {
        let (theirs, ours) = (records(primary.address(), KEY.2)?, records(secondary.address(), KEY.2)?);
        if (theirs.0, ours.0) == (serial, serial) {
            break (theirs, ours);
        }
        if begun.elapsed() > HANDOVER {
            return Err(format!("serials {} and {} in place of {serial}", theirs.0, ours.0));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if theirs.1 == ours.1 {
        return Ok(());
    }
    let missing: Vec<_> = theirs.1.iter().filter(|record| !ours.1.contains(record)).take(3).collect();
    let added: Vec<_> = ours.1.iter().filter(|record| !theirs.1.contains(record)).take(3).collect();
    Err(format!("serial {serial}: the secondary misses {missing:?}, and has {added:?}"))
}

/// Gives the secondary a key that the primary does not have: the version that it has stays.
fn refused(primary: &Node, secondary: &mut Node, zone: &mut Zone) -> Result<(), String> {
    if records(primary.address(), WRONG).is_ok() {
        return Err("the primary takes a wrong key".to_owned());
    }
    if secondary.maker != Maker::Ours {
        return Ok(());
    }
    let served = zone.serial;
    secondary.kill();
    secondary.place.secret = WRONG;
    zone.change();
    primary.load(zone.text())?;
    secondary.start()?;
    secondary.wait_for(served)?;
    std::thread::sleep(Duration::from_millis(500));
    secondary.wait_for(served).map(drop)
}
