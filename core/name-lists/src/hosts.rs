//! Hosts files: an address, then names.

use crate::entry::{Entry, Line, Rule, before, without_entry, words};
use crate::reason::Reason;
use core::net::IpAddr;
use hashlane_name_map::Target;

/// Names that a hosts file has for its own host and network.
const LOCAL: [&[u8]; 13] = [
    b"localhost",
    b"localhost.localdomain",
    b"localhost4",
    b"localhost6",
    b"local",
    b"broadcasthost",
    b"ip6-localhost",
    b"ip6-loopback",
    b"ip6-localnet",
    b"ip6-mcastprefix",
    b"ip6-allnodes",
    b"ip6-allrouters",
    b"ip6-allhosts",
];

/// The entries of a line.
pub(crate) fn entries<'a>(line: &'a [u8], each: &mut (impl FnMut(Entry<'a>) + ?Sized)) -> Line {
    let mut words = words(before(line, b'#'));
    let Some(address) = words.next() else { return without_entry(line) };
    let Some(blocks) = blocks(address) else {
        each(Err(Reason::NoAddress));
        return Line::Entries;
    };
    let mut names = 0;
    for name in words {
        names += 1;
        let is_local = LOCAL.iter().any(|local| local.eq_ignore_ascii_case(name));
        each(match blocks {
            _ if is_local => Err(Reason::Local),
            false => Err(Reason::OtherAddress),
            true => Ok(Rule::block(Target::Exact, name)),
        });
    }
    if names == 0 {
        each(Err(Reason::NoName));
    }
    Line::Entries
}

/// Tests if an address blocks a name: it is the unspecified one, or one of this host. `None` if the word is
/// no address.
fn blocks(word: &[u8]) -> Option<bool> {
    if matches!(word, b"0.0.0.0" | b"127.0.0.1" | b"::" | b"::1") {
        return Some(true);
    }
    // Without its zone: fe80::1%lo0.
    let address: IpAddr = core::str::from_utf8(before(word, b'%')).ok()?.parse().ok()?;
    Some(address.is_unspecified() || address.is_loopback())
}

/// Tests if a line looks like one of a hosts file.
pub(crate) fn is_likely(line: &[u8]) -> bool {
    let mut words = words(before(line, b'#'));
    words.next().is_some_and(|word| blocks(word).is_some()) && words.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::shown;
    use std::vec;

    #[test]
    fn an_address_blocks_all_names_behind_it() {
        let read = |line: &str| shown(|each| entries(line.as_bytes(), each));
        assert_eq!(
            read("0.0.0.0 a.example\tB.example. # c.example"),
            (Line::Entries, vec!["Exact a.example".into(), "Exact B.example.".into()])
        );
        for line in ["127.0.0.1 a", "::1 a", ":: a", "127.0.0.53 a", "0:0:0:0:0:0:0:1  a"] {
            assert_eq!(read(line), (Line::Entries, vec!["Exact a".into()]), "{line}");
        }
    }

    #[test]
    fn other_lines_are_told_apart() {
        let read = |line: &str| shown(|each| entries(line.as_bytes(), each));
        assert_eq!(read(" \t\r"), (Line::Blank, vec![]));
        assert_eq!(read("  # 0.0.0.0 a"), (Line::Comment, vec![]));
        let reason = |line| read(line).1.join(" ");
        assert_eq!(reason("127.0.0.1 LocalHost localhost.localdomain"), "local-name local-name");
        assert_eq!(reason("fe80::1%lo0 localhost"), "local-name");
        assert_eq!(reason("255.255.255.255 broadcasthost"), "local-name");
        assert_eq!(reason("192.0.2.1 nas.example printer"), "other-address other-address");
        assert_eq!(reason("0.0.0.0"), "no-name");
        assert_eq!(reason("a.example"), "no-address");
        assert_eq!(reason("0.0.0 a.example"), "no-address");
    }
}
