//! A table of flows for several writing threads, each with a shard of the flows, and readers of all shards.
//!
//! [`table()`] makes a [`shared`] table for each shard. A flow belongs to the shard that [`Shards`] chooses
//! by its hash, under the same key: no remote party foresees which, and each tuple is hashed once. A
//! [`Writer`] takes the flows of its shard alone; the others are the business of other threads, to which
//! [`Reader::shard`] routes them.
//!
//! ```
//! use hashlane_flow::ehash::SipHash13;
//! use hashlane_flow::sharded;
//! use hashlane_flow::table::Limits;
//! use hashlane_flow::tuple::Tuple;
//! use hashlane_hash::scheme::Key;
//!
//! let limits = Limits { flows: 100_000, idle: 300 };
//! let (mut writers, reader) = sharded::table::<SipHash13, [u64; 2]>(4, 1000, limits, &Key::random()?, 0);
//! let tuple = Tuple::v4([192, 0, 2, 1].into(), 443, [198, 51, 100, 7].into(), 4000);
//! let shard = reader.shard(&tuple);
//! std::thread::scope(|scope| {
//!     let writer = &mut writers[shard];
//!     scope.spawn(move || writer.insert(&tuple, [1, 1500], 0));
//! });
//! assert_eq!(reader.find(&tuple), Some([1, 1500]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::ehash::TupleHash;
use crate::hashed::KeyHash;
use crate::shards::Shards;
use crate::shared;
use crate::table::Limits;
use crate::tuple::Tuple;
use alloc::sync::Arc;
use alloc::vec::Vec;
use bytemuck::Pod;
use hashlane_hash::scheme::Key;

/// Makes a table of `count` shards (1 to [`MOST`](crate::shards::MOST)) at tick `now`, hashed under `key`: a
/// writer for each shard, and the first of the readers.
///
/// `room` and [`Limits::flows`] are totals, which the shards share in equal parts, rounded up. Under a keyed
/// hash a shard may get a few more flows than its part; those are refused.
///
/// # Panics
/// More than 2³¹ flows in a shard, or more than fit in memory.
pub fn table<H: TupleHash, V: Pod>(
    count: usize,
    room: usize,
    limits: Limits,
    key: &Key,
    now: u32,
) -> (Vec<Writer<H, V>>, Reader<H, V>) {
    let shards = Shards::new::<Tuple>(key, count);
    let part = |flows: usize| flows.div_ceil(shards.count());
    let limits = Limits { flows: part(limits.flows), ..limits };
    let ends = (0..shards.count()).map(|shard| {
        let (table, reader) = shared::table(part(room), limits, key, now);
        (Writer { table, shards: shards.clone(), shard }, reader)
    });
    let (writers, tables): (Vec<_>, Vec<_>) = ends.unzip();
    (writers, Reader { tables: tables.into(), shards, hash: H::new(key) })
}

/// Inserts and removes the flows of a shard. There is one for each.
#[derive(Debug)]
pub struct Writer<H, V> {
    table: shared::Writer<H, V>,
    shards: Shards<H>,
    shard: usize,
}

impl<H: TupleHash, V: Pod> Writer<H, V> {
    /// Number of its shard, and of the writer among all.
    pub fn shard(&self) -> usize {
        self.shard
    }

    /// Number of flows in the shard.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns true if the shard has no flows.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Inserts a flow of this shard or replaces its value, and marks it as seen at tick `now`; returns the
    /// old value. Readers find the old value or the new one.
    ///
    /// # Errors
    /// The flow is another shard's; or it is not in the table and the shard is full.
    pub fn insert(&mut self, tuple: &Tuple, value: V, now: u32) -> Result<Option<V>, InsertError> {
        let hash = self.table.hash_of(tuple);
        let shard = self.shards.shard_of(hash);
        if shard != self.shard {
            return Err(InsertError::OtherShard(shard));
        }
        self.table.insert_hashed(hash, tuple, value, now).map_err(|_| InsertError::Full)
    }

    /// Marks a flow as seen at tick `now`; returns false if it is not in this shard.
    pub fn touch(&mut self, tuple: &Tuple, now: u32) -> bool {
        self.table.touch(tuple, now)
    }

    /// Takes out a flow of this shard; the value that it had.
    pub fn remove(&mut self, tuple: &Tuple) -> Option<V> {
        self.table.remove(tuple)
    }

    /// Removes idle flows of this shard, as [`shared::Writer::expire`].
    pub fn expire(&mut self, now: u32, budget: usize, each: impl FnMut(Tuple, V)) -> bool {
        self.table.expire(now, budget, each)
    }
}

/// Finds flows of all shards while their [`Writer`]s work. A clone, for another thread, reads the same
/// tables.
#[derive(Clone, Debug)]
pub struct Reader<H, V> {
    tables: Arc<[shared::Reader<H, V>]>,
    shards: Shards<H>,
    hash: H,
}

impl<H: TupleHash, V: Pod> Reader<H, V> {
    /// The shard of a flow: the number of the writer that takes it.
    #[inline]
    pub fn shard(&self, tuple: &Tuple) -> usize {
        self.shards.shard_of(self.hash.hash_key(tuple))
    }

    #[inline(always)]
    fn table(&self, hash: u64) -> Option<&shared::Reader<H, V>> {
        self.tables.get(self.shards.shard_of(hash))
    }

    /// The value of a flow.
    #[inline]
    pub fn find(&self, tuple: &Tuple) -> Option<V> {
        let hash = self.hash.hash_key(tuple);
        self.table(hash)?.find_hashed(hash, tuple)
    }

