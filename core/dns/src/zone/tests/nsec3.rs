//! NSEC3 chains.

use super::*;
use crate::zone::{Cause, Denial, Nsec3Params};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::string::String;

/// The zone, salt and iterations of RFC 5155 appendix A.
const PARAM: &[u8] = b"\x01\0\0\x0c\x04\xaa\xbb\xcc\xdd";

const NSEC3PARAM: RecordType = RecordType(51);

/// Names of RFC 5155 appendix A and their hashes.
const HASHES: [(&str, &str); 12] = [
    ("example", "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom"),
    ("a.example", "35mthgpgcu1qg68fab165klnsnk3dpvl"),
    ("ai.example", "gjeqe526plbf1g8mklp59enfd789njgi"),
    ("ns1.example", "2t7b4g4vsa5smi47k61mv5bv1a22bojr"),
    ("ns2.example", "q04jkcevqvmu85r014c7dkba38o0ji5r"),
    ("w.example", "k8udemvp1j2f7eg6jebps17vp3n8i58h"),
    ("*.w.example", "r53bq7cc2uvmubfu5ocmm6pers9tk9en"),
    ("x.w.example", "b4um86eghhds6nea196smvmlo4ors995"),
    ("y.w.example", "ji6neoaepv8b5o6k4ev33abha8ht9fgc"),
    ("x.y.w.example", "2vptu5timamqttgl4luu9kg21e0aor3s"),
    ("xx.example", "t644ebqk9bibcna874givr6joj62mlhv"),
    ("2t7b4g4vsa5smi47k61mv5bv1a22bojr.example", "kohar7mbb8dc2ce8a9qvl8hon4k53uhi"),
];

/// Five bits a character, in the extended hex alphabet of RFC 4648 §7.
pub(super) fn encode(hash: &[u8]) -> String {
    let bit = |at: usize| hash[at / 8] >> (7 - at % 8) & 1;
    let digit = |at: usize| (0..5).fold(0, |digit, number| digit << 1 | bit(5 * at + number));
    (0..32).map(|at| char::from(b"0123456789abcdefghijklmnopqrstuv"[usize::from(digit(at))])).collect()
}

/// Data of an NSEC3 record with the parameters `param`.
fn nsec3(param: &[u8], flags: u8) -> Vec<u8> {
    let mut data = [param, &[20], &[7; 20], &[0, 1, 0x40]].concat();
    data[1] = flags;
    data
}

/// The zone of the appendix, with an NSEC3 record for each hash.
fn example(flags: u8) -> Zone {
    let data = nsec3(PARAM, flags);
    let owners = HASHES.map(|(_, hash)| [hash, ".example"].concat());
    let mut records: Vec<Added<'_>> =
        owners.iter().map(|owner| (&owner[..], RecordType::NSEC3, &data[..])).collect();
    records.push(("example", NSEC3PARAM, PARAM));
    zone("example", &records)
}

fn hash(zone: &Zone, hashed: &str) -> [u8; 20] {
    zone.nsec3_hash(name(hashed).view())
}

#[test]
fn hashes_names_as_rfc_5155() {
    let zone = example(0);
    for (hashed, expected) in HASHES {
        assert_eq!(encode(&hash(&zone, hashed)), expected, "{hashed}");
        assert_eq!(hash(&zone, &hashed.to_uppercase()), hash(&zone, hashed));
    }
    let params = Nsec3Params { iterations: 12, salt: &[0xaa, 0xbb, 0xcc, 0xdd], opt_out: false };
    assert_eq!(zone.denial(), Denial::Nsec3(params));
    assert_eq!(example(1).denial(), Denial::Nsec3(Nsec3Params { opt_out: true, ..params }));
}

