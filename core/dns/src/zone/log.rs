//! The records of a zone that grows, in blocks that are freed as they are read.
//!
//! A record repeats nothing that it shares with the one before it, so that it takes less here than in the
//! zone:
//!
//! | bytes | field |
//! | --- | --- |
//! | 1 | flags: the fields that follow, and whether the record is a signature |
//! | 0 or 4 | owner |
//! | 0 or 2 | type |
//! | 0 or 4 | TTL |
//! | 0 or 2 | length of the data |
//! | any | data, names as ids |
//!
//! Numbers are little-endian.

use super::entry::Entry;
use super::names::NameId;
use crate::slices::Parts as _;
use crate::wire::RecordType;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Bytes of a block: allocators of servers map such blocks by themselves, so that the system gets them back.
const BLOCK: usize = 256 << 10;

/// Blocks at most: 16 GiB.
const MOST_BLOCKS: usize = 1 << 16;

const OWNER: u8 = 1;
const TYPE: u8 = 2;
const TTL: u8 = 4;
const LEN: u8 = 8;
const SIGNS: u8 = 16;

/// Bytes of the fields before the data at most.
const HEAD: usize = 13;

/// The record before the first.
const NOTHING: Entry = Entry::new(RecordType(0), 0, false, 0);

/// Records in the order of their addition.
pub(super) struct Log {
    blocks: VecDeque<Vec<u8>>,
    last: Entry,
    len: usize,
}

impl Log {
    pub(super) const fn new() -> Self {
        Self { blocks: VecDeque::new(), last: NOTHING, len: 0 }
    }

    /// Number of records.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The owner of the last record.
    pub(super) fn last_owner(&self) -> Option<NameId> {
        (self.len > 0).then_some(self.last.owner)
    }

    /// Adds a record, whose data are bytes, names and bytes. `None` if there are too many.
    pub(super) fn push(&mut self, entry: Entry, before: &[u8], names: &[NameId], after: &[u8]) -> Option<()> {
        debug_assert_eq!(usize::from(entry.len), before.len() + 4 * names.len() + after.len());
        let (last, is_first) = (self.last, self.len == 0);
        let block = self.room(HEAD + usize::from(entry.len))?;
        let (mut head, mut len) = ([0; HEAD], 1);
        let mut flags = if entry.signs() { SIGNS } else { 0 };
        let mut field = |flag, differs: bool, bytes: &[u8]| {
            if differs && let Some(place) = head.get_mut(len..len + bytes.len()) {
                place.copy_from_slice(bytes);
                len += bytes.len();
                flags |= flag;
            }
        };
        field(OWNER, is_first || entry.owner != last.owner, &entry.owner.0.to_le_bytes());
        field(TYPE, entry.rtype != last.rtype, &entry.rtype.0.to_le_bytes());
        field(TTL, entry.ttl() != last.ttl(), &entry.ttl().to_le_bytes());
        field(LEN, entry.len != last.len, &entry.len.to_le_bytes());
        head[0] = flags;
        block.extend_from_slice(head.part(..len));
        block.extend_from_slice(before);
        names.iter().for_each(|id| block.extend_from_slice(&id.0.to_le_bytes()));
        if !after.is_empty() {
            block.extend_from_slice(after);
        }
        (self.last, self.len) = (entry, self.len + 1);
        Some(())
    }

    /// The last block, with room for so many bytes.
    fn room(&mut self, bytes: usize) -> Option<&mut Vec<u8>> {
        if self.blocks.back().is_none_or(|block| block.len() + bytes > BLOCK) {
            if self.blocks.len() == MOST_BLOCKS {
                return None;
            }
            // The first block grows, as most zones are small.
            let room = if self.blocks.is_empty() { 0 } else { BLOCK };
            self.blocks.push_back(Vec::with_capacity(room));
        }
        self.blocks.back_mut()
    }

    /// The records, to read them once.
    pub(super) fn into_reader(self) -> Reader {
        Reader { blocks: self.blocks, at: 0, last: NOTHING }
    }
}

/// Records that are read, from the first one on.
pub(super) struct Reader {
    blocks: VecDeque<Vec<u8>>,
    /// Offset in the first block.
    at: usize,
    last: Entry,
}

