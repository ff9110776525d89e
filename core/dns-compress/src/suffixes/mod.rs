//! The suffixes of the names of a message, in a hash table.

mod compare;
mod folded;
mod long;
mod next;
mod parents;
mod recent;
mod search;
mod search_long;
mod slots;

use crate::HEADER_LEN;
use crate::compressor::{CompressedName, Compressor, POINTER_LIMIT};
use folded::{Folded, NameHash};
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::suffix::{SuffixHash, SuffixSums};
use hashlane_name::dns::{Case, MAX_LABELS, Name};
use long::LongNames;
use parents::Parents;
use recent::{RECENT, WHOLE, Whole};
use slots::{Slot, Slots, spread};

/// Purpose of the keys of the hash, for their derivation.
const PURPOSE: &[u8; 8] = b"dns-name";

/// Clearings of the table, each after 255 messages, under one key. Deriving a key and expanding it takes one
/// or two microseconds: less than a nanosecond for each message.
const CLEARS: u8 = 16;

/// Compressor that finds the longest suffix written before. Its time is linear in the bytes of the names, for
/// all names.
///
/// The names of a message are a tree, from the root on: a name hangs on the suffix that it shares with an
/// earlier one. The table has one slot for each name, under the hash of the shortest of its suffixes that was
/// new; the labels before that suffix are compared in the message. So a name takes one lookup for each
/// earlier name that it shares labels with and one that finds nothing, however many labels it has. One pass
/// over a name gives the hashes of all its suffixes ([`SuffixHash`]); each hit is compared with the bytes of
/// the message. The message's first name, nearly always the question's, is in no slot: names are compared
/// with it directly, and a message of one name touches neither slots nor caches.
///
/// A pointer leads only to an offset at which a label was written in this message, after its header, and not
/// cut since. A cut removes the names behind it, so that bytes of other fields are never taken for a name.
/// A message that is cut or changed without [`truncate`](Compressor::truncate) gets wrong pointers, and a
/// debug build may panic.
///
/// Most names have one label before an end that was written recently. 256 such ends are remembered in their
/// spelling, with the sum of their words: then only the rest of the name is hashed, looked up and compared.
/// Names that repeat soon with the same spelling are found without a hash: short ones by their bytes, long
/// ones by their ends. After several names in a row that share nothing, the last label is looked up first: a
/// name that does not share it shares nothing.
///
/// Names of more than 49 bytes are folded and hashed in one pass of vector instructions, and looked up whole.
/// Others are found by their ends: 128 of those with many labels are remembered with the offsets of their
/// labels, under the sums of their words, so that only the labels to the left of the longest end that is
/// known are read one by one. Otherwise names of 127 labels that differ in the first two would take thirty
/// times as long for each byte of the message as ordinary ones. Names of 33 to 49 bytes are found so, too,
/// from the first of them with many labels on. Beyond the last offset that a pointer can have, a name that
/// repeats is written as before.
///
/// **Bounds.** The hash is keyed and strongly universal, and a slot holds 24 bits of it: for names chosen
/// without knowledge of hashes, one comparison in 2²⁴ is in vain. Whatever the hashes, a lookup reads at most
/// 16 slots. At most a quarter of the table's slots are taken (half in the largest table). The table has 256
/// to 16,384 slots of 10 bytes; after a huge message it shrinks once 64 ordinary ones have followed. Slots
/// contain the message's number, so the table is cleared only once in 255 messages.
///
/// **Observers.** The result does not depend on the hashes, except that a lookup gives up after 16 slots, so
/// the length of a response tells almost nothing of them. The time does: each slot with another suffix costs
/// a comparison of some nanoseconds. The hash is close to linear, so many collisions of suffixes that
/// somebody chose would tell its key. Therefore the key is drawn anew after 4,080 messages, by SipHash-2-4
/// under the key of [`new`](Self::new). An observer over a network, who sees a difference of 10 ns in jitter
/// of 10 µs, learns at most 10⁻⁶ bits from a response (½ log₂ (1 + 10⁻⁶), the capacity of such a channel),
/// and so less than a hundredth of a bit of each key; with a hundred comparisons more in each response, 30
/// bits. The words for one place in a name have 128. An observer on the same core, who measures without
/// jitter, could learn enough: for that one, the bound of 16 slots holds.
#[derive(Clone)]
pub struct SuffixTable {
    hash: SuffixHash,
    /// The key that the keys of the hash are derived from, and their number.
    key: Key,
    drawn: u64,
    /// False for a table that keeps its key.
    redraws: bool,
    /// Times that the table is cleared before the next key.
    clears: u8,
    case: Case,
    first: First,
    /// True once the message has a second name, so that [`slots`](Self::slots) and caches are this message's.
    begun: bool,
    /// Number of names in a row that shared nothing with earlier ones.
    apart: u8,
    /// True once names of medium length have many labels, so that they are looked up as long ones.
    is_deep: bool,
    slots: Slots,
    /// Number of further names worth looking up in [`whole`](Self::whole) without a hit.
    tries: u8,
    /// Number of repeated names since the last time that `tries` ran out.
    repeats: u8,
    /// Recent short names.
    whole: [Whole; WHOLE],
    /// Recent long names: a slot for each, with the check of [`Recent`] in place of a hash.
    recent: [Slot; RECENT],
    parents: Parents,
    long: LongNames,
    name_hash: NameHash,
    /// The long name in hand.
    folded: Folded,
    sums: SuffixSums,
    /// Offsets of the labels of a name, and of its root.
    starts: [u8; MAX_LABELS + 1],
    /// Offsets in the message of those labels of a long name that it has.
    offsets: [u16; MAX_LABELS + 1],
}

