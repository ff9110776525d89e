//! The forwarder: its tables, and the methods that configure them.

use super::config::Config;
use super::counters::Counters;
use super::decode::Decode;
use super::sweep::Sweep;
use crate::cs::{self, ContentStore};
use crate::dead_nonce::DeadNonces;
use crate::face::{Face, FaceId, Faces};
use crate::fib::{Fib, NextHop};
use crate::hashed::NameHasher;
use crate::pit::{ByName, Pit};
use crate::share::{Shares, Used};
use crate::strategy::{ChoiceTable, Rng, Strategy};
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashlane_hash::scheme::Key;
use hashlane_name::ndn::NdnName;

/// A forwarder, whose PIT has one of the indexes.
#[derive(Debug)]
pub struct Forwarder<P = ByName> {
    pub(super) decode: Decode,
    /// For names beside those of packets: hints, prefixes.
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
    /// In-records of all faces, and of closed faces until the sweep removes them.
    pub(super) pending: Used,
    pub(super) shares: Shares,
    pub(super) sweep: Sweep,
    /// Whether any strategy wants to hear of Data.
    pub(super) measures: bool,
    /// How often the FIB and the choice of strategies have changed.
    pub(super) generation: u32,
    /// A packet that is changed before it is sent.
    pub(super) scratch: Vec<u8>,
}

impl Forwarder {
    /// A forwarder without faces, whose tables are hashed under `key`; `seed` is for the numbers that nobody is to foresee. Its PIT is indexed by name.
    pub fn new(config: Config, key: &Key, seed: u64) -> Self {
        Self::with_pit(config, key, seed, ByName::default())
    }
}

impl<P: Pit> Forwarder<P> {
    /// As [`new`](Forwarder::new), with this PIT, which is empty.
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
            shares: Shares::new(config.pit_entries),
            config,
            counters: Arc::default(),
            pending: Used::default(),
            sweep: Sweep::default(),
            measures: false,
            generation: 0,
            scratch: Vec::new(),
        }
    }

    /// Adds a face, and gives it a number; `None` where there are too many.
    pub fn add_face(&mut self, face: Face) -> Option<FaceId> {
        self.faces.add(face)
    }

    /// Adds the face of the management, and the route to it.
    pub fn add_management(&mut self, face: Face, prefixes: &[NdnName<'_>]) {
        self.faces.add_management(face);
        for prefix in prefixes {
            self.add_route(prefix, NextHop { face: FaceId::MANAGEMENT, cost: 0 });
        }
    }

    /// Removes a face. Its PIT records have no effect any more, and leave in the next [turns](Self::handle_timeout), a
    /// bounded number in each. Its routes stay, without effect, until they are removed.
    pub fn remove_face(&mut self, face: FaceId) -> Option<Face> {
        let gone = self.faces.remove(face)?;
        if gone.pending > 0 || gone.counters.out_interests.value() > 0 {
            self.sweep.start(self.pit.slots());
        }
        Some(gone)
    }

    /// The faces.
    pub fn faces(&self) -> &Faces {
        &self.faces
    }

    /// A face, to change it.
    pub fn face_mut(&mut self, face: FaceId) -> Option<&mut Face> {
        self.faces.find_mut(face)
    }

    /// Adds a way for names below `prefix`, or gives it another cost.
    pub fn add_route(&mut self, prefix: &NdnName<'_>, hop: NextHop) {
        self.generation = self.generation.wrapping_add(1);
        self.fib.add(&self.hasher.hash_name(prefix), hop);
    }

    /// Takes a way away. Whether there was one.
    pub fn remove_route(&mut self, prefix: &NdnName<'_>, face: FaceId) -> bool {
        self.generation = self.generation.wrapping_add(1);
        self.fib.remove(&self.hasher.hash_name(prefix), face)
    }

    /// Lets names below `prefix` have a strategy.
    pub fn set_strategy(&mut self, prefix: &NdnName<'_>, strategy: Strategy) {
        self.generation = self.generation.wrapping_add(1);
        self.measures |= strategy.measures();
        self.choice.set(&self.hasher.hash_name(prefix), strategy);
    }

    /// Lets names below `prefix` have the strategy of the next shorter prefix. Whether they had one of their own.
    pub fn unset_strategy(&mut self, prefix: &NdnName<'_>) -> bool {
        self.generation = self.generation.wrapping_add(1);
        self.choice.unset(&self.hasher.hash_name(prefix))
    }

    /// The content store.
    pub fn cs(&self) -> &ContentStore {
        &self.cs
    }

    /// Lets the content store work in another way.
    pub fn configure_cs(&mut self, config: cs::Config) {
        self.cs.configure(config);
    }

    /// Takes Data of `prefix` and below it out of the content store; how many.
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

    /// In-records of the PIT: what the share of a face is taken of.
    pub fn pending(&self) -> usize {
        self.pending.all
    }

    /// Entries of the dead nonce list.
    pub fn dead_nonces(&self) -> usize {
        self.dead.len()
    }

    /// What is counted of all faces together. How full the tables are is told as of the last [`turn`](Self::handle_timeout).
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }
}
