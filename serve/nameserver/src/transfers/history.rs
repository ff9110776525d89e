//! The differences that led to the version in service, and what is sent of them.

use hashlane_dns::zone::Zone;
use hashlane_hash::scheme::Key;
use hashlane_transfer::delta::Delta;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Differences that are kept at most, whatever their length.
const MAX_DELTAS: usize = 10_000;

/// Bytes of differences that are condensed at most: it takes some 7 ms of the thread that answers over TCP.
const MAX_CONDENSED: u64 = 512 << 10;

/// Differences up to the version in service, the oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    deltas: VecDeque<Arc<Delta>>,
    /// The last one that was condensed: secondaries ask for the same one, one after the other.
    condensed: Arc<Mutex<Option<Arc<Delta>>>>,
}

impl History {
    /// Adds differences, and removes the oldest ones beyond `most` bytes.
    pub(crate) fn extend(&mut self, deltas: Vec<Delta>, most: u64) {
        let kept = &mut self.deltas;
        for delta in deltas {
            if kept.back().is_some_and(|last| last.to() != delta.from()) {
                kept.clear();
            }
            kept.push_back(Arc::new(delta));
        }
        let mut bytes = bytes(kept.iter());
        while bytes > most || kept.len() > MAX_DELTAS {
            let Some(first) = kept.pop_front() else { break };
            bytes -= first.bytes() as u64;
        }
        self.condensed = Arc::default();
    }

    /// Forgets all differences.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// True without differences.
    pub(crate) fn is_empty(&self) -> bool {
        self.deltas.is_empty()
    }

    /// Differences from a serial number to the version in service, as one if that is shorter (RFC 1995 §5).
    /// `None` if they do not go back so far, or have more records than the zone. `key` should be random.
    pub(crate) fn since(&self, serial: u32, zone: &Zone, key: &Key) -> Option<Vec<Arc<Delta>>> {
        let first = self.deltas.iter().position(|delta| delta.from() == serial)?;
        let mut deltas: Vec<Arc<Delta>> = self.deltas.range(first..).cloned().collect();
        if let Some(condensed) = self.condensed(&deltas, key) {
            deltas = vec![condensed];
        }
        let records: usize = deltas.iter().map(|delta| delta.removed().len() + delta.added().len()).sum();
        (records <= zone.records()).then_some(deltas)
    }

    /// The same differences as one, if it is shorter.
    fn condensed(&self, deltas: &[Arc<Delta>], key: &Key) -> Option<Arc<Delta>> {
        let (first, sum) = (deltas.first()?, bytes(deltas.iter()));
        if deltas.len() < 2 || sum > MAX_CONDENSED {
            return None;
        }
        let mut last = self.condensed.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(known) if known.from() == first.from() => Some(Arc::clone(known)),
            _ => {
                let one = Delta::condense(deltas, key).filter(|one| one.bytes() as u64 <= sum)?;
                Some(Arc::clone(last.insert(Arc::new(one))))
            }
        }
    }
}

fn bytes<'d>(deltas: impl Iterator<Item = &'d Arc<Delta>>) -> u64 {
    deltas.map(|delta| delta.bytes() as u64).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
mod tests {
    use super::*;
    use hashlane_dns::wire::RecordType;
    use hashlane_dns::zone::Builder;
    use hashlane_name::dns::text;

    const KEY: Key = Key::VECTOR;

    /// A zone with hosts of these numbers.
    fn zone(serial: u32, hosts: impl IntoIterator<Item = u8>) -> Zone {
        let apex = text::parse(b"example").unwrap();
        let mut builder = Builder::new(apex.view(), &KEY);
        let soa = [&[0, 0][..], &serial.to_be_bytes(), &[0; 16]].concat();
        builder.add(apex.view(), RecordType::SOA, 60, &soa).unwrap();
        builder.add(apex.view(), RecordType::NS, 60, &[0]).unwrap();
        for host in hosts {
            builder.add(apex.view(), RecordType::A, 60, &[192, 0, 2, host]).unwrap();
        }
        builder.finish().unwrap()
    }

    fn history(zones: &[Zone]) -> History {
        let mut history = History::default();
        let pairs = zones.windows(2).map(|pair| Delta::between(&pair[0], &pair[1], &KEY).unwrap());
        history.extend(pairs.collect(), 1 << 20);
        history
    }

    #[test]
    fn differences_are_sent_as_one() {
        // Hosts 100 to 102 come and go; 103 stays.
        let zones: Vec<Zone> =
            (0..4).map(|serial| zone(serial, (0..50).chain([100 + serial as u8]))).collect();
        let history = history(&zones);
        for _ in 0..2 {
            let sent = history.since(0, &zones[3], &KEY).unwrap();
            let [one] = &sent[..] else { panic!("{sent:?}") };
            // The SOA record, and the host.
            assert_eq!((one.from(), one.to(), one.removed().len(), one.added().len()), (0, 3, 2, 2));
            let applied = Delta::apply(&zones[0], &[Delta::clone(one)], &KEY).unwrap();
            assert_eq!(applied.fingerprint(&KEY), zones[3].fingerprint(&KEY));
        }
        assert_eq!(history.since(2, &zones[3], &KEY).unwrap().len(), 1);
        assert_eq!(history.since(7, &zones[3], &KEY), None, "never a version");
    }

    #[test]
    fn differences_that_are_longer_than_the_zone_are_not_sent() {
        let zones = [zone(1, 0..50), zone(2, 50..90)];
        assert_eq!(history(&zones).since(1, &zones[1], &KEY), None);
    }

    #[test]
    fn a_change_of_the_history_drops_the_condensed_difference() {
        let zones: Vec<Zone> =
            (0..4).map(|serial| zone(serial, (0..50).chain([100 + serial as u8]))).collect();
        let mut history = history(&zones[..3]);
        assert_eq!(history.since(0, &zones[2], &KEY).unwrap()[0].to(), 2);
        history.extend(vec![Delta::between(&zones[2], &zones[3], &KEY).unwrap()], 1 << 20);
        assert_eq!(history.since(0, &zones[3], &KEY).unwrap()[0].to(), 3);
        history.clear();
        assert!(history.is_empty() && history.since(0, &zones[3], &KEY).is_none());
    }
}
