//! Properties of the map from prefixes to values.

use hashlane_name_map::map::{Ended, NameMap, Prefix};
use std::collections::BTreeMap;

/// A name as the steps give it: bytes, and ends of its components.
struct Name<'a> {
    bytes: &'a [u8],
    ends: Vec<usize>,
}

impl<'a> Name<'a> {
    /// Components end after each slash and at the end.
    fn new(bytes: &'a [u8]) -> Self {
        let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut ends: Vec<usize> = slashes.map(|(at, _)| at + 1).collect();
        if !bytes.is_empty() {
            ends.push(bytes.len());
        }
        Self { bytes, ends }
    }

    /// The first `components` components.
    fn prefix(&self, components: usize) -> &'a [u8] {
        let end = components.checked_sub(1).map_or(0, |at| self.ends[at]);
        &self.bytes[..end]
    }
}

/// A hash with few values, one that is the same for all names, and a good one.
fn hash(kind: u8, bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3).rotate_left(23);
    let good = bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix);
    match kind & 3 {
        0 => good,
        1 => good & 0x0003_0000_0000_0003,
        2 => 0,
        _ => good | 0x0fff_ffff_ffff,
    }
}

/// The first byte selects the hash. Each line after it is a step: its first byte says if the rest is inserted
/// with the number of the line, removed, changed or looked up. A `=` in a name stands for 64 of them, so that
/// names go to the arena. Every lookup finds what a search of all prefixes finds.
pub fn check_name_map(bytes: &[u8]) {
    let Some((kind, steps)) = bytes.split_first() else { return };
    let hash = |bytes: &[u8]| hash(*kind, bytes);
    let (mut map, mut plain) = (NameMap::<usize, 12>::default(), BTreeMap::new());
    let mut looked_up = Vec::new();
    for (number, line) in steps.split(|byte| *byte == b'\n').enumerate() {
        let Some((step, text)) = line.split_first() else { continue };
        let text: Vec<u8> =
            text.iter().flat_map(|byte| [*byte].repeat(if *byte == b'=' { 64 } else { 1 })).collect();
        let name = Name::new(&text);
        let components = name.ends.len();
        let prefix = Prefix { bytes: &text, components, hash: hash(&text) };
        let key = (text.clone(), components);
        match step & 3 {
            0 => {
                let fits = text.len() <= 0xffff && components <= 255;
                match map.insert(prefix, number) {
                    Ok(old) => assert_eq!((old, fits), (plain.insert(key, number), true)),
                    Err(_) => assert!(!fits),
                }
            }
            1 => assert_eq!(map.remove(&prefix), plain.remove(&key)),
            2 => match map.find_mut(&prefix) {
                Some(value) => {
                    *value = number;
                    assert!(plain.insert(key, number).is_some());
                }
                None => assert!(!plain.contains_key(&key)),
            },
            _ => looked_up.push(text),
        }
        assert_eq!(map.len(), plain.len());
    }
    let names: Vec<Name<'_>> = looked_up.iter().map(|text| Name::new(text)).collect();
    let hashes: Vec<Vec<u64>> =
        names.iter().map(|name| name.ends.iter().map(|end| hash(&name.bytes[..*end])).collect()).collect();
    let root = hash(b"");
    let ended = names.iter().zip(&hashes);
    let ended: Vec<Ended<'_>> =
        ended.map(|(name, hashes)| Ended { bytes: name.bytes, ends: &name.ends, root, hashes }).collect();
    let expected: Vec<Vec<(usize, usize)>> = names
        .iter()
        .map(|name| {
            let lengths = (0..=name.ends.len()).rev();
            lengths.filter_map(|len| Some((len, *plain.get(&(name.prefix(len).to_vec(), len))?))).collect()
        })
        .collect();
    let mut all = vec![Vec::new(); names.len()];
    map.matches_burst(&ended, |number, found| all[number].push((found.components, *found.value)));
    assert_eq!(all, expected);
    let mut longest = Vec::new();
    map.longest_burst(&ended, |_, found| longest.push(found.map(|found| (found.components, *found.value))));
    assert!(longest.into_iter().eq(expected.iter().map(|all| all.first().copied())));
    for (name, expected) in ended.iter().zip(&expected) {
        let alone = map.longest(name).map(|found| (found.components, *found.value));
        assert_eq!(alone, expected.first().copied());
    }
    let kept: BTreeMap<_, _> =
        map.iter().map(|(parts, components, value)| ((parts.concat(), components), *value)).collect();
    assert_eq!(kept, plain);
}
