//! Transfers over a network with faults: loss, delay, cut connections, slow and silent primaries.

use crate::Options;
use crate::fetch::{KEY, records};
use crate::makers::Maker;
use crate::node::{Node, free_ports};
use crate::place::{Place, Role};
use crate::relay::{FAULTS, Fault, Relay};
use crate::zone::Zone;
use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

/// Sets of records of the zone: some 10 KB.
const SETS: usize = 200;

/// SOA timers in seconds: a lost NOTIFY is made good by the next refresh.
const TIMERS: &str = "2 1 864000 60";

/// Longest time after a fault until the newest version is served: a message that is late is given up after
/// 10 s, and the primary asked again after 1 s.
const CATCHES_UP: Duration = Duration::from_secs(15);

/// Primaries and secondaries; the short form's come first.
const PAIRS: [(Maker, Maker); 8] = [
    (Maker::Ours, Maker::Ours),
    (Maker::Knot, Maker::Ours),
    (Maker::Nsd, Maker::Ours),
    (Maker::Bind, Maker::Ours),
    (Maker::PowerDns, Maker::Ours),
    (Maker::Ours, Maker::Knot),
    (Maker::Ours, Maker::Nsd),
    (Maker::Ours, Maker::Bind),
];

/// Pairs of the short form.
const FEW: usize = 2;

pub(crate) fn run(options: &Options) -> Result<(), String> {
    println!("primary -> secondary over faults: milliseconds from the end of a fault to the newest version");
    let pairs = if options.fault_ms < 5000 { FEW } else { PAIRS.len() };
    let mut failed = Vec::new();
    for (number, (primary, secondary)) in PAIRS.into_iter().enumerate().take(pairs) {
        let name = format!("faults-{primary:?}-{secondary:?}").to_lowercase();
        if !name.contains(&options.only) {
            continue;
        }
        match pair(options, &name, (primary, secondary), number as u64) {
            Ok(line) => println!("{primary:?} -> {secondary:?}: {line}"),
            Err(why) => {
                println!("{primary:?} -> {secondary:?} over faults: FAILED");
                failed.push(format!("{primary:?} -> {secondary:?} over faults: {why}"));
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Two servers with a relay before each.
struct Pair {
    primary: Node,
    secondary: Node,
    relays: [Relay; 2],
    zone: Zone,
    published: BTreeMap<u32, Vec<String>>,
}

fn pair(
    options: &Options,
    name: &str,
    (primary, secondary): (Maker, Maker),
    number: u64,
) -> Result<String, String> {
    let [from, to, before_from, before_to] = free_ports()?;
    let node = |maker, role, port, part: &str| {
        let folder = options.folder.join(name).join(part);
        Ok::<_, String>(Node::new(maker, Place::new(role, port, folder, &options.hashlane)?))
    };
    let seed = options.seed + 100 * number;
    let mut pair = Pair {
        primary: node(primary, Role::Primary(before_to), from, "primary")?,
        secondary: node(secondary, Role::Secondary(before_from), to, "secondary")?,
        relays: [Relay::start(before_from, from, seed)?, Relay::start(before_to, to, seed + 1)?],
        zone: Zone::new(seed, SETS).with_timers(TIMERS),
        published: BTreeMap::new(),
    };
    pair.primary.place.write("zone", pair.zone.text())?;
    pair.primary.start()?;
    pair.primary.wait_for(pair.zone.serial)?;
    pair.secondary.start()?;
    pair.secondary.wait_for(pair.zone.serial)?;
    pair.published.extend([records(pair.primary.address(), KEY.2)?]);
    let mut words = Vec::new();
    for fault in FAULTS {
        let took = pair.endure(fault, Duration::from_millis(options.fault_ms))?;
        words.push(format!("{fault:?} {}", took.as_millis()));
    }
    let met: u64 = pair.relays.iter().map(Relay::met).sum();
    let versions = pair.published.len();
    Ok(format!("{}; {versions} versions, faults met {met} messages", words.join(", ")))
}

impl Pair {
    /// Changes the zone during a fault. Returns the time from its end to the newest version.
    fn endure(&mut self, fault: Fault, lasting: Duration) -> Result<Duration, String> {
        let failed = |why: String| format!("{fault:?}: {why}");
        let met = |relays: &[Relay; 2]| relays.each_ref().map(Relay::met);
        let (begun, before) = (Instant::now(), met(&self.relays));
        self.relays.iter().for_each(|relay| relay.set(fault));
        while begun.elapsed() < lasting {
            self.change().map_err(failed)?;
            self.check().map_err(failed)?;
        }
        self.relays.iter().for_each(|relay| relay.set(Fault::Clear));
        let ended = Instant::now();
        loop {
            let serial = self.check().map_err(failed)?;
            if serial == Some(self.zone.serial) {
                break;
            }
            if ended.elapsed() > CATCHES_UP {
                let why = format!("serial {serial:?} in place of {} after the fault", self.zone.serial);
                return Err(failed(why + "\n" + &self.secondary.log()));
            }
            thread::sleep(Duration::from_millis(10));
        }
        if met(&self.relays) == before {
            return Err(failed("no message has met the fault".to_owned()));
        }
        Ok(ended.elapsed())
    }

    /// Publishes a version.
    fn change(&mut self) -> Result<(), String> {
        self.zone.change();
        if self.primary.maker != Maker::Ours {
            // Some tell a changed file by the second of its time.
            thread::sleep(Duration::from_millis(1100));
        }
        self.primary.load(self.zone.text())?;
        self.primary.wait_for(self.zone.serial)?;
        self.published.extend([records(self.primary.address(), KEY.2)?]);
        thread::sleep(Duration::from_millis(100));
        Ok(())
    }

    /// Compares what the secondary serves with the version of its serial number, which is returned.
    fn check(&self) -> Result<Option<u32>, String> {
        // A secondary may be in the middle of a change, and refuse.
        let Ok((serial, held)) = records(self.secondary.address(), KEY.2) else { return Ok(None) };
        match self.published.get(&serial) {
            Some(records) if *records == held => Ok(Some(serial)),
            Some(_) => Err(format!("serial {serial} with other records")),
            None => Err(format!("serial {serial} was never published")),
        }
    }
}