/// The message's first name, which is uncompressed.
#[derive(Clone, Copy)]
struct First {
    /// Offset in the message, below [`POINTER_LIMIT`].
    at: u16,
    /// Length in bytes; 0 if there is no name yet.
    len: u8,
}

impl First {
    const NONE: Self = Self { at: 0, len: 0 };

    /// Its bytes.
    #[inline(always)]
    fn bytes(self, written: &[u8]) -> &[u8] {
        let at = usize::from(self.at);
        let bytes = written.get(at..at + usize::from(self.len));
        debug_assert!(bytes.is_some() || self.len == 0, "a rollback forgets the first name");
        bytes.unwrap_or_default()
    }
}

impl SuffixTable {
    /// A table with a hash under `key`, a secret random key.
    pub fn new(key: &Key) -> Self {
        let first = key.derive(PURPOSE, 0);
        Self {
            hash: SuffixHash::new(&first),
            key: *key,
            drawn: 0,
            redraws: true,
            clears: CLEARS,
            case: Case::Ignored,
            first: First::NONE,
            begun: true,
            apart: 0,
            is_deep: false,
            slots: Slots::new(),
            tries: 0,
            repeats: 0,
            whole: [Whole::NONE; WHOLE],
            recent: [Slot::FREE; RECENT],
            parents: Parents::NONE,
            long: LongNames::NONE,
            name_hash: NameHash::new(&first),
            folded: Folded::NONE,
            sums: SuffixSums::default(),
            starts: [0; MAX_LABELS + 1],
            offsets: [0; MAX_LABELS + 1],
        }
    }

    /// Acts as [`new`](Self::new), under a key from the operating system's random numbers.
    ///
    /// # Errors
    /// The operating system provides no random numbers.
    #[cfg(feature = "getrandom")]
    pub fn with_random_key() -> Result<Self, getrandom::Error> {
        Ok(Self::new(&Key::random()?))
    }

    /// A table with its hash under `key` itself, for ever: for measuring an attack by someone who knows the
    /// key, and for nothing else.
    pub fn with_known_key(key: &Key) -> Self {
        let (hash, name_hash) = (SuffixHash::new(key), NameHash::new(key));
        Self { hash, name_hash, redraws: false, ..Self::new(key) }
    }

    /// Place of a name in the table, out of 2¹⁴, by its [`SuffixHash`]: the places in smaller tables are the
    /// high bits of this one.
    pub const fn place_of(hash: u32) -> u32 {
        spread(hash) >> 18
    }

    /// Counts a clearing of the table, and draws the next key after the last of [`CLEARS`]. No slot and no
    /// parent has a hash of the old one.
    #[cold]
    fn redraw(&mut self) {
        self.clears -= 1;
        if self.clears > 0 {
            return;
        }
        self.clears = CLEARS;
        if self.redraws {
            self.drawn = self.drawn.wrapping_add(1);
            let key = self.key.derive(PURPOSE, self.drawn);
            (self.hash, self.name_hash) = (SuffixHash::new(&key), NameHash::new(&key));
        }
    }

    /// Clears the caches of recent names and parents; the first name and the slots have all of them, too.
    fn clear_recent(&mut self) {
        self.whole = [Whole::NONE; WHOLE];
        self.recent = [Slot::FREE; RECENT];
        self.parents.clear();
    }

    /// Bytes of memory that the table holds.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.slots.memory() + self.long.memory()
    }

    /// Begins the slots and caches of a message, with its second name.
    #[inline(always)]
    fn begin(&mut self) {
        self.begun = true;
        if self.slots.start() {
            self.clear_recent();
            self.redraw();
        }
        self.long.start();
        (self.tries, self.repeats, self.apart, self.is_deep) = (0, 0, 0, false);
    }
}

impl Compressor for SuffixTable {
    #[inline(always)]
    fn start(&mut self, case: Case) {
        if !self.begun {
            self.slots.pass();
        }
        (self.first, self.begun, self.case) = (First::NONE, false, case);
    }

    #[inline(always)]
    fn place(&mut self, written: &[u8], name: Name<'_>) -> CompressedName {
        let bytes = name.as_bytes();
        if bytes.len() == 1 {
            return CompressedName::whole(name);
        }
        if self.first.len > 0 {
            return self.place_next(written, bytes);
        }
        if (HEADER_LEN..POINTER_LIMIT).contains(&written.len()) {
            self.first = First { at: written.len() as u16, len: bytes.len() as u8 };
        }
        CompressedName::whole(name)
    }

    #[cold]
    fn truncate(&mut self, len: usize) {
        if self.begun {
            self.slots.truncate(len);
            self.clear_recent();
            self.long.truncate(len);
        }
        if usize::from(self.first.at) + usize::from(self.first.len) > len {
            self.first = First::NONE;
        }
    }
}

#[cfg(test)]
mod tests;
