//! RSS under many keys at once.
//!
//! The Toeplitz hash is linear: a row's hash is the exclusive or of what its half bytes add, and a queue
//! needs the low seven bits alone, as an indirection table has 128 entries. So the tables of 64 keys give 64
//! hashes a few vectors at a time: for each of the 72 half bytes of a row, 64 bytes are added. Tables for 64
//! keys have 72 KiB, and are used for all rows of a batch before the next ones.

use super::Load;
use hashlane_flow::rss::{CardKey, ENTRIES};
use hashlane_flow::tuple::Tuple;

/// Keys of a table.
const LANES: usize = 64;

/// Half bytes of the longest input.
const NIBBLES: usize = 2 * Tuple::LEN;

/// Part of each value of each half byte in the hashes of 64 keys.
type Table = [[[u8; LANES]; 16]; NIBBLES];

/// Keys of cards, and the queues that an indirection table names.
#[derive(Clone, Debug)]
pub(super) struct Cards {
    tables: Vec<Box<Table>>,
    queue: [u8; ENTRIES],
    queues: usize,
}

impl Cards {
    /// The keys of cards with `queues` queues, 1 to 128.
    pub(super) fn new(keys: impl Iterator<Item = CardKey>, queues: usize) -> Self {
        const { assert!(ENTRIES == 128) };
        let queues = queues.clamp(1, ENTRIES);
        let mut tables: Vec<Box<Table>> = Vec::new();
        for (number, key) in keys.enumerate() {
            let lane = number % LANES;
            if lane == 0 {
                tables.push(Box::new([[[0; LANES]; 16]; NIBBLES]));
            }
            if let Some(table) = tables.last_mut() {
                add_key(table, lane, &key);
            }
        }
        Self { tables, queue: core::array::from_fn(|entry| (entry % queues) as u8), queues }
    }

    /// Adds the loads of `rows`, source first, to the queues of each key.
    pub(super) fn add(&self, rows: &[(Tuple, Load)], loads: &mut [Load]) {
        for (table, loads) in self.tables.iter().zip(loads.chunks_mut(LANES * self.queues)) {
            for (tuple, by) in rows {
                let bytes = tuple.as_bytes();
                let mut hashes = [0; LANES];
                if tuple.is_v4() {
                    let mut short = [0; 12];
                    short[..4].copy_from_slice(&bytes[12..16]);
                    short[4..8].copy_from_slice(&bytes[28..32]);
                    short[8..].copy_from_slice(&bytes[32..]);
                    hash(table, &short, &mut hashes);
                } else {
                    hash(table, bytes, &mut hashes);
                }
                for (hash, loads) in hashes.iter().zip(loads.chunks_mut(self.queues)) {
                    let queue = self.queue.get(usize::from(hash % ENTRIES as u8));
                    if let Some(load) = queue.and_then(|queue| loads.get_mut(usize::from(*queue))) {
                        load.add(*by);
                    }
                }
            }
        }
    }
}

/// The low bits of the hashes of `input`.
#[inline(always)]
fn hash(table: &Table, input: &[u8], hashes: &mut [u8; LANES]) {
    for (byte, [high, low]) in input.iter().zip(table.as_chunks::<2>().0) {
        let (high, low) = (&high[usize::from(byte >> 4)], &low[usize::from(byte & 15)]);
        for ((hash, high), low) in hashes.iter_mut().zip(high).zip(low) {
            *hash ^= high ^ low;
        }
    }
}

/// Enters the key of one lane. A set bit adds the 32 bits of the key from its place on, the first bit
/// highest; the low seven of them are bits 25 to 31.
fn add_key(table: &mut Table, lane: usize, key: &CardKey) {
    let low_bits = |bit: usize| {
        let at = (bit + 25) / 8;
        let window = [at, at + 1].map(|at| key.get(at).copied().unwrap_or(0));
        (u16::from_be_bytes(window) >> (9 - (bit + 25) % 8)) as u8 & 0x7f
    };
    for (nibble, values) in table.iter_mut().enumerate() {
        for (value, lanes) in values.iter_mut().enumerate() {
            let set = (0..4).filter(|bit| value & (8 >> bit) != 0);
            let added = set.fold(0, |hash, bit| hash ^ low_bits(4 * nibble + bit));
            if let Some(place) = lanes.get_mut(lane) {
                *place = added;
            }
        }
    }
}
