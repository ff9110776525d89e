//! Holding retransmissions back, for longer each time.

/// How long after an Interest another one of the same entry is held back: an interval that grows each time one is let through.
///
/// Source: NFD Developer's Guide, Retransmission Suppression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suppression {
    /// The first interval, in milliseconds.
    pub initial: u32,
    /// The longest, in milliseconds.
    pub longest: u32,
    /// What an interval is multiplied by, at least 1.
    pub factor: f32,
}

impl Default for Suppression {
    /// As NFD's: 10 ms, twice as long each time, up to 250 ms.
    fn default() -> Self {
        Self { initial: 10, longest: 250, factor: 2.0 }
    }
}

impl Suppression {
    /// Whether an Interest may go so many milliseconds after the last; `interval` is that of the entry, 0 before its first use, and is made
    /// longer where it may.
    #[inline]
    pub(crate) fn lets(&self, interval: &mut u32, since_last: u128) -> bool {
        let current = if *interval == 0 { self.initial } else { *interval };
        if since_last < u128::from(current) {
            *interval = current;
            return false;
        }
        *interval = ((current as f32 * self.factor) as u32).min(self.longest).max(1);
        true
    }
}
