//! The rests of names that a reader has read before.

use super::{Step, Walk};
use crate::dns::{MAX_POINTERS, NameBuf};
use alloc::vec::Vec;
use core::borrow::BorrowMut;

/// Offsets where a label or a pointer can stand after a pointer: a pointer leads to an offset below 0x4000,
/// and the labels from there have less than 256 bytes.
const OFFSETS: usize = 0x4000 + 0x100;

/// The most steps of a name: 127 labels, 127 pointers and the root.
const MAX_STEPS: usize = 255;

/// The rest of a name for each offset of a message that is remembered.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// By offset; empty until the first name is remembered.
    entries: Vec<Entry>,
    names: Vec<Remembered>,
}

/// A label or a pointer of a remembered name.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Number of the name in [`Memory::names`], from 1; 0 if the offset is not remembered.
    number: u16,
    /// Offset of the rest in the name.
    from: u8,
    /// Pointers in the rest.
    pointers: u8,
    /// 1 + the target of the first pointer of the rest; 0 if it has none.
    bound: u16,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    name: NameBuf,
    /// Offset after the last byte of the message that any part of the name takes.
    reach: u16,
}

/// The rest of a name from an offset.
#[derive(Clone, Copy)]
pub(super) struct Tail<'m> {
    /// The labels.
    labels: &'m [u8],
    pointers: usize,
    bound: usize,
    reach: usize,
}

impl Memory {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), names: Vec::new() }
    }

    /// The rest of a name from offset `at`, if it is remembered.
    #[inline(always)]
    pub(super) fn find(&self, at: usize) -> Option<Tail<'_>> {
        self.tail(*self.entries.get(at)?)
    }

    fn tail(&self, entry: Entry) -> Option<Tail<'_>> {
        let Remembered { name, reach } = self.names.get(usize::from(entry.number).checked_sub(1)?)?;
        let (labels, _root) = name.as_bytes().split_at_checked(name.as_bytes().len() - 1)?;
        let labels = labels.get(usize::from(entry.from)..)?;
        let (pointers, bound) = (usize::from(entry.pointers), usize::from(entry.bound));
        Some(Tail { labels, pointers, bound, reach: usize::from(*reach) })
    }

    /// Remembers the name at `target`, which has been read in `message`, the first part of a message of `len`
    /// bytes, and each rest of it that is not yet remembered. Returns the number of steps.
    #[cold]
    #[inline(never)]
    pub(super) fn remember(&mut self, len: usize, message: &[u8], target: usize) -> usize {
        let mut walk = Walk::new(target, NameBuf::ROOT);
        let mut seen = [Seen::default(); MAX_STEPS];
        let (mut steps, mut reach, mut bound) = (0, 0, 0);
        for seen in &mut seen {
            if let Some(tail) = self.find(walk.next) {
                if !tail.continues(&mut walk, message) {
                    return steps;
                }
                (reach, bound) = (reach.max(tail.reach), tail.bound);
                break;
            }
            let at = walk.next;
            *seen = Seen { at, from: walk.len, pointers: walk.pointers, target: None };
            steps += 1;
            match walk.step(message) {
                Ok(Step::Label) => reach = reach.max(walk.next),
                Ok(Step::Pointer) => {
                    seen.target = Some(walk.next);
                    reach = reach.max(at + 2);
                }
                Ok(Step::Root) => {
                    reach = reach.max(walk.next);
                    break;
                }
                Err(_) => return steps,
            }
        }
        let (number, reach) = (u16::try_from(self.names.len() + 1), u16::try_from(reach));
        let (Ok(number), Ok(reach)) = (number, reach) else { return steps };
        self.names.push(Remembered { name: walk.name, reach });
        self.entries.resize(len.min(OFFSETS), Entry::default());
        for seen in seen[..steps].iter().rev() {
            bound = seen.target.map_or(bound, |target| 1 + target);
            if let Some(entry) = self.entries.get_mut(seen.at) {
                let pointers = (walk.pointers - seen.pointers) as u8;
                *entry = Entry { number, from: seen.from as u8, pointers, bound: bound as u16 };
            }
        }
        steps
    }
}

/// A step of a name that is about to be remembered.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Offset in the message.
    at: usize,
    /// Offset in the name.
    from: usize,
    /// Number of pointers before it.
    pointers: usize,
    /// Its target, if it is a pointer.
    target: Option<usize>,
}

impl Tail<'_> {
    /// Ends the name of `walk` with this rest. Returns false if that breaks a rule, as the rest has been read
    /// after another run of labels, or in a longer part of the message; the walk is then of no use.
    #[inline]
    pub(super) fn continues<N: BorrowMut<NameBuf>>(self, walk: &mut Walk<N>, message: &[u8]) -> bool {
        let backward = self.bound <= walk.run;
        let few = walk.pointers + self.pointers <= MAX_POINTERS;
        if !(backward && few && self.reach <= message.len()) {
            return false;
        }
        walk.copy_run(message);
        walk.pointers += self.pointers;
        walk.len += self.labels.len();
        walk.name.borrow_mut().append(self.labels)
    }
}
