//! Congestion marks on packets of a link whose queue is long.
//!
//! The first packet after the queue exceeds a threshold is marked. While the queue stays above it, packets
//! are marked at intervals that shrink as in CoDel (RFC 8289 §3.1).
//!
//! Source: Schneider et al., "A Practical Congestion Control Scheme for Named Data Networking" (ICN 2016),
//! §4.1.

use hashlane_ndn::time::Time;

/// Congestion marking of one link.
#[derive(Clone, Copy, Debug)]
pub struct CongestionMarking {
    /// Queue length above which packets are marked, in bytes.
    pub threshold: usize,
    /// First interval between marks, in milliseconds.
    pub interval: u64,
    /// Time of the next mark; `None` while the queue is short.
    next: Option<Time>,
    marked: u32,
}

impl Default for CongestionMarking {
    /// NFD's values: 65,536 bytes, 100 ms.
    fn default() -> Self {
        Self { threshold: 65_536, interval: 100, next: None, marked: 0 }
    }
}

impl CongestionMarking {
    /// Returns true if a packet that is sent now gets a mark, with `queue` bytes queued before it.
    #[inline]
    pub fn marks(&mut self, queue: usize, now: Time) -> bool {
        if queue <= self.threshold {
            (self.next, self.marked) = (None, 0);
            return false;
        }
        match self.next {
            None => self.next = Some(now.after_millis(self.interval)),
            Some(next) if now < next => return false,
            Some(_) => {
                self.marked = self.marked.saturating_add(1);
                let interval = (self.interval as f64 / square_root(f64::from(self.marked) + 1.0)) as u64;
                self.next = Some(now.after_millis(interval.max(1)));
            }
        }
        true
    }
}

/// Square root by Newton's method: `core` has none.
fn square_root(of: f64) -> f64 {
    (0..40).fold(of.max(1.0), |root, _| (root + of / root) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_more_often_while_the_queue_stays_long() {
        let mut marking = CongestionMarking::default();
        let marks: std::vec::Vec<u64> =
            (0..600).filter(|millis| marking.marks(70_000, Time::from_millis(*millis))).collect();
        assert_eq!(marks, [0, 100, 170, 227, 277, 321, 361, 398, 433, 466, 497, 527, 555, 582]);
        assert!(!marking.marks(65_536, Time::from_millis(600)));
        assert!(marking.marks(65_537, Time::from_millis(601)));
    }
}
