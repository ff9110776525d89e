//! Hashes of the audit alone, behind the feature `audited`.
//!
//! The audit tries every hash that tables are built on, also those that no study would choose; the studies,
//! which compile their loops once for each hash, do without these. Each module adapts one crate or, for a
//! function that no kept crate holds, is written from its published description and tested against published
//! results. [`NOT_AUDITED`] lists those that are left out.
//!
//! Every hash is a plain function of key and bytes and allocates nothing. Of a function with 128 bits of
//! result, a table takes 64: the scheme's id ends in the half that it gives.

pub mod a5hash;
pub mod absl;
mod aes;
pub mod ahash_aes;
pub mod blake3;
pub mod cityhash;
pub mod djb2;
pub mod farmhash;
pub mod fnv;
pub mod foldhash;
pub mod fxhash;
pub mod gxhash;
pub mod highway;
pub mod komihash;
pub mod metrohash;
mod missing;
pub mod murmurhash;
pub mod museair;
pub mod museair_v03;
mod part;
pub mod rapidhash;
pub mod seahash;
pub mod t1ha;
#[cfg(test)]
mod testing;
mod words;
pub mod wyhash;
pub mod xxhash;

pub use missing::{Missing, NOT_AUDITED};

/// Calls the macro `$callback` with every hash of this crate that is there for the audit alone, in the form
/// of [`for_each_hash!`](crate::for_each_hash). All of them hash bytes and nothing more.
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
