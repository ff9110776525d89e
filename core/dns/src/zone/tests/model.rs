//! Random zones against a model: an ordered map of names, asked the slow way.

use super::*;
use crate::zone::flags::Flags;
use hashlane_name::dns::Name;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::string::ToString;

/// Owner, type and data of a record.
type Owned = (NameBuf, RecordType, Vec<u8>);

/// Labels in lower case from below the apex down: their order is the canonical order of names.
type Path = Vec<Vec<u8>>;

/// The data of each type, in the order in which they were added.
type Sets = BTreeMap<u16, Vec<Vec<u8>>>;

#[derive(Default)]
struct Model {
    owners: BTreeMap<Path, Sets>,
}

impl Model {
    fn add(&mut self, owner: Path, rtype: RecordType, data: &[u8]) {
        let set = self.owners.entry(owner).or_default().entry(rtype.0).or_default();
        if set.iter().all(|other| !Name::parse(other).is_ok_and(|name| same(name, data)) && other != data) {
            set.push(data.to_vec());
        }
    }

    fn has(&self, path: &[Vec<u8>], rtype: RecordType) -> bool {
        self.owners.get(path).is_some_and(|sets| sets.contains_key(&rtype.0))
    }

    /// The names above a path, the apex first, and then the path itself.
    fn down(path: &[Vec<u8>]) -> impl Iterator<Item = &[Vec<u8>]> {
        (0..=path.len()).map(|len| &path[..len])
    }

    /// The topmost delegation or DNAME strictly above a path.
    fn above<'p>(&self, path: &'p [Vec<u8>]) -> Option<&'p [Vec<u8>]> {
        let is_end = |above: &&[Vec<u8>]| {
            self.has(above, RecordType::DNAME) || !above.is_empty() && self.has(above, RecordType::NS)
        };
        Self::down(path).take(path.len()).find(is_end)
    }

    fn below_dname(&self, path: &[Vec<u8>]) -> bool {
        self.above(path).is_some_and(|above| self.has(above, RecordType::DNAME))
    }

    fn visible(&self, path: &[Vec<u8>]) -> bool {
        self.above(path).is_none()
            && (path.is_empty() || self.owners.keys().any(|owner| owner.starts_with(path)))
    }

    fn is_valid(&self) -> bool {
        self.owners.iter().filter(|(owner, _)| self.above(owner).is_none()).all(|(owner, sets)| {
            let len = |rtype: RecordType| sets.get(&rtype.0).map_or(0, Vec::len);
            let others = sets.keys().filter(|rtype| **rtype != RecordType::NSEC.0).count();
            len(RecordType::CNAME) <= 1
                && len(RecordType::DNAME) <= 1
                && (len(RecordType::CNAME) == 0 || others == 1)
                && (owner.is_empty() || len(RecordType::DNAME) == 0 || len(RecordType::NS) == 0)
        }) && self.owners.iter().filter(|(owner, _)| !self.below_dname(owner)).all(|(_, sets)| {
            [RecordType::CNAME, RecordType::DNAME]
                .iter()
                .all(|rtype| sets.get(&rtype.0).is_none_or(|set| set.len() == 1))
        })
    }

    fn nsec_before(&self, path: &Path) -> Option<&Path> {
        let signed =
            || self.owners.keys().filter(|owner| self.visible(owner) && self.has(owner, RecordType::NSEC));
        signed().rfind(|owner| *owner <= path).or(signed().next_back())
    }
}

fn same(name: Name<'_>, data: &[u8]) -> bool {
    Name::parse(data).is_ok_and(|data| data.eq_ignore_case(name))
}

/// The labels of a name below an apex.
fn path(name: Name<'_>, apex: Name<'_>) -> Path {
    let mut labels: Path = name.labels().map(<[u8]>::to_ascii_lowercase).collect();
    labels.reverse();
    labels.split_off(apex.label_count())
}

const LABELS: [&[u8]; 7] = [b"a", b"A", b"*", b"b", b"aa", b"[", b"\0"];

/// Up to five labels of few letters below the apex.
fn names(apex: NameBuf) -> impl Strategy<Value = NameBuf> {
    prop::collection::vec(0..LABELS.len(), 0..6).prop_map(move |labels| {
        let mut name = NameBuf::ROOT;
        labels.into_iter().for_each(|label| name.push(LABELS[label]).unwrap());
        apex.view().labels().for_each(|label| name.push(label).unwrap());
        name
    })
}

fn record(owner: NameBuf, kind: u8, target: NameBuf) -> Owned {
    let number = target.as_bytes().len() as u8;
    let (rtype, data) = match kind {
        0 => (RecordType::NS, target.as_bytes().to_vec()),
        1 => (RecordType::CNAME, target.as_bytes().to_vec()),
        2 => (RecordType::DNAME, target.as_bytes().to_vec()),
        3 | 4 => (RecordType::NSEC, [target.as_bytes(), b"\0\x01\x40"].concat()),
        5 => (RecordType::TXT, [1, number].to_vec()),
        6 => (RecordType(65_280), [number; 300][..usize::from(number) * 7 % 300].to_vec()),
        7 => (RecordType::AAAA, [number; 16].to_vec()),
        _ => (RecordType::A, [number; 4].to_vec()),
    };
    (owner, rtype, data)
}

