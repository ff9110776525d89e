//! Rules of every sketch: merges in any split and order, bytes there and back, and errors that name the
//! difference.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_hash::scheme::Key;
use hashlane_sketch::{
    Distinct, Error, Function, HeavyHitters, Imbalance, Keys, Load, Prefixes, ReadError, Reduction, Sketch,
    SketchKind, Spread,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashMap;

const KEY: Key = Key::VECTOR;

/// Rows of a data set, the part of each, and the order in which parts are merged.
#[derive(Clone, Debug)]
struct Split {
    rows: Vec<[u8; 36]>,
    part: Vec<usize>,
    order: Vec<usize>,
}

const PARTS: usize = 5;

fn split() -> impl Strategy<Value = Split> {
    // Few values, so that keys come back in other parts.
    let row = (0..40_u8, 0..3_u8).prop_map(|(a, b)| core::array::from_fn(|i| if i % 9 == 0 { a } else { b }));
    vec((row, 0..PARTS), 0..120).prop_flat_map(|rows| {
        let (rows, part): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let order = vec(any::<usize>(), 2 * PARTS);
        order.prop_map(move |order| Split { rows: rows.clone(), part: part.clone(), order })
    })
}

impl Split {
    /// Sketches of the parts, merged two by two in the given order, some of them through their bytes.
    fn merged<S: Sketch>(&self, empty: impl Fn() -> S, update: impl Fn(&mut S, &[[u8; 36]])) -> S {
        let mut parts: Vec<S> = (0..PARTS)
            .map(|part| {
                let of = |(row, at): (&[u8; 36], &usize)| (*at == part).then_some(*row);
                let rows: Vec<_> = self.rows.iter().zip(&self.part).filter_map(of).collect();
                let mut sketch = empty();
                update(&mut sketch, &rows);
                sketch
            })
            .collect();
        let mut order = self.order.iter();
        let mut next = |below: usize| order.next().map_or(0, |number| number % below);
        while parts.len() > 1 {
            let one = parts.swap_remove(next(parts.len()));
            let one = if next(2) == 0 { one } else { S::from_bytes(&one.to_bytes()).unwrap() };
            let at = next(parts.len());
            parts[at].merge(&one).unwrap();
        }
        parts.remove(0)
    }

    /// Checks that all splits and orders give the bytes of the whole.
    fn check<S: Sketch>(&self, empty: impl Fn() -> S, update: impl Fn(&mut S, &[[u8; 36]])) {
        let mut whole = empty();
        update(&mut whole, &self.rows);
        let bytes = whole.to_bytes();
        assert_eq!(self.merged(empty, update).to_bytes(), bytes);
        assert_eq!(SketchKind::of(&bytes), Ok(S::KIND));
        assert_eq!(S::from_bytes(&bytes).unwrap().to_bytes(), bytes);
        for end in 0..bytes.len() {
            assert!(S::from_bytes(&bytes[..end]).is_err(), "the first {end} bytes are a sketch");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert_eq!(S::from_bytes(&longer).err(), Some(ReadError::Trailing { at: bytes.len() }));
    }
}

fn rows(rows: &[[u8; 36]]) -> Keys<'_> {
    Keys::rows(rows.as_flattened(), 36).unwrap()
}

/// Weights that depend on the row alone.
fn weights(rows: &[[u8; 36]]) -> Vec<u64> {
    rows.iter().map(|row| u64::from(row[0]) * u64::from(row[0]) + u64::from(row[1])).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_spread_has_the_same_bytes_for_any_split_and_order(
        split in split(),
        buckets in 1..40_usize,
        scaled: bool,
        scheme in prop::sample::select(hashlane_sketch::hasher::ids().collect::<Vec<_>>()),
    ) {
        let reduction = if scaled { Reduction::Scaled } else { Reduction::Remainder };
        let empty = || Spread::new(scheme, &KEY, buckets).unwrap().with_reduction(reduction).unwrap();
        split.check(empty, |sketch, part| sketch.update(&rows(part)).unwrap());
    }

    #[test]
    fn distinct_keys_have_the_same_bytes_for_any_split_and_order(split in split(), precision in 4..8_u8) {
        let empty = || Distinct::new(precision, &KEY).unwrap();
        split.check(empty, |sketch, part| sketch.update(&rows(part)).unwrap());
    }

    #[test]
    fn prefixes_have_the_same_bytes_for_any_split_and_order(split in split(), precision in 4..6_u8) {
        // Rows as NDN names of 0 to 3 components; some are not names.
        fn update(sketch: &mut Prefixes, part: &[[u8; 36]]) {
            let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
            for row in part {
                let components = usize::from(row[1] + row[0] % 2);
                bytes.extend([7, 3 * components as u8 + u8::from(row[0] == 39)]);
                (0..components).for_each(|component| bytes.extend([8, 1, row[0] >> (2 - component.min(2))]));
                offsets.push(bytes.len() as i64);
            }
            sketch.update(&Keys::offsets64(&offsets, &bytes).unwrap()).unwrap();
        }
        split.check(|| Prefixes::new("ndn", precision, &KEY).unwrap(), update);
    }

    #[test]
    fn an_imbalance_has_the_same_bytes_for_any_split_and_order(
        split in split(),
        queues in 1..9_usize,
        function in prop::sample::select(
            vec![Function::Rss([9; 40]), Function::SymmetricRss, Function::Keyed],
        ),
    ) {
        let empty = || Imbalance::new(function, queues, 3, &KEY).unwrap();
        split.check(empty, |sketch, part| {
            let weights = weights(part);
            sketch.update(&rows(part), Some(&weights), Some(&weights)).unwrap();
        });
    }

    #[test]
    fn heavy_hitters_keep_their_bound_after_merges_in_any_order(split in split(), counters in 1..9_usize) {
        let mut exact: HashMap<[u8; 36], u64> = HashMap::new();
        for (row, weight) in split.rows.iter().zip(weights(&split.rows)) {
            *exact.entry(*row).or_default() += weight;
        }
        let total: u64 = exact.values().sum();
        let sketch = split.merged(
            || HeavyHitters::new(counters).unwrap(),
            |sketch, part| sketch.update(&rows(part), Some(&weights(part))).unwrap(),
        );
        let result = sketch.result();
        prop_assert_eq!(result.total, total);
        prop_assert!(result.error <= total / (counters as u64 + 1), "{:?}", result);
        prop_assert!(result.hitters.len() <= 2 * counters);
        let least: HashMap<&[u8], u64> =
            result.hitters.iter().map(|hitter| (&*hitter.key, hitter.least)).collect();
        prop_assert!(least.keys().all(|key| exact.keys().any(|known| known == key)));
        for (key, weight) in &exact {
            let least = least.get(key.as_slice()).copied().unwrap_or(0);
            let most = least + result.error;
            prop_assert!((least..=most).contains(weight), "{} {} {:?}", least, weight, result);
        }
        let bytes = sketch.to_bytes();
        let read = HeavyHitters::from_bytes(&bytes).unwrap();
        prop_assert_eq!(read.to_bytes(), bytes);
        prop_assert_eq!(read.result(), result);
    }
}

/// The difference that a merge names.
fn difference<S: Sketch>(mut one: S, other: S) -> &'static str {
    let before = one.to_bytes();
    let Err(Error::Unlike { parameter, ours, theirs }) = one.merge(&other) else {
        panic!("merged two that differ");
    };
    assert_ne!(ours, theirs);
    assert_eq!(one.to_bytes(), before);
    parameter
}

