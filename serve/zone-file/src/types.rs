//! Types of records by their mnemonics, and the fields of their data.

use crate::number::decimal;

/// A field of record data in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A name.
    Name,
    /// A number of 8, 16 or 32 bits.
    U8,
    U16,
    U32,
    /// A time of 32 bits, with or without units.
    Time,
    Ipv4,
    Ipv6,
    /// A character string.
    String,
    /// One character string or more, to the end.
    Strings,
    /// Text to the end of the data, one token.
    Text,
    /// Bytes in hex digits, to the end.
    Hex,
    /// A length byte and bytes in hex digits, one token; `-` for none.
    Salt,
    /// A length byte and bytes in base 32 (RFC 4648 §7), one token.
    Hash,
    /// Bytes in base 64, to the end.
    Base64,
    /// A set of types (RFC 4034 §4.1.2), to the end.
    Bitmap,
    /// A type.
    Type,
    /// A DNSSEC algorithm, by its number or mnemonic.
    Algorithm,
    /// The time of a signature.
    Stamp,
    /// A type of certificate, by its number or mnemonic (RFC 4398 §2.1).
    Certificate,
    /// 6 or 8 bytes in hex digits, in pairs with `-` between them (RFC 7043).
    Eui48,
    Eui64,
    /// 8 bytes, four groups of hex digits with `:` between them (RFC 6742).
    Locator,
}

/// Data of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A sequence of fields.
    Fields(&'static [Field]),
    /// A location (RFC 1876).
    Loc,
    /// Address prefixes (RFC 3123).
    Apl,
    /// A host identity (RFC 8005).
    Hip,
    /// An address of the OSI (RFC 1706).
    Nsap,
    /// Well-known services (RFC 1035 §3.4.2).
    Wks,
    /// A relay of multicast (RFC 8777).
    AmtRelay,
    /// A part of an IPv6 address (RFC 2874).
    A6,
    /// The next name (RFC 2535 §5).
    Nxt,
    /// A form that the library reads.
    Library,
    /// The generic form only.
    Generic,
}

/// A mnemonic of at most 16 bytes as a number, in upper case; 0 if it cannot be one.
const fn pack(word: &[u8]) -> u128 {
    let mut packed = 0;
    let mut at = 0;
    if word.len() > 16 {
        return 0;
    }
    while at < word.len() {
        packed = packed << 8 | word[at].to_ascii_uppercase() as u128;
        at += 1;
    }
    packed
}

macro_rules! types {
    ($($mnemonic:literal = $number:literal => $form:expr,)*) => {
        const TYPES: &[(u128, u16)] = &[$((pack($mnemonic.as_bytes()), $number)),*];

        /// The form of the data of a type; `None` if no mnemonic has it.
        pub(super) fn form(rtype: u16) -> Option<Form> {
            use Field::*;
            use Form::*;
            Some(match rtype {
                $($number => $form,)*
                _ => return None,
            })
        }

        /// Types with their own form of data in text.
        #[cfg(test)]
        pub(super) const NUMBERS: &[u16] = &[$($number),*];
    };
}

