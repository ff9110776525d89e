//! Places for the faces of new peers: whose face is closed for them.
//!
//! When all places are taken, the party that holds most of them loses the face that it has not used for the
//! longest time, and the newcomer is served. A newcomer of that party itself takes the place of a silent face
//! or is refused, so that it cannot have faces opened and closed at the rate of its packets. If all parties
//! hold few places, faces in use stay: thousands of addresses with a face each would otherwise close them. A
//! face that is the next hop of a prefix stays.

use super::pipeline::Pipeline;
use super::port::Port;
use super::shares::{FaceClass, Places};
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::pit::Pit;
use hashlane_table::share::Holder;
use std::time::Duration;

/// Silence after which a face may be closed for a new peer that does not hold less than the others.
const SILENCE: Duration = Duration::from_secs(10);

/// All places, divided by those that a party may hold without losing faces in use to newcomers.
const PLACES_TO_FEW: u64 = 1024;

/// Faces of a party that are looked at for one newcomer.
const LOOKS: usize = 64;

/// Interval of the searches for silent faces, and the faces that one of them finds at most.
const SEARCH_INTERVAL: Duration = Duration::from_millis(100);
const FOUND: usize = 64;

/// Face to close for a newcomer; `None` if the newcomer is refused. `oldest` is the oldest face of the party
/// that holds most.
pub(super) fn replaceable<P: Pit>(
    places: &mut Places,
    newcomer: Holder,
    oldest: FaceId,
    pipeline: &mut Pipeline<P>,
) -> Option<FaceId> {
    // An item without a face belongs to the newcomer.
    let largest = pipeline.ports.find(oldest).map_or(newcomer, |port| port.holder);
    let few = (places.ledger.limits().all / PLACES_TO_FEW).max(1);
    if places.ledger.weight_of(largest) <= few {
        silent_face(places, pipeline)
    } else if largest == newcomer {
        let now = pipeline.ports.now;
        oldest_unused(places, newcomer, pipeline).filter(|face| {
            let port = pipeline.ports.find(*face);
            port.is_some_and(|port| now.since(port.used) >= SILENCE)
        })
    } else {
        oldest_unused(places, largest, pipeline).or_else(|| oldest_without_route(places, largest, pipeline))
    }
}

/// The face of a party that has been silent since it was last looked at. A face in use becomes its newest
/// one: the packets that it has received pay for the look.
fn oldest_unused<P: Pit>(places: &mut Places, holder: Holder, pipeline: &mut Pipeline<P>) -> Option<FaceId> {
    first_face(places, holder, pipeline, |port, routes| {
        let unused = port.used <= port.queued;
        port.queued = port.used;
        unused && routes == 0
    })
}

/// The oldest face of a party that is no next hop.
fn oldest_without_route<P: Pit>(
    places: &mut Places,
    holder: Holder,
    pipeline: &mut Pipeline<P>,
) -> Option<FaceId> {
    first_face(places, holder, pipeline, |_, routes| routes == 0)
}

/// The oldest face of a party for which `matches` is true, given its port and the number of its routes. The
/// others become its newest ones.
fn first_face<P: Pit>(
    places: &mut Places,
    holder: Holder,
    pipeline: &mut Pipeline<P>,
    mut matches: impl FnMut(&mut Port, usize) -> bool,
) -> Option<FaceId> {
    for _ in 0..LOOKS {
        let victim = places.ledger.oldest_of(holder)?;
        let face = FaceId(victim.value);
        let routes = routes(face, pipeline);
        if let Some(port) = pipeline.ports.find_mut(face)
            && matches(port, routes)
        {
            return Some(face);
        }
        places.ledger.renew(victim.id);
    }
    None
}

fn routes<P: Pit>(face: FaceId, pipeline: &Pipeline<P>) -> usize {
    pipeline.forwarder.faces().find(face).map_or(0, |face| face.routes())
}

/// A face that has been silent for [`SILENCE`] and is no next hop.
fn silent_face<P: Pit>(places: &mut Places, pipeline: &Pipeline<P>) -> Option<FaceId> {
    let (now, kind) = (pipeline.ports.now, places.kind);
    let is_silent = |port: &Port| {
        port.item.is_some()
            && FaceClass::of(port) == kind
            && now.since(port.used) >= SILENCE
            && routes(port.face, pipeline) == 0
    };
    while let Some(face) = places.silent.pop() {
        if pipeline.ports.find(face).is_some_and(is_silent) {
            return Some(face);
        }
    }
    if now.since(places.searched) < SEARCH_INTERVAL {
        return None;
    }
    let ports = pipeline.ports.iter().filter(|port| is_silent(port));
    let mut found: Vec<(Time, FaceId)> = ports.map(|port| (port.used, port.face)).collect();
    found.sort_unstable();
    found.truncate(FOUND);
    places.searched = now;
    places.silent = found.into_iter().rev().map(|(_, face)| face).collect();
    places.silent.pop()
}