#[test]
fn a_merge_of_unlike_sketches_names_the_difference() {
    let other = Key::new([1; 16]);
    let spread = |scheme, key, buckets| Spread::new(scheme, key, buckets).unwrap();
    let base = || spread("siphash-1-3", &KEY, 8);
    assert_eq!(difference(base(), spread("siphash-2-4", &KEY, 8)), "hash");
    assert_eq!(difference(base(), spread("siphash-1-3", &other, 8)), "key");
    assert_eq!(difference(base(), spread("siphash-1-3", &KEY, 9)), "number of buckets");
    assert_eq!(difference(base(), base().with_reduction(Reduction::Scaled).unwrap()), "reduction");
    let distinct = |precision, key| Distinct::new(precision, key).unwrap();
    assert_eq!(difference(distinct(4, &KEY), distinct(5, &KEY)), "precision");
    assert_eq!(difference(distinct(4, &KEY), distinct(4, &other)), "key");
    let prefixes = |encoding, precision| Prefixes::new(encoding, precision, &KEY).unwrap();
    assert_eq!(difference(prefixes("ndn", 4), prefixes("ccnx", 4)), "encoding");
    assert_eq!(difference(prefixes("ndn", 4), prefixes("ndn", 5)), "precision");
    let loads =
        |function, queues, candidates, key| Imbalance::new(function, queues, candidates, key).unwrap();
    let base = || loads(Function::Rss([1; 40]), 4, 2, &KEY);
    assert_eq!(difference(base(), loads(Function::Keyed, 4, 2, &KEY)), "function");
    assert_eq!(difference(base(), loads(Function::Rss([2; 40]), 4, 2, &KEY)), "key of the card");
    assert_eq!(difference(base(), loads(Function::Rss([1; 40]), 5, 2, &KEY)), "number of queues");
    assert_eq!(difference(base(), loads(Function::Rss([1; 40]), 4, 1, &KEY)), "number of candidates");
    assert_eq!(difference(base(), loads(Function::Rss([1; 40]), 4, 2, &other)), "key");
    let heavy = |counters| HeavyHitters::new(counters).unwrap();
    assert_eq!(difference(heavy(1), heavy(2)), "number of counters");
    assert_eq!(difference(heavy(1), heavy(1).with_columns(2).unwrap()), "number of columns");
}

