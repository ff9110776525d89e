//! Runs of labels.

use super::{name, names, respelled};
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash13;
use hashlane_name::dns::{Case, LabelSequence};
use proptest::prelude::*;

const CASES: [Case; 2] = [Case::Ignored, Case::Sensitive];

fn hash(sequence: LabelSequence<'_>, case: Case) -> u64 {
    sequence.hash(&SipHash13::new(&Key::VECTOR), case)
}

#[test]
fn strips_labels_on_the_left_and_keeps_the_root() {
    let www = name(&[b"www", b"example", b"com"]);
    let all = LabelSequence::of(www.view());
    for (count, bytes) in [
        (0, &b"\x03www\x07example\x03com\0"[..]),
        (1, b"\x07example\x03com\0"),
        (3, b"\0"),
        (usize::MAX, b"\0"),
    ] {
        assert_eq!(all.strip_left(count).as_bytes(), bytes);
        assert_eq!(all.strip_left(count).as_name().unwrap().as_bytes(), bytes);
        assert_eq!(www.view().labels_from(count).as_bytes(), bytes);
    }
}

#[test]
fn strips_labels_on_the_right_with_the_root_as_one() {
    let www = name(&[b"www", b"example", b"com"]);
    let all = LabelSequence::of(www.view());
    for (count, bytes, text) in [
        (0, &b"\x03www\x07example\x03com\0"[..], "www.example.com."),
        (1, b"\x03www\x07example\x03com", "www.example.com"),
        (2, b"\x03www\x07example", "www.example"),
        (4, b"", ""),
        (usize::MAX, b"", ""),
    ] {
        let kept = all.strip_right(count);
        assert_eq!(kept.as_bytes(), bytes);
        assert_eq!(kept.to_string(), text);
        assert_eq!(kept.is_absolute(), count == 0);
        assert_eq!(kept.as_name().is_some(), count == 0);
    }
    // A relative sequence has no root to strip.
    let relative = all.strip_right(1);
    assert_eq!(relative.strip_right(0).as_bytes(), relative.as_bytes());
    assert_eq!(relative.strip_right(1).as_bytes(), b"\x03www\x07example");
    assert_eq!(relative.strip_left(3).as_bytes(), b"");
    assert_eq!(relative.strip_left(1).strip_right(1).to_string(), "example");
}

#[test]
fn the_root_and_nothing_are_not_the_same() {
    let root = LabelSequence::of(hashlane_name::dns::Name::ROOT);
    let nothing = root.strip_right(1);
    assert!(root.is_absolute() && !nothing.is_absolute());
    for case in CASES {
        assert!(!root.equals(nothing, case));
        assert_ne!(hash(root, case), hash(nothing, case));
    }
}

#[test]
fn the_borders_of_labels_count() {
    // The same bytes of labels, divided otherwise.
    let (a, b) = (name(&[b"a", b"bc"]), name(&[b"ab", b"c"]));
    let (a, b) = (LabelSequence::of(a.view()), LabelSequence::of(b.view()));
    for case in CASES {
        assert!(!a.equals(b, case));
        assert_ne!(hash(a, case), hash(b, case));
    }
}

#[test]
fn respects_case_sensitivity() {
    let (a, b) = (name(&[b"WWW", b"Example"]), name(&[b"www", b"example"]));
    let (a, b) = (LabelSequence::of(a.view()), LabelSequence::of(b.view()));
    assert!(a.equals(b, Case::Ignored) && !a.equals(b, Case::Sensitive));
    assert_eq!(hash(a, Case::Ignored), hash(b, Case::Ignored));
    assert_eq!(hash(a, Case::Ignored), hash(b, Case::Sensitive));
    assert_ne!(hash(a, Case::Sensitive), hash(b, Case::Sensitive));
    // Equal under a mask of 0x20.
    let (a, b) = (name(&[b"[\x0d"]), name(&[b"{-"]));
    let (a, b) = (LabelSequence::of(a.view()), LabelSequence::of(b.view()));
    assert!(!a.equals(b, Case::Ignored));
    assert_ne!(hash(a, Case::Ignored), hash(b, Case::Ignored));
}

proptest! {
    #[test]
    fn stripping_is_taking_labels((name, left, right) in (names(), 0_usize..130, 0_usize..130)) {
        let kept = LabelSequence::of(name.view()).strip_left(left).strip_right(right);
        let mut labels: Vec<&[u8]> = name.view().labels().chain([&b""[..]]).collect();
        labels.drain(..left.min(labels.len() - 1));
        labels.truncate(labels.len().saturating_sub(right));
        let mut bytes = Vec::new();
        for label in &labels {
            bytes.push(label.len() as u8);
            bytes.extend_from_slice(label);
        }
        prop_assert_eq!(kept.as_bytes(), bytes);
        prop_assert_eq!(kept.is_absolute(), right == 0);
    }

    #[test]
    fn equal_sequences_hash_equal((name, other) in respelled(), left in 0_usize..8, right in 0_usize..8) {
        let of = |name| LabelSequence::of(name).strip_left(left).strip_right(right);
        let (a, b) = (of(name.view()), of(other.view()));
        prop_assert!(a.equals(b, Case::Ignored));
        prop_assert_eq!(a.equals(b, Case::Sensitive), a.as_bytes() == b.as_bytes());
        for case in CASES {
            prop_assert_eq!(a.equals(b, case), hash(a, case) == hash(b, case));
        }
    }
}
