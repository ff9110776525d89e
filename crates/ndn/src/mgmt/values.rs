//! Values of fields that are numbers with meanings.

use super::record::Field;
use crate::tlv::{Element, WireError, write_integer};
use alloc::vec::Vec;
use core::fmt;

/// Defines a field whose values are those listed, and no other.
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
    /// Whether what is at the other end of a face is on this machine.
    FaceScope {
        /// Somewhere else.
        NonLocal = 0 "non-local",
        /// On this machine.
        Local = 1 "local",
    }
}

numbered! {
    /// When a face goes away.
    FacePersistency {
        /// At a failure, or when it is destroyed.
        Persistent = 0 "persistent",
        /// After a time without packets, too.
        OnDemand = 1 "on-demand",
        /// Only when it is destroyed.
        Permanent = 2 "permanent",
    }
}

numbered! {
    /// How many are at the other end of a face.
    LinkType {
        /// One.
        PointToPoint = 0 "point-to-point",
        /// Several, who hear one another.
        MultiAccess = 1 "multi-access",
        /// Several, who may not hear one another.
        AdHoc = 2 "ad-hoc",
    }
}

numbered! {
    /// What happened to a face.
    FaceEventKind {
        /// It was made.
        Created = 1 "created",
        /// It is gone.
        Destroyed = 2 "destroyed",
        /// It works again.
        Up = 3 "up",
        /// It does not work.
        Down = 4 "down",
    }
}

/// Who made a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteOrigin(pub u64);

impl RouteOrigin {
    /// An application, for itself.
    pub const APP: Self = Self(0);
    /// The forwarder, for a face that came.
    pub const AUTOREG: Self = Self(64);
    /// A client, towards an application behind it.
    pub const CLIENT: Self = Self(65);
    /// Configuration found on the network.
    pub const AUTOCONF: Self = Self(66);
    /// The routing protocol NLSR.
    pub const NLSR: Self = Self(128);
    /// A prefix announcement.
    pub const PREFIXANN: Self = Self(129);
    /// An operator.
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

/// Flag of a route: names below it that have routes of their own are reached by it as well.
pub const ROUTE_CHILD_INHERIT: u64 = 1;
/// Flag of a route: its name and those below it take nothing from routes above.
pub const ROUTE_CAPTURE: u64 = 2;

/// Flag of a face: it takes and gives the link fields that only applications on this machine may use.
pub const FACE_LOCAL_FIELDS: u64 = 1;
/// Flag of a face: lost link packets are sent again.
pub const FACE_LP_RELIABILITY: u64 = 2;
/// Flag of a face: packets are marked where its queue grows.
pub const FACE_CONGESTION_MARKING: u64 = 4;
/// Flag of a face, of ours: PitTokens go out on it, where the PIT is indexed by them. Who is there must know them.
pub const FACE_PIT_TOKENS: u64 = 1 << 16;
/// Flag of a face, of ours: InterestDigests do not go out on it, even where the PIT is indexed by them.
pub const FACE_NO_INTEREST_DIGESTS: u64 = 1 << 17;

/// Flag of the content store: Data is put in.
pub const CS_ADMIT: u64 = 1;
/// Flag of the content store: Data is taken out.
pub const CS_SERVE: u64 = 2;