#[test]
fn a_sketch_from_bytes_takes_keys_again_under_its_key_alone() {
    let row = [[5; 36]];
    let mut whole = Spread::new("siphash-2-4", &KEY, 8).unwrap();
    let mut read = Spread::from_bytes(&whole.to_bytes()).unwrap();
    assert_eq!(read.update(&rows(&row)), Err(Error::NoKey));
    assert_eq!(read.clone().with_key(&Key::new([1; 16])).err(), Some(Error::WrongKey));
    read = read.with_key(&KEY).unwrap();
    read.update(&rows(&row)).unwrap();
    whole.update(&rows(&row)).unwrap();
    assert_eq!(read.to_bytes(), whole.to_bytes());

    let mut whole = Imbalance::new(Function::Keyed, 8, 3, &KEY).unwrap();
    let mut read = Imbalance::from_bytes(&whole.to_bytes()).unwrap();
    assert_eq!(read.update(&rows(&row), None, None), Err(Error::NoKey));
    assert_eq!(read.hash_key(1).err(), Some(Error::NoKey));
    assert_eq!(read.clone().with_key(&Key::new([1; 16])).err(), Some(Error::WrongKey));
    read = read.with_key(&KEY).unwrap();
    read.update(&rows(&row), None, None).unwrap();
    whole.update(&rows(&row), None, None).unwrap();
    assert_eq!(read.to_bytes(), whole.to_bytes());
}

#[test]
fn the_key_is_not_in_the_bytes() {
    let key = Key::new([0xa7; 16]);
    for bytes in [
        Spread::new("siphash-1-3", &key, 3).unwrap().to_bytes(),
        Distinct::new(4, &key).unwrap().to_bytes(),
        Prefixes::new("offset", 4, &key).unwrap().to_bytes(),
        Imbalance::new(Function::Keyed, 2, 2, &key).unwrap().to_bytes(),
    ] {
        assert!(!bytes.windows(4).any(|window| window == [0xa7; 4]));
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    assert!(matches!(Spread::new("jhash", &KEY, 0), Err(Error::Parameter { value: 0, .. })));
    assert!(Spread::new("jhash", &KEY, Spread::MOST_BUCKETS + 1).is_err());
    assert!(Distinct::new(3, &KEY).is_err() && Distinct::new(19, &KEY).is_err());
    assert!(Prefixes::new("ndn", 17, &KEY).is_err());
    assert!(Imbalance::new(Function::SymmetricRss, 129, 0, &KEY).is_err());
    assert!(Imbalance::new(Function::Keyed, 1 << 16, 64, &KEY).is_err());
    assert!(HeavyHitters::new(0).is_err());
    let mut heavy = HeavyHitters::new(3).unwrap();
    let long = vec![0; HeavyHitters::MOST_KEY + 1];
    let most = HeavyHitters::MOST_KEY;
    let expected = Error::KeyTooLong { row: 0, len: most + 1, most };
    assert_eq!(heavy.update(&Keys::rows(&long, long.len()).unwrap(), None), Err(expected));
    let rows = Keys::rows(b"ab", 1).unwrap();
    assert_eq!(heavy.update(&rows, Some(&[u64::MAX, 1])), Err(Error::Full));
    assert_eq!(heavy.update(&rows, Some(&[i64::MAX as u64, 1])), Err(Error::Full));
    heavy.update(&rows, Some(&[i64::MAX as u64, 0])).unwrap();
    assert_eq!(heavy.clone().merge(&heavy), Err(Error::Full));
}

#[test]
fn a_key_that_is_heavy_is_always_listed() {
    let mut heavy = HeavyHitters::new(9).unwrap();
    let rows: Vec<u8> =
        (0..100_000_u32).flat_map(|row| if row % 9 == 4 { 7 } else { row + 100 }.to_be_bytes()).collect();
    for part in Keys::rows(&rows, 4).unwrap().chunks(999) {
        heavy.update(&part, None).unwrap();
    }
    let result = heavy.result();
    assert!(result.error <= 10_000);
    let found = result.hitters.iter().find(|hitter| *hitter.key == 7_u32.to_be_bytes()).unwrap();
    assert!((11_111 - result.error..=11_111).contains(&found.least), "{result:?}");
}

const MOST: u64 = i64::MAX as u64;

/// LEB128 of 2⁶³ − 1.
const MOST_BYTES: [u8; 9] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];

