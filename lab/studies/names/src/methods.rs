//! The methods that the answer is about, and words for encodings.

/// Hashing component by component with the source's CRC32C.
pub(crate) const ONE_BY_ONE: &str = "one-by-one/crc32c";

/// A burst of names in one pass, with CRC32C.
pub(crate) const BURST: &str = "burst/crc32c";

/// The same with a keyed hash.
pub(crate) const KEYED_BURST: &str = "burst/siphash-2-4";

/// Methods of the charts, from the source's to ours: the id without the encoding, and words.
pub(crate) const SHOWN: [(&str, &str); 8] = [
    (ONE_BY_ONE, "one by one (the source)"),
    ("all-at-once/crc32c", "all at once (the source)"),
    ("all-at-once/longest-first/crc32c", "all at once, longest first (the source)"),
    ("one-pass/crc32c", "one pass"),
    ("one-pass/siphash-2-4", "one pass, keyed: SipHash-2-4"),
    (BURST, "burst of 32"),
    ("burst/siphash-1-3", "burst of 32, keyed: SipHash-1-3"),
    (KEYED_BURST, "burst of 32, keyed: SipHash-2-4"),
];

/// Name of an encoding in sentences.
pub(crate) fn encoding(id: &str) -> &str {
    match id {
        "ccnx" => "CCNx",
        "ndn" => "NDN",
        id => id,
    }
}
