//! Memory of tables of names.
//!
//! A map of names takes a bucket of 64 bytes for up to six entries, the buckets a power of two, and a place
//! for each entry, in blocks of 4,096 (see `hashlane_name_map::map`). The rest of a name that is longer than
//! its entry is in blocks beside it.

/// Estimate of a table's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Number of entries.
    pub entries: u64,
    /// Bytes of memory, with names.
    pub bytes: u64,
}

/// Bytes of a FIB entry: a cache line with the hash, the number of its next hops, which are stored once for
/// all entries that have the same, and the name or its beginning.
pub const FIB_ENTRY: u64 = 64;

/// Bytes of the longest name that an entry has room for, and bytes of a longer one that it has.
const WHOLE: f64 = 40.0;
const BEGINNING: f64 = 36.0;

/// Bytes of a header before the rest of a name, and of its padding on average.
const REST_FRAME: f64 = 6.0;

/// Bytes of a PIT entry without its Interest: its place in the table, its share of a bucket and of the list
/// of free places, its timer, its item in the account book, and the allocator's part.
pub const PIT_ENTRY: u64 = 296;

/// Bytes of an Interest beside the components of its name: nonce, lifetime, hop limit, types and lengths.
const INTEREST_FRAME: f64 = 21.0;

const BUCKET: u64 = 64;
const ENTRIES_OF_BUCKET: u64 = 6;
const BLOCK: u64 = 4096;

/// Bytes of a block with the rests of names.
const RESTS: f64 = 262_144.0;

/// Memory of a FIB with as many prefixes, whose components have `mean_len` bytes on average.
pub fn fib(entries: u64, mean_len: f64) -> Memory {
    if entries == 0 {
        return Memory { entries, bytes: 0 };
    }
    // Beyond what any table holds, a sum would not fit.
    let places = entries.min(1 << 48).next_multiple_of(BLOCK);
    let buckets = entries.min(1 << 48).div_ceil(ENTRIES_OF_BUCKET).next_power_of_two();
    let rest = if mean_len > WHOLE { mean_len - BEGINNING + REST_FRAME } else { 0.0 };
    let names = (entries as f64 * rest / RESTS).ceil() * RESTS;
    let bytes = (places * FIB_ENTRY + buckets * BUCKET).saturating_add(names as u64);
    Memory { entries, bytes }
}

/// Memory of a PIT with as many Interests pending, whose names have `mean_len` bytes of components on
/// average.
pub fn pit(entries: u64, mean_len: f64) -> Memory {
    let interests = entries as f64 * (mean_len.max(0.0) + INTEREST_FRAME);
    Memory { entries, bytes: entries.saturating_mul(PIT_ENTRY).saturating_add(interests as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_hash::scheme::Key;
    use hashlane_name::build::OwnedName;
    use hashlane_name::ndn::Ndn;
    use hashlane_name::uri::parse_uri;
    use hashlane_ndn_fw::face::FaceId;
    use hashlane_ndn_fw::fib::{Fib, NextHop};
    use hashlane_ndn_fw::hashed::NameHasher;

    #[test]
    fn the_memory_of_a_fib_is_that_of_the_forwarders_table() {
        let mut hasher = NameHasher::new(&Key::VECTOR);
        for beyond in [0, 60] {
            let mut table = Fib::default();
            for number in 0..60_000_u64 {
                let uri = format!("ndn:/example/{number:0width$}", width = 6 + beyond);
                let name: OwnedName<Ndn> = parse_uri(uri.as_bytes()).unwrap();
                table.add(&hasher.hash_name(&name.view()), NextHop { face: FaceId(1), cost: 0 });
                if [5_000, 20_000, 60_000].contains(&(number + 1)) {
                    let estimate = fib(number + 1, (9 + 8 + beyond) as f64).bytes as f64;
                    let real = table.memory() as f64;
                    // A block may be half full.
                    assert!((estimate / real - 1.0).abs() < 0.15, "{number}: {estimate}, really {real}");
                }
            }
        }
    }

    #[test]
    fn a_pit_entry_takes_what_the_forwarder_states() {
        assert_eq!(PIT_ENTRY, hashlane_ndn_fw::pit::ENTRY_MEMORY as u64);
        assert_eq!(pit(1000, 29.0).bytes, 1000 * (PIT_ENTRY + 50));
        assert_eq!((pit(0, 5.0).bytes, fib(0, 5.0).bytes), (0, 0));
    }

    #[test]
    fn impossible_numbers_have_an_estimate() {
        assert!(fib(u64::MAX, f64::MAX).bytes > 1 << 48 && pit(u64::MAX, 1.0).bytes == u64::MAX);
    }
}
