//! Configuration of a forwarder.

use crate::cs;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::lp::INTEREST_DIGEST;

/// Longest lifetime of a PIT entry, in milliseconds: an hour. Longer lifetimes are cut to it.
pub const MAX_LIFETIME: u64 = 3_600_000;

/// Default longest lifetime of an Interest from a non-local face, in milliseconds: 30 s.
pub const REMOTE_LIFETIME: u64 = 30_000;

/// Least sensible limit of the PIT in bytes: room for a few Interests of the longest packets.
pub const MIN_PIT_BYTES: usize = 1 << 16;

/// Default limit of the PIT in bytes: 512 MiB.
pub const PIT_BYTES: usize = 512 << 20;

/// Configuration of a forwarder.
#[derive(Clone, Debug)]
pub struct Config {
    /// Most in-records of the PIT. The address of each peer has a [share](hashlane_table::share) of them.
    pub pit_entries: usize,
    /// Most bytes of the PIT: entries, their Interests and their records.
    pub pit_bytes: usize,
    /// Longest lifetime of an Interest from a non-local face, in milliseconds; longer lifetimes are cut to
    /// it. Valid: up to [`MAX_LIFETIME`], the limit for local faces.
    pub remote_lifetime: u64,
    /// Configuration of the content store.
    pub cs: cs::Config,
    /// Region names: an Interest with a forwarding hint that is a prefix of one has reached the producer's
    /// region, and is forwarded by its name.
    pub regions: Vec<OwnedName<Ndn>>,
    /// TLV-TYPE of InterestDigest, for a PIT indexed by digest. Valid: see
    /// [`is_type`](hashlane_ndn::wire::lp::DigestField::is_type).
    pub digest_type: u32,
}

impl Default for Config {
    /// A PIT of 2²⁰ entries and [`PIT_BYTES`], [`REMOTE_LIFETIME`], the default content store, no region,
    /// [`INTEREST_DIGEST`].
    fn default() -> Self {
        Self {
            pit_entries: 1 << 20,
            pit_bytes: PIT_BYTES,
            remote_lifetime: REMOTE_LIFETIME,
            cs: cs::Config::default(),
            regions: Vec::new(),
            digest_type: INTEREST_DIGEST,
        }
    }
}