impl Reader {
    /// The next record, which has no place yet, and its data. `None` after the last record.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<(Entry, &[u8])> {
        self.skip_blocks();
        let Self { blocks, at, last } = self;
        let mut rest = blocks.front()?.get(*at..)?;
        let left = rest.len();
        let [flags] = take(&mut rest)?;
        let (mut owner, mut rtype, mut ttl, mut len) = (last.owner, last.rtype, last.ttl(), last.len);
        if flags & OWNER != 0 {
            owner = NameId(u32::from_le_bytes(take(&mut rest)?));
        }
        if flags & TYPE != 0 {
            rtype = RecordType(u16::from_le_bytes(take(&mut rest)?));
        }
        if flags & TTL != 0 {
            ttl = u32::from_le_bytes(take(&mut rest)?);
        }
        if flags & LEN != 0 {
            len = u16::from_le_bytes(take(&mut rest)?);
        }
        let mut entry = Entry::new(rtype, ttl, flags & SIGNS != 0, len);
        entry.owner = owner;
        let (record, rest) = rest.split_at_checked(len.into())?;
        *at += left - rest.len();
        *last = entry;
        Some((entry, record))
    }

    /// Returns true if the next record has another owner than the last one that was read, or if no record is
    /// left.
    #[inline(always)]
    pub(super) fn is_owner_complete(&mut self) -> bool {
        self.skip_blocks();
        self.blocks.front().and_then(|block| block.get(self.at)).is_none_or(|flags| flags & OWNER != 0)
    }

    /// Frees the blocks that are read.
    #[inline(always)]
    fn skip_blocks(&mut self) {
        while self.blocks.front().is_some_and(|block| self.at == block.len()) {
            self.blocks.pop_front();
            self.at = 0;
        }
    }
}

#[inline(always)]
fn take<const LEN: usize>(rest: &mut &[u8]) -> Option<[u8; LEN]> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_come_back_in_their_order(
            records in proptest::collection::vec((0_u32..3, 0_u16..3, 0_u32..3, any::<bool>(), 0_usize..5), 0..60),
        ) {
            let mut log = Log::new();
            for (number, (owner, rtype, ttl, signs, len)) in records.iter().enumerate() {
                let (before, names) = (&[number as u8; 4][..*len.min(&4)], &[NameId(7)][..len / 4]);
                let len = (before.len() + 4 * names.len()) as u16;
                let mut entry = Entry::new(RecordType(*rtype), *ttl, *signs, len);
                entry.owner = NameId(*owner);
                log.push(entry, before, names, &[]).unwrap();
            }
            prop_assert_eq!(log.len(), records.len());
            prop_assert_eq!(log.last_owner(), records.last().map(|record| NameId(record.0)));
            let mut reader = log.into_reader();
            for (number, (owner, rtype, ttl, signs, len)) in records.iter().enumerate() {
                let (entry, data) = reader.next().unwrap();
                prop_assert_eq!((entry.owner.0, entry.rtype.0, entry.ttl()), (*owner, *rtype, *ttl));
                prop_assert_eq!(entry.signs(), *signs);
                let mut expected = [number as u8; 4][..*len.min(&4)].to_vec();
                expected.extend([7, 0, 0, 0].iter().filter(|_| *len == 4));
                prop_assert_eq!((data, usize::from(entry.len)), (&expected[..], expected.len()));
                let next = records.get(number + 1).map(|record| record.0);
                prop_assert_eq!(reader.is_owner_complete(), next != Some(*owner));
            }
            prop_assert!(reader.next().is_none());
        }
    }

    #[test]
    fn blocks_are_freed_as_they_are_read() {
        let (mut log, record) = (Log::new(), [7; 1000]);
        for owner in 0..5000 {
            let mut entry = Entry::new(RecordType::TXT, 60, false, 1000);
            entry.owner = NameId(owner);
            log.push(entry, &record, &[], &[]).unwrap();
        }
        let blocks = log.blocks.len();
        assert!(blocks >= 5 && log.blocks.iter().all(|block| block.len() <= BLOCK));
        let mut reader = log.into_reader();
        for read in 1..=5000 {
            assert!(reader.next().is_some() && reader.is_owner_complete());
            assert!(reader.blocks.len() <= blocks - read * 1000 / BLOCK, "{read} records were read");
        }
        assert!(reader.blocks.is_empty());
    }
}
