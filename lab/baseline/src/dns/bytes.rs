//! A name in a message, byte by byte.

/// The bytes of the name at an offset of a message, lengths and root included, pointers resolved: as
/// BIND 10's new renderer reads earlier names.
///
/// The message is the renderer's own, so pointers lead backward; the bytes end at one that does not.
#[derive(Clone, Debug)]
pub(super) struct Bytes<'a> {
    message: &'a [u8],
    at: usize,
    /// Bytes of the label that are still to come.
    label: u8,
}

impl<'a> Bytes<'a> {
    /// Starts at the length byte at offset `at`.
    #[inline]
    pub(super) fn new(message: &'a [u8], at: usize) -> Self {
        Self { message, at, label: 0 }
    }
}

impl Iterator for Bytes<'_> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let mut byte = *self.message.get(self.at)?;
        if self.label > 0 {
            self.label -= 1;
        } else {
            while byte >= 0xc0 {
                let low = *self.message.get(self.at + 1)?;
                let target = usize::from(u16::from_be_bytes([byte & 0x3f, low]));
                if target >= self.at {
                    return None;
                }
                self.at = target;
                byte = *self.message.get(target)?;
            }
            if byte == 0 {
                // The root is the end.
                self.at = self.message.len();
                return Some(0);
            }
            self.label = byte;
        }
        self.at += 1;
        Some(byte)
    }
}
