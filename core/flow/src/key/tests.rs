//! Layouts, directions and hashes of keys.

use super::*;
use hashlane_hash::scheme::Scheme;
use hashlane_hash::siphash::SipHash24;
use hashlane_hash::words::WordsHash;
use proptest::prelude::*;

const KINDS: [TunnelKind; 5] =
    [TunnelKind::None, TunnelKind::Ip, TunnelKind::Gre, TunnelKind::Vxlan, TunnelKind::Gtpu];

fn scopes() -> impl Strategy<Value = Scope> {
    (any::<u8>(), any::<u8>(), [0..4096u16, 0..4096u16], 0..5usize, any::<u32>()).prop_map(
        |(protocol, version, vlans, kind, tunnel_id)| Scope {
            protocol,
            version,
            vlans,
            tunnel: KINDS[kind],
            tunnel_id,
        },
    )
}

proptest! {
    #[test]
    fn both_directions_of_a_biflow_have_one_key(
        a: [u8; 16], b: [u8; 16], same: bool, ports: [u16; 2], scope in scopes(),
    ) {
        let (a, b) = (Ipv6Addr::from(a), Ipv6Addr::from(if same { a } else { b }));
        let (key, reversed) = MeterKey::new((a, ports[0]), (b, ports[1]), scope);
        let (back, other) = MeterKey::new((b, ports[1]), (a, ports[0]), scope);
        prop_assert_eq!(key, back);
        prop_assert!(reversed != other || (a, ports[0]) == (b, ports[1]));
        prop_assert_eq!(key.ends(reversed), [(a, ports[0]), (b, ports[1])]);
        prop_assert_eq!(key.ends(other), [(b, ports[1]), (a, ports[0])]);
        prop_assert!(key.first() <= key.second());
        prop_assert_eq!(key.scope(), scope);
        prop_assert_eq!(key.protocol(), scope.protocol);
    }

    #[test]
    fn a_meter_key_lays_out_its_bytes_in_network_order(
        a: [u8; 16], b: [u8; 16], ports: [u16; 2], scope in scopes(),
    ) {
        let (key, reversed) = MeterKey::new((a.into(), ports[0]), (b.into(), ports[1]), scope);
        let ends = if reversed { [(b, ports[1]), (a, ports[0])] } else { [(a, ports[0]), (b, ports[1])] };
        let bytes = key.as_bytes();
        prop_assert_eq!(&bytes[..16], &ends[0].0);
        prop_assert_eq!(&bytes[16..32], &ends[1].0);
        prop_assert_eq!(&bytes[32..34], &ends[0].1.to_be_bytes());
        prop_assert_eq!(&bytes[34..36], &ends[1].1.to_be_bytes());
        prop_assert_eq!(&bytes[36..38], &[scope.protocol, scope.version]);
        prop_assert_eq!(&bytes[38..40], &scope.vlans[0].to_be_bytes());
        prop_assert_eq!(&bytes[40..42], &scope.vlans[1].to_be_bytes());
        prop_assert_eq!(&bytes[42..44], &[scope.tunnel as u8, 0]);
        prop_assert_eq!(&bytes[44..], &scope.tunnel_id.to_be_bytes());
        prop_assert_eq!(bytemuck::bytes_of(key.as_words()), bytes);
        prop_assert_eq!(MeterKey::memories(&[key, key])[1], *key.as_words());
    }

    #[test]
    fn a_tuple_of_ipv4_gives_back_its_parts(
        a: [u8; 4], b: [u8; 4], ports: [u16; 2], protocol: u8, vlan in 0..4096u16,
    ) {
        let (local, foreign) = ((a.into(), ports[0]), (b.into(), ports[1]));
        let tuple = Tuple4::new(local, foreign, protocol, vlan);
        prop_assert_eq!((tuple.local(), tuple.foreign()), (local, foreign));
        prop_assert_eq!((tuple.protocol(), tuple.vlan()), (protocol, vlan));
        prop_assert_eq!(tuple.reversed(), Tuple4::new(foreign, local, protocol, vlan));
        let bytes: &[u8] = bytemuck::bytes_of(tuple.as_words());
        prop_assert_eq!(&bytes[..4], &a);
        prop_assert_eq!(&bytes[4..8], &b);
        prop_assert_eq!(&bytes[8..10], &ports[0].to_be_bytes());
        prop_assert_eq!(&bytes[10..12], &ports[1].to_be_bytes());
        prop_assert_eq!(&bytes[12..14], &[protocol, 0]);
        prop_assert_eq!(&bytes[14..], &vlan.to_be_bytes());
        prop_assert_eq!(Tuple4::memories(&[tuple])[0], *tuple.as_words());
    }
}

#[test]
fn ipv4_ends_are_mapped() {
    let scope = Scope { protocol: 6, version: 4, ..Scope::default() };
    let (a, b) = (Ipv4Addr::new(192, 0, 2, 9), Ipv4Addr::new(192, 0, 2, 1));
    let (key, reversed) = MeterKey::v4((a, 80), (b, 4000), scope);
    assert!(reversed);
    assert_eq!(key.first(), (b.to_ipv6_mapped(), 4000));
    assert_eq!((key, true), MeterKey::new((a.to_ipv6_mapped(), 80), (b.to_ipv6_mapped(), 4000), scope));
    assert!(key.is_v4());
}

#[test]
fn all_bytes_of_both_keys_are_hashed_in_bursts() {
    let hash = SipHash24::new(&hashlane_hash::scheme::Key::VECTOR);
    let scope = Scope { protocol: 17, version: 4, vlans: [5, 6], tunnel: TunnelKind::Gre, tunnel_id: 8 };
    let keys: std::vec::Vec<_> =
        (0..9).map(|i| MeterKey::v4(([10, 0, 0, i].into(), 1), ([10, 0, 1, 0].into(), 2), scope).0).collect();
    let mut out = [0; 9];
    WordsHash::<6, 48>::hash_burst(&hash, MeterKey::memories(&keys), &mut out);
    for (key, hashed) in keys.iter().zip(out) {
        assert_eq!(WordsHash::<6, 48>::hash_words(&hash, key.as_words()), hashed);
    }
    let tuple = Tuple4::new(([10, 0, 0, 1].into(), 1), ([10, 0, 0, 2].into(), 2), 6, 0);
    WordsHash::<2, 16>::hash_burst(&hash, Tuple4::memories(&[tuple]), &mut out);
    assert_eq!(WordsHash::<2, 16>::hash_words(&hash, tuple.as_words()), out[0]);
}
