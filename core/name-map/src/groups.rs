//! Rules with a common suffix, next to each other.
//!
//! A group is one byte with the number of its rules, the highest bit set if longer suffixes have groups, too;
//! the suffix, as one byte with its length and its bytes; if the second highest bit is set, the number of the
//! rules of shorter suffixes, in LEB128; and for each rule the number of its lists, in LEB128, and the bytes
//! of its name beyond the suffix, with their length before them. Shorter rules come before longer ones that
//! they cover.
//!
//! A suffix has a group only if all shorter ones down to the filter's have one, too. So the longest is found
//! by a search in the number of labels, which reads few of them, and the number says what the groups that it
//! did not read have.

use crate::reversed::{Reversed, STEP};
use alloc::vec::Vec;

/// Rules of a group at most.
pub(crate) const MAX_RULES: usize = 8;

/// The bit of a group's number of rules that says that longer suffixes have groups.
const DEEPER: u8 = 0x80;

/// The bit that says that shorter suffixes have rules, whose number follows.
const INHERITS: u8 = 0x40;

/// The bits with the number of rules.
const RULES: u8 = 0x0f;

/// A receiver of the rules that cover a name.
pub(crate) trait Receiver {
    /// Takes the number of a rule's lists, and the bytes of its name.
    fn take(&mut self, number: u32, end: usize);

    /// Takes the number of the rules of all suffixes above one.
    fn inherit(&mut self, number: u32);
}

/// A suffix of a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suffix {
    /// Its bytes.
    pub(crate) end: usize,
    /// True if groups of shorter suffixes were not visited, and their rules are to be taken from this one's.
    pub(crate) inherits: bool,
}

/// The group of a suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// True if longer suffixes have groups, too.
    pub(crate) deeper: bool,
}

/// Groups one after the other; at the end, [`STEP`] bytes that a comparison may read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups(pub(crate) Vec<u8>);

impl Groups {
    /// The offset of the next group. `None` if all take 4 GiB.
    pub(crate) fn offset(&self) -> Option<u32> {
        u32::try_from(self.0.len()).ok()
    }

    /// Begins a group of at most [`MAX_RULES`] rules. The suffix has at most 253 bytes.
    pub(crate) fn begin(&mut self, suffix: &[u8], rules: usize, deeper: bool, inherited: Option<u32>) {
        let deeper = if deeper { DEEPER } else { 0 };
        let inherits = if inherited.is_some() { INHERITS } else { 0 };
        self.0.extend_from_slice(&[rules as u8 | deeper | inherits, suffix.len() as u8]);
        self.0.extend_from_slice(suffix);
        inherited.into_iter().for_each(|number| self.push_number(number));
    }

    /// Adds a rule, given its name beyond the suffix of the group, and the number of its lists.
    pub(crate) fn push(&mut self, beyond: &[u8], number: u32) {
        self.push_number(number);
        self.0.push(beyond.len() as u8);
        self.0.extend_from_slice(beyond);
    }

    fn push_number(&mut self, mut number: u32) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Ends the groups, after the last was added.
    pub(crate) fn end(&mut self) {
        self.0.extend_from_slice(&[0; STEP]);
        self.0.shrink_to_fit();
    }

    /// Prefetches a group.
    #[inline(always)]
    pub(crate) fn prefetch(&self, offset: u32) {
        if let Some(group) = self.0.get(offset as usize..).and_then(<[u8]>::first_chunk::<STEP>) {
            hashlane_table::prefetch_bytes(group);
        }
    }

    /// Passes the rules of the group at `offset` that cover `name` to `to`, if its suffix is the first
    /// `end` bytes of the name; before them the rules of shorter suffixes, if it inherits them.
    #[inline(always)]
    pub(crate) fn find(
        &self,
        offset: u32,
        name: &Reversed,
        Suffix { end, inherits }: Suffix,
        to: &mut impl Receiver,
    ) -> Option<Group> {
        let (head, rest) = self.0.get(offset as usize..)?.split_first_chunk()?;
        let [rules, len] = *head;
        if usize::from(len) != end || !equal(rest, name, 0, end) {
            return None;
        }
        let mut rest = rest.get(end..)?;
        if rules & INHERITS != 0 {
            let (inherited, after) = number(rest)?;
            rest = after;
            if inherits {
                to.inherit(inherited);
            }
        }
        for _ in 0..rules & RULES {
            let (number, len, beyond) = rule(rest)?;
            let whole = end + len;
            if len == 0 || name.ends_at(whole) && equal(beyond, name, end, len) {
                to.take(number, whole);
            }
            rest = beyond.get(len..)?;
        }
        Some(Group { deeper: rules & DEEPER != 0 })
    }

    /// Bytes of memory on the heap.
    pub(crate) fn memory(&self) -> usize {
        self.0.capacity()
    }
}

/// The number of a rule's lists, the bytes of its name beyond the suffix, and what comes after both.
#[inline(always)]
fn rule(bytes: &[u8]) -> Option<(u32, usize, &[u8])> {
    let (number, rest) = number(bytes)?;
    let (len, rest) = rest.split_first()?;
    Some((number, (*len).into(), rest))
}

/// A number in LEB128, and what comes after it. `None` for more than five bytes: in an image, all bytes may
/// be those of one number, and each lookup would read them.
#[inline(always)]
fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (first, mut rest) = bytes.split_first()?;
    let (mut number, mut shift) = (u32::from(first & 0x7f), 0);
    let mut last = *first;
    while last & 0x80 != 0 {
        let (next, after) = rest.split_first()?;
        shift += 7;
        if shift >= u32::BITS {
            return None;
        }
        number |= u32::from(next & 0x7f) << shift;
        (last, rest) = (*next, after);
    }
    Some((number, rest))
}

/// True if `bytes` begin with `len` bytes of the name, those from `from` on. Lengths of at most one step take
/// the same branches.
#[inline(always)]
fn equal(bytes: &[u8], name: &Reversed, from: usize, len: usize) -> bool {
    let mut at = 0;
    loop {
        let Some(step) = bytes.get(at..).and_then(<[u8]>::first_chunk) else { return false };
        if differs(step, name.step(from + at), len - at) {
            return false;
        }
        if len - at <= STEP {
            return true;
        }
        at += STEP;
    }
}

/// The bytes of a word of a step that are below a length, all ones in each.
static BELOW: [[u64; STEP / 8]; STEP + 1] = {
    let mut below = [[0; STEP / 8]; STEP + 1];
    let mut len = 0;
    while len <= STEP {
        let mut byte = 0;
        while byte < len {
            below[len][byte / 8] |= 0xff << (8 * (byte % 8));
            byte += 1;
        }
        len += 1;
    }
    below
};

/// True if the first `len` bytes of both differ; all, if there are fewer.
#[inline(always)]
fn differs(a: &[u8; STEP], b: &[u8; STEP], len: usize) -> bool {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0).zip(&BELOW[len.min(STEP)]);
    let word = |word: &[u8; 8]| u64::from_le_bytes(*word);
    words.fold(0, |other, ((a, b), below)| other | (word(a) ^ word(b)) & below) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_at_most_five_bytes() {
        for value in [0, 0x7f, 0x80, 0x3fff, 0x4000, u32::MAX] {
            let mut groups = Groups::default();
            groups.push_number(value);
            groups.0.push(7);
            assert_eq!(number(&groups.0), Some((value, &[7][..])));
        }
        assert_eq!(number(&[0x80, 0x80, 0x80, 0x80, 0x80, 0]), None);
        assert_eq!(number(&[0x80; 9]), None);
        assert_eq!(number(&[0x80]), None);
    }
}
