//! Configuration of a forwarder.

use crate::cs;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::lp::INTEREST_DIGEST;

/// Longest lifetime of an Interest in the PIT, in milliseconds: an hour. Longer ones are cut to it.
pub const MAX_LIFETIME: u64 = 3_600_000;

/// Longest lifetime of an Interest of a non-local face, in milliseconds, unless configured: 30 s.
pub const REMOTE_LIFETIME: u64 = 30_000;

/// How a forwarder is to work.
#[derive(Clone, Debug)]
pub struct Config {
    /// Most in-records of the PIT. Each face has a [share](crate::share) of them.
    pub pit_entries: usize,
    /// Longest lifetime of an Interest of a non-local face, in milliseconds; longer ones are cut to it.
    /// Valid: up to [`MAX_LIFETIME`], which holds for local faces.
    pub remote_lifetime: u64,
    /// The content store.
    pub cs: cs::Config,
    /// Names of this network: an Interest with a hint that is a prefix of one has arrived, and is forwarded by its name.
    pub regions: Vec<OwnedName<Ndn>>,
    /// TLV-TYPE of InterestDigest, for a PIT that is indexed by it: one that [can be](hashlane_ndn::wire::lp::DigestField::is_type).
    pub digest_type: u32,
}

impl Default for Config {
    /// A PIT of 2²⁰ entries, [`REMOTE_LIFETIME`], the content store's default, no region, the first number
    /// for digests.
    fn default() -> Self {
        Self {
            pit_entries: 1 << 20,
            remote_lifetime: REMOTE_LIFETIME,
            cs: cs::Config::default(),
            regions: Vec::new(),
            digest_type: INTEREST_DIGEST,
        }
    }
}
