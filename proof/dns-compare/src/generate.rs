//! Queries around the names of the zones.

use crate::draw::Draw;
use crate::query::{AD, CD, Edns, Query, RD};
use crate::zone::{Zone, parent};
use hashlane_name::dns::{Name, NameBuf};

/// Types in common use, and those with a rule of their own.
const COMMON: [u16; 22] =
    [1, 1, 1, 28, 2, 6, 15, 16, 5, 12, 33, 43, 43, 48, 47, 50, 51, 46, 255, 39, 257, 65];
/// Obsolete, unassigned and meta types. No transfers: those are not queries.
const RARE: [u16; 22] =
    [0, 3, 4, 7, 10, 11, 24, 25, 30, 32, 38, 59, 60, 62, 99, 128, 253, 254, 65_280, 65_281, 65_282, 65_535];
/// Types that are no types of records: OPT, TKEY, TSIG, IXFR and AXFR. They are asked for over UDP alone.
pub(crate) const META: [u16; 5] = [41, 249, 250, 251, 252];

/// The option by which a client asks for the server's identifier (RFC 5001).
const NSID: u16 = 3;

/// A generator of queries for zones.
pub(crate) struct Generator<'z> {
    zones: &'z [Zone],
    /// Names around which it asks, with the number of the zone.
    targets: Vec<(usize, NameBuf)>,
    draw: Draw,
}

impl<'z> Generator<'z> {
    pub(crate) fn new(zones: &'z [Zone], seed: u64) -> Self {
        let mut targets = Vec::new();
        for (number, zone) in zones.iter().enumerate() {
            let names = zone.names.keys().filter_map(|name| Name::parse(name).ok()).map(NameBuf::from);
            targets.extend(names.map(|name| (number, name)));
            targets.extend(zone.hashed.iter().map(|name| (number, *name)));
        }
        Self { zones, targets, draw: Draw::new(seed) }
    }

    /// Queries for each name of the zones, and for a name below it, with and without DNSSEC: of types that it
    /// has, and of some that it has not.
    pub(crate) fn systematic(&mut self) -> Vec<Query> {
        let mut queries = Vec::new();
        for at in 0..self.targets.len() {
            let (zone, name) = self.targets[at];
            let small = self.zones[zone].names.len() < 8;
            let known = self.zones[zone].names.get(&name.as_bytes().to_ascii_lowercase());
            let mut types = vec![1, 43];
            if !small {
                types.extend(known.into_iter().flatten());
                types.extend([2, 16, 47, 255]);
            }
            types.sort_unstable();
            types.dedup();
            for rtype in types {
                for below in [false, true] {
                    let label = self.draw.label();
                    let Some(name) = (if below { child(label.as_bytes(), name.view()) } else { Some(name) })
                    else {
                        continue;
                    };
                    for dnssec in [false, true] {
                        let edns = Edns { size: 1232, dnssec, ..Edns::default() };
                        queries.push(Query { zone, edns: Some(edns), ..Query::plain(name, rtype) });
                    }
                }
            }
        }
        queries
    }

    /// A query for a name at, above, below or beside a random name.
    pub(crate) fn random(&mut self) -> Query {
        // Half of the targets belong to small zones.
        let mut target = *self.draw.pick(&self.targets);
        for _ in 0..4 {
            if self.zones[target.0].names.len() < 8 {
                target = *self.draw.pick(&self.targets);
            }
        }
        let (zone, target) = target;
        let name = self.name(zone, &target);
        let known = self.zones[zone].names.get(&target.as_bytes().to_ascii_lowercase());
        let known: Vec<u16> = known.into_iter().flatten().copied().collect();
        let draw = &mut self.draw;
        let rtype = match draw.below(100) {
            0..30 if !known.is_empty() => *draw.pick(&known),
            0..90 => *draw.pick(&COMMON),
            90..99 => *draw.pick(&RARE),
            _ => *draw.pick(&META),
        };
        let mut query = Query { zone, ..Query::plain(name, rtype) };
        if draw.chance(1, 50) {
            query.class = *draw.pick(&[3, 4, 254, 255, 2, 0]);
        }
        if draw.chance(1, 100) {
            query.opcode = *draw.pick(&[1, 2, 3, 6, 7, 15]);
        }
        for flag in [RD, AD, CD] {
            if draw.chance(1, 3) {
                query.flags |= flag;
            }
        }
        query.edns = edns(draw);
        query
    }

