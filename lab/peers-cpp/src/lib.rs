//! C++ tables of flows (boost, Abseil, DPDK), and DNS renderers and readers of C libraries (Knot, ldns, BIND,
//! c-ares), each behind one safe type.
//!
//! [`Table::new`], [`Renderer::new`] and [`Reader::new`] make one by its id, for example `boost/siphash-1-3`;
//! [`missing`] tells why it cannot. The default build has none of them and needs no compiler of C or C++.
#![deny(unsafe_code)]

mod ffi;

pub use ffi::{Reader, Renderer, Table};

/// Five words: a tuple.
pub type Key = [u64; 5];

/// Ids of all tables, built in or not.
pub const TABLES: [&str; 6] =
    ["boost/siphash-1-3", "boost/crc32c", "absl/siphash-1-3", "absl/absl", "dpdk/siphash-1-3", "dpdk/crc32c"];

/// Ids of all renderers, built in or not.
pub const RENDERERS: [&str; 4] = ["knot/packet", "ldns", "bind9/libdns", "bind9/message"];

/// Ids of all readers, built in or not.
pub const READERS: [&str; 4] = ["knot/packet", "ldns", "bind9/message", "c-ares"];

/// Libraries of tables, renderers and readers, and the packages of Debian that have them.
const LIBRARIES: [(&str, bool, &str); 8] = [
    ("boost", cfg!(has_boost), "libboost1.81-dev"),
    ("absl", cfg!(has_absl), "libabsl-dev"),
    ("dpdk", cfg!(has_dpdk), "libdpdk-dev"),
    ("knot/packet", cfg!(has_knot), "libknot-dev"),
    ("ldns", cfg!(has_ldns), "libldns-dev"),
    ("bind9/libdns", cfg!(has_bind9), "bind9-dev"),
    ("bind9/message", cfg!(has_bind9_message), "bind9-dev"),
    ("c-ares", cfg!(has_cares), "libc-ares-dev"),
];

/// The reason that no table of this library, or not this renderer or reader, can be made, with the next step;
/// `None` if it can, and for other names.
pub fn missing(name: &str) -> Option<String> {
    let (_, is_there, package) = LIBRARIES.into_iter().find(|(other, ..)| *other == name)?;
    let (enabled, feature) = match RENDERERS.contains(&name) || READERS.contains(&name) {
        true => (cfg!(feature = "renderers"), "c-renderers"),
        false => (cfg!(feature = "tables"), "cpp-tables"),
    };
    match (is_there, enabled) {
        (true, _) => None,
        (_, true) => Some(format!("{name} is not installed: apt install {package}, then build again")),
        _ => Some(format!(
            "{name} is not built in: apt install {package}, then build with --features {feature}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn libraries_are_there_or_missing() {
        for (name, is_there, package) in LIBRARIES {
            assert_eq!(missing(name).is_none_or(|why| !why.contains(package)), is_there);
            for id in TABLES.iter().filter(|id| id.starts_with(name)) {
                assert_eq!(Table::new(id, (1, 2), 10).is_some(), is_there, "{id}");
            }
            assert_eq!(Renderer::new(name).is_some(), is_there && RENDERERS.contains(&name), "{name}");
            assert_eq!(Reader::new(name).is_some(), is_there && READERS.contains(&name), "{name}");
        }
        assert!(missing("hashbrown").is_none() && Table::new("boost/md5", (1, 2), 10).is_none());
    }

    #[test]
    fn what_is_there_compresses() {
        if let Some(mut bind) = Renderer::new("bind9/libdns") {
            assert!(bind.add(b"\x01a\x07example\0") && bind.add(b"\x01b\x07EXAMPLE\0"));
            for _ in 0..3 {
                assert_eq!(bind.render(0).unwrap()[12..], *b"\x01a\x07example\0\x01b\xc0\x0e");
            }
            assert!(bind.render(1).is_none());
        }
    }

    #[test]
    fn messages_are_compressed_in_their_order() {
        let head = b"\x12\x34\x84\0\0\x01\0\x03\0\0\0\0\x07example\0\0\x01\0\x01";
        let fields = b"\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01";
        let message = |owners: [&[u8]; 3]| {
            let records = owners.map(|owner| [owner, fields].concat()).concat();
            [&head[..], &records].concat()
        };
        let plain = message([b"\x07example\0", b"\x01a\x07EXAMPLE\0", b"\x07example\0"]);
        let expected = message([b"\xc0\x0c", b"\x01a\xc0\x0c", b"\xc0\x0c"]);
        for id in RENDERERS.iter().filter(|id| **id != "bind9/libdns") {
            let Some(mut renderer) = Renderer::new(id) else { continue };
            // A message may also be compressed already.
            assert!(renderer.add(&plain) && !renderer.add(b"\0") && renderer.add(&expected), "{id}");
            for number in [0, 1, 0] {
                assert_eq!(renderer.render(number).unwrap(), expected, "{id}");
            }
            assert!(renderer.render(2).is_none(), "{id}");
        }
    }

    #[test]
    fn records_are_counted_and_broken_messages_refused() {
        let head = b"\x12\x34\x84\0\0\x01\0\x02\0\0\0\x01\x07example\0\0\x02\0\x01";
        let server = b"\xc0\x0c\0\x02\0\x01\0\0\0\x3c\0\x04\x01a\xc0\x0c";
        let other = b"\xc0\x0c\0\x02\0\x01\0\0\0\x3c\0\x04\x01b\xc0\x0c";
        let address = b"\x01a\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01";
        let message = [&head[..], server, other, address].concat();
        // A name that leads to itself.
        let mut endless = message.clone();
        endless[head.len() + 1] = head.len() as u8;
        for id in READERS {
            let Some(reader) = Reader::new(id) else { continue };
            assert_eq!(reader.read(&message), Some(3), "{id}");
            assert_eq!(reader.read(&endless), None, "{id}");
            for broken in [&message[..message.len() - 1], &message[..head.len()], &message[..5], &[]] {
                assert_eq!(reader.read(broken), None, "{id}: {} bytes", broken.len());
            }
        }
    }

    #[test]
    fn tables_behave_like_a_map() {
        for id in TABLES {
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
