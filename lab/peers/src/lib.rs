//! Other projects' crates behind hashlane's traits, so that one run measures all.
//!
//! Each module adapts one crate and states the part of a [`Key`](hashlane_hash::scheme::Key) that it takes,
//! and if its results are the same everywhere. The versions are pinned exactly: foldhash and ahash promise
//! nothing from one release to the next, and a measurement is of a release.
//!
//! With the feature `audited`, the module of that name has the hashes that only the audit tries.
#![forbid(unsafe_code)]

pub mod ahash;
#[cfg(feature = "audited")]
pub mod audited;
pub mod dns;
pub mod foldhash;
pub mod hashbrown;
pub mod rapidhash;
pub mod xxh3;

/// Calls the macro `$callback` with every hash of this crate, in the form of
/// [`hashlane_hash::for_each_hash!`]. All of them hash bytes and nothing more.
#[macro_export]
macro_rules! for_each_hash {
    ($callback:ident) => {
        $callback! {
            bytes:
                $crate::xxh3::Xxh3,
                $crate::rapidhash::RapidHash,
                $crate::foldhash::FoldHash,
                $crate::ahash::AHash;
        }
    };
}

/// Calls the macro `$callback` with every hash of this crate that is there for the audit alone, in the form
/// of [`for_each_hash!`]. All of them hash bytes and nothing more.
#[cfg(feature = "audited")]
#[macro_export]
macro_rules! for_each_audited_hash {
    ($callback:ident) => {
        $callback! {
            bytes:
                $crate::audited::xxhash::Xxh32,
                $crate::audited::xxhash::Xxh64,
                $crate::audited::xxhash::Xxh3Low,
                $crate::audited::xxhash::Xxh3High,
                $crate::audited::wyhash::WyHash,
                $crate::audited::rapidhash::Micro,
                $crate::audited::rapidhash::Nano,
                $crate::audited::rapidhash::Protected,
                $crate::audited::rapidhash::Secrets,
                $crate::audited::rapidhash::Fast,
                $crate::audited::rapidhash::Quality,
                $crate::audited::foldhash::FoldHashQuality,
                $crate::audited::ahash_aes::AHashAes,
                $crate::audited::gxhash::GxHash,
                $crate::audited::museair_v03::MuseAirV03,
                $crate::audited::museair::MuseAir,
                $crate::audited::museair::MuseAirFast,
                $crate::audited::museair::MuseAir128,
                $crate::audited::komihash::KomiHash,
                $crate::audited::a5hash::A5Hash,
                $crate::audited::a5hash::A5Hash128,
                $crate::audited::absl::AbslHash,
                $crate::audited::murmurhash::Murmur2,
                $crate::audited::murmurhash::Murmur64A,
                $crate::audited::murmurhash::Murmur3X86,
                $crate::audited::murmurhash::Murmur3X64,
                $crate::audited::cityhash::City32,
                $crate::audited::cityhash::City64,
                $crate::audited::cityhash::City64Seeds,
                $crate::audited::farmhash::Fingerprint64,
                $crate::audited::farmhash::Na64,
                $crate::audited::farmhash::Na64Seeds,
                $crate::audited::t1ha::T1ha1,
                $crate::audited::t1ha::T1ha2,
                $crate::audited::metrohash::Metro64,
                $crate::audited::metrohash::Metro128,
                $crate::audited::seahash::SeaHash,
                $crate::audited::seahash::SeaHashSeeded,
                $crate::audited::fxhash::FxHash,
                $crate::audited::fxhash::RustcHash,
                $crate::audited::fnv::Fnv1a,
                $crate::audited::fnv::Fnv1aOffset,
                $crate::audited::djb2::Djb2,
                $crate::audited::djb2::Djb2Seeded,
                $crate::audited::highway::HighwayHash,
                $crate::audited::blake3::Blake3Keyed;
        }
    };
}
