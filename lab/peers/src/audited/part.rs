//! The part of a key that a hash takes, and the definition of a scheme that keeps it.

use hashlane_hash::scheme::{Key, Keying};

/// A part of a [`Key`]: its first bytes, read in little-endian order.
pub(super) trait Part {
    /// The keying of a scheme that takes this part and makes no claim against attackers.
    const KEYING: Keying;

    /// The part of `key`.
    fn of(key: &Key) -> Self;
}

/// No part: an unkeyed scheme.
impl Part for () {
    const KEYING: Keying = Keying::None;

    #[inline]
    fn of(_: &Key) -> Self {}
}

/// Bytes 0–3.
impl Part for u32 {
    const KEYING: Keying = Keying::Seed(32);

    #[inline]
    fn of(key: &Key) -> Self {
        key.halves().0 as Self
    }
}

/// Bytes 0–7.
impl Part for u64 {
    const KEYING: Keying = Keying::Seed(64);

    #[inline]
    fn of(key: &Key) -> Self {
        key.halves().0
    }
}

/// Bytes 0–7 and 8–15.
impl Part for (u64, u64) {
    const KEYING: Keying = Keying::Seed(128);

    #[inline]
    fn of(key: &Key) -> Self {
        key.halves()
    }
}

/// Four words that all 16 bytes reach, drawn by [`Key::derive`]: for functions whose words must not depend on
/// one another.
impl Part for [u64; 4] {
    const KEYING: Keying = Keying::Seed(128);

    fn of(key: &Key) -> Self {
        let ((k0, k1), (k2, k3)) = (key.derive(b"4 words.", 0).halves(), key.derive(b"4 words.", 1).halves());
        [k0, k1, k2, k3]
    }
}

/// Defines a scheme that is one call of a function, and its
/// [`SchemeInfo`](hashlane_hash::scheme::SchemeInfo).
///
/// `Name(part)` keeps the part of the key itself, which `hash` takes by value; `Name(part => state, make)`
/// keeps `make(part)`, which `hash` takes by reference.
macro_rules! scheme {
    ($(#[$doc:meta])* $name:ident($part:ty) {
        id: $id:expr, source: $source:expr, width: $width:expr, check: $check:expr, safe: $safe:expr,
        hash: |$seed:pat_param, $bytes:ident| $hash:expr $(,)?
    }) => {
        scheme! {
            $(#[$doc])*
            $name($part => $part, |part| part) {
                id: $id, source: $source, width: $width, check: $check, safe: $safe,
                hash: |&$seed, $bytes| $hash,
            }
        }
    };
    ($(#[$doc:meta])* $name:ident($part:ty => $state:ty, $make:expr) {
        id: $id:expr, source: $source:expr, width: $width:expr, check: $check:expr, safe: $safe:expr,
        hash: |$held:pat_param, $bytes:ident| $hash:expr $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name($state);

        impl $name {
            /// The hash under a part of a key.
            #[inline]
            fn with(part: $part) -> Self {
                let make: fn($part) -> $state = $make;
                Self(make(part))
            }
        }

        impl hashlane_hash::scheme::Scheme for $name {
            const INFO: hashlane_hash::scheme::SchemeInfo = hashlane_hash::scheme::SchemeInfo {
                id: $id,
                source: $source,
                width: $width,
                keying: <$part as $crate::audited::part::Part>::KEYING,
                check: $check,
                safe: $safe,
            };

            #[inline]
            fn new(key: &hashlane_hash::scheme::Key) -> Self {
                Self::with(<$part as $crate::audited::part::Part>::of(key))
            }
        }

        impl hashlane_hash::scheme::BytesHash for $name {
            #[inline]
            fn hash(&self, $bytes: &[u8]) -> u64 {
                let $held = &self.0;
                $hash
            }
        }
    };
}
pub(super) use scheme;
