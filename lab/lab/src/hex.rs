//! 64-bit numbers as `0x…` text: TOML's integers are signed, and checksums and seeds are read in hex anyway.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Reads `0x` and 1 to 16 hex digits.
pub fn parse(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    // from_str_radix would let a sign through.
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

/// Writes 0x and 16 hex digits, for `#[serde(with)]`.
///
/// # Errors
/// The error of the serializer.
pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{value:#018x}"))
}

/// Reads 0x and 1 to 16 hex digits, for `#[serde(with)]`.
///
/// # Errors
/// The text has another form.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text)
        .ok_or_else(|| D::Error::custom(format!("{text:?} is not `0x` followed by 1 to 16 hex digits")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_hex_and_refuses_anything_else() {
        assert_eq!(parse("0x1F"), Some(31));
        assert_eq!(parse("0xffffffffffffffff"), Some(u64::MAX));
        for bad in ["", "0x", "1f", "0x+1", "0x-1", "0x10000000000000000", "0xg", " 0x1"] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