    /// Finds the flow of each of `tuples`, as [`shared::Reader::find_burst`].
    #[inline]
    pub fn find_burst(&self, tuples: &[Tuple], each: impl FnMut(usize, Option<V>)) {
        shared::find_burst(&self.hash, tuples, |hash| self.table(hash), each);
    }
}

/// The reason that a flow was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// The shard holds as many flows as its part of the limit.
    #[error("the shard is full")]
    Full,
    /// The flow belongs to the shard of this number.
    #[error("the flow belongs to shard {0}: pass it to that writer")]
    OtherShard(usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ehash::SipHash13;
    use core::net::Ipv4Addr;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    fn tuple(flow: u32) -> Tuple {
        Tuple::v4(Ipv4Addr::LOCALHOST, 443, Ipv4Addr::from_bits(flow), 4000)
    }

    #[test]
    fn a_flow_is_taken_by_the_writer_of_its_shard_alone() {
        let limits = Limits { flows: 4000, idle: 10 };
        let (mut writers, reader) = table::<SipHash13, u64>(3, 0, limits, &Key::VECTOR, 0);
        assert!(writers.iter().map(Writer::shard).eq(0..3) && writers.iter().all(Writer::is_empty));
        for flow in 0..1000 {
            let shard = reader.shard(&tuple(flow));
            for (at, writer) in writers.iter_mut().enumerate() {
                let inserted = writer.insert(&tuple(flow), u64::from(flow), 0);
                assert_eq!(
                    inserted,
                    if at == shard { Ok(None) } else { Err(InsertError::OtherShard(shard)) }
                );
                assert_eq!(writer.touch(&tuple(flow), 0), at == shard);
            }
        }
        assert_eq!(writers.iter().map(Writer::len).sum::<usize>(), 1000);
        assert!(writers.iter().all(|writer| writer.len() > 250));
        let tuples: Vec<_> = (0..1001).map(tuple).collect();
        reader.find_burst(&tuples, |at, found| {
            assert_eq!(found, (at < 1000).then_some(at as u64));
            assert_eq!(reader.find(&tuples[at]), found);
        });
        let mut expired = Vec::new();
        for writer in &mut writers {
            assert!(writer.expire(10, 1_000_000, |_, flow| expired.push(flow)));
            assert!(writer.remove(&tuple(0)).is_none());
        }
        expired.sort_unstable();
        assert!(expired.into_iter().eq(0..1000));
    }

    #[test]
    fn a_full_shard_takes_no_other_flow() {
        let limits = Limits { flows: 2, idle: 10 };
        let (mut writers, reader) = table::<SipHash13, u64>(2, 2, limits, &Key::VECTOR, 0);
        let shard = reader.shard(&tuple(0));
        let same: Vec<_> = (0..).filter(|flow| reader.shard(&tuple(*flow)) == shard).take(2).collect();
        let inserted = same.iter().map(|flow| writers[shard].insert(&tuple(*flow), 1, 0));
        assert!(inserted.eq([Ok(None), Err(InsertError::Full)]));
    }

    /// Writers replace and remove flows while the tables grow; a reader finds whole values that never get
    /// older, and the flows that stay.
    #[test]
    fn several_threads_write_while_others_read() {
        const FLOWS: u32 = 20_000;
        const WRITERS: usize = 3;
        let limits = Limits { flows: 2 * FLOWS as usize, idle: 10 };
        let (writers, reader) = table::<SipHash13, [u64; 3]>(WRITERS, 0, limits, &Key::VECTOR, 0);
        // For each shard: the staying flows below this number are in the table.
        let there = [const { AtomicU64::new(0) }; WRITERS];
        let is_staying = |flow: u32| flow.is_multiple_of(3);
        thread::scope(|scope| {
            let read = || {
                let mut last = std::vec![0; FLOWS as usize];
                let mut random = 1u64;
                while there.iter().any(|there| there.load(Ordering::Acquire) < u64::from(FLOWS)) {
                    random = random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
                    let flow = (random >> 33) as u32 % FLOWS;
                    let below = there[reader.shard(&tuple(flow))].load(Ordering::Acquire);
                    match reader.find(&tuple(flow)) {
                        Some(value) => {
                            assert_eq!(value, [u64::from(flow), value[1], value[1] ^ u64::from(flow)]);
                            assert!(value[1] >= last[flow as usize], "an older value than was seen before");
                            last[flow as usize] = value[1];
                        }
                        None => assert!(!is_staying(flow) || u64::from(flow) >= below, "{flow} was there"),
                    }
                }
            };
            scope.spawn(read);
            for mut writer in writers {
                let (reader, there) = (reader.clone(), &there[writer.shard()]);
                scope.spawn(move || {
                    for flow in 0..FLOWS {
                        if reader.shard(&tuple(flow)) == writer.shard() {
                            for written in 1..4 {
                                let flow_words = u64::from(flow);
                                let value = [flow_words, written, written ^ flow_words];
                                assert!(writer.insert(&tuple(flow), value, 0).is_ok());
                            }
                            if !is_staying(flow) {
                                assert!(writer.remove(&tuple(flow)).is_some());
                            }
                        }
                        there.store(u64::from(flow) + 1, Ordering::Release);
                    }
                });
            }
        });
        let staying = (0..FLOWS).filter(|flow| is_staying(*flow));
        assert!(staying.into_iter().all(|flow| reader.find(&tuple(flow)).is_some_and(|value| value[1] == 3)));
    }
}
