//! Types and classes of records.

use core::fmt;

/// The type of a record (RFC 1035 §3.2.2 and the registry of IANA).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordType(pub u16);

/// The class of a record (RFC 1035 §3.2.4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class(pub u16);

macro_rules! numbers {
    ($number:ident, $generic:literal: $($(#[doc = $doc:literal])* $id:ident = $value:literal,)*) => {
        impl $number {
            $($(#[doc = $doc])* pub const $id: Self = Self($value);)*

            /// The mnemonic, if this crate knows one.
            pub const fn mnemonic(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($id)),)*
                    _ => None,
                }
            }
        }

        /// The mnemonic, or the generic form of RFC 3597 §5.
        impl fmt::Display for $number {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.mnemonic() {
                    Some(mnemonic) => f.write_str(mnemonic),
                    None => write!(f, concat!($generic, "{}"), self.0),
                }
            }
        }

        impl fmt::Debug for $number {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

numbers! { RecordType, "TYPE":
    /// An IPv4 address.
    A = 1,
    /// A name server.
    NS = 2,
    /// A mail destination (obsolete).
    MD = 3,
    /// A mail forwarder (obsolete).
    MF = 4,
    /// The canonical name of an alias.
    CNAME = 5,
    /// Start of authority of a zone.
    SOA = 6,
    /// A mailbox.
    MB = 7,
    /// A member of a mail group.
    MG = 8,
    /// A renamed mailbox.
    MR = 9,
    /// Anything.
    NULL = 10,
    /// Well-known services.
    WKS = 11,
    /// Another name.
    PTR = 12,
    /// A host's hardware and system.
    HINFO = 13,
    /// A mailbox's owner.
    MINFO = 14,
    /// A mail exchange.
    MX = 15,
    /// Text.
    TXT = 16,
    /// A responsible person (RFC 1183).
    RP = 17,
    /// An AFS database (RFC 1183).
    AFSDB = 18,
    /// A route (RFC 1183).
    RT = 21,
    /// A signature (RFC 2535, obsolete).
    SIG = 24,
    /// X.400 mapping (RFC 2163).
    PX = 26,
    /// An IPv6 address (RFC 3596).
    AAAA = 28,
    /// The next name (RFC 2535, obsolete).
    NXT = 30,
    /// A service (RFC 2782).
    SRV = 33,
    /// Rewriting rules (RFC 3403).
    NAPTR = 35,
    /// A key exchanger (RFC 2230).
    KX = 36,
    /// The alias of a tree (RFC 6672).
    DNAME = 39,
    /// EDNS (RFC 6891).
    OPT = 41,
    /// A delegation's key (RFC 4034).
    DS = 43,
    /// A signature (RFC 4034).
    RRSIG = 46,
    /// The next name (RFC 4034).
    NSEC = 47,
    /// A key (RFC 4034).
    DNSKEY = 48,
    /// The next hashed name (RFC 5155).
    NSEC3 = 50,
    /// Parameters of the hashed names (RFC 5155).
    NSEC3PARAM = 51,
    /// A certificate of TLS (RFC 6698).
    TLSA = 52,
    /// A key for the zone above (RFC 7344), as a digest.
    CDS = 59,
    /// A key for the zone above (RFC 7344).
    CDNSKEY = 60,
    /// Service binding (RFC 9460).
    SVCB = 64,
    /// Service binding of the Web (RFC 9460).
    HTTPS = 65,
    /// An exchange of keys (RFC 2930).
    TKEY = 249,
    /// A signed message (RFC 8945).
    TSIG = 250,
    /// A transfer of changes (RFC 1995).
    IXFR = 251,
    /// A transfer of a zone.
    AXFR = 252,
    /// Any type.
    ANY = 255,
    /// Certification authority authorization (RFC 8659).
    CAA = 257,
}

numbers! { Class, "CLASS":
    /// The Internet.
    IN = 1,
    /// CHAOS.
    CH = 3,
    /// Hesiod.
    HS = 4,
    /// No class (RFC 2136).
    NONE = 254,
    /// Any class.
    ANY = 255,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn shows_the_mnemonic_or_the_number() {
        assert_eq!(format!("{} {}", RecordType::AAAA, RecordType(65_280)), "AAAA TYPE65280");
        assert_eq!(format!("{:?} {}", Class::IN, Class(2)), "IN CLASS2");
    }
}
