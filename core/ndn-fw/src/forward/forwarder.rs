//! The forwarder: its tables, and methods to configure them.

use super::config::Config;
use super::counters::Counters;
use super::decode::Decode;
use super::pending::Pending;
use super::retries::Retries;
use super::sweep::Sweep;
use super::visit::Served;
use super::watch::Watch;
use crate::cs::{self, ContentStore};
use crate::dead_nonce::DeadNonces;
use crate::face::{Face, FaceId, Faces};
use crate::fib::{Fib, NextHop};
use crate::hashed::NameHasher;
use crate::learning::{Announcements, RouteEvents};
use crate::pit::{ByName, Pit};
use crate::strategy::{ChoiceTable, Rng, Strategy};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashlane_hash::scheme::Key;
use hashlane_name::ndn::NdnName;
use hashlane_table::share::Holder;

/// NDN forwarder, generic over the index of its PIT.
#[derive(Debug)]
pub struct Forwarder<P = ByName> {
    pub(super) decode: Decode,
    /// Hasher of names outside packets: forwarding hints, prefixes.
    pub(super) hasher: NameHasher,
    pub(super) faces: Faces,
    pub(super) fib: Fib,
    pub(super) pit: P,
    pub(super) cs: ContentStore,
    pub(super) dead: DeadNonces,
    pub(super) choice: ChoiceTable,
    pub(super) rng: Rng,
    pub(super) config: Config,
    pub(super) counters: Arc<Counters>,
    /// In-records of all holders, including closed faces until the sweep removes theirs.
    pub(super) pending: Pending,
    pub(super) sweep: Sweep,
    /// Timers of Interests that were sent to one next hop first.
    pub(super) retries: Retries,
    /// Calls of [`shrink`](Self::shrink) in a row that have found the PIT nearly empty.
    pub(super) sparse: u8,
    /// True if a strategy measures Data.
    pub(super) measures: bool,
    /// True if a strategy learns routes.
    pub(super) learns: bool,
    pub(super) announcements: Announcements,
    pub(super) route_events: RouteEvents,
    /// Generation of the FIB and the strategy choice table: number of changes.
    pub(super) generation: u32,
    /// Outcome of a visit of the last packet, if it is to visit another shard.
    pub(super) passed: Option<Box<Served>>,
    /// Traces and samples.
    pub(super) watch: Watch,
    /// Buffer for a packet that is changed before it is sent.
    pub(super) scratch: Vec<u8>,
}

impl Forwarder {
    /// Creates a forwarder without faces, with a PIT indexed by name. Tables are hashed under `key`; `seed`
    /// is the source of Nonces and random choices. Both should be drawn at random.
    pub fn new(config: Config, key: &Key, seed: u64) -> Self {
        Self::with_pit(config, key, seed, ByName::default())
    }
}

impl<P: Pit> Forwarder<P> {
    /// Creates a forwarder as [`new`](Forwarder::new), with the empty PIT `pit`.
    pub fn with_pit(config: Config, key: &Key, seed: u64, pit: P) -> Self {
        let mut hasher = NameHasher::new(key);
        Self {
            decode: Decode::new(key),
            choice: ChoiceTable::new(&mut hasher),
            hasher,
            faces: Faces::default(),
            fib: Fib::default(),
            pit,
            cs: ContentStore::new(config.cs),
            dead: DeadNonces::default(),
            rng: Rng::new(seed),
            pending: Pending::new(&config),
            config,
            counters: Arc::default(),
            sweep: Sweep::default(),
            retries: Retries::default(),
            sparse: 0,
            measures: false,
            learns: false,
            announcements: Announcements::default(),
            route_events: RouteEvents::default(),
            generation: 0,
            passed: None,
            watch: Watch::default(),
            scratch: Vec::new(),
        }
    }

    /// Adds a face and returns its id; `None` if there are too many.
    pub fn add_face(&mut self, face: Face) -> Option<FaceId> {
        self.faces.add(face)
    }

