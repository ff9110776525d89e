use super::*;
use crate::error::ReadError;
use proptest::prelude::*;

/// A sketch of these numbers as keys.
fn numbers(lg_k: u8, numbers: core::ops::Range<u64>) -> Theta {
    let mut sketch = Theta::new(lg_k).unwrap();
    let rows: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
    sketch.update(&Keys::rows(&rows, 8).unwrap());
    sketch
}

#[test]
fn few_keys_are_exact_and_many_within_their_error() {
    for lg_k in [4, 8, 12] {
        for number in [0, 1, 2, 15, 16, 17, 300, 5000, 60_000] {
            let mut merged = numbers(lg_k, 0..number / 2 + number / 4);
            merged.merge(&numbers(lg_k, number / 4..number));
            let result = merged.result();
            let is_exact = number <= 1 << lg_k;
            assert_eq!(result.standard_error == 0.0, is_exact, "{lg_k}, {number}");
            let error = (result.keys - number as f64).abs();
            assert!(error <= 4.0 * result.standard_error * number as f64, "{lg_k}, {number}: {result:?}");
            assert_eq!(merged.to_bytes(), numbers(lg_k, 0..number).to_bytes());
        }
    }
}

/// Errors over many streams, relative to the number of keys.
#[test]
fn the_errors_over_many_streams_are_the_stated_ones() {
    let (mut bias, mut square) = (0.0, 0.0);
    for stream in 0..400_u64 {
        let result = numbers(8, stream << 32..(stream << 32) + 5000).result();
        let error = (result.keys / 5000.0 - 1.0) / result.standard_error;
        bias += error / 400.0;
        square += error * error / 400.0;
    }
    // Four standard errors of 400 samples: 0.2 of a mean, 14 % of a root mean square.
    assert!(bias.abs() < 0.2, "bias {bias} standard errors");
    assert!((0.8..1.15).contains(&square.sqrt()), "{} standard errors", square.sqrt());
}

#[test]
fn keys_that_come_many_times_take_no_memory() {
    let mut sketch = Theta::new(4).unwrap();
    for _ in 0..1000 {
        sketch.merge(&numbers(4, 0..10));
        sketch.update(&Keys::slices(&[b"a", b"", b"b"]));
    }
    assert_eq!(sketch.result().keys, 12.0);
    assert!(sketch.hashes.len() <= 32);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_split_and_order_gives_the_same_bytes(
        lg_k in 4..9_u8,
        cuts in proptest::collection::vec(0..2000_u64, 0..6),
        turned: bool,
    ) {
        let mut cuts = cuts;
        cuts.extend([0, 2000]);
        cuts.sort_unstable();
        let mut parts: Vec<Theta> =
            cuts.windows(2).map(|pair| numbers(lg_k, pair[0].saturating_sub(50)..pair[1])).collect();
        if turned {
            parts.reverse();
        }
        let mut whole = Theta::new(lg_k).unwrap();
        parts.iter().for_each(|part| whole.merge(part));
        prop_assert_eq!(whole.to_bytes(), numbers(lg_k, 0..2000).to_bytes());
    }

    #[test]
    fn bytes_are_read_as_they_were_written(
        lg_k in 4..13_u8,
        number in 0..3000_u64,
        cut: prop::sample::Index,
        place: prop::sample::Index,
        byte: u8,
    ) {
        let sketch = numbers(lg_k, 0..number);
        let bytes = sketch.to_bytes();
        let read = Theta::from_bytes(&bytes).unwrap();
        prop_assert_eq!(read.to_bytes(), bytes.clone());
        prop_assert_eq!(read.result(), sketch.result());
        // The other order.
        let mut unordered = bytes.clone();
        unordered[5] &= !16;
        let start = 8 * usize::from(bytes[0]);
        unordered[start..].as_chunks_mut::<8>().0.reverse();
        prop_assert_eq!(Theta::from_bytes(&unordered).unwrap().to_bytes(), bytes.clone());
        prop_assert!(Theta::from_bytes(&bytes[..cut.index(bytes.len())]).is_err());
        let mut damaged = bytes;
        let place = place.index(damaged.len());
        damaged[place] = byte;
        if let Ok(read) = Theta::from_bytes(&damaged) {
            prop_assert!(read.result().keys.is_finite());
        }
    }
}

#[test]
fn rejects_what_is_no_theta_sketch() {
    let empty = numbers(12, 0..0).to_bytes();
    let one = numbers(12, 0..1).to_bytes();
    let exact = numbers(12, 0..9).to_bytes();
    let estimate = numbers(4, 0..99).to_bytes();
    assert_eq!([empty.len(), one.len(), exact.len(), estimate.len()], [8, 16, 16 + 72, 24 + 128]);
    let field = |bytes: &[u8]| match Theta::from_bytes(bytes) {
        Err(ReadError::Field { field, at }) => (field.split([' ', ',']).next().unwrap(), at),
        other => panic!("{other:?}"),
    };
    for (bytes, place, byte, expected) in [
        (&one, 1, 4, ("version", 1)),
        (&one, 2, 2, ("family", 2)),
        (&one, 5, 0x1b, ("flags", 5)),
        (&one, 5, 0x12, ("flags", 5)),
        (&one, 6, 0, ("seed", 6)),
        (&exact, 0, 4, ("words", 0)),
        (&exact, 23, 0x80, ("hash", 16)),
        (&exact, 23, 0x7f, ("order", 24)),
        (&estimate, 23, 0x80, ("theta", 16)),
        (&estimate, 23, 0, ("hash", 24 + 8 * 15)),
    ] {
        let mut damaged = bytes.clone();
        damaged[place] = byte;
        let (name, at) = field(&damaged);
        assert_eq!(name, expected.0, "byte {place}");
        assert!(at == expected.1 || name == "hash", "byte {place}: {at}");
    }
    let mut twice = exact.clone();
    twice.copy_within(16..24, 24);
    assert_eq!(field(&twice), ("order", 24));
    twice[5] &= !16;
    assert_eq!(field(&twice), ("hash", 16));
    let mut more = exact.clone();
    more[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(Theta::from_bytes(&more).err(), Some(ReadError::Truncated { at: 16 }));
    assert_eq!(Theta::from_bytes(&[&empty[..], &[0]].concat()).err(), Some(ReadError::Trailing { at: 8 }));
    assert!(Theta::new(3).is_err() && Theta::new(27).is_err());
}

#[test]
fn a_sketch_that_was_read_has_room_for_its_hashes() {
    assert_eq!(Theta::from_bytes(&numbers(4, 0..99).to_bytes()).unwrap().lg_k(), 12);
    let mut read = Theta::from_bytes(&numbers(14, 0..9000).to_bytes()).unwrap();
    assert_eq!(read.lg_k(), 14);
    read.merge(&numbers(4, 9000..9010));
    assert_eq!((read.lg_k(), read.result().keys), (14, 9010.0));
}
