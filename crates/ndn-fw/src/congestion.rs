//! Congestion marks: what is sent over a link whose queue is long says so.
//!
//! The first packet after the queue has grown over a threshold is marked; while it stays there others are, at intervals that shrink as those of
//! CoDel do (RFC 8289 §3.1). Source: Schneider et al., "A Practical Congestion Control Scheme for Named Data Networking" (ICN 2016), §4.1.

use hashlane_ndn::time::Time;

/// When packets of one link are marked.
#[derive(Clone, Copy, Debug)]
pub struct CongestionMarking {
    /// Bytes in the queue that are too many.
    pub threshold: usize,
    /// The first interval, in milliseconds.
    pub interval: u64,
    /// When the next packet is marked; none while the queue is short.
    next: Option<Time>,
    marked: u32,
}

impl Default for CongestionMarking {
    /// As NFD's: 65,536 bytes, 100 ms.
    fn default() -> Self {
        Self { threshold: 65_536, interval: 100, next: None, marked: 0 }
    }
}

impl CongestionMarking {
    /// Whether the packet that is sent now, with so many bytes in the queue before it, is to be marked.
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

/// By Newton's steps: there is no square root without std.
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