    /// Sets the face of the management, and adds routes to it.
    pub fn add_management(&mut self, face: Face, prefixes: &[NdnName<'_>]) {
        self.faces.add_management(face);
        for prefix in prefixes {
            self.add_route(prefix, NextHop { face: FaceId::MANAGEMENT, cost: 0 });
        }
    }

    /// Removes a face. Its PIT records have no effect from then on, and
    /// [`handle_timeout`](Self::handle_timeout) removes a bounded number at each call. Its routes stay,
    /// without effect, until they are removed.
    pub fn remove_face(&mut self, face: FaceId) -> Option<Face> {
        let gone = self.faces.remove(face)?;
        if gone.pending > 0 || gone.counters.out_interests.value() > 0 {
            self.sweep.start(self.pit.slots());
        }
        Some(gone)
    }

    /// All faces.
    pub fn faces(&self) -> &Faces {
        &self.faces
    }

    /// Finds a face, to change it.
    pub fn face_mut(&mut self, face: FaceId) -> Option<&mut Face> {
        self.faces.find_mut(face)
    }

    /// Adds a next hop to a prefix, or updates its cost.
    pub fn add_route(&mut self, prefix: &NdnName<'_>, hop: NextHop) {
        self.generation = self.generation.wrapping_add(1);
        if self.fib.add(&self.hasher.hash_name(prefix), hop)
            && let Some(face) = self.faces.find_mut(hop.face)
        {
            face.routes += 1;
        }
    }

    /// Removes a next hop of a prefix. Returns false if the prefix did not have it.
    pub fn remove_route(&mut self, prefix: &NdnName<'_>, face: FaceId) -> bool {
        self.generation = self.generation.wrapping_add(1);
        let removed = self.fib.remove(&self.hasher.hash_name(prefix), face);
        if removed && let Some(face) = self.faces.find_mut(face) {
            face.routes -= 1;
        }
        removed
    }

    /// Sets the strategy of a prefix.
    pub fn set_strategy(&mut self, prefix: &NdnName<'_>, strategy: Strategy) {
        self.generation = self.generation.wrapping_add(1);
        self.measures |= strategy.measures();
        self.learns |= strategy.learns();
        self.choice.set(&self.hasher.hash_name(prefix), strategy);
    }

    /// Unsets the strategy of a prefix; it inherits from the next shorter prefix. Returns false if it had
    /// none.
    pub fn unset_strategy(&mut self, prefix: &NdnName<'_>) -> bool {
        self.generation = self.generation.wrapping_add(1);
        self.choice.unset(&self.hasher.hash_name(prefix))
    }

    /// The content store.
    pub fn cs(&self) -> &ContentStore {
        &self.cs
    }

    /// Replaces the configuration. If the PIT has more than its new limits, the holders that have most lose
    /// their oldest records with the next Interest; the content store evicts in steps. Visits each entry of
    /// the PIT.
    pub fn configure(&mut self, config: Config) {
        self.cs.configure(config.cs);
        self.config = config;
        self.pending.configure(&self.config);
        self.pit.iter().for_each(|(key, records)| self.pending.reweigh(key, records));
    }

    /// Changes the configuration of the content store.
    pub fn configure_cs(&mut self, config: cs::Config) {
        self.cs.configure(config);
    }

    /// Erases at most `limit` packets below `prefix` from the content store; returns their number.
    pub fn erase(&mut self, prefix: &NdnName<'_>, limit: usize) -> usize {
        self.cs.erase(&self.hasher.hash_name(prefix), limit)
    }

    /// The FIB.
    pub fn fib(&self) -> &Fib {
        &self.fib
    }

    /// The PIT.
    pub fn pit(&self) -> &P {
        &self.pit
    }

    /// Number of in-records in the PIT. Each holder has a share of them.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// True if the PIT has no record of this holder, and its number may be given to another one.
    pub fn is_idle(&self, holder: Holder) -> bool {
        self.pending.is_idle(holder)
    }

    /// Number of entries in the dead nonce list.
    pub fn dead_nonces(&self) -> usize {
        self.dead.len()
    }

    /// Counters of all faces together. Table sizes are as of the last
    /// [`handle_timeout`](Self::handle_timeout).
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }
}
