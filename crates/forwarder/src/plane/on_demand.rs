//! On-demand UDP faces: those that a datagram of their peer has opened.

use hashlane_ndn::time::Time;
use hashlane_ndn_fw::face::FaceId;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

/// On-demand faces, roughly in the order of their last packets.
///
/// A packet changes nothing here. When room for a new face is needed, a face that has received packets since
/// it was queued moves to the end of the queue. So the search for a silent face is paid for by the packets
/// before it.
#[derive(Debug, Default)]
pub(super) struct OnDemand {
    faces: HashSet<FaceId>,
    /// These faces and some closed ones, with the time of the last packet known when each was queued.
    queue: VecDeque<(FaceId, Time)>,
}

impl OnDemand {
    /// Entries of closed faces, in addition to the number of faces, before they are swept out.
    const SLACK: usize = 64;

    /// Number of faces.
    pub(super) fn len(&self) -> usize {
        self.faces.len()
    }

    /// Adds a face.
    pub(super) fn add(&mut self, face: FaceId, now: Time) {
        if self.queue.len() >= 2 * self.faces.len() + Self::SLACK {
            self.queue.retain(|(face, _)| self.faces.contains(face));
        }
        if self.faces.insert(face) {
            self.queue.push_back((face, now));
        }
    }

    /// Removes a face, if it is here.
    pub(super) fn remove(&mut self, face: FaceId) {
        self.faces.remove(&face);
    }

    /// Removes a face that has been silent for `silence`. `used` returns the time of a face's last packet.
    /// Returns `None` if the face at the front of the queue is not silent: one behind it can then have been
    /// silent for at most twice as long.
    pub(super) fn take_silent(
        &mut self,
        now: Time,
        silence: Duration,
        mut used: impl FnMut(FaceId) -> Option<Time>,
    ) -> Option<FaceId> {
        while let Some((face, known)) = self.queue.pop_front() {
            if !self.faces.contains(&face) {
                continue;
            }
            match used(face) {
                Some(last) if now.since(last) < silence => {
                    if last == known {
                        self.queue.push_front((face, known));
                        return None;
                    }
                    self.queue.push_back((face, last));
                }
                _ => {
                    self.faces.remove(&face);
                    return Some(face);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const SILENCE: Duration = Duration::from_secs(10);

    fn at(seconds: u64) -> Time {
        Time(seconds * 1_000_000_000)
    }

    #[test]
    fn the_silent_one_goes_and_the_busy_ones_stay() {
        let mut used: HashMap<FaceId, Time> = (0..3).map(|face| (FaceId(face), at(0))).collect();
        let mut peers = OnDemand::default();
        (0..3).for_each(|face| peers.add(FaceId(face), at(0)));
        assert_eq!(peers.take_silent(at(9), SILENCE, |face| used.get(&face).copied()), None);
        used.insert(FaceId(0), at(8));
        used.insert(FaceId(2), at(9));
        assert_eq!(peers.take_silent(at(10), SILENCE, |face| used.get(&face).copied()), Some(FaceId(1)));
        assert_eq!(peers.take_silent(at(10), SILENCE, |face| used.get(&face).copied()), None);
        peers.remove(FaceId(0));
        assert_eq!(peers.take_silent(at(30), SILENCE, |face| used.get(&face).copied()), Some(FaceId(2)));
        assert_eq!((peers.len(), peers.take_silent(at(30), SILENCE, |_| None)), (0, None));
    }

    #[test]
    fn thousands_of_source_ports_cost_one_look_each() {
        const PEERS: u32 = 4096;
        let mut used = HashMap::new();
        let mut peers = OnDemand::default();
        for face in 0..PEERS {
            used.insert(FaceId(face), at(1));
            peers.add(FaceId(face), at(1));
        }
        let mut looks = 0;
        // All were heard a moment ago: none gives way, and that is seen at the first one.
        for _ in 0..10 * PEERS {
            let silent = peers.take_silent(at(2), SILENCE, |face| {
                looks += 1;
                used.get(&face).copied()
            });
            assert_eq!(silent, None);
        }
        assert_eq!(looks, 10 * PEERS);
        // Each is heard once more: a packet each pays for one look more.
        used.values_mut().for_each(|used| *used = at(5));
        looks = 0;
        for _ in 0..10 * PEERS {
            peers.take_silent(at(6), SILENCE, |face| {
                looks += 1;
                used.get(&face).copied()
            });
        }
        assert_eq!(looks, 11 * PEERS);
        // All have fallen silent: each new one takes the place of one.
        looks = 0;
        for face in PEERS..2 * PEERS {
            let silent = peers.take_silent(at(20), SILENCE, |face| {
                looks += 1;
                used.get(&face).copied()
            });
            assert_eq!(silent, Some(FaceId(face - PEERS)));
            used.insert(FaceId(face), at(20));
            peers.add(FaceId(face), at(20));
        }
        assert_eq!((looks, peers.len()), (PEERS, PEERS as usize));
    }

    #[test]
    fn faces_that_come_and_go_leave_nothing_behind() {
        let mut peers = OnDemand::default();
        for face in 0..100_000 {
            peers.add(FaceId(face), at(1));
            peers.remove(FaceId(face));
        }
        assert!(peers.queue.len() <= 2 * OnDemand::SLACK, "{}", peers.queue.len());
    }
}
