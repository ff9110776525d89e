//! Cost of a SYN to the server, against the number of hostile ones before it.
//!
//! SYNs are sent by a raw socket to an address of the kernel's own, a block per system call, as a system call
//! costs more here than its work. By the time the call returns the server's end has handled each SYN: it has
//! looked for a connection of that tuple, found none, and added a request to the table. A link without a peer
//! swallows the answer.

use super::report::{Result, Tasks, cannot, report};
use super::{ask, route};
use crate::line::{Line, Reading, SynReading};
use etherparse::PacketBuilder;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_lab::probe::counter;
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn6, sendmmsg};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::IoSlice;
use std::net::{Ipv6Addr, SocketAddrV6};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// SYNs that are timed together, and how many such blocks there are at each measurement.
const BLOCK: usize = 32;
const BLOCKS: usize = 8;

/// Longest time of a set: in a collapsed table each SYN takes longer than the one before.
const LONGEST: Duration = Duration::from_secs(20);

/// Entries that an empty table may have: the kernel keeps some of streams that have ended.
const LEFT: u64 = 256;

/// Times that all requests of a set are reset, at most.
const CLEARINGS: usize = 3;

/// Sequence number of a SYN.
const SEQUENCE: u32 = 1000;

/// Longest queue of connections to accept: all of them.
const BACKLOG: i32 = 1 << 20;

/// Measures each set, on a table that is empty before it.
pub(super) fn measure(tasks: &Tasks, reading: &mut Reading) -> Result<()> {
    if tasks.attacks.is_empty() {
        return Ok(());
    }
    let listener = Socket::new(Domain::IPV6, Type::STREAM, None).map_err(cannot("open a socket"))?;
    let port = Tuple::CHECK.local_port();
    let any = SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, port, 0, 0);
    listener.bind(&any.into()).and_then(|()| listener.listen(BACKLOG)).map_err(cannot("listen"))?;
    let raw = Sender::new()?;
    report(&Line::Doing("timing segments that never reach the table".to_owned()));
    reading.floor = floor(&raw)?;
    for attack in &tasks.attacks {
        report(&Line::Doing(format!("hostile SYNs, {attack}")));
        let most = tasks.before.iter().copied().max().unwrap_or(0) as usize + BLOCK * BLOCKS;
        // A few more than needed: some cannot be sent unchanged.
        let tuples = attack.generate(most + most / 8, tasks.seed, &Key::VECTOR);
        let tuples: Vec<Tuple> = tuples.iter().filter_map(aimed).take(most).collect();
        let mut syn = SynReading::default();
        let sent = set(&raw, tasks, &tuples, &mut syn)?;
        let (longest, entries) = ask::table()?;
        // On a busy machine the kernel drops some; the report states how many.
        (syn.longest, syn.table) = (longest, (sent as u64, entries));
        syn.left = Some(clear(&raw, tuples.get(..sent).unwrap_or_default())?).filter(|left| *left > LEFT);
        reading.syn.insert(attack.id().to_owned(), syn);
    }
    Ok(())
}

/// Sends the SYNs of a set, and times those behind each of the numbers asked for. How many were sent.
fn set(raw: &Sender, tasks: &Tasks, tuples: &[Tuple], syn: &mut SynReading) -> Result<usize> {
    let (mut sent, begun) = (0, Instant::now());
    for &before in &tasks.before {
        for block in tuples.get(sent..before as usize).unwrap_or_default().chunks(BLOCK) {
            raw.send(block, Segment::Syn)?;
            sent += block.len();
            if begun.elapsed() > LONGEST {
                syn.short = Some(sent as u64);
                return Ok(sent);
            }
        }
        let mut figures = Vec::new();
        for block in tuples.get(sent..).unwrap_or_default().chunks_exact(BLOCK).take(BLOCKS) {
            figures.push(raw.send(block, Segment::Syn)?);
            sent += BLOCK;
        }
        if !figures.is_empty() {
            syn.points.insert(before, figures);
        }
    }
    Ok(sent)
}

/// Removes the requests, the newest first, as they are at the front of their chains. Returns the number of
/// entries left.
fn clear(raw: &Sender, tuples: &[Tuple]) -> Result<u64> {
    let last_first: Vec<Tuple> = tuples.iter().rev().copied().collect();
    let mut left = 0;
    // A busy machine drops resets as it drops SYNs.
    for _ in 0..CLEARINGS {
        for block in last_first.chunks(BLOCK) {
            raw.send(block, Segment::Reset)?;
        }
        (_, left) = ask::table()?;
        if left <= LEFT {
            break;
        }
    }
    Ok(left)
}

