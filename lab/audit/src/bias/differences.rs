//! Differences of two keys, and the keys whose pairs have them.

use crate::draw::Draw;
use crate::keys::Keys;
use core::fmt;

/// Difference of two keys of one length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Bits that differ.
    Xor(Vec<u8>),
    /// Number that is added to a little-endian word of the key.
    Add {
        /// First byte of the word.
        at: usize,
        /// Bytes of the word, from 1 to 8.
        width: usize,
        /// The number.
        by: u64,
    },
}

impl Difference {
    /// True if keys with this difference are equal.
    pub(super) fn is_none(&self) -> bool {
        match self {
            Self::Xor(bits) => bits.iter().all(|byte| *byte == 0),
            Self::Add { by, .. } => *by == 0,
        }
    }

    /// `key` with the difference, `times` times over: an exclusive or is its own inverse.
    pub fn apply(&self, key: &mut [u8], times: u64) {
        match self {
            Self::Xor(bits) if times % 2 == 1 => key.iter_mut().zip(bits).for_each(|(byte, by)| *byte ^= by),
            Self::Xor(_) => {}
            Self::Add { at, width, by } => {
                let Some(word) = key.get_mut(*at..*at + *width) else { return };
                let old = word.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
                let new = old.wrapping_add(by.wrapping_mul(times)).to_le_bytes();
                word.copy_from_slice(&new[..*width]);
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xor(bits) => {
                let active: u32 = bits.iter().map(|byte| byte.count_ones()).sum();
                let ends =
                    [bits.iter().position(|byte| *byte != 0), bits.iter().rposition(|byte| *byte != 0)];
                let [Some(first), Some(last)] = ends else { return f.write_str("no bit") };
                let plural = if active == 1 { "bit" } else { "bits" };
                match &bits[first..=last] {
                    all if all.iter().all(|byte| *byte == 0xff) => {
                        write!(f, "all bits of bytes {first}–{last}")
                    }
                    some => {
                        write!(f, "{active} {plural} (exclusive or with ")?;
                        some.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                        write!(f, " from byte {first} on)")
                    }
                }
            }
            Self::Add { at, width, by } => {
                let last = at + width - 1;
                write!(f, "{by:#x} added to bytes {at}–{last} as a little-endian number")
            }
        }
    }
}

/// Bytes of a window, whose bits are all changed alone, in twos and in threes.
const WINDOW: usize = 8;

/// Windows of a key, at most.
const MOST_WINDOWS: usize = 8;

/// Changes of one window, at most.
pub(super) const MOST_CHANGES: usize = 80;

/// Terms of an arithmetic progression.
pub(super) const TERMS: usize = 48;

/// Steps of the progressions, as binary logarithms.
const STEPS: [u32; 4] = [0, 8, 16, 32];

/// Part of the keys of one length, and the changes that are made in it.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Bytes of a key.
    pub(super) length: usize,
    /// Changes by exclusive or: each bit of the window, each byte and each word complemented, all bytes of
    /// the key, and the highest bits of other words.
    pub(super) changes: Vec<Vec<u8>>,
    /// Progressions: a number that is added to a word, 0 to [`TERMS`] − 1 times.
    pub(super) steps: Vec<Difference>,
}

impl Window {
    /// Windows of keys of `length` bytes: all, or a sample of a long key, the last one at its end.
    pub(super) fn of_length(length: usize) -> Vec<Self> {
        let mut starts: Vec<usize> = (0..length.saturating_sub(WINDOW)).step_by(WINDOW).collect();
        starts.push(length.saturating_sub(WINDOW));
        let every = starts.len().div_ceil(MOST_WINDOWS).max(1);
        starts.reverse();
        starts.into_iter().step_by(every).map(|start| Self::new(length, start)).collect()
    }

