//! ASF, adaptive smoothed round trip time: the fastest way, as measured, with probes of the others.

use super::{Answer, BestRoute, Question};
use crate::face::FaceId;
use crate::fib::NextHop;
use crate::pit::Records;
use core::time::Duration;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::NackReason;
use hashlane_table::Table as _;
use hashlane_table::batched::Batched;
use smallvec::SmallVec;

/// The strategy.
///
/// Of each prefix in the FIB it measures the round trip time of each face. Interests go to the face with the shortest; faces that are not measured
/// yet follow by cost, and after them those that stayed silent. From time to time an Interest goes to another face besides, to measure that.
/// Timeouts are noticed when the next Interest for the prefix comes: there is no timer.
///
/// Source: Lehman et al., "An Experimental Investigation of Hyperbolic Routing with a Smart Forwarding Plane in NDN"
/// (IWQoS 2016), §IV; the times are those of RFC 6298.
#[derive(Clone, Debug)]
pub struct Asf {
    /// Milliseconds between probes of a prefix.
    pub probing_interval: u64,
    /// After how many timeouts in a row a face counts as silent.
    pub max_timeouts: u32,
    /// For what comes again.
    pub again: BestRoute,
    measured: Batched<u64, Measured>,
}

impl Default for Asf {
    /// As NFD's: a probe a minute, three timeouts.
    fn default() -> Self {
        Self {
            probing_interval: 60_000,
            max_timeouts: 3,
            again: BestRoute::default(),
            measured: Batched::with_capacity(0),
        }
    }
}

/// Prefixes that are measured at the most. When there would be more, all are forgotten, and measured anew.
const PREFIXES: usize = 1 << 16;

/// Faces of a prefix that are measured at the most; of more, those that were met last.
const FACES: usize = 32;

/// What is known of a prefix.
#[derive(Clone, Debug)]
struct Measured {
    faces: SmallVec<[FaceMeasured; 2]>,
    next_probe: Time,
}

#[derive(Clone, Copy, Debug)]
struct FaceMeasured {
    face: FaceId,
    /// Smoothed round trip time and its variation, once there is one.
    rtt: Option<(Duration, Duration)>,
    /// When the Interest that is waited for counts as lost.
    deadline: Option<Time>,
    timeouts: u32,
}

impl FaceMeasured {
    /// The retransmission timeout.
    fn patience(&self) -> Duration {
        let (smoothed, variation) = self.rtt.unwrap_or((Duration::from_secs(1), Duration::ZERO));
        (smoothed + 4 * variation).clamp(Duration::from_millis(200), Duration::from_secs(60))
    }

    fn take(&mut self, sample: Duration) {
        self.rtt = Some(match self.rtt {
            None => (sample, sample / 2),
            Some((smoothed, variation)) => {
                ((smoothed * 7 + sample) / 8, (variation * 3 + smoothed.abs_diff(sample)) / 4)
            }
        });
        self.deadline = None;
        self.timeouts = 0;
    }
}

impl Measured {
    fn of(&mut self, face: FaceId) -> Option<&mut FaceMeasured> {
        let at = self.faces.iter().position(|known| known.face == face);
        let at = at.unwrap_or_else(|| {
            // The face that has been known for longest may be gone.
            if self.faces.len() >= FACES {
                self.faces.remove(0);
            }
            self.faces.push(FaceMeasured { face, rtt: None, deadline: None, timeouts: 0 });
            self.faces.len() - 1
        });
        self.faces.get_mut(at)
    }

    /// Notes that an Interest goes to `face`.
    fn sent(&mut self, face: FaceId, now: Time) {
        if let Some(known) = self.of(face) {
            let patience = known.patience();
            known.deadline.get_or_insert(now + patience);
        }
    }
}

impl Asf {
    fn prefix(&mut self, prefix: u64, now: Time) -> Option<&mut Measured> {
        if self.measured.find(prefix, &prefix).is_none() {
            if self.measured.len() >= PREFIXES {
                self.measured = Batched::with_capacity(0);
            }
            let next_probe = now.after_millis(self.probing_interval);
            let measured = Measured { faces: SmallVec::new(), next_probe };
            self.measured.insert(prefix, prefix, measured, |prefix| *prefix);
        }
        self.measured.find_mut(prefix, &prefix)
    }

    /// Where an Interest goes.
    pub fn interest(&mut self, question: &mut Question<'_>) -> Answer {
        let now = question.now;
        let again = question.records.waits(now);
        let (interval, silent) = (self.probing_interval, self.max_timeouts);
        if again {
            let answer = self.again.again(question);
            if let (Answer::Send(faces), Some(measured)) = (&answer, self.prefix(question.prefix, now)) {
                faces.iter().for_each(|face| measured.sent(*face, now));
            }
            return answer;
        }
        let Some(measured) = self.prefix(question.prefix, now) else { return Answer::Wait };
        for known in &mut measured.faces {
            if known.deadline.is_some_and(|deadline| deadline <= now) {
                known.deadline = None;
                known.timeouts = known.timeouts.saturating_add(1);
            }
        }
        let mut ways: SmallVec<[NextHop; 8]> = question.eligible().take(FACES).collect();
        ways.sort_by_key(|hop| {
            let known = measured.faces.iter().find(|known| known.face == hop.face);
            match known {
                Some(known) if known.timeouts >= silent => (2, Duration::MAX, hop.cost),
                Some(FaceMeasured { rtt: Some((smoothed, _)), .. }) => (0, *smoothed, hop.cost),
                _ => (1, Duration::ZERO, hop.cost),
            }
        });
        let Some((best, others)) = ways.split_first() else { return Answer::Reject(NackReason::NO_ROUTE) };
        measured.sent(best.face, now);
        if !others.is_empty() && measured.next_probe <= now {
            measured.next_probe = now.after_millis(interval);
            // The better a face is ranked the more likely it is probed: of n with weights n to 1.
            let total = others.len() * (others.len() + 1) / 2;
            let mut ticket = question.dice.below(total);
            for (rank, hop) in others.iter().enumerate() {
                let weight = others.len() - rank;
                if ticket < weight {
                    measured.sent(hop.face, now);
                    return Answer::Probe(best.face, hop.face);
                }
                ticket -= weight;
            }
        }
        Answer::to(best.face)
    }

    /// Takes a round trip time.
    pub fn data(&mut self, prefix: u64, records: &Records, face: FaceId, now: Time) {
        let Some(out) = records.went_to(face) else { return };
        let sample = now.since(out.sent);
        if let Some(known) = self.measured.find_mut(prefix, &prefix).and_then(|measured| measured.of(face)) {
            known.take(sample);
        }
    }

    /// Takes a face for silent.
    pub fn nack(&mut self, prefix: u64, face: FaceId, _now: Time) {
        let silent = self.max_timeouts;
        if let Some(known) = self.measured.find_mut(prefix, &prefix).and_then(|measured| measured.of(face)) {
            known.deadline = None;
            known.timeouts = silent;
        }
    }
}
