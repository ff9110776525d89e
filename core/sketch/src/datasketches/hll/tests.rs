use super::*;
use crate::error::ReadError;
use proptest::prelude::*;

const KINDS: [HllType; 3] = [HllType::Hll4, HllType::Hll6, HllType::Hll8];

/// A sketch of these numbers as keys.
fn numbers(lg_k: u8, kind: HllType, numbers: core::ops::Range<u64>) -> Hll {
    let mut sketch = Hll::new(lg_k, kind).unwrap();
    let rows: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
    sketch.update(&Keys::rows(&rows, 8).unwrap());
    sketch
}

#[test]
fn estimates_are_within_their_error_in_every_mode() {
    for lg_k in [4, 7, 8, 12, 16] {
        for number in [0, 1, 7, 8, 24, 25, 300, 5000, 100_000] {
            let stream = numbers(lg_k, HllType::Hll4, 0..number);
            let mut merged = numbers(lg_k, HllType::Hll4, 0..number / 2 + number / 4);
            merged.merge(&numbers(lg_k, HllType::Hll4, number / 4..number));
            for result in [stream.result(), merged.result()] {
                let error = (result.keys - number as f64).abs();
                assert!(
                    error <= 0.01 + 4.0 * result.standard_error * number as f64,
                    "{lg_k}, {number}: {result:?}"
                );
            }
        }
    }
}

/// Errors over many streams, relative to the number of keys: of the stream and of the merged registers.
#[test]
fn the_errors_over_many_streams_are_the_stated_ones() {
    for (lg_k, number) in [(8, 1000), (8, 20_000), (5, 2000)] {
        let mut sums = [[0.0; 2]; 2];
        for stream in 0..400_u64 {
            let sketch = numbers(lg_k, HllType::Hll8, stream << 32..(stream << 32) + number);
            let mut merged = sketch.clone();
            merged.merge(&sketch);
            for (sums, result) in sums.iter_mut().zip([sketch.result(), merged.result()]) {
                let error = (result.keys / number as f64 - 1.0) / result.standard_error;
                sums[0] += error / 400.0;
                sums[1] += error * error / 400.0;
            }
        }
        for [bias, square] in sums {
            // Four standard errors of 400 samples: 0.2 of a mean, 14 % of a root mean square.
            assert!(bias.abs() < 0.2, "{lg_k}, {number}: bias {bias} standard errors");
            assert!(
                (0.7..1.15).contains(&square.sqrt()),
                "{lg_k}, {number}: {} standard errors",
                square.sqrt()
            );
        }
    }
}