// The most frequent first; the rest as IANA numbers them.
types! {
    "A" = 1 => Fields(&[Ipv4]),
    "NS" = 2 => Fields(&[Name]),
    "AAAA" = 28 => Fields(&[Ipv6]),
    "RRSIG" = 46 => Fields(&[Type, Algorithm, U8, Time, Stamp, Stamp, U16, Name, Base64]),
    "NSEC3" = 50 => Fields(&[U8, U8, U16, Salt, Hash, Bitmap]),
    "DS" = 43 => Fields(&[U16, Algorithm, U8, Hex]),
    "NSEC" = 47 => Fields(&[Name, Bitmap]),
    "CNAME" = 5 => Fields(&[Name]),
    "MX" = 15 => Fields(&[U16, Name]),
    "TXT" = 16 => Fields(&[Strings]),
    "PTR" = 12 => Fields(&[Name]),
    "SRV" = 33 => Fields(&[U16, U16, U16, Name]),
    "SOA" = 6 => Fields(&[Name, Name, U32, Time, Time, Time, Time]),
    "CAA" = 257 => Fields(&[U8, String, Text]),
    "TLSA" = 52 => Fields(&[U8, U8, U8, Hex]),
    "HTTPS" = 65 => Library,
    "SVCB" = 64 => Library,
    "MD" = 3 => Fields(&[Name]),
    "MF" = 4 => Fields(&[Name]),
    "MB" = 7 => Fields(&[Name]),
    "MG" = 8 => Fields(&[Name]),
    "MR" = 9 => Fields(&[Name]),
    "NULL" = 10 => Generic,
    "WKS" = 11 => Wks,
    "HINFO" = 13 => Fields(&[String, String]),
    "MINFO" = 14 => Fields(&[Name, Name]),
    "RP" = 17 => Fields(&[Name, Name]),
    "AFSDB" = 18 => Fields(&[U16, Name]),
    "X25" = 19 => Fields(&[String]),
    "ISDN" = 20 => Fields(&[Strings]),
    "RT" = 21 => Fields(&[U16, Name]),
    "NSAP" = 22 => Nsap,
    "NSAP-PTR" = 23 => Fields(&[Name]),
    "SIG" = 24 => Fields(&[Type, Algorithm, U8, Time, Stamp, Stamp, U16, Name, Base64]),
    "KEY" = 25 => Fields(&[U16, U8, Algorithm, Base64]),
    "PX" = 26 => Fields(&[U16, Name, Name]),
    "GPOS" = 27 => Fields(&[String, String, String]),
    "LOC" = 29 => Loc,
    "NXT" = 30 => Nxt,
    "EID" = 31 => Fields(&[Hex]),
    "NIMLOC" = 32 => Fields(&[Hex]),
    "ATMA" = 34 => Generic,
    "NAPTR" = 35 => Fields(&[U16, U16, String, String, String, Name]),
    "KX" = 36 => Fields(&[U16, Name]),
    "CERT" = 37 => Fields(&[Certificate, U16, Algorithm, Base64]),
    "A6" = 38 => A6,
    "DNAME" = 39 => Fields(&[Name]),
    "SINK" = 40 => Generic,
    "APL" = 42 => Apl,
    "SSHFP" = 44 => Fields(&[U8, U8, Hex]),
    "IPSECKEY" = 45 => Library,
    "DNSKEY" = 48 => Fields(&[U16, U8, Algorithm, Base64]),
    "DHCID" = 49 => Fields(&[Base64]),
    "NSEC3PARAM" = 51 => Fields(&[U8, U8, U16, Salt]),
    "SMIMEA" = 53 => Fields(&[U8, U8, U8, Hex]),
    "HIP" = 55 => Hip,
    "NINFO" = 56 => Fields(&[Strings]),
    "RKEY" = 57 => Fields(&[U16, U8, Algorithm, Base64]),
    "TALINK" = 58 => Fields(&[Name, Name]),
    "CDS" = 59 => Fields(&[U16, Algorithm, U8, Hex]),
    "CDNSKEY" = 60 => Fields(&[U16, U8, Algorithm, Base64]),
    "OPENPGPKEY" = 61 => Fields(&[Base64]),
    "CSYNC" = 62 => Fields(&[U32, U16, Bitmap]),
    "ZONEMD" = 63 => Fields(&[U32, U8, U8, Hex]),
    "SPF" = 99 => Fields(&[Strings]),
    "NID" = 104 => Fields(&[U16, Locator]),
    "L32" = 105 => Fields(&[U16, Ipv4]),
    "L64" = 106 => Fields(&[U16, Locator]),
    "LP" = 107 => Fields(&[U16, Name]),
    "EUI48" = 108 => Fields(&[Eui48]),
    "EUI64" = 109 => Fields(&[Eui64]),
    "URI" = 256 => Fields(&[U16, U16, Text]),
    "AVC" = 258 => Fields(&[Strings]),
    "DOA" = 259 => Generic,
    "AMTRELAY" = 260 => AmtRelay,
    "RESINFO" = 261 => Fields(&[Strings]),
    "WALLET" = 262 => Fields(&[Strings]),
    "TA" = 32_768 => Fields(&[U16, Algorithm, U8, Hex]),
    "DLV" = 32_769 => Fields(&[U16, Algorithm, U8, Hex]),
}

