//! Faces as forwarding sees them: numbers, scopes, kinds of links, counters.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

/// The number of a face. No other face ever has it, not after this one is gone either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaceId(pub u32);

impl FaceId {
    /// No face: numbers below [`FIRST`](Self::FIRST) but the management's.
    pub const NONE: Self = Self(0);
    /// The management of the forwarder itself, as in NFD.
    pub const MANAGEMENT: Self = Self(1);
    /// The first number that is given out.
    pub const FIRST: u32 = 256;

    /// Where the face stands in an array of faces: below [`MAX_FACES`], and free again when the face is gone. `None` for numbers that are
    /// not given out.
    #[inline(always)]
    pub fn slot(self) -> Option<usize> {
        (self.0 as usize & (MAX_FACES - 1)).checked_sub(Self::FIRST as usize)
    }
}

/// Whether what is at the other end is on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Another host.
    NonLocal,
    /// An application on this host.
    Local,
}

/// Who hears what is sent to a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// One neighbour.
    PointToPoint,
    /// Several, who hear one another.
    MultiAccess,
    /// Several, who may not hear one another, so that a packet may have to go out where it came in.
    AdHoc,
}

/// What is counted of a face. One thread writes, any may read.
#[derive(Debug, Default)]
pub struct FaceCounters {
    /// Interests that came in.
    pub in_interests: Counter,
    /// Data that came in.
    pub in_data: Counter,
    /// Nacks that came in.
    pub in_nacks: Counter,
    /// Interests that went out.
    pub out_interests: Counter,
    /// Data that went out.
    pub out_data: Counter,
    /// Nacks that went out.
    pub out_nacks: Counter,
    /// Bytes that came in, as the link had them.
    pub in_bytes: Counter,
    /// Bytes that went out.
    pub out_bytes: Counter,
    /// Link packets that came in and were dropped, for whatever reason.
    pub in_drops: Counter,
    /// Link packets that could not be sent.
    pub out_drops: Counter,
}

/// A number that one thread raises.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Raises it. Only the one thread that writes it may: it is a load and a store, and no locked instruction.
    #[inline(always)]
    pub fn add(&self, by: u64) {
        self.set(self.value().wrapping_add(by));
    }

    /// Sets it, where it tells how many there are.
    #[inline(always)]
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// What it has come to.
    #[inline]
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A face.
#[derive(Clone, Debug)]
pub struct Face {
    /// Its scope.
    pub scope: Scope,
    /// Its kind of link.
    pub link: LinkType,
    /// Whether its applications may say where an Interest goes, and are told where a packet came from: the local fields of NDNLPv2.
    /// CachePolicy is none of them: whoever sends Data may ask that it is not kept, as in NFD.
    pub local_fields: bool,
    /// Whether PitTokens of our own go out on it. Who does not know them must drop what has one.
    pub pit_tokens: bool,
    /// Whether InterestDigests go out on it, where there are any. Who does not know them ignores them.
    pub interest_digests: bool,
    /// What is counted of it.
    pub counters: Arc<FaceCounters>,
    /// In-records of the PIT that are its own.
    pub(crate) pending: u32,
}

impl Face {
    /// A face between two.
    pub fn new(scope: Scope, link: LinkType) -> Self {
        let counters = Arc::default();
        Self {
            scope,
            link,
            local_fields: false,
            pit_tokens: false,
            interest_digests: true,
            counters,
            pending: 0,
        }
    }

    /// How many entries of the PIT wait for an answer to this face.
    #[inline]
    pub fn pending(&self) -> usize {
        self.pending as usize
    }
}

/// All faces, by number.
#[derive(Clone, Debug, Default)]
pub struct Faces {
    slots: Vec<Slot>,
    /// Slots to be taken again, the one that has been free for longest first.
    free: alloc::collections::VecDeque<u32>,
    management: Option<Face>,
    len: usize,
}

#[derive(Clone, Debug)]
struct Slot {
    id: FaceId,
    face: Option<Face>,
}

/// Faces that there may be at once.
pub const MAX_FACES: usize = 1 << 14;

impl Faces {
    /// Adds a face, and gives it a number; `None` where there are [`MAX_FACES`].
    ///
    /// A number says in its lowest 14 bits which slot the face is in, less 256, and above them how often that slot was taken before.
    pub fn add(&mut self, face: Face) -> Option<FaceId> {
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
        Some(id)
    }

    /// Adds the face of the management.
    pub fn add_management(&mut self, face: Face) {
        self.management = Some(face);
    }

    /// Takes a face away.
    pub fn remove(&mut self, id: FaceId) -> Option<Face> {
        let at = id.slot()?;
        let slot = self.slots.get_mut(at).filter(|slot| slot.id == id)?;
        let face = slot.face.take()?;
        self.free.push_back(at as u32);
        self.len -= 1;
        Some(face)
    }

    /// The face with this number.
    #[inline(always)]
    pub fn find(&self, id: FaceId) -> Option<&Face> {
        match id.slot() {
            Some(at) => self.slots.get(at).filter(|slot| slot.id == id)?.face.as_ref(),
            None => self.management.as_ref().filter(|_| id == FaceId::MANAGEMENT),
        }
    }

    /// The face with this number, to change it.
    #[inline(always)]
    pub fn find_mut(&mut self, id: FaceId) -> Option<&mut Face> {
        match id.slot() {
            Some(at) => self.slots.get_mut(at).filter(|slot| slot.id == id)?.face.as_mut(),
            None => self.management.as_mut().filter(|_| id == FaceId::MANAGEMENT),
        }
    }

    /// How many there are, the management's apart.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of them, the management's apart.
    pub fn iter(&self) -> impl Iterator<Item = (FaceId, &Face)> {
        self.slots.iter().filter_map(|slot| Some((slot.id, slot.face.as_ref()?)))
    }
}
