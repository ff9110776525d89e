//! First and later fragments in every order.

use super::*;
use core::net::Ipv6Addr;
use proptest::prelude::*;
use std::collections::HashMap;

const SECOND: u64 = 1_000_000_000;

fn table(packets: usize) -> FragmentTable {
    FragmentTable::new(&Key::VECTOR, FragmentLimits { packets, timeout: 30 * SECOND })
}

fn address(last: u16) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last)
}

/// A fragment from `from` to `to`; the first one has ports 5 and 6.
fn part(from: u16, to: u16, id: u32, first: bool) -> Dissected {
    let scope = Scope { protocol: 17, version: 6, ..Scope::default() };
    let ports = if first { [5, 6] } else { [0, 0] };
    let (key, reversed) = MeterKey::new((address(from), ports[0]), (address(to), ports[1]), scope);
    let fragment = Some(Fragment { id, protocol: 17, first });
    Dissected { key, reversed, ip_bytes: 100, tcp_flags: 0, class: 0, cut: false, fragment }
}

fn ports(packet: &Dissected) -> [u16; 2] {
    packet.key.ends(packet.reversed).map(|(_, port)| port)
}

#[test]
fn later_fragments_get_the_ports_of_the_first_in_both_directions() {
    for (from, to) in [(1, 2), (2, 1), (1, 1)] {
        let mut table = table(8);
        let (mut first, mut later) = (part(from, to, 7, true), part(from, to, 7, false));
        let before = first;
        table.attribute(&mut first, SECOND);
        assert_eq!(first, before);
        table.attribute(&mut later, 2 * SECOND);
        assert_eq!((later.key, later.reversed), (first.key, first.reversed));
        assert_eq!(ports(&later), [5, 6]);
        let expected = FragmentCounters { stored: 1, attributed: 1, ..FragmentCounters::default() };
        assert_eq!(table.counters, expected);
    }
}

#[test]
fn a_fragment_of_another_packet_keeps_ports_of_zero() {
    let mut table = table(8);
    table.attribute(&mut part(1, 2, 7, true), 0);
    let other_protocol = {
        let mut other = part(1, 2, 7, false);
        other.fragment = Some(Fragment { id: 7, protocol: 6, first: false });
        other
    };
    for mut other in [part(2, 1, 7, false), part(1, 2, 8, false), part(1, 3, 7, false), other_protocol] {
        table.attribute(&mut other, 0);
        assert_eq!(ports(&other), [0, 0]);
    }
    assert_eq!((table.counters.attributed, table.counters.without_ports), (0, 4));
}

#[test]
fn a_later_fragment_that_comes_first_is_counted() {
    let mut table = table(8);
    let mut early = part(1, 2, 7, false);
    table.attribute(&mut early, 0);
    assert_eq!((ports(&early), table.counters.without_ports), ([0, 0], 1));
    table.attribute(&mut part(1, 2, 7, true), 0);
    let mut later = part(1, 2, 7, false);
    table.attribute(&mut later, 0);
    assert_eq!(ports(&later), [5, 6]);
}

#[test]
fn a_first_fragment_without_ports_is_not_stored() {
    let mut table = table(8);
    let mut first = part(1, 2, 7, true);
    first.cut = true;
    table.attribute(&mut first, 0);
    table.attribute(&mut part(1, 2, 7, false), 0);
    assert_eq!(table.counters, FragmentCounters { without_ports: 2, ..FragmentCounters::default() });
}

#[test]
fn the_protocol_behind_extension_headers_comes_from_the_first() {
    let mut table = table(8);
    let (mut first, mut later) = (part(1, 2, 7, true), part(1, 2, 7, false));
    for packet in [&mut first, &mut later] {
        packet.fragment = packet.fragment.map(|fragment| Fragment { protocol: 60, ..fragment });
    }
    let scope = Scope { protocol: 60, ..later.key.scope() };
    later.key = MeterKey::new((address(1), 0), (address(2), 0), scope).0;
    table.attribute(&mut first, 0);
    table.attribute(&mut later, 0);
    assert_eq!(later.key, first.key);
}

#[test]
fn ports_are_forgotten_after_the_timeout() {
    let mut table = table(8);
    table.attribute(&mut part(1, 2, 7, true), 10 * SECOND);
    for (now, expected) in [(0, [5, 6]), (40 * SECOND, [5, 6]), (40 * SECOND + 1, [0, 0])] {
        let mut later = part(1, 2, 7, false);
        table.attribute(&mut later, now);
        assert_eq!(ports(&later), expected, "{now}");
    }
    // Its place is free.
    for id in 10..18 {
        table.attribute(&mut part(1, 2, id, true), 50 * SECOND);
    }
    assert_eq!(table.counters.replaced, 0);
}

#[test]
fn a_full_set_replaces_its_oldest_packet() {
    let mut table = table(1);
    assert_eq!(table.sets.len(), 1);
    for id in 0..9 {
        table.attribute(&mut part(1, 2, id, true), u64::from(id) * SECOND);
    }
    assert_eq!((table.counters.stored, table.counters.replaced), (9, 1));
    for id in 0..9 {
        let mut later = part(1, 2, id, false);
        table.attribute(&mut later, 9 * SECOND);
        assert_eq!(ports(&later) == [5, 6], id > 0, "{id}");
    }
    // The same packet again takes its own place.
    table.attribute(&mut part(1, 2, 5, true), 10 * SECOND);
    assert_eq!(table.counters.replaced, 1);
}

proptest! {
    #[test]
    fn agrees_with_a_map_while_there_is_room(
        steps in prop::collection::vec((1..3u16, 1..3u16, 0..3u32, any::<bool>(), 0..40u64), 0..60),
    ) {
        let (mut table, mut map) = (table(4096), HashMap::new());
        let mut now = 0;
        for (from, to, id, first, wait) in steps {
            now += wait * SECOND / 2;
            let mut packet = part(from, to, id, first);
            table.attribute(&mut packet, now);
            if first {
                map.insert((from, to, id), now);
            }
            let known = map.get(&(from, to, id)).is_some_and(|since| now - since <= 30 * SECOND);
            prop_assert_eq!(ports(&packet) == [5, 6], known);
        }
        prop_assert_eq!(table.counters.replaced, 0);
    }
}
