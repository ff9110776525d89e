//! Rules of groups: each has the sketch of its rows, merges in any split and order, and errors that leave the
//! groups as they were.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_hash::scheme::Key;
use hashlane_sketch::{
    Batch, Distinct, Error, Function, Grouped, Groups, HeavyHitters, Imbalance, Keys, ReadError, Sketch,
    SketchKind, Spread,
};
use proptest::collection::vec;
use proptest::prelude::*;

const KEY: Key = Key::VECTOR;

/// A row: its group, the bytes of its key, and a weight.
type Row = (u8, [u8; 12], u64);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    // Few keys, so that they come back in other parts.
    let key = (0..40_u8).prop_map(|value| core::array::from_fn(|i| if i % 5 == 0 { value } else { 7 }));
    vec((0..6_u8, key, 0..9_u64), 0..150)
}

fn update<S: Grouped>(groups: &mut Groups<S>, rows: &[Row]) -> Result<(), Error> {
    let names: Vec<Vec<u8>> = rows.iter().map(|row| vec![row.0; usize::from(row.0)]).collect();
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    let keys: Vec<u8> = rows.iter().flat_map(|row| row.1).collect();
    let weights: Vec<u64> = rows.iter().map(|row| row.2).collect();
    let batch = Batch::new(Keys::rows(&keys, 12).unwrap()).with_weights(Some(&weights));
    groups.update(&Keys::slices(&names), &batch)
}

/// Checks that the groups have the sketches of their rows, for any split and order of them.
fn check<S: Grouped>(
    empty: &S,
    rows: &[Row],
    cut: usize,
    one_by_one: impl Fn(&mut S, &Row),
) -> Result<(), TestCaseError> {
    let new = || Groups::new(empty.clone()).unwrap();
    let (mut whole, mut parts) = (new(), [new(), new()]);
    update(&mut whole, rows).unwrap();
    let (first, rest) = rows.split_at(cut.min(rows.len()));
    update(&mut parts[0], rest).unwrap();
    update(&mut parts[1], first).unwrap();
    let [mut merged, other] = parts;
    merged.merge(&Groups::from_bytes(&other.to_bytes()).unwrap()).unwrap();
    let bytes = whole.to_bytes();
    prop_assert_eq!(&merged.to_bytes(), &bytes);
    prop_assert_eq!(Groups::<S>::from_bytes(&bytes).unwrap().to_bytes(), bytes.clone());
    prop_assert_eq!(SketchKind::of(&bytes), Ok(SketchKind::Groups));

    let mut seen = 0;
    for (name, sketch) in whole.iter() {
        let mut alone = empty.clone();
        for row in rows.iter().filter(|row| vec![row.0; usize::from(row.0)] == name) {
            one_by_one(&mut alone, row);
            seen += 1;
        }
        prop_assert_eq!(sketch.to_bytes(), alone.to_bytes());
        prop_assert_eq!(whole.get(name).unwrap().to_bytes(), alone.to_bytes());
    }
    prop_assert_eq!(seen, rows.len());
    for end in 0..bytes.len() {
        prop_assert!(Groups::<S>::from_bytes(&bytes[..end]).is_err(), "the first {} bytes are groups", end);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn groups_have_the_distinct_keys_of_their_rows(rows in rows(), cut in 0..150_usize) {
        let empty = Distinct::new(5, &KEY).unwrap();
        check(&empty, &rows, cut, |sketch, row| sketch.update(&Keys::rows(&row.1, 12).unwrap()).unwrap())?;
    }

    #[test]
    fn groups_have_the_spread_of_their_rows(rows in rows(), cut in 0..150_usize) {
        let empty = Spread::new("siphash-1-3", &KEY, 7).unwrap();
        // A spread counts each row once.
        let rows: Vec<Row> = rows.into_iter().map(|row| (row.0, row.1, 1)).collect();
        check(&empty, &rows, cut, |sketch, row| sketch.update(&Keys::rows(&row.1, 12).unwrap()).unwrap())?;
    }

    #[test]
    fn groups_have_the_imbalance_of_their_rows(rows in rows(), cut in 0..150_usize) {
        let empty = Imbalance::new(Function::SymmetricRss, 4, 2, &KEY).unwrap();
        check(&empty, &rows, cut, |sketch, row| {
            sketch.update(&Keys::rows(&row.1, 12).unwrap(), Some(&[row.2]), None).unwrap();
        })?;
    }

    /// With as many counters as there are keys, they are exact.
    #[test]
    fn groups_have_the_heavy_hitters_of_their_rows(rows in rows(), cut in 0..150_usize) {
        let empty = HeavyHitters::new(40).unwrap();
        check(&empty, &rows, cut, |sketch, row| {
            sketch.update(&Keys::rows(&row.1, 12).unwrap(), Some(&[row.2])).unwrap();
        })?;
    }
}

#[test]
fn an_update_that_is_refused_leaves_the_groups_as_they_were() {
    let mut groups = Groups::new(HeavyHitters::new(3).unwrap()).unwrap().with_most(2).unwrap();
    let key = Keys::rows(b"xy", 1).unwrap();
    groups.update(&Keys::rows(b"ab", 1).unwrap(), &Batch::new(key)).unwrap();
    let before = groups.to_bytes();
    let mut refused = |names: &[&[u8]], batch: &Batch<'_>| {
        let error = groups.update(&Keys::slices(names), batch).unwrap_err();
        assert_eq!(groups.to_bytes(), before);
        assert_eq!(groups.len(), 2);
        error
    };
    assert_eq!(refused(&[b"a", b"c"], &Batch::new(key)), Error::TooManyGroups { most: 2 });
    let long = vec![1; Groups::<HeavyHitters>::MOST_NAME + 1];
    assert!(matches!(refused(&[b"a", &long], &Batch::new(key)), Error::KeyTooLong { row: 1, .. }));
    assert!(matches!(refused(&[b"a"], &Batch::new(key)), Error::Rows { column: "groups", .. }));
    let full = [i64::MAX as u64 - 2, 1];
    assert_eq!(refused(&[b"a", b"b"], &Batch::new(key).with_weights(Some(&full))), Error::Full);
    let short = Batch::new(key).with_weights(Some(&[1]));
    assert!(matches!(refused(&[b"a", b"b"], &short), Error::Rows { column: "weights", .. }));
    let slices: [&[u8]; 2] = [b"k", &long];
    assert!(matches!(
        refused(&[b"a", b"b"], &Batch::new(Keys::slices(&slices))),
        Error::KeyTooLong { row: 1, .. }
    ));
    let mut more = Groups::new(HeavyHitters::new(3).unwrap()).unwrap();
    more.update(&Keys::rows(b"bc", 1).unwrap(), &Batch::new(key)).unwrap();
    assert_eq!(groups.merge(&more), Err(Error::TooManyGroups { most: 2 }));
    let other = Groups::new(HeavyHitters::new(4).unwrap()).unwrap();
    assert!(matches!(groups.merge(&other), Err(Error::Unlike { .. })));
    assert_eq!(groups.to_bytes(), before);
}

