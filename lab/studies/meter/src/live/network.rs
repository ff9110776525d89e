//! A pair of virtual interfaces in a network namespace of one thread, and their counters.

use hashlane_lab::study::TurnError;
use hashlane_rig::namespace;
use std::fs;

/// Interface of the sender.
pub(super) const NEAR: &str = "near";

/// Interface of the meter.
pub(super) const FAR: &str = "far";

/// Packets that an interface received, and those that it had no room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrived {
    pub(super) packets: u64,
    pub(super) dropped: u64,
}

/// Does something on a thread in a new namespace, with the pair of interfaces.
pub(super) fn with_pair<T: Send>(work: impl FnOnce() -> Result<T, TurnError> + Send) -> Result<T, TurnError> {
    namespace::apart(|| {
        let failed = "no network with a pair of interfaces, which needs the rights of root";
        namespace::create_pair(NEAR, FAR).map_err(TurnError::io(failed))?;
        work()
    })
}

/// Reason for which there can be no such pair here; `None` if there can.
pub(crate) fn refused() -> Option<String> {
    with_pair(|| Ok(())).err().map(|error| error.to_string())
}

/// Counters of [`FAR`] in the namespace of this thread.
pub(super) fn arrived() -> Result<Arrived, TurnError> {
    let table = fs::read_to_string("/proc/thread-self/net/dev");
    let table = table.map_err(TurnError::io("cannot read the counters of interfaces"))?;
    counters(&table, FAR).ok_or_else(|| TurnError::Failed(format!("no counters of interface {FAR}")))
}

/// Counters of an interface in the table `/proc/net/dev`: after its name bytes, packets, errors, drops.
fn counters(table: &str, interface: &str) -> Option<Arrived> {
    let of = |line: &str| -> Option<Arrived> {
        let (name, numbers) = line.split_once(':')?;
        let mut numbers = numbers.split_whitespace().map(str::parse::<u64>);
        let mut number = |at| numbers.nth(at)?.ok();
        let (packets, dropped) = (number(1)?, number(1)?);
        (name.trim() == interface).then_some(Arrived { packets, dropped })
    };
    table.lines().find_map(of)
}

/// `true` if a packet socket listens on an interface of the namespace of this thread other than the
/// sender's: a meter is ready.
pub(super) fn is_heard() -> Result<bool, TurnError> {
    let far = nix::net::if_::if_nametoindex(FAR).map_err(TurnError::io("no interface"))?;
    let table = fs::read_to_string("/proc/thread-self/net/packet");
    let table = table.map_err(TurnError::io("cannot read the list of packet sockets"))?;
    Ok(listens(&table, far))
}

/// `true` if the table `/proc/net/packet` has a running socket on the interface with this index.
fn listens(table: &str, index: u32) -> bool {
    table.lines().skip(1).any(|line| {
        let mut words = line.split_whitespace().skip(4);
        let on = words.next().and_then(|word| word.parse().ok()) == Some(index);
        on && words.next() == Some("1")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_counters_of_an_interface() {
        let table = "Inter-|   Receive                                                |  Transmit\n \
                     face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n    \
                     lo:       0       0    0    0    0     0          0         0        0       0\n   \
                     far: 6000060 100001    0   17    0     0          0         0        0       0\n";
        assert_eq!(counters(table, FAR), Some(Arrived { packets: 100_001, dropped: 17 }));
        assert_eq!(counters(table, NEAR), None);
        assert_eq!(counters("far: x", FAR), None);
    }

    #[test]
    fn finds_a_socket_that_listens() {
        let table = "sk               RefCnt Type Proto  Iface R Rmem   User   Inode\n\
                     ffff8880050f2000 3      3    0003   2     1 0      0      16301\n\
                     ffff8880050f3000 3      3    0003   3     0 0      0      16302\n";
        assert_eq!([1, 2, 3].map(|index| listens(table, index)), [false, true, false]);
        assert!(!listens("", 2));
    }
}