    fn new(length: usize, start: usize) -> Self {
        let end = (start + WINDOW).min(length);
        let mut changes: Vec<Vec<u8>> = Vec::new();
        let mut add = |bits: &mut dyn Iterator<Item = (usize, u8)>| {
            let mut change = vec![0; length];
            bits.for_each(|(at, by)| change[at] ^= by);
            if changes.len() < MOST_CHANGES && change.iter().any(|by| *by != 0) && !changes.contains(&change)
            {
                changes.push(change);
            }
        };
        for bit in 8 * start..8 * end {
            add(&mut core::iter::once((bit / 8, 1 << (bit % 8))));
        }
        for width in [1, 4, 8] {
            for at in (start..(end + 1).saturating_sub(width)).step_by(width) {
                add(&mut (at..at + width).map(|at| (at, 0xff)));
            }
        }
        add(&mut (0..length).map(|at| (at, 0xff)));
        for highest in (0..length).skip(7).step_by(8) {
            add(&mut core::iter::once((highest, 0x80)));
        }
        let mut steps = Vec::new();
        for at in (start..end).step_by(4) {
            let width = (end - at).min(8);
            let fits = STEPS.iter().filter(|step| **step < 8 * width as u32);
            steps.extend(fits.map(|step| Difference::Add { at, width, by: 1 << step }));
        }
        Self { length, changes, steps }
    }

    /// Number of its differences: of one to three changes, and of two terms of a progression.
    pub(super) fn differences(&self) -> u64 {
        let n = self.changes.len() as u64;
        let pairs = n * n.saturating_sub(1) / 2;
        n + pairs + pairs * n.saturating_sub(2) / 3 + (self.steps.len() * (TERMS - 1)) as u64
    }

    /// A random base, its changes alone, its changes in twos (in the order of [`pairs`](Self::pairs)), and
    /// its progressions.
    pub(super) fn keys(&self, draw: &mut Draw) -> Keys {
        let base = draw.bytes(self.length);
        let mut keys = Keys::default();
        keys.push(&base);
        let changed = |key: &[u8], change: &[u8]| -> Vec<u8> {
            key.iter().zip(change).map(|(byte, by)| byte ^ by).collect()
        };
        let single: Vec<Vec<u8>> = self.changes.iter().map(|change| changed(&base, change)).collect();
        keys.extend(&single);
        self.pairs().for_each(|[one, other]| keys.push(&changed(&single[one], &self.changes[other])));
        for step in &self.steps {
            let mut key = base.clone();
            for _ in 0..TERMS {
                keys.push(&key);
                step.apply(&mut key, 1);
            }
        }
        keys
    }

    /// Numbers of two different changes, in order.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let n = self.changes.len();
        (0..n).flat_map(move |one| (one + 1..n).map(move |other| [one, other]))
    }

    /// The difference of these changes.
    pub(super) fn sum(&self, changes: impl Iterator<Item = usize>) -> Difference {
        let mut bits = vec![0; self.length];
        changes
            .for_each(|change| bits.iter_mut().zip(&self.changes[change]).for_each(|(bit, by)| *bit ^= by));
        Difference::Xor(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_applied_to_its_bytes_alone() {
        let mut key = vec![0xff, 0xff, 0, 7];
        let add = Difference::Add { at: 0, width: 2, by: 3 };
        add.apply(&mut key, 2);
        assert_eq!(key, [5, 0, 0, 7]);
        let xor = Difference::Xor(vec![0, 0, 0x81, 1]);
        xor.apply(&mut key, 3);
        assert_eq!(key, [5, 0, 0x81, 6]);
        xor.apply(&mut key, 2);
        assert_eq!(key, [5, 0, 0x81, 6]);
        assert_eq!(xor.to_string(), "3 bits (exclusive or with 8101 from byte 2 on)");
        assert_eq!(add.to_string(), "0x3 added to bytes 0–1 as a little-endian number");
    }

    #[test]
    fn windows_cover_each_bit_of_keys_up_to_64_bytes() {
        for length in [1, 4, 8, 9, 36, 64] {
            let windows = Window::of_length(length);
            let mut covered = vec![0; length];
            for window in &windows {
                for change in window
                    .changes
                    .iter()
                    .filter(|change| change.iter().map(|by| by.count_ones()).sum::<u32>() == 1)
                {
                    covered.iter_mut().zip(change).for_each(|(bits, by): (&mut u8, _)| *bits |= by);
                }
                assert!(window.changes.len() <= MOST_CHANGES);
            }
            assert!(covered.iter().all(|bits| *bits == 0xff), "{length}: {covered:x?}");
        }
        assert_eq!(Window::of_length(4096).len(), MOST_WINDOWS);
    }
}
