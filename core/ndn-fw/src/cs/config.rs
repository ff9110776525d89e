//! Configuration of the content store.

/// Eviction policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Least recently used packet first.
    #[default]
    Lru,
    /// Stale packets first, then the oldest packet. Source: NFD Developer's Guide, Content Store.
    PriorityFifo,
}

/// Configuration of the content store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Capacity in packets.
    pub packets: usize,
    /// Capacity in bytes, overhead included.
    pub bytes: usize,
    /// Eviction policy.
    pub policy: Policy,
    /// True if the store takes packets in.
    pub admit: bool,
    /// True if the store answers Interests.
    pub serve: bool,
}

impl Default for Config {
    /// 65,536 packets as in NFD, and 256 MiB.
    fn default() -> Self {
        Self { packets: 65_536, bytes: 256 << 20, policy: Policy::Lru, admit: true, serve: true }
    }
}
