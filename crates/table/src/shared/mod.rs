//! A wait-free table for one writer and any number of readers.
//!
//! [`table`] makes it, with a fixed capacity, and returns its two ends. The [`Writer`] inserts and removes; a
//! table has one. A [`Reader`] finds; each thread has a clone of it. Keys are arrays of `N` words and values
//! are words: a larger value is stored elsewhere, and the word is its place. The only caller in this
//! repository is `hashlane_flow::shared`.
//!
//! The shape is that of [`batched`](crate::batched), with buckets of one cache line and entries in an array
//! of their own, so that a burst of finds is prefetched in the same two rounds.
//!
//! # Guarantees of a find
//!
//! - **It is wait-free.** It reads each bucket of its key's probe once, and no entry twice, whatever the
//!   writer does: a writer that is suspended in the middle of an insertion, or that churns without end, stops
//!   no reader. Nor does a reader ever stop the writer.
//! - **It is linearizable.** Each find answers from the state of the table at one moment, after every
//!   operation that happened before the call and before every operation that the end of the call happened
//!   before. So it returns a value that the key had at some moment during the call, or `None` if the key was
//!   absent at some moment during the call; a key that is in the table all the while is always found. Finds
//!   that happen one after the other, in any threads and of any keys, see moments in that same order.
//! - **It publishes.** All writes of the writer's thread before it inserted or changed a value are visible to
//!   a reader that finds that value. So a value may be the place of something larger, as long as that is not
//!   reused while readers may hold it.
//!
//! "Happened before" is the relation of the memory model of C++ and Rust: two threads that do not synchronize
//! have no moment in common, and a find may miss an insertion that another core's clock dates a few
//! nanoseconds ago.
//!
//! All this rests on one figure: a slot's word repeats after 2⁴³ insertions at the earliest, a day of them at
//! 10⁸ a second, and a reader would have to be suspended for exactly that long between two loads of one find.
//!
//! # Proof
//!
//! A slot of a bucket is a word: the tag of an entry's hash and its *ticket*, which has the place of the
//! entry's words and the number of earlier uses of that place. 0 is a free slot. The writer
//!
//! - inserts by (a) a release fence, (b) relaxed stores of key and value to a place that no slot names, (c)
//!   relaxed stores of higher counts to the full buckets that the entry passes, (d) a release store of the
//!   word to the slot;
//! - removes by (e) a release store of 0 to the slot, (f) release stores of lower counts to the buckets
//!   passed; the place then goes to the end of the queue of free ones, with its next ticket;
//! - changes a value by (g) a release store.
//!
//! A reader (1) loads a bucket's slots, acquiring; for each slot with the right tag, it (2) loads the entry's
//! words, relaxed, (3) makes an acquire fence, and (4) loads the slot again, acquiring. It accepts the entry
//! only if (4) gives the word of (1). It ends with `None` after a bucket whose count, loaded with acquire, is
//! 0.
//!
//! *Accepted words are those of one entry.* (1) has synchronized with the (d) that it read from, so (2) reads
//! words no older than that entry's (b). Had (2) read a word of a later entry at this place, stored at a
//! later (b), then the fence (a) before that store would have synchronized with the fence (3) (a release
//! fence, a store after it, a load that reads it, an acquire fence after that), and the (e) of the older
//! entry, which comes before that (a), would have happened before (4). By coherence (4) would read that 0 or
//! a later store, and no later word is the same: a ticket is used once (see above). While an entry is in the
//! table only its value changes, by one store, and so key and value are always a pair that the table held.
//! This is the reader of a sequence lock with its fences (H.-J. Boehm, "Can seqlocks get along with
//! programming language memory models?", MSPC 2012, §4), with the slot's word as sequence number; but it
//! never retries:
//!
//! *A rejected entry needs no retry.* A slot's word changes only by a removal. So if (4) differs and the
//! entry was the key's, then the key was removed during the call, and was absent at a moment during it.
//!
//! *No key is missed.* Entries never move. Take a key that is in the table when the call begins. Its slot,
//! and a count above 0 in each bucket before, were stored before; by coherence the reader loads these or
//! later ones. A later word in the slot, and a count of 0, are only stored once the key is removed: as above.
//!
//! *There is an order.* Everything that decides a find is stored with release and loaded with acquire, or
//! loaded relaxed before an acquire fence: a value, and also the words of a later entry, which is the reason
//! that (3) is made even if the key was another. (A higher count decides nothing.) Consider the operation
//! that sets the moment of a find: the latest that happened before the call, or else the insertion or change
//! that it read from, or the removal that it met. It happens before the end of the call, and so before every
//! find that comes after it.
//!
//! No part of this depends on guarantees of a CPU beyond the memory model. On x86-64 all of these loads,
//! stores and fences are plain moves.

mod memory;
#[cfg(all(test, loom))]
mod models;
mod reader;
mod sync;
#[cfg(all(test, not(loom)))]
mod tests;
mod writer;

pub use reader::Reader;
pub use writer::{InsertError, Writer};

use alloc::sync::Arc;
use memory::Memory;

/// Makes a table for `entries` entries with keys of `N` words: its writer, and the first of its readers.
///
/// It allocates all memory: 8 (`N` + 2) bytes for each entry, an eighth of that again, and 64 bytes for every
/// five entries, rounded up to a power of two.
///
/// # Panics
/// More than 2³¹ entries, or more than fit in memory.
pub fn table<const N: usize>(entries: usize) -> (Writer<N>, Reader<N>) {
    // Spare places keep a ticket from coming back soon, however full the table is.
    with_places(entries, entries.saturating_add(entries / 8 + 1))
}

/// The same, with a number of places for entries that is larger than that of entries or equal to it.
fn with_places<const N: usize>(entries: usize, places: usize) -> (Writer<N>, Reader<N>) {
    assert!(entries <= 1 << 31, "a shared table holds at most 2^31 entries");
    let memory = Arc::new(Memory::new(entries, places));
    (Writer::new(Arc::clone(&memory), entries), Reader::new(memory))
}
