//! Properties of columns of strings whose offsets and views come from files.

use hashlane_hash::scheme::Key;
use hashlane_sketch::arrow::check_views;
use hashlane_sketch::hasher::{Hasher, ids};
use hashlane_sketch::{Error, Keys};

/// Strings in one of Arrow's layouts: a byte for the layout, one for the number of words, the words, and the
/// bytes. What is accepted lies in the bytes, and every hash of the column equals the hash of its string.
pub fn check_strings(octets: &[u8]) {
    let Some((&[layout, number], octets)) = octets.split_first_chunk() else { return };
    let width = [4, 8, 16][usize::from(layout) % 3];
    let (words, bytes) = octets.split_at(octets.len().min(usize::from(number) * width));
    match width {
        4 => {
            let offsets: Vec<i32> =
                words.as_chunks().0.iter().map(|word| i32::from_le_bytes(*word)).collect();
            let wide: Vec<i64> = offsets.iter().copied().map(i64::from).collect();
            check_offsets(Keys::offsets32(&offsets, bytes), &wide, bytes);
        }
        8 => {
            let offsets: Vec<i64> =
                words.as_chunks().0.iter().map(|word| i64::from_le_bytes(*word)).collect();
            check_offsets(Keys::offsets64(&offsets, bytes), &offsets, bytes);
        }
        _ => {
            let views: Vec<u128> =
                words.as_chunks().0.iter().map(|word| u128::from_le_bytes(*word)).collect();
            let (one, other) = bytes.split_at(bytes.len() / 2);
            check_both(&views, &[one, other], layout);
        }
    }
}

fn check_offsets(keys: Result<Keys<'_>, Error>, offsets: &[i64], bytes: &[u8]) {
    let place = |offset: i64| usize::try_from(offset).ok().filter(|offset| *offset <= bytes.len());
    let wrong = offsets
        .iter()
        .enumerate()
        .position(|(at, offset)| place(*offset).is_none() || (at > 0 && offsets[at - 1] > *offset));
    match keys {
        Ok(keys) => {
            assert_eq!(wrong, None);
            let strings = offsets.windows(2).map(|pair| &bytes[pair[0] as usize..pair[1] as usize]);
            check_hashes(&keys, &strings.collect::<Vec<_>>());
        }
        Err(Error::Offset { at }) => assert_eq!(wrong, Some(at)),
        Err(other) => panic!("{other}"),
    }
}

/// Every second row is null if the layout says so.
fn check_both(views: &[u128], buffers: &[&[u8]], layout: u8) {
    let is_null = |row: usize| layout >= 128 && row % 2 == 1;
    let lengths: Vec<usize> = buffers.iter().map(|buffer| buffer.len()).collect();
    let inside: Vec<[u8; 16]> = views.iter().map(|view| view.to_le_bytes()).collect();
    let string = |row: usize| {
        if is_null(row) {
            return Some(&[][..]);
        }
        let view = views[row];
        match view as u32 as usize {
            len @ ..=12 => Some(&inside[row][4..4 + len]),
            len => {
                let from = (view >> 96) as usize;
                buffers.get((view >> 64) as u32 as usize)?.get(from..from.checked_add(len)?)
            }
        }
    };
    let wrong = (0..views.len()).find(|row| string(*row).is_none());
    match check_views(views, &lengths, is_null) {
        Ok(()) => {
            assert_eq!(wrong, None);
            let strings: Vec<&[u8]> = (0..views.len()).filter_map(string).collect();
            check_hashes(&Keys::slices(&strings), &strings);
        }
        Err(Error::View { at }) => assert_eq!(wrong, Some(at)),
        Err(other) => panic!("{other}"),
    }
}

fn check_hashes(keys: &Keys<'_>, strings: &[&[u8]]) {
    assert_eq!(keys.iter().collect::<Vec<_>>(), strings);
    for id in ids().filter(|id| id.starts_with("siphash") || *id == "crc32c") {
        let hasher = Hasher::new(id, &Key::VECTOR).expect("a registered hash");
        let mut hashes = vec![0; strings.len()];
        hasher.hash(keys, &mut hashes);
        for (string, hash) in strings.iter().zip(hashes) {
            let mut alone = [0];
            hasher.hash(&Keys::slices(&[*string]), &mut alone);
            assert_eq!(alone, [hash], "{id} of {string:x?}");
        }
    }
}
