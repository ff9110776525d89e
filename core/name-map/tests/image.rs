//! Rules as bytes: complete, or refused.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_name_map::{Builder, ImageError, Key, Reversed, Rules, Target};

fn image() -> Vec<u8> {
    let mut builder = Builder::new(&Key::VECTOR);
    for number in 0..100 {
        let name = format!("host{number}.example{}.com", number % 20);
        builder.block(number % 3, Target::Subtree, name.as_bytes()).unwrap();
    }
    builder.block(1, Target::Below, b"com").unwrap();
    builder.build().unwrap().to_bytes(b"three lists")
}

/// The checksum of an image, as the last four bytes have it.
fn seal(bytes: &mut [u8]) {
    use hashlane_hash::crc32c::Crc32c;
    use hashlane_hash::scheme::{BytesHash, Scheme};
    let (sealed, crc) = bytes.split_last_chunk_mut::<4>().unwrap();
    *crc = (Crc32c::new(&Key::VECTOR).hash(sealed) as u32).to_ne_bytes();
}

#[test]
fn rules_from_bytes_are_the_rules_that_were_written() {
    let bytes = image();
    let (rules, about) = Rules::from_bytes(&bytes).unwrap();
    assert_eq!((rules.len(), about), (101, &b"three lists"[..]));
    assert_eq!(rules.to_bytes(about), bytes);
    let mut name = Reversed::new();
    name.set(b"www.host7.example7.com").unwrap();
    assert_eq!(rules.verdict(&name).lists(), 0b10);
    name.set(b"host8.example8.com").unwrap();
    assert_eq!(rules.verdict(&name).lists(), 0b110);
    name.set(b"com").unwrap();
    assert_eq!(rules.verdict(&name).lists(), 0);
}

#[test]
fn every_cut_and_every_changed_byte_is_refused() {
    let bytes = image();
    for len in 0..bytes.len() {
        let error = Rules::from_bytes(&bytes[..len]).unwrap_err();
        let cut = matches!(error, ImageError::Length { len: seen, .. } if seen == len);
        assert!(if len < 8 { error == ImageError::Format } else { cut }, "{len}: {error}");
    }
    let mut long = bytes.clone();
    long.push(0);
    assert!(matches!(Rules::from_bytes(&long), Err(ImageError::Length { .. })));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        assert!(Rules::from_bytes(&changed).is_err(), "{at}");
    }
}

#[test]
fn a_version_and_an_order_of_bytes_that_differ_are_named() {
    let mut bytes = image();
    bytes[8] ^= 2;
    assert_eq!(Rules::from_bytes(&bytes).unwrap_err(), ImageError::Version);
    let mut swapped = image();
    swapped[8..12].reverse();
    assert_eq!(Rules::from_bytes(&swapped).unwrap_err(), ImageError::Version);
}

#[test]
fn bytes_that_were_made_to_harm_are_refused_or_matched_within_bounds() {
    let bytes = image();
    let mut name = Reversed::new();
    for at in 8..bytes.len() - 4 {
        for value in [0x00, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            seal(&mut changed);
            if let Ok((rules, _)) = Rules::from_bytes(&changed) {
                for text in ["host7.example7.com", "a.host0.example0.com", "com"] {
                    name.set(text.as_bytes()).unwrap();
                    let _any = rules.verdict(&name);
                }
            }
        }
    }
}

#[test]
fn numbers_of_the_header_beyond_their_bounds_are_refused() {
    let bytes = image();
    // The pivot is at 12, the short lengths at 16.
    for (at, value) in [(12, 0), (12, 128), (16, 0x01), (31, 0xff)] {
        let mut changed = bytes.clone();
        changed[at] = value;
        seal(&mut changed);
        assert_eq!(Rules::from_bytes(&changed).unwrap_err(), ImageError::Bounds, "{at}");
    }
    // All buckets are passed: a lookup of one name would read all of them.
    let mut run = Builder::new(&Key::VECTOR);
    for number in 0..20_000 {
        run.block(0, Target::Exact, format!("a.b{number}").as_bytes()).unwrap();
    }
    let mut run = run.build().unwrap().to_bytes(b"");
    let buckets = u64::from_ne_bytes(run[64..72].try_into().unwrap()) as usize;
    assert!(buckets > 2_000);
    for bucket in 0..buckets {
        run[112 + 64 * bucket + 20] |= 1;
    }
    seal(&mut run);
    assert_eq!(Rules::from_bytes(&run).unwrap_err(), ImageError::Bounds);
}