#[test]
fn groups_begin_empty_and_take_keys_again_under_their_key_alone() {
    let mut distinct = Distinct::new(6, &KEY).unwrap();
    let row = Keys::rows(b"x", 1).unwrap();
    let mut groups = Groups::new(distinct.clone()).unwrap();
    groups.update(&row, &Batch::new(row)).unwrap();
    let mut read = Groups::<Distinct>::from_bytes(&groups.to_bytes()).unwrap();
    assert_eq!(read.update(&row, &Batch::new(row)), Err(Error::NoKey));
    assert_eq!(read.clone().with_key(&Key::new([1; 16])).err(), Some(Error::WrongKey));
    let mut keyed = read.clone().with_key(&KEY).unwrap();
    let more = Keys::rows(b"y", 1).unwrap();
    for groups in [&mut keyed, &mut groups] {
        groups.update(&row, &Batch::new(more)).unwrap();
        groups.update(&more, &Batch::new(more)).unwrap();
    }
    assert_eq!(keyed.to_bytes(), groups.to_bytes());
    read.merge(&keyed).unwrap();
    assert_eq!(read.to_bytes(), groups.to_bytes());

    distinct.update(&row).unwrap();
    assert_eq!(Groups::new(distinct.clone()).err(), Some(Error::NotEmpty));
    let rows = Imbalance::new(Function::Keyed, 2, 0, &KEY).unwrap();
    let refused = Groups::new(rows).unwrap().update(&row, &Batch::new(row));
    assert_eq!(refused, Err(Error::Width { width: 1, expected: 36 }));
}

#[test]
fn rejects_names_out_of_order_and_sketches_that_are_none() {
    let mut groups = Groups::new(Spread::new("crc32c", &KEY, 1).unwrap()).unwrap();
    groups.update(&Keys::rows(b"ab", 1).unwrap(), &Batch::new(Keys::rows(b"xx", 1).unwrap())).unwrap();
    let bytes = groups.to_bytes();
    let at = bytes.len() - 10;
    assert_eq!(bytes[at..], [1, b'a', bytes[at + 2], 1, 1, 1, b'b', bytes[at + 2], 1, 1]);
    let with = |place: usize, byte: u8| {
        let mut damaged = bytes.clone();
        damaged[at + place] = byte;
        Groups::<Spread>::from_bytes(&damaged).err()
    };
    let order = "name of a group out of order";
    assert_eq!(with(6, b'a'), Some(ReadError::Field { field: order, at: at + 5 }));
    let sketch = "sketch of a group";
    // As the empty one, one byte less in common, and a number of another form.
    for (place, byte) in [(4, 0), (2, bytes[at + 2] - 1), (4, 0x80)] {
        assert_eq!(with(place, byte), Some(ReadError::Field { field: sketch, at: at + 2 }), "{place}");
    }
}

/// Groups with names of two bytes that have all else in common with the empty sketch.
fn in_common(empty: &[u8], number: u16) -> Vec<u8> {
    fn leb128(mut number: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    }
    let mut bytes = [b"HLSK\x01\x06", leb128(empty.len()).as_slice(), empty].concat();
    bytes.extend(leb128(number.into()));
    for name in 0..number {
        bytes.push(2);
        bytes.extend(name.to_be_bytes());
        bytes.extend(leb128(empty.len()));
        bytes.push(0);
    }
    bytes
}

#[test]
fn groups_with_most_bytes_in_common_are_refused_before_they_take_memory() {
    let empty = Spread::new("crc32c", &KEY, 1 << 22).unwrap().to_bytes();
    let few = Spread::new("crc32c", &KEY, 64).unwrap().to_bytes();
    let accepted = in_common(&few, 200);
    assert_eq!(Groups::<Spread>::from_bytes(&accepted).unwrap().to_bytes(), accepted);
    // 32 of these sketches have 2^27 bytes.
    let large = in_common(&empty, 60_000);
    let found = Groups::<Spread>::from_bytes(&large).err();
    assert!(matches!(found, Some(ReadError::Expanded { .. })), "{found:?}");
    // Cut off in the first of the groups, which have 8 bytes each.
    let end = large.len() - 8 * 60_000 + 3;
    assert!(matches!(Groups::<Spread>::from_bytes(&large[..end]), Err(ReadError::Truncated { .. })));
}