/// The same segments to an address that is not the server's; the link without a peer swallows them.
fn floor(raw: &Sender) -> Result<Vec<f64>> {
    let tuple = Tuple::CHECK;
    let away = Tuple::new(tuple.foreign(), tuple.foreign_port(), tuple.local(), tuple.local_port());
    (0..=BLOCKS).map(|_| raw.send(&[away; BLOCK], Segment::Syn)).skip(1).collect()
}

/// The tuple as the server here can be asked about it: to its prefix and port, from an address that may ask.
fn aimed(tuple: &Tuple) -> Option<Tuple> {
    let local = if route::is_server(tuple.local()) { tuple.local() } else { Tuple::CHECK.local() };
    let (foreign, port) = (tuple.foreign(), tuple.foreign_port());
    // Global unicast (RFC 4291 §2.4); others are turned away before TCP sees them.
    let global = foreign.octets()[0] >> 5 == 1;
    (global && port != 0 && !route::is_server(foreign))
        .then(|| Tuple::new(local, Tuple::CHECK.local_port(), foreign, port))
}

#[derive(Clone, Copy)]
enum Segment {
    Syn,
    Reset,
}

/// A raw socket for segments with their IPv6 header.
struct Sender(Socket);

impl Sender {
    fn new() -> Result<Self> {
        // IPPROTO_RAW: the header is ours.
        let socket = Socket::new(Domain::IPV6, Type::RAW, Some(Protocol::from(255)));
        Ok(Self(socket.map_err(cannot("open a raw socket"))?))
    }

    /// Sends a segment of each tuple, in one system call; counts per segment.
    fn send(&self, tuples: &[Tuple], segment: Segment) -> Result<f64> {
        let packets = tuples.iter().map(|tuple| packet(tuple, segment)).collect::<Result<Vec<_>>>()?;
        let slices: Vec<[IoSlice<'_>; 1]> = packets.iter().map(|packet| [IoSlice::new(packet)]).collect();
        let to = |tuple: &Tuple| Some(SockaddrIn6::from(SocketAddrV6::new(tuple.local(), 0, 0, 0)));
        let to: Vec<Option<SockaddrIn6>> = tuples.iter().map(to).collect();
        let mut headers = MultiHeaders::preallocate(packets.len(), None);
        let start = counter::start();
        let sent = sendmmsg(self.0.as_raw_fd(), &mut headers, &slices, &to, [], MsgFlags::empty());
        let counts = counter::stop().saturating_sub(start);
        match sent.map_err(cannot("send segments"))?.count() {
            sent if sent == packets.len() => Ok(counts as f64 / sent as f64),
            sent => Err(format!("{sent} of {} segments were sent", packets.len())),
        }
    }
}

/// A segment from the foreign end to the local one, with its IPv6 header.
fn packet(tuple: &Tuple, segment: Segment) -> Result<Vec<u8>> {
    let ip = PacketBuilder::ipv6(tuple.foreign().octets(), tuple.local().octets(), 64);
    let tcp = match segment {
        Segment::Syn => ip.tcp(tuple.foreign_port(), tuple.local_port(), SEQUENCE, 65535).syn(),
        Segment::Reset => ip.tcp(tuple.foreign_port(), tuple.local_port(), SEQUENCE + 1, 0).rst(),
    };
    let mut bytes = Vec::with_capacity(tcp.size(0));
    tcp.write(&mut bytes, &[]).map_err(cannot("build a segment"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_study_flows::hostile::Attack;

    #[test]
    fn enough_of_each_set_can_be_sent_and_none_twice() {
        for attack in Attack::ALL {
            let tuples = attack.generate(9000, 2015, &Key::VECTOR);
            let mut aimed: Vec<Tuple> = tuples.iter().filter_map(aimed).collect();
            assert!(aimed.iter().all(|tuple| route::is_server(tuple.local()) && tuple.local_port() == 443));
            aimed.sort_unstable_by_key(|tuple| *tuple.as_bytes());
            let all = aimed.len();
            aimed.dedup();
            assert!(all == aimed.len() && all >= 8000, "{attack}: {all}, of which {} differ", aimed.len());
        }
    }

    #[test]
    fn a_syn_reads_as_the_tuple() {
        let bytes = packet(&Tuple::CHECK, Segment::Syn).unwrap();
        assert_eq!(hashlane_flow::packet::Packet::ip(&bytes).unwrap().received(), Tuple::CHECK);
    }
}
