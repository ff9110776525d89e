//! A secondary that is killed at any moment, again and again.

use crate::Options;
use crate::fetch::{KEY, records};
use crate::makers::Maker;
use crate::node::{Node, free_ports};
use crate::place::{Place, Role};
use crate::zone::Zone;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Sets of records of the zone: its file takes some milliseconds to write.
const SETS: usize = 480;

/// Kills our secondary while a primary changes without a pause. Each start must serve a version that was
/// published, whole, before the primary is asked.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    if options.kills == 0 || !"kills".contains(&options.only) {
        return Ok(());
    }
    let [from, to] = free_ports()?;
    let node = |role, port, part: &str| {
        let folder = options.folder.join("kills").join(part);
        Ok::<_, String>(Node::new(Maker::Ours, Place::new(role, port, folder, &options.hashlane)?))
    };
    let mut primary = node(Role::Primary(to), from, "primary")?;
    let mut secondary = node(Role::Secondary(from), to, "secondary")?;
    let mut zone = Zone::new(options.seed + 1, SETS);
    primary.place.write("zone", zone.text())?;
    primary.start()?;
    primary.wait_for(zone.serial)?;
    secondary.start()?;
    secondary.wait_for(zone.serial)?;
    let mut published = BTreeMap::from([records(primary.address(), KEY.2)?]);
    let mut seen = BTreeMap::<u32, u32>::new();
    for number in 0..options.kills {
        // Changes until the moment of the kill, which moves through the steps of a transfer.
        let moment = Duration::from_micros(u64::from(number) * 7919 % 120_000);
        let begun = Instant::now();
        while begun.elapsed() < moment {
            zone.change();
            primary.load(zone.text())?;
            primary.wait_for(zone.serial)?;
            published.extend([records(primary.address(), KEY.2)?]);
        }
        secondary.kill();
        secondary.start()?;
        let (serial, held) = first(&secondary)?;
        match published.get(&serial) {
            Some(records) if *records == held => *seen.entry(zone.serial - serial).or_default() += 1,
            Some(_) => return Err(format!("kill {number}: serial {serial} with other records")),
            None => return Err(format!("kill {number}: serial {serial} was never published")),
        }
    }
    let (kills, versions) = (options.kills, published.len());
    println!(
        "killed {kills} times over {versions} versions: each start served a published one, whole; versions behind: {seen:?}"
    );
    Ok(())
}

/// The zone that a server has as soon as it answers.
fn first(node: &Node) -> Result<(u32, Vec<String>), String> {
    let begun = Instant::now();
    loop {
        match records(node.address(), KEY.2) {
            Err(why) if begun.elapsed() > crate::node::PATIENCE => return Err(why),
            Err(_) => std::thread::sleep(Duration::from_millis(2)),
            found => return found,
        }
    }
}
