//! Catalog zones with many members, half of them in a group, from Knot and from ours, followed by ours, Knot
//! and BIND.

use crate::Options;
use crate::fetch::{KEY, records_of, serial_of};
use crate::makers::Maker;
use crate::node::{Node, free_ports};
use crate::place::{Place, Role};
use crate::relay::Relay;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

const CATALOG: &str = "catalog.example";

/// Group of the members with odd numbers.
const GROUP: &str = "grouped";

/// Producers and consumers.
const PAIRS: [(Maker, Maker); 4] = [
    (Maker::Knot, Maker::Ours),
    (Maker::Ours, Maker::Ours),
    (Maker::Ours, Maker::Knot),
    (Maker::Ours, Maker::Bind),
];

/// Longest wait for all members.
const PATIENCE: Duration = Duration::from_secs(180);

pub(crate) fn run(options: &Options) -> Result<(), String> {
    println!("producer -> consumer of a catalog: members compared record by record");
    let mut failed = Vec::new();
    for (producer, consumer) in PAIRS {
        let name = format!("catalog-{producer:?}-{consumer:?}").to_lowercase();
        if !name.contains(&options.only) {
            continue;
        }
        match pair(options, &name, (producer, consumer)) {
            Ok(line) => println!("{producer:?} -> {consumer:?}: {line}"),
            Err(why) => {
                println!("{producer:?} -> {consumer:?} of a catalog: FAILED");
                failed.push(format!("{producer:?} -> {consumer:?} of a catalog: {why}"));
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn pair(options: &Options, name: &str, (producer, consumer): (Maker, Maker)) -> Result<String, String> {
    let [from, to, before_from] = free_ports()?;
    let place = |role, port, part: &str| {
        Place::new(role, port, options.folder.join(name).join(part), &options.hashlane)
    };
    let mut producer = Node::new(producer, place(Role::Primary(to), from, "producer")?);
    let mut consumer = Node::new(consumer, place(Role::Secondary(before_from), to, "consumer")?);
    // The relay counts the connections.
    let relay = Relay::start(before_from, from, options.seed)?;
    // A tenth of the members leaves, and as many join.
    let some = options.members.div_ceil(10);
    let (first, second) = (0..options.members, some..options.members + some);
    for member in first.start..second.end {
        zone_file(&producer.place.folder, member)?;
    }
    produce(&mut producer, first.clone())?;
    producer.start()?;
    wait_for(&producer, first.clone(), None)?;
    consumer.place.settings = Some(follow(consumer.maker, &consumer.place)?);
    let begun = Instant::now();
    consumer.start()?;
    wait_for(&consumer, first.clone(), None)?;
    let (took, connections) = (begun.elapsed(), relay.connections());
    first.clone().try_for_each(|member| same(&producer, &consumer, member))?;
    first.clone().try_for_each(|member| is_in_its_group(&consumer, member))?;
    produce(&mut producer, second.clone())?;
    producer.write_settings()?;
    producer.maker.reload(&producer.place, producer.id())?;
    let gone = Some(first.start..second.start);
    wait_for(&producer, second.clone(), None)?;
    wait_for(&consumer, second.clone(), gone)?;
    second.clone().try_for_each(|member| same(&producer, &consumer, member))?;
    second.clone().try_for_each(|member| is_in_its_group(&consumer, member))?;
    Ok(format!(
        "{} members equal after {} ms, over {connections} connections; {some} left and {some} joined",
        options.members,
        took.as_millis()
    ))
}

/// True for a member that is in [`GROUP`].
fn has_group(number: usize) -> bool {
    number % 2 == 1
}

/// Waits until Knot has written a member to the folder of its template, which the group names. The others
/// serve members of both kinds in the same way.
fn is_in_its_group(consumer: &Node, number: usize) -> Result<(), String> {
    if consumer.maker != Maker::Knot {
        return Ok(());
    }
    let folder = if has_group(number) { GROUP } else { "received" };
    let path = consumer.place.folder.join(folder).join(format!("{}.zone", member(number)));
    let begun = Instant::now();
    while !path.exists() {
        if begun.elapsed() > PATIENCE {
            return Err(format!("{} is not there: its group is unknown\n{}", path.display(), consumer.log()));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn member(number: usize) -> String {
    format!("m{number}.members.example")
}

/// Writes the zone file of a member.
fn zone_file(folder: &Path, number: usize) -> Result<(), String> {
    let path = folder.join("zones").join(format!("{}.zone", member(number)));
    let apex = member(number);
    let text = format!(
        "$ORIGIN {apex}.\n$TTL 300\n@ IN SOA ns1 hostmaster {} 3600 600 864000 60\n@ IN NS ns1\n\
         ns1 IN A 192.0.2.{}\nwww IN TXT \"member {number}\"\n",
        number + 1,
        number % 256
    );
    let written = fs::create_dir_all(folder.join("zones")).and_then(|()| fs::write(&path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Waits until a server has all members, and none of those that have gone.
fn wait_for(
    node: &Node,
    members: std::ops::Range<usize>,
    gone: Option<std::ops::Range<usize>>,
) -> Result<(), String> {
    let begun = Instant::now();
    let is_as_wanted = |number: usize, is_there: bool| {
        let serial = serial_of(node.address(), &member(number));
        serial == is_there.then_some(number as u32 + 1)
    };
    let wanted = members.map(|number| (number, true));
    let unwanted = gone.into_iter().flatten().map(|number| (number, false));
    for (number, is_there) in wanted.chain(unwanted) {
        while !is_as_wanted(number, is_there) {
            if begun.elapsed() > PATIENCE {
                let what = if is_there { "misses" } else { "still has" };
                return Err(format!("{:?} {what} {}\n{}", node.maker, member(number), node.log()));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}

/// Compares all records of a member.
fn same(producer: &Node, consumer: &Node, number: usize) -> Result<(), String> {
    let apex = member(number);
    let [one, other] = [producer, consumer].map(|node| records_of(node.address(), &apex, KEY.2));
    let (one, other) = (one?, other?);
    if one == other { Ok(()) } else { Err(format!("{apex} differs: {one:?} and {other:?}")) }
}

/// Sets the configuration of a producer with these members.
fn produce(node: &mut Node, members: std::ops::Range<usize>) -> Result<(), String> {
    let place = &node.place;
    let (name, algorithm, secret) = KEY;
    let (port, folder) = (place.port, place.folder.display());
    let Role::Primary(to) = place.role else { return Err("no primary".to_owned()) };
    let mut text = match node.maker {
        Maker::Knot => format!(
            "server:\n    listen: 127.0.0.1@{port}\n    rundir: \"{folder}\"\n    udp-workers: 1\n    \
             tcp-workers: 1\ndatabase:\n    storage: \"{folder}\"\nlog:\n  - target: stderr\n    any: warning\n\
             key:\n  - id: {name}\n    algorithm: {algorithm}\n    secret: {secret}\n\
             remote:\n  - id: peer\n    address: 127.0.0.1@{to}\n    key: {name}\n\
             acl:\n  - id: all\n    address: 127.0.0.1\n    key: {name}\n    action: [transfer, notify]\n\
             template:\n  - id: member\n    storage: \"{folder}/zones\"\n    file: \"%s.zone\"\n    \
             zonefile-sync: -1\n    acl: all\n    catalog-role: member\n    catalog-zone: {CATALOG}\n\
             zone:\n  - domain: {CATALOG}\n    storage: \"{folder}\"\n    acl: all\n    notify: peer\n    \
             catalog-role: generate\n"
        ),
        _ => format!(
            "[server]\nlisten = [\"127.0.0.1:{port}\"]\nworkers = 1\n[control]\npath = \"\"\n\
             [rate_limit]\nresponses_per_second = 0\n[transfer]\nallow = [\"key {name}\"]\n\
             [[key]]\nname = \"{name}\"\nalgorithm = \"{algorithm}\"\nsecret = \"{secret}\"\n\
             [[zone]]\nname = \"{CATALOG}\"\ncatalog = \"produce\"\nnotify = [\"127.0.0.1:{to} key {name}\"]\n"
        ),
    };
    for number in members {
        let apex = member(number);
        let _ = match node.maker {
            Maker::Knot => writeln!(text, "  - domain: {apex}\n    template: member"),
            _ => writeln!(text, "[[zone]]\nname = \"{apex}\"\nfile = \"{folder}/zones/{apex}.zone\""),
        };
        if has_group(number) {
            let _ = match node.maker {
                Maker::Knot => writeln!(text, "    catalog-group: {GROUP}"),
                _ => writeln!(text, "group = \"{GROUP}\""),
            };
        }
    }
    node.place.settings = Some(text);
    Ok(())
}

/// The configuration of a consumer.
fn follow(maker: Maker, place: &Place) -> Result<String, String> {
    let (name, algorithm, secret) = KEY;
    let (port, folder) = (place.port, place.folder.display());
    let Role::Secondary(from) = place.role else { return Err("no secondary".to_owned()) };
    for part in ["received", GROUP] {
        let path = place.folder.join(part);
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    match maker {
        Maker::Knot => Ok(format!(
            "server:\n    listen: 127.0.0.1@{port}\n    rundir: \"{folder}\"\n    udp-workers: 1\n    \
             tcp-workers: 1\ndatabase:\n    storage: \"{folder}\"\nlog:\n  - target: stderr\n    any: warning\n\
             key:\n  - id: {name}\n    algorithm: {algorithm}\n    secret: {secret}\n\
             remote:\n  - id: peer\n    address: 127.0.0.1@{from}\n    key: {name}\n\
             acl:\n  - id: all\n    address: 127.0.0.1\n    key: {name}\n    action: [transfer, notify]\n\
             template:\n  - id: member\n    storage: \"{folder}/received\"\n    master: peer\n    acl: all\n  \
             - id: {GROUP}\n    storage: \"{folder}/{GROUP}\"\n    master: peer\n    acl: all\n\
             zone:\n  - domain: {CATALOG}\n    storage: \"{folder}\"\n    master: peer\n    acl: all\n    \
             catalog-role: interpret\n    catalog-template: [member, {GROUP}]\n"
        )),
        Maker::Bind => Ok(format!(
            "options {{ directory \"{folder}\"; pid-file \"{folder}/pid\"; session-keyfile \"{folder}/session.key\"; \
             listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; recursion no; \
             transfers-in 50; transfers-per-ns 50; serial-query-rate 1000; notify no; \
             allow-transfer {{ key \"{name}\"; }}; \
             catalog-zones {{ zone \"{CATALOG}\" default-primaries {{ 127.0.0.1 port {from} key \"{name}\"; }} \
             in-memory yes min-update-interval 1; }}; }};\n\
             key \"{name}\" {{ algorithm {algorithm}; secret \"{secret}\"; }};\ncontrols {{ }};\n\
             zone \"{CATALOG}\" {{ type secondary; file \"catalog\"; masterfile-format text; \
             primaries {{ 127.0.0.1 port {from} key \"{name}\"; }}; allow-notify {{ key \"{name}\"; }}; }};\n"
        )),
        _ => Ok(format!(
            "[server]\nlisten = [\"127.0.0.1:{port}\"]\nworkers = 1\n[control]\npath = \"\"\n\
             [rate_limit]\nresponses_per_second = 0\n[transfer]\nfolder = \"{folder}/received\"\n\
             [[key]]\nname = \"{name}\"\nalgorithm = \"{algorithm}\"\nsecret = \"{secret}\"\n\
             [[zone]]\nname = \"{CATALOG}\"\ncatalog = \"follow\"\nprimaries = [\"127.0.0.1:{from} key {name}\"]\n\
             allow_transfer = [\"key {name}\"]\nallow_notify = [\"127.0.0.1\"]\n\
             [[group]]\nname = \"{GROUP}\"\nprimaries = [\"127.0.0.1:{from} key {name}\"]\n"
        )),
    }
}
