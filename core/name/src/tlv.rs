//! NDN's numbers of variable size, in which the types and lengths of its TLV elements are written.
//!
//! A number below 253 is one byte; 253, 254 and 255 announce 2, 4 and 8 bytes in network order. Only the
//! shortest form is a number (NDN packet format 0.3, TLV, Variable-Size Encoding).

use alloc::vec::Vec;

use crate::error::ParseError;

/// The rule that the bytes at one place break as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberError {
    /// The bytes end inside the number.
    Truncated,
    /// A shorter form of the number exists.
    NotShortest,
}

impl NumberError {
    /// This error in a name, for a number that starts at `at`.
    pub const fn at(self, at: usize) -> ParseError {
        match self {
            Self::Truncated => ParseError::Truncated { at },
            Self::NotShortest => ParseError::NotShortest { at },
        }
    }
}

/// Reads the number at the start of `bytes`: the number, and how many bytes it takes.
///
/// # Errors
/// [`NumberError`] when the bytes end inside the number or it is not in its shortest form.
#[inline]
pub fn read_number(bytes: &[u8]) -> Result<(u64, usize), NumberError> {
    match bytes.first() {
        Some(&first) if first < 253 => Ok((u64::from(first), 1)),
        Some(_) => read_long_number(bytes),
        None => Err(NumberError::Truncated),
    }
}

#[cold]
fn read_long_number(bytes: &[u8]) -> Result<(u64, usize), NumberError> {
    let (number, taken) = match *bytes {
        [253, a, b, ..] => (u64::from(u16::from_be_bytes([a, b])), 3),
        [254, a, b, c, d, ..] => (u64::from(u32::from_be_bytes([a, b, c, d])), 5),
        [255, a, b, c, d, e, f, g, h, ..] => (u64::from_be_bytes([a, b, c, d, e, f, g, h]), 9),
        _ => return Err(NumberError::Truncated),
    };
    if number_len(number) == taken { Ok((number, taken)) } else { Err(NumberError::NotShortest) }
}

/// The bytes that `number` takes: 1, 3, 5 or 9.
#[inline]
pub const fn number_len(number: u64) -> usize {
    match number {
        0..=252 => 1,
        253..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

/// Appends `number` in its shortest form.
#[inline]
pub fn write_number(number: u64, out: &mut Vec<u8>) {
    match number_len(number) {
        1 => out.push(number as u8),
        3 => {
            out.push(253);
            out.extend_from_slice(&(number as u16).to_be_bytes());
        }
        5 => {
            out.push(254);
            out.extend_from_slice(&(number as u32).to_be_bytes());
        }
        _ => {
            out.push(255);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Borders of each form, and 1024, which the specification takes as its example.
    const FORMS: &[(u64, &[u8])] = &[
        (0, &[0]),
        (252, &[252]),
        (253, &[253, 0, 253]),
        (1024, &[253, 4, 0]),
        (65_535, &[253, 255, 255]),
        (65_536, &[254, 0, 1, 0, 0]),
        (u32::MAX as u64, &[254, 255, 255, 255, 255]),
        (1 << 32, &[255, 0, 0, 0, 1, 0, 0, 0, 0]),
        (u64::MAX, &[255; 9]),
    ];

    #[test]
    fn writes_and_reads_each_form() {
        for &(number, bytes) in FORMS {
            let mut out = Vec::new();
            write_number(number, &mut out);
            assert_eq!(out, bytes);
            assert_eq!(number_len(number), bytes.len());
            assert_eq!(read_number(bytes), Ok((number, bytes.len())));
            for end in 0..bytes.len() {
                assert_eq!(read_number(&bytes[..end]), Err(NumberError::Truncated));
            }
        }
    }

    #[test]
    fn rejects_longer_forms() {
        let longer: &[&[u8]] = &[
            &[253, 0, 252],
            &[254, 0, 0, 4, 0],
            &[254, 0, 0, 255, 255],
            &[255, 0, 0, 0, 0, 255, 255, 255, 255],
        ];
        for bytes in longer {
            assert_eq!(read_number(bytes), Err(NumberError::NotShortest), "{bytes:?}");
        }
    }
}