/// The number of a type: its mnemonic, or `TYPE` and a number (RFC 3597 §5).
pub(super) fn rtype(word: &[u8]) -> Option<u16> {
    let packed = pack(word);
    if let Some((_, number)) = TYPES.iter().find(|(mnemonic, _)| *mnemonic == packed) {
        return Some(*number);
    }
    after(word, b"TYPE")
}

/// Returns true for the mnemonic of a type that only questions and messages have (RFC 6895 §3.1).
pub(super) fn is_meta(word: &[u8]) -> bool {
    ["ANY", "OPT", "AXFR", "IXFR", "MAILA", "MAILB", "TSIG", "TKEY", "NXNAME"]
        .iter()
        .any(|meta| word.eq_ignore_ascii_case(meta.as_bytes()))
}

/// The number of a class: its mnemonic, or `CLASS` and a number (RFC 3597 §5).
pub(super) fn class(word: &[u8]) -> Option<u16> {
    match word {
        [b'i' | b'I', b'n' | b'N'] => Some(1),
        [b'c' | b'C', b'h' | b'H'] => Some(3),
        [b'h' | b'H', b's' | b'S'] => Some(4),
        _ => after(word, b"CLASS"),
    }
}

fn after(word: &[u8], prefix: &[u8]) -> Option<u16> {
    let (start, number) = word.split_at_checked(prefix.len())?;
    let number = start.eq_ignore_ascii_case(prefix).then(|| decimal(number))??;
    u16::try_from(number).ok()
}

/// The number of a DNSSEC algorithm (registry of IANA).
pub(super) fn algorithm(word: &[u8]) -> Option<u8> {
    const ALGORITHMS: [(&str, u8); 17] = [
        ("RSAMD5", 1),
        ("DH", 2),
        ("DSA", 3),
        ("ECC", 4),
        ("RSASHA1", 5),
        ("DSA-NSEC3-SHA1", 6),
        ("RSASHA1-NSEC3-SHA1", 7),
        ("RSASHA256", 8),
        ("RSASHA512", 10),
        ("ECC-GOST", 12),
        ("ECDSAP256SHA256", 13),
        ("ECDSAP384SHA384", 14),
        ("ED25519", 15),
        ("ED448", 16),
        ("INDIRECT", 252),
        ("PRIVATEDNS", 253),
        ("PRIVATEOID", 254),
    ];
    let same = |(mnemonic, _): &&(&str, u8)| word.eq_ignore_ascii_case(mnemonic.as_bytes());
    ALGORITHMS.iter().find(same).map(|(_, number)| *number)
}

/// The number of a type of certificate (RFC 4398 §2.1).
pub(super) fn certificate(word: &[u8]) -> Option<u16> {
    const CERTIFICATES: [(&str, u16); 10] = [
        ("PKIX", 1),
        ("SPKI", 2),
        ("PGP", 3),
        ("IPKIX", 4),
        ("ISPKI", 5),
        ("IPGP", 6),
        ("ACPKIX", 7),
        ("IACPKIX", 8),
        ("URI", 253),
        ("OID", 254),
    ];
    let same = |(mnemonic, _): &&(&str, u16)| word.eq_ignore_ascii_case(mnemonic.as_bytes());
    CERTIFICATES.iter().find(same).map(|(_, number)| *number)
}
