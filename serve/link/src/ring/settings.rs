//! Settings of rings.

use std::time::Duration;

/// Settings of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSettings {
    /// Bytes of a block: a power of two, at least a page. A longer frame is cut.
    pub block_bytes: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// Time after which a block with a frame is ready, also if it is not full. At least 1 ms.
    pub timeout: Duration,
    /// Captured bytes of a frame at most; `None`: all.
    pub snap: Option<u32>,
    /// `true`: also frames to other hosts.
    pub promiscuous: bool,
}

impl Default for RingSettings {
    /// 64 blocks of 1 MiB, ready after 20 ms; whole frames to this host.
    fn default() -> Self {
        let timeout = Duration::from_millis(20);
        Self { block_bytes: 1 << 20, blocks: 64, timeout, snap: None, promiscuous: false }
    }
}

/// Rule by which the rings of a group share frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// By the kernel's hash of addresses and ports, alike for both directions of a flow. Later fragments have
    /// no ports, so they may be in another ring than the first.
    Hash,
    /// By the CPU that received the frame: the interface distributes flows (RSS).
    Cpu,
}
