//! A message of IPFIX or NetFlow v9 that is being filled: sets of records behind a header.

use crate::ipfix::SET_HEADER;

/// Room that a record and its template need beside themselves: headers and padding of two sets.
pub(super) const SET_ROOM: usize = 2 * (SET_HEADER + 3);

/// Sets of records behind a header, which the caller fills.
#[derive(Debug)]
pub(super) struct Message {
    bytes: Vec<u8>,
    /// Bytes of the header.
    header: usize,
    /// Sets end at a multiple of this.
    align: usize,
    /// Id and start of the last set.
    set: Option<(u16, usize)>,
    /// Records in all sets, templates included.
    pub(super) records: u16,
    /// Data records, options included.
    pub(super) data: u32,
    pub(super) flows: u64,
    /// Tests if it has templates.
    pub(super) templates: bool,
    /// Time of the first record.
    pub(super) since: u64,
}

impl Message {
    pub(super) const fn new(header: usize, align: usize) -> Self {
        Self {
            bytes: Vec::new(),
            header,
            align,
            set: None,
            records: 0,
            data: 0,
            flows: 0,
            templates: false,
            since: 0,
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Tests if records of `len` bytes, in two sets, would make it longer than `limit`.
    pub(super) const fn is_full(&self, len: usize, limit: usize) -> bool {
        !self.bytes.is_empty() && self.bytes.len() + len + SET_ROOM > limit
    }

    /// Adds a record to the last set, or to a new one.
    pub(super) fn add(&mut self, set: u16, record: &[u8]) {
        if self.bytes.is_empty() {
            self.bytes.resize(self.header, 0);
        }
        if self.set.is_none_or(|(id, _)| id != set) {
            self.end_set();
            self.set = Some((set, self.bytes.len()));
            self.bytes.extend_from_slice(&set.to_be_bytes());
            self.bytes.extend_from_slice(&[0; 2]);
        }
        self.bytes.extend_from_slice(record);
        self.records += 1;
    }

    fn end_set(&mut self) {
        if let Some((_, start)) = self.set.take() {
            self.bytes.resize(self.bytes.len().next_multiple_of(self.align), 0);
            let len = length(self.bytes.len() - start);
            self.bytes[start + 2..start + 4].copy_from_slice(&len.to_be_bytes());
        }
    }

    /// Completes the message but for its header.
    pub(super) fn finish(&mut self) -> &mut [u8] {
        self.end_set();
        &mut self.bytes
    }

    /// Begins anew, with the same memory.
    pub(super) fn clear(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        *self = Self { bytes, ..Self::new(self.header, self.align) };
    }
}

/// Length of a message or a set, which the limit of messages keeps below 65,536.
pub(super) fn length(bytes: usize) -> u16 {
    debug_assert!(bytes <= usize::from(u16::MAX), "a message within its limit");
    u16::try_from(bytes).unwrap_or(u16::MAX)
}
