//! The table `[cs]` of the configuration.

use hashlane_ndn_fw::cs::Policy;
use serde::{Deserialize, Serialize};

/// The content store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cs {
    /// Most packets.
    pub packets: usize,
    /// Most bytes, the overhead of the store included.
    pub octets: usize,
    /// Eviction policy.
    pub policy: CsPolicy,
    /// True to store Data.
    pub admit: bool,
    /// True to answer Interests.
    pub serve: bool,
}

/// Eviction policy of the content store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CsPolicy {
    /// Least recently used Data first.
    Lru,
    /// Stale Data first, otherwise the oldest.
    PriorityFifo,
}

impl Default for Cs {
    fn default() -> Self {
        let hashlane_ndn_fw::cs::Config { packets, bytes: octets, admit, serve, .. } =
            hashlane_ndn_fw::cs::Config::default();
        Self { packets, octets, policy: CsPolicy::Lru, admit, serve }
    }
}

impl Cs {
    /// Configuration of the store.
    pub(crate) fn store(&self) -> hashlane_ndn_fw::cs::Config {
        let policy = match self.policy {
            CsPolicy::Lru => Policy::Lru,
            CsPolicy::PriorityFifo => Policy::PriorityFifo,
        };
        hashlane_ndn_fw::cs::Config {
            packets: self.packets,
            bytes: self.octets,
            policy,
            admit: self.admit,
            serve: self.serve,
        }
    }
}
