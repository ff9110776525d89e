//! Writing of sets.

use super::{LAST, SIGNED, Shape, TTLS, UNIT, WIDE};
use crate::wire::RecordType;
use crate::zone::room::reserve;
use alloc::vec::Vec;

/// Bytes of a set beside its body at most.
const MOST_HEAD: usize = 14;

/// Writes sets.
pub(in crate::zone) struct Writer {
    arena: Vec<u8>,
    /// The head of the last set.
    head: usize,
    /// Body of the set being written.
    body: Vec<u8>,
}

impl Writer {
    pub(in crate::zone) fn with_capacity(bytes: usize) -> Self {
        Self { arena: Vec::with_capacity(bytes), head: 0, body: Vec::new() }
    }

    /// Starts the sets of a name; returns their place. `None` if there is too much data.
    pub(in crate::zone) fn start(&mut self) -> Option<u32> {
        let place = self.arena.len().div_ceil(UNIT);
        reserve(&mut self.arena, UNIT);
        self.arena.resize(place * UNIT, 0);
        u32::try_from(place).ok().filter(|place| *place < u32::MAX)
    }

    /// Writes a set after the earlier sets of the same name. Records and signatures are in stored form,
    /// without lengths; a signature has its TTL with it. `None` if there is too much data.
    pub(in crate::zone) fn set<'a>(
        &mut self,
        rtype: RecordType,
        ttl: u32,
        records: impl ExactSizeIterator<Item = &'a [u8]>,
        signatures: impl ExactSizeIterator<Item = (u32, &'a [u8])> + Clone,
    ) -> Option<()> {
        let Self { arena, head, body } = self;
        let shape = Shape::of(rtype);
        let count = u16::try_from(records.len()).ok()?;
        body.clear();
        for record in records {
            if shape.len().is_none() {
                body.extend_from_slice(&u16::try_from(record.len()).ok()?.to_le_bytes());
            }
            body.extend_from_slice(record);
        }
        let mut flags = 0;
        if signatures.len() > 0 {
            flags |= SIGNED;
            if signatures.clone().any(|(own, _)| own != ttl) {
                flags |= TTLS;
            }
            body.extend_from_slice(&u16::try_from(signatures.len()).ok()?.to_le_bytes());
            for (ttl, signature) in signatures {
                if flags & TTLS != 0 {
                    body.extend_from_slice(&ttl.to_le_bytes());
                }
                body.extend_from_slice(&u16::try_from(signature.len()).ok()?.to_le_bytes());
                body.extend_from_slice(signature);
            }
        }
        let narrow = u8::try_from(count).ok().zip(u16::try_from(body.len()).ok());
        flags |= if narrow.is_none() { WIDE } else { 0 };
        *head = arena.len();
        reserve(arena, MOST_HEAD + body.len());
        arena.extend_from_slice(&[flags, narrow.map_or(0, |(count, _)| count)]);
        arena.extend_from_slice(&rtype.0.to_le_bytes());
        arena.extend_from_slice(&ttl.to_le_bytes());
        match narrow {
            None => {
                arena.extend_from_slice(&u32::try_from(body.len()).ok()?.to_le_bytes());
                arena.extend_from_slice(&count.to_le_bytes());
            }
            Some(_) if flags & SIGNED == 0 && shape.len().is_some() => {}
            Some((_, len)) => arena.extend_from_slice(&len.to_le_bytes()),
        }
        arena.extend_from_slice(body);
        Some(())
    }

    /// Ends the sets of a name, at least one.
    pub(in crate::zone) fn end(&mut self) {
        if let Some(flags) = self.arena.get_mut(self.head) {
            *flags |= LAST;
        }
    }

    pub(in crate::zone) fn finish(mut self) -> Vec<u8> {
        self.arena.shrink_to_fit();
        self.arena
    }
}
