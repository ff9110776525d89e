//! A message that is being filled.

use crate::ipfix::{HEADER, VERSION};

/// Sets of records behind a header.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
    /// Id and start of the last set.
    set: Option<(u16, usize)>,
    /// Data records, options included.
    pub(super) records: u32,
    pub(super) flows: u64,
    /// Tests if it has templates.
    pub(super) templates: bool,
    /// Time of the first record.
    pub(super) since: u64,
}

impl Message {
    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Bytes so far.
    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    fn is_in(&self, set: u16) -> bool {
        self.set.is_some_and(|(id, _)| id == set)
    }

    /// Adds a record to the last set, or to a new one.
    pub(super) fn add(&mut self, set: u16, record: &[u8]) {
        if self.bytes.is_empty() {
            self.bytes.resize(HEADER, 0);
        }
        if !self.is_in(set) {
            self.end_set();
            self.set = Some((set, self.bytes.len()));
            self.bytes.extend_from_slice(&set.to_be_bytes());
            self.bytes.extend_from_slice(&[0; 2]);
        }
        self.bytes.extend_from_slice(record);
    }

    fn end_set(&mut self) {
        if let Some((_, start)) = self.set.take() {
            let len = length(self.bytes.len() - start);
            self.bytes[start + 2..start + 4].copy_from_slice(&len.to_be_bytes());
        }
    }

    /// Completes the header, and returns the message.
    pub(super) fn finish(&mut self, seconds: u32, sequence: u32, domain: u32) -> &[u8] {
        self.end_set();
        let len = length(self.bytes.len());
        self.bytes[..2].copy_from_slice(&VERSION.to_be_bytes());
        self.bytes[2..4].copy_from_slice(&len.to_be_bytes());
        for (at, word) in [(4, seconds), (8, sequence), (12, domain)] {
            self.bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
        }
        &self.bytes
    }

    /// Begins anew, with the same memory.
    pub(super) fn clear(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        *self = Self { bytes, ..Self::default() };
    }
}

/// Length of a message or a set, which the limit of messages keeps below 65,536.
fn length(bytes: usize) -> u16 {
    debug_assert!(bytes <= usize::from(u16::MAX), "a message within its limit");
    u16::try_from(bytes).unwrap_or(u16::MAX)
}
