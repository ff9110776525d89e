//! Configuration of the content store.

/// What leaves a full store first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// What was not asked for for longest.
    #[default]
    Lru,
    /// What is no longer fresh, else what came first. Source: NFD Developer's Guide, Content Store.
    PriorityFifo,
}

/// How a store is to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Packets it holds at the most.
    pub packets: usize,
    /// Bytes it holds at the most, what it needs besides the packets included.
    pub bytes: usize,
    /// What leaves it first.
    pub policy: Policy,
    /// Whether it takes packets in.
    pub admit: bool,
    /// Whether it answers.
    pub serve: bool,
}

impl Default for Config {
    /// As NFD's: 65,536 packets; and 256 MiB.
    fn default() -> Self {
        Self { packets: 65_536, bytes: 256 << 20, policy: Policy::Lru, admit: true, serve: true }
    }
}
