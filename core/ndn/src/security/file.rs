//! Files of certificates and safe bags: raw, or Base64 as the NDN tools write them.

use super::error::{CertificateError, SafeBagError};
use super::safe_bag::SAFE_BAG;
use crate::wire::DATA;
use alloc::borrow::Cow;
use alloc::string::String;
use base64ct::{Base64, Encoding};

/// First byte of the DER of certificates of X.509 and of keys: a SEQUENCE.
const DER: u8 = 0x30;

/// Longest file, in bytes.
pub const MAX_FILE: usize = 1 << 16;

/// Certificate in a file: a Data packet, or Base64 in lines, with or without PEM headers.
///
/// # Errors
/// [`CertificateError::Text`], [`CertificateError::Der`] or [`CertificateError::TooLong`].
pub fn certificate_bytes(file: &[u8]) -> Result<Cow<'_, [u8]>, CertificateError> {
    bytes(file, DATA)
}

/// Safe bag in a file: its bytes, or Base64 in lines, as `ndnsec export` writes it.
///
/// # Errors
/// [`SafeBagError::File`].
pub fn safe_bag_bytes(file: &[u8]) -> Result<Cow<'_, [u8]>, SafeBagError> {
    bytes(file, SAFE_BAG).map_err(|_| SafeBagError::File)
}

/// Bytes of a file that begin with this TLV-TYPE, or that are Base64.
fn bytes(file: &[u8], typ: u32) -> Result<Cow<'_, [u8]>, CertificateError> {
    if file.len() > MAX_FILE {
        return Err(CertificateError::TooLong { limit: MAX_FILE });
    }
    if file.first().is_some_and(|&first| u32::from(first) == typ) {
        return Ok(file.into());
    }
    if file.first() == Some(&DER) {
        return Err(CertificateError::Der);
    }
    let text = str::from_utf8(file).map_err(|_| CertificateError::Text)?;
    let digits = text.lines().filter(|line| !line.trim_start().starts_with("-----") && !line.contains(':'));
    let digits: String =
        digits.flat_map(str::chars).filter(|character| !character.is_ascii_whitespace()).collect();
    let bytes = Base64::decode_vec(&digits).map_err(|_| CertificateError::Text)?;
    match bytes.first() {
        None => Err(CertificateError::Text),
        Some(&DER) => Err(CertificateError::Der),
        Some(_) => Ok(bytes.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn reads_bytes_and_base64_in_lines_and_as_pem() {
        for file in [
            &b"\x06\x03\x07\x01\x00"[..],
            b"BgMH\nAQA=\n",
            b" BgMH AQA=\r\n",
            b"-----BEGIN NDN CERT-----\nName: /a\n\nBgMHAQA=\n-----END NDN CERT-----\n",
        ] {
            assert_eq!(*certificate_bytes(file).unwrap(), [6, 3, 7, 1, 0], "{file:?}");
        }
    }

    #[test]
    fn reads_safe_bags() {
        let bytes = [0x80, 1, 0];
        assert_eq!(*safe_bag_bytes(&bytes).unwrap(), bytes);
        assert_eq!(*safe_bag_bytes(b"gAEA\n").unwrap(), bytes);
        assert_eq!(safe_bag_bytes(b"\x30\x00"), Err(SafeBagError::File));
        assert_eq!(safe_bag_bytes(&[]), Err(SafeBagError::File));
    }

    #[test]
    fn refuses_what_is_neither() {
        for file in [&b""[..], b"\n", b"not*base64", b"\xff", b"Name: /a\n"] {
            assert_eq!(certificate_bytes(file), Err(CertificateError::Text), "{file:?}");
        }
        // A key or a certificate of another kind.
        for file in [
            &b"\x30\x03\x02\x01\x00"[..],
            b"-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n",
        ] {
            assert_eq!(certificate_bytes(file), Err(CertificateError::Der), "{file:?}");
        }
        assert_eq!(
            certificate_bytes(&vec![b'A'; MAX_FILE + 1]),
            Err(CertificateError::TooLong { limit: MAX_FILE })
        );
    }
}
