//! Values of enumerated fields, and flags.

use super::record::Field;
use crate::tlv::{Element, WireError, write_integer};
use alloc::vec::Vec;
use core::fmt;

/// Defines a field with an enumerated value.
macro_rules! numbered {
    (
        $(#[$meta:meta])*
        $name:ident { $($(#[$value_meta:meta])* $value:ident = $number:literal $text:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$value_meta])* $value = $number,)+
        }

        impl Field for $name {
            fn read(element: Element<'_>) -> Result<Self, WireError> {
                match element.number()? {
                    $($number => Ok(Self::$value),)+
                    _ => Err(element.wrong_value()),
                }
            }

            fn write(&self, typ: u32, out: &mut Vec<u8>) {
                write_integer(typ, *self as u64, out);
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$value => $text,)+
                })
            }
        }
    };
}

numbered! {
    /// Scope of a face: the host of its peer.
    FaceScope {
        /// Another host.
        NonLocal = 0 "non-local",
        /// This host.
        Local = 1 "local",
    }
}

numbered! {
    /// Persistency of a face.
    FacePersistency {
        /// Closes on failure or on command.
        Persistent = 0 "persistent",
        /// Closes when idle, too.
        OnDemand = 1 "on-demand",
        /// Closes only on command.
        Permanent = 2 "permanent",
    }
}

numbered! {
    /// Link type of a face.
    LinkType {
        /// One peer.
        PointToPoint = 0 "point-to-point",
        /// Several peers; each receives every packet.
        MultiAccess = 1 "multi-access",
        /// Several peers, which may not receive each other's packets.
        AdHoc = 2 "ad-hoc",
    }
}

numbered! {
    /// Kind of a face event.
    FaceEventKind {
        /// Face created.
        Created = 1 "created",
        /// Face destroyed.
        Destroyed = 2 "destroyed",
        /// Face up again.
        Up = 3 "up",
        /// Face down.
        Down = 4 "down",
    }
}

/// Origin of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteOrigin(pub u64);

impl RouteOrigin {
    /// Application.
    pub const APP: Self = Self(0);
    /// Automatic registration for a new face.
    pub const AUTOREG: Self = Self(64);
    /// Client, towards an application behind it.
    pub const CLIENT: Self = Self(65);
    /// Autoconfiguration.
    pub const AUTOCONF: Self = Self(66);
    /// The routing protocol NLSR.
    pub const NLSR: Self = Self(128);
    /// A prefix announcement.
    pub const PREFIXANN: Self = Self(129);
    /// Static configuration.
    pub const STATIC: Self = Self(255);
}

impl fmt::Display for RouteOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::APP => "app",
            Self::AUTOREG => "autoreg",
            Self::CLIENT => "client",
            Self::AUTOCONF => "autoconf",
            Self::NLSR => "nlsr",
            Self::PREFIXANN => "prefixann",
            Self::STATIC => "static",
            Self(other) => return write!(f, "{other}"),
        })
    }
}

impl Field for RouteOrigin {
    fn read(element: Element<'_>) -> Result<Self, WireError> {
        element.number().map(Self)
    }

    fn write(&self, typ: u32, out: &mut Vec<u8>) {
        write_integer(typ, self.0, out);
    }
}

/// Route flag: also used for longer prefixes that have routes of their own.
pub const ROUTE_CHILD_INHERIT: u64 = 1;
/// Route flag: this prefix and longer ones inherit no routes from shorter prefixes.
pub const ROUTE_CAPTURE: u64 = 2;

/// Face flag: local link header fields are allowed.
pub const FACE_LOCAL_FIELDS: u64 = 1;
/// Face flag: lost link packets are retransmitted.
pub const FACE_LP_RELIABILITY: u64 = 2;
/// Face flag: packets are marked when the queue is long.
pub const FACE_CONGESTION_MARKING: u64 = 4;
/// Face flag of hashlane: PIT tokens are sent to the face, if the PIT is indexed by them. The peer must
/// support them.
pub const FACE_PIT_TOKENS: u64 = 1 << 16;
/// Face flag of hashlane: InterestDigests are not sent to the face, even if the PIT is indexed by them.
pub const FACE_NO_INTEREST_DIGESTS: u64 = 1 << 17;

/// Content store flag: Data is admitted.
pub const CS_ADMIT: u64 = 1;
/// Content store flag: Interests are answered.
pub const CS_SERVE: u64 = 2;
