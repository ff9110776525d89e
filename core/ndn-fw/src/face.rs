//! Faces as forwarding sees them: ids, scopes, link types, counters.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use hashlane_ndn::reliability::Counts;
use hashlane_table::share::Holder;

/// Id of a face. An id is not used again after its face is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaceId(pub u32);

impl FaceId {
    /// Id of no face. Ids below [`FIRST`](Self::FIRST) belong to no face, except the management's.
    pub const NONE: Self = Self(0);
    /// Face of the forwarder's own management, as in NFD.
    pub const MANAGEMENT: Self = Self(1);
    /// Lowest id of a face.
    pub const FIRST: u32 = 256;

    /// Index of the face in an array of faces, below [`MAX_FACES`]. A later face may have the same index.
    /// `None` for ids below [`FIRST`](Self::FIRST).
    #[inline(always)]
    pub fn slot(self) -> Option<usize> {
        (self.0 as usize & (MAX_FACES - 1)).checked_sub(Self::FIRST as usize)
    }
}

/// Scope of a face: the host of its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Another host.
    NonLocal,
    /// An application on this host.
    Local,
}

/// Link type of a face: the set of peers that receive a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// One peer.
    PointToPoint,
    /// Several peers; each receives every packet.
    MultiAccess,
    /// Several peers, which may not receive each other's packets: a packet may have to leave through its
    /// ingress face.
    AdHoc,
}

/// Counters of a face. One thread writes, any thread may read.
#[derive(Debug, Default)]
pub struct FaceCounters {
    /// Interests received.
    pub in_interests: Counter,
    /// Data received.
    pub in_data: Counter,
    /// Nacks received.
    pub in_nacks: Counter,
    /// Interests sent.
    pub out_interests: Counter,
    /// Data sent.
    pub out_data: Counter,
    /// Nacks sent.
    pub out_nacks: Counter,
    /// Bytes received, including link headers.
    pub in_bytes: Counter,
    /// Bytes sent, including link headers.
    pub out_bytes: Counter,
    /// Received link packets that were dropped, for any reason.
    pub in_drops: Counter,
    /// Link packets that could not be sent.
    pub out_drops: Counter,
    /// Link packets of a face with link reliability.
    pub reliability: ReliabilityCounters,
}

/// Counters of link packets under link reliability, as [`Counts`] has them.
#[derive(Debug, Default)]
pub struct ReliabilityCounters {
    /// Acknowledged.
    pub acknowledged: Counter,
    /// Retransmissions.
    pub retransmitted: Counter,
    /// Given up.
    pub lost: Counter,
    /// Sent without protection, because the window was full.
    pub unprotected: Counter,
    /// Received again.
    pub duplicates: Counter,
}

impl ReliabilityCounters {
    /// Adds numbers. Only one thread may write.
    pub fn add(&self, counts: &Counts) {
        let Counts { acknowledged, retransmitted, lost, unprotected, duplicates } = *counts;
        self.acknowledged.add(acknowledged);
        self.retransmitted.add(retransmitted);
        self.lost.add(lost);
        self.unprotected.add(unprotected);
        self.duplicates.add(duplicates);
    }
}

/// Counter that one thread writes.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to the counter. Only one thread may write, as this is a load and a store instead of a locked
    /// instruction.
    #[inline(always)]
    pub fn add(&self, by: u64) {
        self.set(self.value().wrapping_add(by));
    }

    /// Sets the counter to a current number.
    #[inline(always)]
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Current value.
    #[inline]
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A face.
#[derive(Clone, Debug)]
pub struct Face {
    /// Scope.
    pub scope: Scope,
    /// Link type.
    pub link: LinkType,
    /// True if applications on this face may choose next hops and get the ingress face of packets: the local
    /// fields of NDNLPv2. CachePolicy is not a local field: any peer may send it with Data, as in NFD.
    pub local_fields: bool,
    /// True if this forwarder's own PIT tokens are sent to this face. A peer that does not support tokens
    /// drops packets that carry one.
    pub pit_tokens: bool,
    /// True if InterestDigests are sent to this face. A peer that does not support them ignores them.
    pub interest_digests: bool,
    /// Counters of the face.
    pub counters: Arc<FaceCounters>,
    /// Holder of the peer's shares: the address of the peer, or a local user.
    pub holder: Holder,
    /// Number of in-records of this face in the PIT.
    pub(crate) pending: u32,
    /// Number of prefixes that this face is a next hop of.
    pub(crate) routes: u32,
}

