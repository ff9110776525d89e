//! Rates between two samples of a forwarder's counters.

use super::Sort;
use crate::rows::plain;
use hashlane_ndn::mgmt::dataset::{FaceStatus, ForwarderStatus};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// Counters at one time.
pub(super) struct Sample {
    pub(super) at: Instant,
    pub(super) status: ForwarderStatus,
    pub(super) faces: Vec<FaceStatus>,
}

/// Packets a second, by type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Packets {
    pub(super) interests: f64,
    pub(super) data: f64,
    pub(super) nacks: f64,
}

impl Packets {
    fn sum(self) -> f64 {
        self.interests + self.data + self.nacks
    }
}

/// Rates of a face, a second.
#[derive(Debug, Serialize)]
pub(super) struct FaceRates {
    pub(super) face: u64,
    pub(super) remote: String,
    #[serde(rename = "in")]
    pub(super) received: Packets,
    pub(super) out: Packets,
    #[serde(rename = "in-octets")]
    pub(super) in_bytes: f64,
    #[serde(rename = "out-octets")]
    pub(super) out_bytes: f64,
}

/// Rates of a forwarder, a second, and its tables.
#[derive(Debug, Serialize)]
pub(super) struct Rates {
    pub(super) version: String,
    #[serde(rename = "uptime-ms")]
    pub(super) uptime: u64,
    pub(super) seconds: f64,
    pub(super) fib: u64,
    pub(super) pit: u64,
    pub(super) cs: u64,
    /// Age of the packet that the content store evicts next; `None` if it is empty or not known.
    #[serde(rename = "cs-oldest-ms")]
    pub(super) cs_oldest: Option<u64>,
    #[serde(rename = "in")]
    pub(super) received: Packets,
    pub(super) out: Packets,
    /// PIT entries that Data satisfied, and that expired; `None` of forwarders that do not count them.
    pub(super) satisfied: Option<f64>,
    pub(super) unsatisfied: Option<f64>,
    /// Packets dropped, by reason; only rates above 0.
    pub(super) dropped: BTreeMap<String, f64>,
    pub(super) faces: Vec<FaceRates>,
}