#[test]
fn finds_the_records_that_deny_a_name() {
    let zone = example(0);
    let found = |hashed: &str| {
        let (owner, matches) = zone.nsec3_find(&hash(&zone, hashed)).unwrap();
        (zone.label(owner)[1..].to_vec(), matches)
    };
    // RFC 5155 appendix B.1: the closest encloser, the next closer name and the wildcard of a.c.x.w.example.
    assert_eq!(found("x.w.example"), (b"b4um86eghhds6nea196smvmlo4ors995".to_vec(), true));
    assert_eq!(found("c.x.w.example"), (b"0p9mhaveqvm6t7vbl5lop2u3t2rp3tom".to_vec(), false));
    assert_eq!(found("*.x.w.example"), (b"35mthgpgcu1qg68fab165klnsnk3dpvl".to_vec(), false));
    // Before the first hash comes the last.
    let (last, matches) = zone.nsec3_find(&[0; 20]).unwrap();
    assert_eq!((&zone.label(last)[1..], matches), (&b"t644ebqk9bibcna874givr6joj62mlhv"[..], false));
    assert_eq!(zone.nsec3_find(&[255; 20]).unwrap(), (last, false));
    assert_eq!(zone.set(last, RecordType::NSEC3).unwrap().len(), 1);
}

#[test]
fn a_chain_whose_hashes_do_not_follow_each_other_has_gaps() {
    let mut hashes: Vec<_> = HASHES.iter().map(|(named, _)| hash(&example(0), named)).collect();
    hashes.sort_unstable();
    let gaps = |wrong: Option<usize>| {
        let mut builder = builder("example");
        builder.add(name("example").view(), NSEC3PARAM, 1, PARAM).unwrap();
        for (at, own) in hashes.iter().enumerate() {
            let next = hashes[(at + 1 + usize::from(wrong == Some(at))) % hashes.len()];
            let data = [PARAM, &[20], &next, &[0, 1, 0x40]].concat();
            let owner = [&encode(own), ".example"].concat();
            builder.add(name(&owner).view(), RecordType::NSEC3, 1, &data).unwrap();
        }
        let found = builder.finish().unwrap().inspect(0, &mut Hash::new(&KEY));
        let of_gaps = found.list().iter().filter(|found| found.cause == Cause::NsecGap);
        of_gaps.map(|found| found.owner.view().as_bytes()[1..33].to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(gaps(None), Vec::<Vec<u8>>::new());
    for wrong in [0, 5, 11] {
        assert_eq!(gaps(Some(wrong)), [encode(&hashes[wrong]).into_bytes()]);
    }
}

#[test]
fn hashed_owners_do_not_exist() {
    let zone = example(0);
    let owner = name("2t7b4g4vsa5smi47k61mv5bv1a22bojr.example");
    assert_eq!(zone.find(owner.view(), &mut Hash::new(&KEY)), None);
    let located = locate(&zone, "2t7b4g4vsa5smi47k61mv5bv1a22bojr.example");
    assert_eq!((located.node, located.below), (zone.apex(), 1));
}

#[test]
fn a_chain_is_in_use_if_it_has_a_record_for_the_apex() {
    let other = b"\x01\0\0\x0c\x01\xee";
    let (data, of_other) = (nsec3(PARAM, 0), nsec3(other, 0));
    let apex = [HASHES[0].1, ".example"].concat();
    let second = [HASHES[1].1, ".example"].concat();
    let chain = |records: &[Added<'_>]| {
        let zone = zone("example", records);
        let causes: Vec<_> = zone.warnings().list().iter().map(|warning| warning.cause).collect();
        let salt = match zone.denial() {
            Denial::Nsec3(params) => Some(params.salt.to_vec()),
            denial => {
                assert_eq!((denial, zone.nsec3_find(&[0; 20])), (Denial::None, None));
                None
            }
        };
        (salt, causes)
    };
    let salt = Some(PARAM[5..].to_vec());
    let (param, record) = (("example", NSEC3PARAM, PARAM), (&apex[..], RecordType::NSEC3, &data[..]));
    let second_of_first = (&second[..], RecordType::NSEC3, &data[..]);
    assert_eq!(chain(&[param, record]), (salt.clone(), Vec::new()));
    // Told once for all of them.
    assert_eq!(chain(&[record, second_of_first]), (None, Vec::from([Cause::NoNsec3Param])));
    assert_eq!(chain(&[param]), (None, Vec::from([Cause::Nsec3ParamIgnored])));
    // While a zone changes its salt, the records of the other chain stand beside.
    let second = (&second[..], RecordType::NSEC3, &of_other[..]);
    let causes = Vec::from([Cause::Nsec3ParamIgnored, Cause::Nsec3Ignored]);
    assert_eq!(chain(&[("example", NSEC3PARAM, other), param, record, second]), (salt.clone(), causes));
    let flagged = ("example", NSEC3PARAM, &b"\x01\x01\0\x0c\x04\xaa\xbb\xcc\xdd"[..]);
    assert_eq!(chain(&[flagged, record]).0, None);
    // Neither below the apex's child nor with a label that is no hash.
    let below = [&apex[..32], ".sub.example"].concat();
    let wrong = ("w9mhaveqvm6t7vbl5lop2u3t2rp3tomx.example", RecordType::NSEC3, &data[..]);
    let records = [param, record, (&below[..], RecordType::NSEC3, &data[..]), wrong];
    assert_eq!(chain(&records), (salt, Vec::from([Cause::Nsec3Ignored; 2])));
}

#[test]
fn a_zone_with_nsec_at_its_apex_denies_by_nsec() {
    let nsec: Added<'_> = ("example", RecordType::NSEC, b"\x07example\0\0\x01\x40");
    assert_eq!(zone("example", &[nsec]).denial(), Denial::Nsec);
    assert_eq!(zone("example", &[("a.example", RecordType::NSEC, nsec.2)]).denial(), Denial::None);
    let unsigned = zone("example", &[]);
    assert_eq!((unsigned.denial(), unsigned.nsec_before(unsigned.apex_name())), (Denial::None, None));
}

#[test]
fn nsec_records_are_in_the_canonical_order_of_rfc_4034() {
    // RFC 4034 §6.1.
    let names = ["example", "a.example", "yljkjljk.a.example", "Z.a.example", "zABC.a.EXAMPLE", "z.example"];
    let names = [&names[..], &["\\001.z.example", "*.z.example", "\\200.z.example"]].concat();
    let data = b"\x07example\0\0\x01\x40";
    let mut records: Vec<Added<'_>> =
        names.iter().map(|owner| (*owner, RecordType::NSEC, &data[..])).collect();
    records.swap(1, 7);
    records.swap(2, 4);
    let zone = zone("example", &records);
    let order: Vec<_> = zone.nsec.iter().map(|id| zone.name(*id)).collect();
    let lower = |name: &NameBuf| name.as_bytes().to_ascii_lowercase();
    assert!(order.iter().map(lower).eq(names.iter().map(|owner| lower(&name(owner)))));
    for (queried, before) in
        [("b.example", "zabc.a.example"), ("\\000.z.example", "z.example"), ("zz.example", "\\200.z.example")]
    {
        assert_eq!(zone.nsec_before(name(queried).view()), Some(find(&zone, before)));
    }
}

proptest! {
    #[test]
    fn finds_the_last_hash_that_is_not_after(
        hashes in prop::collection::btree_set(any::<[u8; 20]>(), 1..40),
        queries: [[u8; 20]; 8],
    ) {
        let param = b"\x01\0\0\0\0";
        let apex = super::super::nsec3::hash(name("example").view(), 0, b"");
        let hashes: BTreeSet<[u8; 20]> = hashes.into_iter().chain([apex]).collect();
        let data = nsec3(param, 0);
        let owners: Vec<String> = hashes.iter().map(|hash| encode(hash) + ".EXAMPLE").collect();
        let added = owners.iter().map(|owner| (&owner[..], RecordType::NSEC3, &data[..]));
        let mut records: Vec<Added<'_>> = added.collect();
        records.push(("example", NSEC3PARAM, param));
        let zone = zone("example", &records);
        for query in queries.iter().chain(&hashes) {
            let expected = hashes.range(..=*query).next_back().or(hashes.last()).unwrap();
            let (owner, matches) = zone.nsec3_find(query).unwrap();
            prop_assert_eq!(zone.label(owner)[1..].to_ascii_lowercase(), encode(expected).into_bytes());
            prop_assert_eq!(matches, expected == query);
        }
    }
}