#[test]
fn merges_of_all_modes_and_sizes_are_the_registers_of_the_whole() {
    for (ours, theirs) in [(12, 12), (12, 10), (9, 12), (5, 12), (12, 5)] {
        for (one, other) in [(0, 5), (5, 0), (5, 6), (100, 3), (3, 2000), (2000, 2000), (300, 300)] {
            let kind = HllType::Hll6;
            let mut merged = numbers(ours, kind, 0..one);
            merged.merge(&numbers(theirs, HllType::Hll4, one / 2..one / 2 + other));
            let lg_k = if other == 0 { ours } else { ours.min(theirs) };
            let mut whole = numbers(lg_k, kind, 0..one.max(one / 2 + other));
            if let State::Dense(dense) = &mut whole.state {
                dense.hip = None;
            }
            assert_eq!(merged.lg_k(), lg_k);
            if one > 0 && other > 0 {
                assert_eq!(merged.to_bytes(), whole.to_bytes(), "{ours} {theirs} {one} {other}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn bytes_are_read_as_they_were_written(
        lg_k in 4..13_u8,
        kind in prop::sample::select(KINDS.to_vec()),
        number in 0..3000_u64,
        merged: bool,
        cut: prop::sample::Index,
        place: prop::sample::Index,
        byte: u8,
    ) {
        let mut sketch = numbers(lg_k, kind, 0..number);
        if merged {
            sketch.merge(&numbers(lg_k, kind, 7..9));
        }
        let bytes = sketch.to_bytes();
        let read = Hll::from_bytes(&bytes).unwrap();
        prop_assert_eq!(read.to_bytes(), bytes.clone());
        prop_assert_eq!(read.result(), sketch.result());
        let other = Hll::from_bytes(&read.with_kind(HllType::Hll8).to_bytes()).unwrap();
        prop_assert_eq!(other.with_kind(kind).to_bytes(), bytes.clone());
        prop_assert!(Hll::from_bytes(&bytes[..cut.index(bytes.len())]).is_err());
        let mut damaged = bytes;
        let place = place.index(damaged.len());
        damaged[place] = byte;
        if let Ok(read) = Hll::from_bytes(&damaged) {
            prop_assert!(read.result().keys.is_finite());
        }
    }
}

/// Values that are far apart, which HLL_4 writes as exceptions.
#[test]
fn exceptions_of_4_bits_are_read_as_they_were_written() {
    let mut sketch = numbers(4, HllType::Hll4, 0..2000);
    let State::Dense(dense) = &mut sketch.state else { panic!("2000 keys are dense") };
    dense.values.copy_from_slice(&[3, 17, 18, 63, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 40]);
    *dense = Dense::of(dense.values.clone());
    let bytes = sketch.to_bytes();
    assert_eq!((bytes[6], bytes[36], bytes.len()), (3, 3, 40 + 8 + 12));
    let read = Hll::from_bytes(&bytes).unwrap();
    assert_eq!(read.with_kind(HllType::Hll8).to_bytes(), sketch.clone().with_kind(HllType::Hll8).to_bytes());
    // An exception less, twice the same, and one for a register that has none.
    assert!(matches!(
        Hll::from_bytes(&bytes[..56]),
        Err(ReadError::Field { field: "number of exceptions", .. })
    ));
    for place in [2_u8, 4] {
        let mut damaged = bytes.clone();
        damaged[52] = place;
        assert!(Hll::from_bytes(&damaged).is_err(), "{place}");
    }
}

#[test]
fn rejects_what_is_no_hll_sketch() {
    let list = numbers(12, HllType::Hll4, 0..3).to_bytes();
    let set = numbers(12, HllType::Hll4, 0..20).to_bytes();
    let dense = numbers(4, HllType::Hll8, 0..99).to_bytes();
    for (bytes, place, byte, error) in [
        (&list, 1, 2, ReadError::Version { version: 2 }),
        (&list, 2, 3, ReadError::Field { field: "family of an HLL sketch", at: 2 }),
        (&list, 3, 3, ReadError::Field { field: "lg_k", at: 3 }),
        (&list, 3, 22, ReadError::Field { field: "lg_k", at: 3 }),
        (&list, 7, 12, ReadError::Field { field: "type of the registers", at: 7 }),
        (&list, 7, 3, ReadError::Field { field: "mode or words of the preamble", at: 7 }),
        (&list, 0, 3, ReadError::Field { field: "mode or words of the preamble", at: 7 }),
        (&list, 6, 4, ReadError::Field { field: "number of coupons", at: 8 }),
        (&list, 11, 0, ReadError::Field { field: "coupon", at: 8 }),
        (&set, 8, 19, ReadError::Field { field: "number of coupons", at: 12 }),
        (&dense, 15, 0xff, ReadError::Field { field: "estimate", at: 8 }),
        (&dense, 45, 64, ReadError::Field { field: "register", at: 45 }),
        (&dense, 36, 1, ReadError::Field { field: "number of exceptions", at: 36 }),
    ] {
        let mut damaged = bytes.clone();
        damaged[place] = byte;
        assert_eq!(Hll::from_bytes(&damaged).err(), Some(error), "byte {place}");
    }
    let twice = [&set, &set[set.len() - 4..]].concat();
    assert_eq!(Hll::from_bytes(&twice).err(), Some(ReadError::Field { field: "coupon", at: set.len() }));
    let longer = [dense.as_slice(), &[0]].concat();
    assert_eq!(Hll::from_bytes(&longer).err(), Some(ReadError::Trailing { at: dense.len() }));
    assert!(Hll::new(3, HllType::Hll4).is_err() && Hll::new(22, HllType::Hll4).is_err());
}
