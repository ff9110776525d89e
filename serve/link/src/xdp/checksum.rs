//! The Internet checksum (RFC 1071) in the byte order of the machine, which its sums do not depend on.

/// Sum of 16-bit words before it is folded; an odd last byte is followed by 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum(u64);

impl Sum {
    /// Adds bytes, from the first byte of a word on. Valid: up to 2³² words in all.
    #[inline]
    pub(super) fn add(mut self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks();
        self.0 += words.iter().map(|word| u64::from(u32::from_ne_bytes(*word))).sum::<u64>();
        let mut last = [0; 4];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.0 += u64::from(u32::from_ne_bytes(last));
        self
    }

    /// Adds a number of two bytes.
    #[inline]
    pub(super) fn add_number(mut self, number: u16) -> Self {
        self.0 += u64::from(u16::from_ne_bytes(number.to_be_bytes()));
        self
    }

    /// The folded sum, as bytes of a message. A message with a valid checksum gives `[0xff; 2]`.
    #[inline]
    pub(super) fn folded(self) -> [u8; 2] {
        let mut sum = (self.0 >> 32) + (self.0 & 0xffff_ffff);
        for _ in 0..3 {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        (sum as u16).to_ne_bytes()
    }

    /// The checksum: the complement of the folded sum.
    #[inline]
    pub(super) fn checksum(self) -> [u8; 2] {
        self.folded().map(|byte| !byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds word after word, as RFC 1071 §4.1 does.
    fn naive(bytes: &[u8]) -> [u8; 2] {
        let mut sum = 0_u32;
        for word in bytes.chunks(2) {
            sum += u32::from(word[0]) << 8 | word.get(1).copied().map_or(0, u32::from);
            sum = (sum >> 16) + (sum & 0xffff);
        }
        (sum as u16).to_be_bytes()
    }

    #[test]
    fn sums_are_those_of_single_words() {
        let bytes: Vec<u8> = (0..2000_u32).map(|i| (i * i % 251) as u8 ^ 0xf0).collect();
        for length in (0..70).chain([1499, 1500, 2000]) {
            assert_eq!(Sum::default().add(&bytes[..length]).folded(), naive(&bytes[..length]), "{length}");
        }
        assert_eq!(Sum::default().add(&[0xff; 1000]).folded(), [0xff; 2]);
        assert_eq!(Sum::default().add(&[0x12, 0x34]).add_number(0x00ff).folded(), [0x13, 0x33]);
        // RFC 1071 §3.
        let example = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::default().add(&example).checksum(), [0x22, 0x0d]);
    }
}
