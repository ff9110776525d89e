//! Names of the DNS: the limits, pointers, the presentation form, runs of labels, and the `domain` crate as
//! an oracle.

mod labels;
mod message;
mod oracle;
mod reader;
mod text;
mod wire;

use hashlane_name::dns::NameBuf;
use proptest::collection::vec;
use proptest::prelude::*;

/// The name of these labels.
fn name(labels: &[&[u8]]) -> NameBuf {
    let mut name = NameBuf::ROOT;
    for label in labels {
        name.push(label).unwrap();
    }
    name
}

/// Names of any bytes, from the root to the longest; of few different bytes, so that equal labels come up.
fn names() -> impl Strategy<Value = NameBuf> {
    let byte = prop_oneof![prop::sample::select(b"aAzZ[{@`.\\".to_vec()), any::<u8>()];
    let short = vec(vec(byte.clone(), 1..4), 0..=127);
    let long = vec(vec(byte, 1..=63), 0..6);
    prop_oneof![short, long].prop_map(|labels| {
        let mut name = NameBuf::ROOT;
        for label in &labels {
            // Labels that are too many are left out.
            let _ = name.push(label);
        }
        name
    })
}

/// Names, and after them the same with the case of some letters changed.
fn respelled() -> impl Strategy<Value = (NameBuf, NameBuf)> {
    (names(), any::<u64>()).prop_map(|(name, flips)| {
        let mut other = NameBuf::ROOT;
        for label in name.view().labels() {
            let flip = |(at, byte): (usize, &u8)| match flips >> (at % 64) & 1 {
                1 if byte.is_ascii_alphabetic() => byte ^ 0x20,
                _ => *byte,
            };
            other.push(&label.iter().enumerate().map(flip).collect::<Vec<_>>()).unwrap();
        }
        (name, other)
    })
}