/// Merges a sketch with itself until it is full; the last merge leaves it as it was.
fn fill<S: Sketch + Clone>(mut sketch: S) -> S {
    for _ in 0..63 {
        let before = sketch.to_bytes();
        if let Err(error) = sketch.merge(&sketch.clone()) {
            assert_eq!((error, sketch.to_bytes()), (Error::Full, before));
            return sketch;
        }
    }
    panic!("a total has passed 2^63 - 1");
}

#[test]
fn a_merge_that_passes_the_limit_is_refused_and_changes_nothing() {
    let row = [[5; 36]];
    let mut spread = Spread::new("crc32c", &KEY, 3).unwrap();
    spread.update(&rows(&row)).unwrap();
    assert_eq!(fill(spread).result().keys, 1 << 62);
    let empty = Imbalance::new(Function::Keyed, 2, 3, &KEY).unwrap();
    for (packets, bytes) in [(1, 0), (0, 1)] {
        let mut imbalance = empty.clone();
        imbalance.update(&rows(&row), Some(&[packets]), Some(&[bytes])).unwrap();
        assert_eq!(fill(imbalance).result().total, Load { packets: packets << 62, bytes: bytes << 62 });
    }
    // A name of one component, and bytes that are none.
    for names in [b"\x07\x03\x08\x01a", b"\x07\x03\x08\x02a"] {
        let mut prefixes = Prefixes::new("ndn", 4, &KEY).unwrap();
        prefixes.update(&Keys::rows(names, 5).unwrap()).unwrap();
        let result = fill(prefixes).result();
        assert!(result.invalid == 1 << 62 || result.depths[0].names >= 1 << 61, "{result:?}");
    }
}

#[test]
fn an_update_that_passes_the_limit_is_refused_and_changes_nothing() {
    let row = [[5; 36], [6; 36]];
    let mut imbalance = Imbalance::new(Function::Keyed, 2, 3, &KEY).unwrap();
    imbalance.update(&rows(&row), Some(&[MOST - 1, 0]), Some(&[0, MOST - 1])).unwrap();
    let before = imbalance.to_bytes();
    for numbers in [[1, 1], [u64::MAX, 1], [MOST, MOST]] {
        assert_eq!(imbalance.update(&rows(&row), Some(&[0, 0]), Some(&numbers)), Err(Error::Full));
        assert_eq!(imbalance.update(&rows(&row), Some(&numbers), None), Err(Error::Full));
        assert_eq!(imbalance.to_bytes(), before);
    }
    imbalance.update(&rows(&row), Some(&[0, 1]), Some(&[1, 0])).unwrap();
    assert_eq!(imbalance.result().total, Load { packets: MOST, bytes: MOST });
    let read = Imbalance::from_bytes(&imbalance.to_bytes()).unwrap();
    assert_eq!(read.result(), imbalance.result());

    let mut spread = Spread::new("crc32c", &KEY, 1).unwrap();
    spread.update(&Keys::rows(b"x", 1).unwrap()).unwrap();
    let mut bytes = spread.to_bytes();
    assert_eq!(bytes.pop(), Some(1));
    bytes.extend(MOST_BYTES);
    let mut full = Spread::from_bytes(&bytes).unwrap().with_key(&KEY).unwrap();
    assert_eq!(full.counts(), [MOST]);
    assert!(full.result().p_value == 1.0);
    assert_eq!(full.update(&Keys::rows(b"x", 1).unwrap()), Err(Error::Full));
    assert_eq!(full.merge(&spread), Err(Error::Full));
    assert_eq!(spread.merge(&full), Err(Error::Full));
    assert_eq!(full.to_bytes(), bytes);
}

#[test]
fn totals_that_no_sketch_has_are_refused_in_bytes() {
    let mut bytes = Spread::new("crc32c", &KEY, 2).unwrap().to_bytes();
    bytes.truncate(bytes.len() - 2);
    let at = bytes.len();
    bytes.extend(MOST_BYTES);
    bytes.push(1);
    let field = "total of the counts";
    assert_eq!(Spread::from_bytes(&bytes).err(), Some(ReadError::Field { field, at }));

    // One packet under the key in use, none under the candidate.
    let mut bytes = Imbalance::new(Function::Keyed, 1, 1, &KEY).unwrap().to_bytes();
    let at = bytes.len() - 4;
    bytes[at] = 1;
    let field = "total of the loads";
    assert_eq!(Imbalance::from_bytes(&bytes).err(), Some(ReadError::Field { field, at }));
    bytes[at + 2] = 1;
    assert_eq!(Imbalance::from_bytes(&bytes).unwrap().result().total, Load { packets: 1, bytes: 0 });
}
