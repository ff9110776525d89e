//! Limits of captures.

/// Length of a packet at most, and of a block with one. libpcap writes at most 256 KiB of a packet.
pub(super) const LONGEST: usize = 512 << 10;

/// Interfaces of a section of pcapng at most: the reader keeps 32 bytes of each.
pub(super) const INTERFACES: usize = 4096;
