//! C++ tables of flows (boost, Abseil, DPDK) and DNS renderers of C libraries (Knot, BIND), each behind one
//! safe type.
//!
//! [`Table::new`] makes one by its id, for example `boost/siphash-1-3`; [`missing`] tells why it cannot. The
//! default build has none of them and needs no C++ compiler.
#![deny(unsafe_code)]

mod ffi;
pub mod renderer;

use std::ffi::c_void;
use std::ptr::NonNull;

use ffi::Functions;

/// Five words: a tuple.
pub type Key = [u64; 5];

/// Libraries, and the packages of Debian that have them.
const LIBRARIES: [(&str, bool, &str); 3] = [
    ("boost", cfg!(has_boost), "libboost1.81-dev"),
    ("absl", cfg!(has_absl), "libabsl-dev"),
    ("dpdk", cfg!(has_dpdk), "libdpdk-dev"),
];

/// The reason that no table of this library can be made, with the next step; `None` if it can, and of names
/// that are no library's.
pub fn missing(library: &str) -> Option<String> {
    let (name, is_there, package) = LIBRARIES.into_iter().find(|(name, ..)| *name == library)?;
    if is_there {
        return None;
    }
    Some(if cfg!(feature = "tables") {
        format!("{name} is not installed: apt install {package}, then build again")
    } else {
        format!("{name} is not built in: apt install {package}, then build with --features cpp-tables")
    })
}

/// A table from keys to numbers.
#[derive(Debug)]
pub struct Table {
    table: NonNull<c_void>,
    functions: &'static Functions,
}

/// Ids of all tables, built in or not.
pub const IDS: [&str; 6] =
    ["boost/siphash-1-3", "boost/crc32c", "absl/siphash-1-3", "absl/absl", "dpdk/siphash-1-3", "dpdk/crc32c"];

impl Table {
    /// An empty table with room for `room` keys, hashed under `key` if the hash takes one. `None` if the id
    /// is unknown, the library [`missing`], or memory short.
    pub fn new(id: &str, key: (u64, u64), room: usize) -> Option<Self> {
        let functions = ffi::functions(id)?;
        Some(Self { table: ffi::make(functions, room, key)?, functions })
    }

    /// Inserts keys, numbered from `first` on, or changes their numbers. A DPDK table has a fixed capacity,
    /// an eighth above its room, and leaves out keys beyond it.
    pub fn insert(&mut self, keys: &[Key], first: u32) {
        ffi::insert(self, keys, first);
    }

    /// Looks keys up; returns how many are there and the sum of their numbers.
    pub fn find(&self, keys: &[Key]) -> (u64, u64) {
        ffi::find(self, keys)
    }

    /// Removes keys; returns how many were there.
    pub fn remove(&mut self, keys: &[Key]) -> u64 {
        ffi::remove(self, keys)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        ffi::len(self)
    }

    /// Returns true if the table has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        ffi::free(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn libraries_are_there_or_missing() {
        for (library, is_there, package) in LIBRARIES {
            assert_eq!(missing(library).is_none_or(|why| !why.contains(package)), is_there);
            for id in IDS.iter().filter(|id| id.starts_with(library)) {
                assert_eq!(Table::new(id, (1, 2), 10).is_some(), is_there, "{id}");
            }
        }
        assert!(missing("hashbrown").is_none() && Table::new("boost/md5", (1, 2), 10).is_none());
    }

    #[test]
    fn tables_behave_like_a_map() {
        for id in IDS {
            let Some(mut table) = Table::new(id, (3, 4), 1000) else { continue };
            let mut map = BTreeMap::new();
            let mut random = 1u64;
            for _ in 0..200 {
                let keys: Vec<Key> = (0..33)
                    .map(|_| {
                        random = random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
                        [0, random >> 56, 7, !(random >> 56), 0]
                    })
                    .collect();
                let first = random as u32 >> 8;
                match random >> 62 {
                    0 => {
                        let removed = keys.iter().filter(|key| map.remove(*key).is_some()).count();
                        assert_eq!(table.remove(&keys), removed as u64, "{id}");
                    }
                    1 => {
                        let known = keys.iter().filter_map(|key| map.get(key).copied());
                        let (count, sum) =
                            known.fold((0, 0), |(n, sum), at: u32| (n + 1, sum + u64::from(at)));
                        assert_eq!(table.find(&keys), (count, sum), "{id}");
                    }
                    _ => {
                        table.insert(&keys, first);
                        map.extend(keys.into_iter().zip(first..));
                    }
                }
                assert_eq!((table.len(), table.is_empty()), (map.len(), map.is_empty()), "{id}");
            }
        }
    }
}