    /// A name near `target`.
    fn name(&mut self, zone: usize, target: &NameBuf) -> NameBuf {
        let view = target.view();
        let label = self.draw.label();
        let near = match self.draw.below(20) {
            0..5 => Some(*target),
            5 => Some(self.mixed_case(target)),
            6..9 => child(label.as_bytes(), view),
            9 => child(b"*", view),
            10 => child(label.as_bytes(), view).and_then(|name| child(b"b", name.view())),
            11..13 => child(label.as_bytes(), parent(view)),
            13 => child(b"*", parent(view)),
            14 => Some(parent(view).into()),
            15 => child(&[0], view),
            16 => self.beside(view),
            17 => child(&[b'm'; 63], view),
            18 => {
                // The first label of another name.
                let other = *self.draw.pick(&self.targets);
                other.1.view().labels().next().and_then(|label| child(label, view))
            }
            _ => {
                let mut name = self.zones[zone].apex_name();
                for _ in 0..self.draw.below(5) {
                    let label = self.draw.label();
                    name = child(label.as_bytes(), name.view()).unwrap_or(name);
                }
                Some(name)
            }
        };
        near.unwrap_or(*target)
    }

    /// A name directly before or after another in canonical order, or nearly.
    fn beside(&mut self, name: Name<'_>) -> Option<NameBuf> {
        let mut label = name.labels().next()?.to_vec();
        match self.draw.below(4) {
            0 => label.push(0),
            1 => drop(label.pop()),
            2 => *label.last_mut()? = label.last()?.wrapping_add(1),
            _ => *label.last_mut()? = label.last()?.wrapping_sub(1),
        }
        child(&label, parent(name))
    }

    fn mixed_case(&mut self, name: &NameBuf) -> NameBuf {
        let bits = self.draw.bits();
        let mut mixed = NameBuf::ROOT;
        for label in name.view().labels() {
            let flip = |(at, byte): (usize, &u8)| match bits >> (at % 64) & 1 {
                1 if byte.is_ascii_alphabetic() => byte ^ 0x20,
                _ => *byte,
            };
            let label: Vec<u8> = label.iter().enumerate().map(flip).collect();
            mixed.push(&label).unwrap_or_default();
        }
        mixed
    }

    /// Queries that are refused, or not answered, or about the server.
    pub(crate) fn special(&mut self) -> Vec<Query> {
        let mut queries = Vec::new();
        let name = |name: &str| crate::zone::parse(name);
        for class in [1, 3, 4, 255] {
            for text in
                ["version.bind", "version.server", "id.server", "hostname.bind", "authors.bind", "x.bind"]
            {
                for rtype in [16, 1, 255] {
                    queries.push(Query { class, ..Query::plain(name(text), rtype) });
                }
            }
        }
        for text in [".", "test.", "com.", "www.nobody.invalid.", "small.", "s0000.small", "testx.", "est."] {
            for rtype in [1, 2, 6, 43, 255] {
                for edns in [None, Some(Edns { size: 1232, dnssec: true, ..Edns::default() })] {
                    queries.push(Query { edns, ..Query::plain(name(text), rtype) });
                }
            }
        }
        queries
    }
}

/// A label and a name below which it stands, if it is not too long.
fn child(label: &[u8], name: Name<'_>) -> Option<NameBuf> {
    let mut below = NameBuf::ROOT;
    below.push(label).ok()?;
    name.labels().try_for_each(|label| below.push(label)).ok()?;
    Some(below)
}

fn edns(draw: &mut Draw) -> Option<Edns> {
    let size = match draw.below(10) {
        0..3 => return None,
        3 => 512,
        4..7 => 1232,
        7 | 8 => 4096,
        _ => *draw.pick(&[0, 511, 513, 1231, 1233, 65_535]),
    };
    let version = if draw.chance(1, 60) { *draw.pick(&[1, 2, 255]) } else { 0 };
    let mut options = Vec::new();
    if draw.chance(1, 20) {
        let option = match draw.below(6) {
            0 => (NSID, Vec::new()),
            1 => (10, vec![1, 2, 3, 4, 5, 6, 7, 8]),
            2 => (12, vec![0; draw.below(40)]),
            3 => (8, vec![0, 1, 24, 0, 192, 0, 2]),
            4 => (11, Vec::new()),
            _ => (65_001, vec![7; draw.below(20)]),
        };
        options.push(option);
        // NSD answers with a malformed message if asked for its identifier twice.
        if draw.chance(1, 4) && options[0].0 != NSID {
            options.push((NSID, Vec::new()));
        }
    }
    Some(Edns { size, version, dnssec: draw.chance(2, 3), options })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content;

    #[test]
    fn the_same_seed_gives_the_same_queries() {
        let zones = content::zones(1);
        let queries = |seed| {
            let mut generator = Generator::new(&zones, seed);
            let mut queries = generator.systematic();
            queries.extend((0..500).map(|_| generator.random()));
            queries
        };
        let first = queries(7);
        assert!(first.len() > 100_000, "{}", first.len());
        assert!(first == queries(7));
        assert!(first != queries(8));
    }

    #[test]
    fn labels_that_are_no_longer_a_name_are_left_out() {
        let long = crate::zone::parse(&["l"; 127].join("."));
        assert_eq!(child(b"x", long.view()), None);
        assert_eq!(child(b"", parent(long.view())), None);
    }
}
