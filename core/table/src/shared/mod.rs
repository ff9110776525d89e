//! A table for one writer and any number of readers that never wait, and that grows while they read.
//!
//! [`table`] makes it, with a limit, and returns its two ends. The [`Writer`] inserts and removes; a table
//! has one. A [`Reader`] finds; each thread has a clone of it. Keys are arrays of `N` words; a value is any
//! type that is its bytes ([`bytemuck::Pod`]), copied in and out. Several writers take a table each
//! (`hashlane_flow::sharded`).
//!
//! The shape is the same as in [`batched`](crate::batched), with buckets of one cache line and the entries in
//! a separate array, so that a burst of finds is prefetched in the same two rounds.
//!
//! # Growth
//!
//! A table begins with the room that the caller asks for. Beyond it, entries get further blocks, each as
//! large as all before it; the system provides their memory page by page, and no entry moves. The index of
//! buckets doubles: the next one is used from then on, and each insertion copies to it one bucket of the old
//! one. So no call of the writer takes time proportional to the table. The old index stays in memory until
//! the table is dropped, as readers may be in it: all old ones together are as large as the last, at most.
//!
//! # Guarantees of a find
//!
//! - **It never waits.** It reads each bucket of its key's probe once, whatever the writer does: a writer
//!   that is suspended in the middle of an insertion, or that churns without end, stops no reader. Nor does a
//!   reader ever stop the writer. With values of at most 8 bytes it is wait-free: it begins again only if an
//!   index was taken into use or retired meanwhile, at most 62 times in a table's life. A larger value is
//!   read again as often as the writer replaced this very value during the read: it is lock-free.
//! - **It is linearizable.** Each find answers from the state of the table at one moment, after every
//!   operation that happened before the call and before every operation that the end of the call happened
//!   before. So it returns a value that the key had at some moment during the call, whole, or `None` if the
//!   key was absent at some moment during the call; a key that is in the table all the while is always found.
//!   Finds that happen one after the other, in any threads and of any keys, see moments in that same order.
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
//! - changes a value of one word by (g) a release store; replaces a larger one by (a), (b), and (h) a release
//!   store of the new ticket to the slot of the old, whose place is then free;
//! - grows by (i) a release store of the *state*, to "from index g to g + 1", after which it inserts into g +
//!   1 alone and copies the words of g, by (c) and (d); and (j) of "index g + 1", once all are copied. While
//!   it copies, it removes and replaces in both indexes, in the newer one first.
//!
//! A reader (0) loads the state, acquiring; (1) loads a bucket's slots, acquiring; for each slot with the
//! right tag, it (2) loads the entry's words, relaxed, (3) makes an acquire fence, and (4) loads the slot
//! again, acquiring. It accepts the entry only if (4) gives the word of (1); if not, and the value is a large
//! one, it goes on at (2) with the word of (4) if that has the tag. It ends with `None` after a bucket whose
//! count, loaded with acquire, is 0; while tickets are copied, it then searches the older index. (5) It loads
//! the state again, and begins again if that changed.
//!
//! *Accepted words come from one entry.* (1) has synchronized with the (d) or (h) that it read from, so (2)
//! reads words no older than that entry's (b). Had (2) read a word of a later entry at this place, stored at
//! a later (b), then the fence (a) before that store would have synchronized with the fence (3) (a release
//! fence, a store after it, a load that reads it, an acquire fence after that), and the (e) or (h) that freed
//! the place, which comes before that (a), would have happened before (4). By coherence (4) would read that
//! or a later store, and no later word is the same: a ticket is used once (see above). While an entry is in
//! the table only a value of one word changes, by one store, and so key and value are always a pair that the
//! table held. This is the reader of a sequence lock with its fences (H.-J. Boehm, "Can seqlocks get along
//! with programming language memory models?", MSPC 2012, §4), with the slot's word as sequence number; but a
//! writer that stops in the middle of its stores makes no reader wait:
//!
//! *A rejected entry needs no waiting.* A slot's word changes only by a removal or a replacement. So if (4)
//! differs and the entry was the key's, then either (4) gave the word of its next value, which is complete,
//! or the key was removed during the call, and was absent at a moment during it. An entry whose key is
//! another is examined likewise, for its place may have been the key's.
//!
//! *No key is missed.* In an index entries never move. Take a key that is in the table when the call begins.
//! Its slot, and a count above 0 in each bucket before, were stored before; by coherence the reader loads
//! these or later ones. A later word without the tag in the slot, and a count of 0, are only stored once the
//! key is removed: as above.
//!
//! *Growth changes no answer.* If (5) gives the state of (0), then no load of the search has read a store
//! made after the next change of the state: it would have synchronized with that store, a release or one
//! after the fence (a), and (5) would see the change. So the search met an index in use, or two during the
//! copying. Then all keys are in the newer or, not copied yet, in the older, from which no copying takes a
//! word away; who reads the newer one first misses none. A key in both leaves the newer one first: until it
//! leaves the older, all find it there, and afterwards in neither. A large value in both is replaced in the
//! newer one first: who has read that there reads no older value later, since the older index is searched
//! only by those who did not find the key in the newer one.
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

mod entries;
mod free;
mod index;
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
use bytemuck::Pod;
use memory::Memory;

/// Makes a table for at most `limit` entries with keys of `N` words: its writer, and the first of its
/// readers.
///
/// It allocates memory for `room` entries, at most `limit`: for each, the words of key and value, an eighth
/// of that again, and 8 bytes for the writer; 64 bytes for every five entries, rounded up to a power of two.
/// With `room` as large as `limit` that is all. Otherwise the memory grows with the number of entries at
/// once, by as much for each, and twice the buckets; a table that churns may use a 16th of `limit` more
/// places than it ever had entries.
///
/// ```
/// let (mut writer, reader) = hashlane_table::shared::table::<1, [u32; 4]>(100, 1_000_000);
/// let hash = |key: &[u64; 1]| key[0].wrapping_mul(0x9e37_79b9_7f4a_7c15);
/// writer.insert(hash(&[7]), &[7], [1, 2, 3, 4], hash)?;
/// let found = std::thread::spawn(move || reader.find(hash(&[7]), &[7])).join();
/// assert_eq!(found.ok(), Some(Some([1, 2, 3, 4])));
/// # Ok::<(), hashlane_table::shared::InsertError>(())
/// ```
///
/// # Panics
/// More than 2³¹ entries, or more than fit in memory.
pub fn table<const N: usize, V: Pod>(room: usize, limit: usize) -> (Writer<N, V>, Reader<N, V>) {
    // Spare places keep a ticket from coming back soon, however full the table is, and take a large value
    // while the one before it is read.
    let places = |entries: usize| entries.saturating_add(entries / 8 + 1);
    let room = room.min(limit);
    with_places(room, places(room), limit, places(limit))
}

/// The same, with at least as many places for entries as there are entries.
fn with_places<const N: usize, V: Pod>(
    room: usize,
    room_places: usize,
    limit: usize,
    places: usize,
) -> (Writer<N, V>, Reader<N, V>) {
    assert!(limit <= 1 << 31, "a shared table holds at most 2^31 entries");
    let memory = Arc::new(Memory::new(room, room_places, places));
    (Writer::new(Arc::clone(&memory), limit, room_places), Reader::new(memory))
}