/// An apex, records of a zone, and names to ask for.
fn zones() -> impl Strategy<Value = (NameBuf, Vec<Owned>, Vec<NameBuf>)> {
    prop_oneof![Just("."), Just("Example"), Just("*.a.example")].prop_flat_map(|apex| {
        let apex = name(apex);
        // Delegations and aliases are rare, or little of a zone would be visible.
        let kinds = prop_oneof![1 => 0..3_u8, 5 => 3..12_u8];
        let record =
            (names(apex), kinds, names(apex)).prop_map(|(owner, kind, target)| record(owner, kind, target));
        (Just(apex), prop::collection::vec(record, 0..30), prop::collection::vec(names(apex), 1..30))
    })
}

fn data_of(zone: &Zone, set: crate::zone::Set<'_>) -> Vec<Vec<u8>> {
    let data = set.records().map(|record| {
        let mut data = record.before.to_vec();
        record.names.iter().flatten().for_each(|id| data.extend_from_slice(zone.name(*id).as_bytes()));
        [&data, record.after].concat()
    });
    data.collect()
}

fn check(apex: NameBuf, records: &[Owned], queries: &[NameBuf]) {
    let (mut builder, mut model) = (builder(&apex.to_string()), Model::default());
    model.add(Path::new(), RecordType::SOA, &soa());
    model.add(Path::new(), RecordType::NS, name("ns.example").as_bytes());
    for (owner, rtype, data) in records {
        builder.add(owner.view(), *rtype, 300, data).unwrap();
        model.add(path(owner.view(), apex.view()), *rtype, data);
    }
    let zone = match builder.finish() {
        Ok(zone) => zone,
        Err(error) => return assert!(!model.is_valid(), "{error}"),
    };
    assert!(model.is_valid());
    let path_of = |id: NameId| path(zone.name(id).view(), apex.view());
    let within = |id: &NameId| zone.name(*id).view().is_within(apex.view());
    let ids = || zone.names.ids().filter(within);
    // Every name of the tree, once.
    let all: BTreeMap<Path, NameId> = ids().map(|id| (path_of(id), id)).collect();
    assert_eq!(all.len(), ids().count());
    for (at, id) in &all {
        let leads = model.owners.keys().any(|owner| !model.below_dname(owner) && owner.starts_with(at));
        assert_eq!(zone.exists(*id), (leads || at.is_empty()) && !model.below_dname(at));
        assert_eq!(zone.is_occluded(*id), model.above(at).is_some());
        assert_eq!(zone.names.flags(*id).is_visible(), model.visible(at));
        let sets: Sets = zone.sets(*id).map(|set| (set.rtype.0, data_of(&zone, set))).collect();
        let expected = model.owners.get(at).filter(|_| !model.below_dname(at)).cloned().unwrap_or_default();
        assert!(zone.sets(*id).map(|set| set.rtype).is_sorted());
        assert_eq!(sets.len(), expected.len());
        for (rtype, expected) in expected {
            let set = zone.set(*id, RecordType(rtype)).unwrap();
            assert_eq!(set.len(), expected.len());
            let lower =
                |data: &Vec<Vec<u8>>| data.iter().map(|data| data.to_ascii_lowercase()).collect::<Vec<_>>();
            assert_eq!(lower(&sets[&rtype]), lower(&expected));
        }
        let located = zone.locate_id(*id).unwrap();
        assert_eq!(located, locate(&zone, &zone.name(*id).to_string()));
    }
    assert!(model.owners.keys().all(|owner| all.contains_key(owner)));
    for query in queries {
        let at = path(query.view(), apex.view());
        let encloser = Model::down(&at).filter(|above| model.visible(above)).last().unwrap();
        let located = locate(&zone, &query.to_string());
        assert_eq!(path_of(located.node), encloser);
        assert_eq!(located.below, at.len() - encloser.len());
        let cut = !encloser.is_empty() && model.has(encloser, RecordType::NS);
        assert_eq!(located.cut, cut.then_some(located.node));
        let dname = located.below > 0 && model.has(encloser, RecordType::DNAME);
        assert_eq!(located.dname, dname.then_some(located.node));
        assert_eq!(zone.has_dname(located.node), model.has(encloser, RecordType::DNAME));
        let wildcard = [encloser, &[b"*".to_vec()]].concat();
        assert_eq!(zone.wildcard(located.node).map(path_of), model.visible(&wildcard).then_some(wildcard));
        let found = zone.find(query.view(), &mut Hash::new(&KEY));
        assert_eq!(found, (located.below == 0).then_some(located.node));
        assert_eq!(zone.nsec_before(query.view()).map(path_of).as_ref(), model.nsec_before(&at));
    }
    let stored = |(owner, sets): (&Path, &Sets)| match model.below_dname(owner) {
        true => 0,
        false => sets.values().map(Vec::len).sum(),
    };
    assert_eq!(zone.records(), model.owners.iter().map(stored).sum::<usize>());
    let mut outside = zone.names.ids().filter(|id| !within(id));
    assert!(
        outside.all(|id| !zone.exists(id) && zone.wildcard(id).is_none() && zone.locate_id(id).is_none())
    );
    assert!(zone.names.ids().all(|id| !zone.names.flags(id).has(Flags::BELOW_DNAME) || !zone.exists(id)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_zone_answers_as_the_model((apex, records, queries) in zones()) {
        check(apex, &records, &queries);
    }
}
