//! A name in a message, octet by octet.

/// The octets of the name at an offset of a message, lengths and root with them, pointers followed: how both of BIND 10's
/// renderers read what they had written.
///
/// The message is the renderer's own, so that a pointer leads backward; where one does not, the octets end.
#[derive(Clone, Debug)]
pub(super) struct Octets<'a> {
    message: &'a [u8],
    at: usize,
    /// Octets of the label that are still to come.
    label: u8,
}

impl<'a> Octets<'a> {
    /// From the length at offset `at`.
    #[inline]
    pub(super) fn new(message: &'a [u8], at: usize) -> Self {
        Self { message, at, label: 0 }
    }
}

impl Iterator for Octets<'_> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let mut octet = *self.message.get(self.at)?;
        if self.label > 0 {
            self.label -= 1;
        } else {
            while octet >= 0xc0 {
                let low = *self.message.get(self.at + 1)?;
                let target = usize::from(u16::from_be_bytes([octet & 0x3f, low]));
                if target >= self.at {
                    return None;
                }
                self.at = target;
                octet = *self.message.get(target)?;
            }
            if octet == 0 {
                // The root is the end.
                self.at = self.message.len();
                return Some(0);
            }
            self.label = octet;
        }
        self.at += 1;
        Some(octet)
    }
}
