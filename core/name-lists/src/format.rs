//! Formats of lists.

use core::fmt;
use core::str::FromStr;

/// Formats of lists. Names match in either case; a dot at the end of a name has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Lines of an address and names (hosts(5)). Rules cover the name alone. Addresses besides the
    /// unspecified ones and this host's block nothing.
    Hosts,
    /// A name a line, which covers itself or its subtree, by [`Options::plain`](crate::Options::plain).
    /// `.name` covers the subtree, `*.name` the names below.
    Domains,
    /// Adblock filters. `||name^` covers the subtree, `@@||name^` is an exception of the subtree.
    Adblock,
    /// Lists of V2Ray and Xray. `domain:name` and a name alone cover the subtree, `full:name` the name alone.
    V2ray,
    /// A response policy zone as text. `name CNAME .` covers the name alone, `*.name` the names below; of
    /// rules and exceptions (`CNAME rpz-passthru.`) the longest wins. A name with other records matches
    /// nothing, and stops the wildcards above it.
    Rpz,
    /// The public suffix list. `name` covers the subtree, `*.name` the names below, `!name` is an exception
    /// of the subtree.
    PublicSuffix,
    /// Options of dnsmasq. `address=/name/` with an address that blocks, `local=/name/` and `server=/name/`
    /// cover the subtree.
    Dnsmasq,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] = [
        Self::Hosts,
        Self::Domains,
        Self::Adblock,
        Self::V2ray,
        Self::Rpz,
        Self::PublicSuffix,
        Self::Dnsmasq,
    ];

    /// A word for the format.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Domains => "domains",
            Self::Adblock => "adblock",
            Self::V2ray => "v2ray",
            Self::Rpz => "rpz",
            Self::PublicSuffix => "psl",
            Self::Dnsmasq => "dnsmasq",
        }
    }

    /// True if the closest name wins, as in a zone; false if an exception wins at any length.
    pub const fn closest_wins(self) -> bool {
        matches!(self, Self::Rpz)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A word that is no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format; formats are hosts, domains, adblock, v2ray, rpz, psl and dnsmasq")]
pub struct UnknownFormat;

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(id: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.id() == id).ok_or(UnknownFormat)
    }
}
