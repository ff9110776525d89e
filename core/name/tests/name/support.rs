//! Shared by the tests: random components, and an oracle that reads names slowly and plainly.

use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::layout::Layout;
use proptest::prelude::*;

/// A component that owns its value.
pub(crate) type Owned = (u16, Vec<u8>);

pub(crate) fn borrowed(components: &[Owned]) -> impl Iterator<Item = Component<'_>> + Clone {
    components.iter().map(|(typ, value)| Component { typ: *typ, value })
}

pub(crate) fn built<E: Layout>(components: &[Owned]) -> OwnedName<E> {
    OwnedName::from_components(borrowed(components)).unwrap()
}

/// Components of types on both sides of every border, digests with 32 bytes, values on both sides of the
/// borders of lengths, and values made of the bytes that mean something in a URI.
pub(crate) fn component() -> impl Strategy<Value = Owned> {
    let typ = prop_oneof![
        6 => Just(8u16),
        2 => 1..=60u16,
        2 => 250..=258u16,
        1 => 1..=u16::MAX,
    ];
    let value = prop_oneof![
        6 => prop::collection::vec(any::<u8>(), 0..16),
        2 => prop::collection::vec(prop::sample::select(b"./%=a0~: ".to_vec()), 0..6),
        1 => prop::collection::vec(any::<u8>(), 250..260),
    ];
    (typ, value, any::<[u8; 32]>()).prop_map(|(typ, value, digest)| match typ {
        1 | 2 => (typ, digest.to_vec()),
        _ => (typ, value),
    })
}

pub(crate) fn components() -> impl Strategy<Value = Vec<Owned>> {
    prop_oneof![
        20 => prop::collection::vec(component(), 0..12),
        1 => prop::collection::vec(component(), 250..=255).prop_map(|mut all| {
            all.iter_mut().for_each(|(typ, value)| if *typ > 2 { value.truncate(40) });
            all
        }),
    ]
}

/// A name with a few bytes changed, removed or put in.
pub(crate) fn damaged<E: Layout>() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 0..3u8, any::<u8>());
    (components(), prop::collection::vec(change, 0..4)).prop_map(|(components, changes)| {
        let mut bytes = built::<E>(&components).into_bytes();
        for (index, change, byte) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = index.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
        }
        bytes
    })
}

/// A component of the oracle: where it starts and ends in the walk's bytes, its type and its value.
pub(crate) type Read = (usize, usize, u16, Vec<u8>);

fn ndn_number(bytes: &mut Vec<u8>) -> Option<u64> {
    let take = |bytes: &mut Vec<u8>, n: usize| {
        (n <= bytes.len()).then(|| bytes.drain(..n).fold(0u128, |sum, b| sum * 256 + u128::from(b)))
    };
    let first = take(bytes, 1)?;
    let (number, least) = match first {
        253 => (take(bytes, 2)?, 253),
        254 => (take(bytes, 4)?, 1 << 16),
        255 => (take(bytes, 8)?, 1 << 32),
        small => (small, 0),
    };
    (number >= least).then_some(number as u64)
}

fn limits(name: &[u8], read: Vec<Read>) -> Option<Vec<Read>> {
    (name.len() <= 65_535 && read.len() <= 255).then_some(read)
}

pub(crate) fn read_ndn(name: &[u8]) -> Option<Vec<Read>> {
    let mut rest = name.to_vec();
    let (typ, len) = (ndn_number(&mut rest)?, ndn_number(&mut rest)?);
    if typ != 7 || len != rest.len() as u64 {
        return None;
    }
    let (whole, mut read) = (rest.len(), Vec::new());
    while !rest.is_empty() {
        let start = whole - rest.len();
        let (typ, len) = (ndn_number(&mut rest)?, ndn_number(&mut rest)?);
        if typ == 0 || typ > 65_535 || len > rest.len() as u64 || (typ <= 2 && len != 32) {
            return None;
        }
        let value = rest.drain(..len as usize).collect();
        read.push((start, whole - rest.len(), typ as u16, value));
    }
    limits(name, read)
}

pub(crate) fn read_ccnx(name: &[u8]) -> Option<Vec<Read>> {
    let header = |rest: &mut Vec<u8>| {
        (rest.len() >= 4).then(|| {
            let h: Vec<usize> = rest.drain(..4).map(usize::from).collect();
            (h[0] * 256 + h[1], h[2] * 256 + h[3])
        })
    };
    let mut rest = name.to_vec();
    if header(&mut rest)? != (0, rest.len()) {
        return None;
    }
    let (whole, mut read) = (rest.len(), Vec::new());
    while !rest.is_empty() {
        let start = whole - rest.len();
        let (typ, len) = header(&mut rest)?;
        if typ == 0 || len > rest.len() {
            return None;
        }
        let value = rest.drain(..len).collect();
        let typ = [(1, 8), (8, 1)].iter().find(|(from, _)| *from == typ).map_or(typ, |(_, to)| *to);
        read.push((start, whole - rest.len(), typ as u16, value));
    }
    limits(name, read)
}

pub(crate) fn read_offset(name: &[u8]) -> Option<Vec<Read>> {
    let count = usize::from(*name.first()?);
    let be = |at: usize| Some(usize::from(*name.get(at)?) * 256 + usize::from(*name.get(at + 1)?));
    let segments = name.get(3 + 3 * count..)?;
    let mut read = Vec::new();
    let mut start = 0;
    for i in 0..count {
        let typ = *name.get(1 + 3 * i)?;
        let end = be(2 + 3 * i)?;
        let bytes = segments.get(start..end)?;
        let (typ, value) = match (typ, bytes) {
            (0, _) => return None,
            (255, [a, b, value @ ..]) => (u16::from(*a) * 256 + u16::from(*b), value),
            (255, _) => return None,
            (typ, value) => (u16::from(typ), value),
        };
        if name[1 + 3 * i] == 255 && typ < 255 {
            return None;
        }
        read.push((start, end, typ, value.to_vec()));
        start = end;
    }
    if start != segments.len() || be(1 + 3 * count)? != start {
        return None;
    }
    limits(name, read)
}
