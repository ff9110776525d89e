//! Loads of buckets.

use super::buckets::{BUCKETS, LEVELS};
use alloc::boxed::Box;

/// Loads of buckets, by level and number.
pub(super) type Loads = [[u64; BUCKETS]; LEVELS.len()];

/// Packets of each bucket that a thread has routed.
#[derive(Debug)]
pub struct Load(pub(super) Box<Loads>);

impl Default for Load {
    fn default() -> Self {
        Self(Box::new([[0; BUCKETS]; LEVELS.len()]))
    }
}

impl Load {
    /// Counts a packet.
    #[inline(always)]
    pub(super) fn count(&mut self, level: usize, bucket: u8) {
        if let Some(level) = self.0.get_mut(level) {
            level[usize::from(bucket)] += 1;
        }
    }
}