impl Rates {
    /// Rates between two samples. Counters of a new face count from 0; so do all of a forwarder that was
    /// started anew meanwhile.
    pub(super) fn between(before: &Sample, now: &Sample, sort: Sort) -> Self {
        let seconds = now.at.duration_since(before.at).as_secs_f64().max(1e-3);
        let is_same = before.status.start == now.status.start;
        let rate = |now: u64, before: u64| {
            let before = if is_same && before <= now { before } else { 0 };
            (now - before) as f64 / seconds
        };
        let (old, new) = (&before.status, &now.status);
        let packets = |now: [u64; 3], before: [u64; 3]| Packets {
            interests: rate(now[0], before[0]),
            data: rate(now[1], before[1]),
            nacks: rate(now[2], before[2]),
        };
        let maybe = |now: Option<u64>, before: Option<u64>| Some(rate(now?, before.unwrap_or(0)));
        let counts: HashMap<&str, u64> =
            old.counts.iter().map(|count| (count.name.as_str(), count.value)).collect();
        let dropped = new.counts.iter().filter_map(|count| {
            let before = counts.get(count.name.as_str()).copied().unwrap_or(0);
            Some((plain(&count.name), rate(count.value, before))).filter(|(_, rate)| *rate > 0.0)
        });
        let known: HashMap<u64, &FaceStatus> = before.faces.iter().map(|face| (face.face_id, face)).collect();
        let mut faces: Vec<FaceRates> = now
            .faces
            .iter()
            .map(|face| {
                let old = known.get(&face.face_id).copied();
                let of =
                    |counts: fn(&FaceStatus) -> [u64; 3]| packets(counts(face), old.map_or([0; 3], counts));
                let bytes = |count: fn(&FaceStatus) -> u64| rate(count(face), old.map_or(0, count));
                FaceRates {
                    face: face.face_id,
                    remote: plain(&face.uri),
                    received: of(|face| [face.in_interests, face.in_data, face.in_nacks]),
                    out: of(|face| [face.out_interests, face.out_data, face.out_nacks]),
                    in_bytes: bytes(|face| face.in_bytes),
                    out_bytes: bytes(|face| face.out_bytes),
                }
            })
            .collect();
        let key = |face: &FaceRates| match sort {
            Sort::Packets => face.received.sum() + face.out.sum(),
            Sort::Bytes => face.in_bytes + face.out_bytes,
            Sort::Interests => face.received.interests,
        };
        faces.sort_by(|a, b| key(b).total_cmp(&key(a)).then(a.face.cmp(&b.face)));
        Self {
            version: plain(&new.version),
            uptime: new.current.saturating_sub(new.start),
            seconds,
            fib: new.fib_entries,
            pit: new.pit_entries,
            cs: new.cs_entries,
            cs_oldest: new.cs_oldest,
            received: packets(
                [new.in_interests, new.in_data, new.in_nacks],
                [old.in_interests, old.in_data, old.in_nacks],
            ),
            out: packets(
                [new.out_interests, new.out_data, new.out_nacks],
                [old.out_interests, old.out_data, old.out_nacks],
            ),
            satisfied: maybe(new.satisfied, old.satisfied),
            unsatisfied: maybe(new.unsatisfied, old.unsatisfied),
            dropped: dropped.collect(),
            faces,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn::mgmt::dataset::Count;
    use hashlane_ndn::mgmt::values::{FacePersistency, FaceScope, LinkType};
    use std::time::Duration;

    fn face(face_id: u64, in_interests: u64) -> FaceStatus {
        FaceStatus {
            face_id,
            uri: format!("fd://{face_id}\n"),
            local_uri: "fd://0".into(),
            expiration: None,
            scope: FaceScope::NonLocal,
            persistency: FacePersistency::Persistent,
            link_type: LinkType::PointToPoint,
            marking_interval: None,
            congestion_threshold: None,
            mtu: None,
            in_interests,
            in_data: 0,
            in_nacks: 0,
            out_interests: 0,
            out_data: 0,
            out_nacks: 0,
            in_bytes: 0,
            out_bytes: 0,
            flags: 0,
        }
    }

    fn sample(at: Instant, in_interests: u64, drops: u64, faces: &[(u64, u64)]) -> Sample {
        let status = ForwarderStatus {
            version: "1".into(),
            start: 0,
            current: 0,
            name_tree_entries: 0,
            fib_entries: 0,
            pit_entries: 0,
            measurements_entries: 0,
            cs_entries: 0,
            in_interests,
            in_data: 0,
            in_nacks: 0,
            out_interests: 0,
            out_data: 0,
            out_nacks: 0,
            satisfied: None,
            unsatisfied: None,
            counts: vec![Count { name: "loop".into(), value: drops }],
            cs_oldest: None,
        };
        Sample { at, status, faces: faces.iter().map(|(id, interests)| face(*id, *interests)).collect() }
    }

    #[test]
    fn rates_are_differences_over_the_time_between() {
        let at = Instant::now();
        let before = sample(at, 1000, 5, &[(1, 100), (2, 0)]);
        let now = sample(at + Duration::from_secs(2), 1600, 5, &[(1, 200), (2, 500), (3, 40)]);
        let rates = Rates::between(&before, &now, Sort::Packets);
        assert_eq!(rates.received.interests, 300.0);
        assert!(rates.dropped.is_empty(), "a reason without new drops is left out");
        let faces: Vec<_> = rates.faces.iter().map(|face| (face.face, face.received.interests)).collect();
        assert_eq!(faces, [(2, 250.0), (1, 50.0), (3, 20.0)]);
        assert_eq!(rates.faces[0].remote, "fd://2\\n");
    }

    #[test]
    fn counters_of_a_forwarder_that_was_started_anew_count_from_zero() {
        let at = Instant::now();
        let before = sample(at, 1000, 5, &[(1, 100)]);
        let mut now = sample(at + Duration::from_secs(1), 1200, 7, &[(1, 50)]);
        now.status.start = 1;
        let rates = Rates::between(&before, &now, Sort::Bytes);
        assert_eq!((rates.received.interests, rates.faces[0].received.interests), (1200.0, 50.0));
        assert_eq!(rates.dropped["loop"], 7.0);
    }
}