impl Face {
    /// Creates a face without local fields and PIT tokens. All local faces have holder 0, and all others
    /// holder 1, until the caller sets another one.
    pub fn new(scope: Scope, link: LinkType) -> Self {
        let counters = Arc::default();
        let remote = scope == Scope::NonLocal;
        Self {
            scope,
            link,
            local_fields: false,
            pit_tokens: false,
            interest_digests: true,
            counters,
            holder: Holder::new(remote.into(), remote),
            pending: 0,
            routes: 0,
        }
    }

    /// Number of prefixes that this face is a next hop of.
    #[inline]
    pub fn routes(&self) -> usize {
        self.routes as usize
    }

    /// Number of PIT entries that wait for an answer to this face.
    #[inline]
    pub fn pending(&self) -> usize {
        self.pending as usize
    }
}

/// All faces, by id.
#[derive(Clone, Debug, Default)]
pub struct Faces {
    slots: Vec<Slot>,
    /// Free slots, the one that has been free for the longest time first.
    free: alloc::collections::VecDeque<u32>,
    management: Option<Face>,
    /// Faces to other hosts, those that were added first at the front.
    remote: Vec<FaceId>,
    len: usize,
}

#[derive(Clone, Debug)]
struct Slot {
    id: FaceId,
    face: Option<Face>,
}

/// Most faces at once.
pub const MAX_FACES: usize = 1 << 14;

impl Faces {
    /// Adds a face and returns its id; `None` if there are [`MAX_FACES`].
    ///
    /// The lowest 14 bits of an id are the slot plus 256; the bits above count earlier uses of the slot.
    pub fn add(&mut self, face: Face) -> Option<FaceId> {
        let is_remote = face.scope == Scope::NonLocal;
        let id = if self.slots.len() < MAX_FACES - FaceId::FIRST as usize {
            let id = FaceId(self.slots.len() as u32 + FaceId::FIRST);
            self.slots.push(Slot { id, face: Some(face) });
            id
        } else {
            let slot = self.free.pop_front()?;
            let slot = self.slots.get_mut(slot as usize)?;
            slot.id = FaceId(slot.id.0.wrapping_add(MAX_FACES as u32));
            slot.face = Some(face);
            slot.id
        };
        self.len += 1;
        if is_remote {
            self.remote.push(id);
        }
        Some(id)
    }

    /// Sets the face of the management.
    pub fn add_management(&mut self, face: Face) {
        self.management = Some(face);
    }

    /// Removes a face.
    pub fn remove(&mut self, id: FaceId) -> Option<Face> {
        let at = id.slot()?;
        let slot = self.slots.get_mut(at).filter(|slot| slot.id == id)?;
        let face = slot.face.take()?;
        self.free.push_back(at as u32);
        self.len -= 1;
        if let Some(at) = self.remote.iter().position(|other| *other == id) {
            self.remote.remove(at);
        }
        Some(face)
    }

    /// Finds a face by id.
    #[inline(always)]
    pub fn find(&self, id: FaceId) -> Option<&Face> {
        match id.slot() {
            Some(at) => self.slots.get(at).filter(|slot| slot.id == id)?.face.as_ref(),
            None => self.management.as_ref().filter(|_| id == FaceId::MANAGEMENT),
        }
    }

    /// Finds a face by id, to change it.
    #[inline(always)]
    pub fn find_mut(&mut self, id: FaceId) -> Option<&mut Face> {
        match id.slot() {
            Some(at) => self.slots.get_mut(at).filter(|slot| slot.id == id)?.face.as_mut(),
            None => self.management.as_mut().filter(|_| id == FaceId::MANAGEMENT),
        }
    }

    /// Number of faces, without the management's.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no faces, apart from the management's.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Faces to other hosts, those that were added first at the front.
    pub fn remote(&self) -> impl Iterator<Item = (FaceId, &Face)> {
        self.remote.iter().filter_map(|id| Some((*id, self.find(*id)?)))
    }

    /// All faces, without the management's.
    pub fn iter(&self) -> impl Iterator<Item = (FaceId, &Face)> {
        self.slots.iter().filter_map(|slot| Some((slot.id, slot.face.as_ref()?)))
    }
}
