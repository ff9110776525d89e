//! ASF, adaptive smoothed RTT-based forwarding: the fastest next hop as measured, with probes of the others.

use super::algorithm::{
    Algorithm, DataContext, Decision, InterestContext, NackDecision, after_nack, positive,
};
use super::best_route::BestRoute;
use super::rtt::Rtt;
use super::suppression::Suppression;
use crate::face::FaceId;
use crate::fib::NextHop;
use crate::pit::Records;
use alloc::boxed::Box;
use core::time::Duration;
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::NackReason;
use hashlane_table::Table as _;
use hashlane_table::batched::Batched;
use smallvec::SmallVec;

/// Strategy that measures the round-trip time (RTT) of each face, for each FIB prefix.
///
/// An Interest goes to the face with the shortest RTT; faces without a measurement follow in order of cost,
/// then faces that time out. At intervals an Interest also goes to another face, as a probe. There is no
/// timer: a timeout is detected when the next Interest of the prefix arrives.
///
/// Source: Lehman et al., "An Experimental Investigation of Hyperbolic Routing with a Smart Forwarding Plane
/// in NDN" (IWQoS 2016), §IV; RTT estimation as in RFC 6298.
#[derive(Clone, Debug)]
pub struct Asf {
    /// Time between probes of a prefix, in milliseconds. Valid: 1000 and more.
    pub probing_interval: u64,
    /// Consecutive timeouts after which a face is ranked last. Valid: 1 and more.
    pub max_timeouts: u32,
    /// Handling of retransmissions.
    pub retransmission: BestRoute,
    // In a box, as requests and messages carry strategies.
    measurements: Box<Batched<u64, Measurements>>,
}

impl Default for Asf {
    /// NFD's values: a probe per minute, three timeouts.
    fn default() -> Self {
        Self {
            probing_interval: 60_000,
            max_timeouts: 3,
            retransmission: BestRoute::default(),
            measurements: Box::new(Batched::with_capacity(0)),
        }
    }
}

/// Most prefixes with measurements. One more discards all measurements.
const PREFIXES: usize = 1 << 16;

/// Most measured faces of a prefix; one more replaces the face that was added first.
const FACES: usize = 32;

/// Measurements of a prefix.
#[derive(Clone, Debug)]
struct Measurements {
    faces: SmallVec<[FaceMeasurement; 2]>,
    next_probe: Time,
}

#[derive(Clone, Copy, Debug)]
struct FaceMeasurement {
    face: FaceId,
    rtt: Rtt,
    /// Time at which the outstanding Interest times out.
    deadline: Option<Time>,
    timeouts: u32,
}

impl FaceMeasurement {
    /// Adds an RTT sample.
    fn add_sample(&mut self, sample: Duration) {
        self.rtt.add_sample(sample);
        self.deadline = None;
        self.timeouts = 0;
    }
}

impl Measurements {
    /// Measurement of a face, added if it is missing.
    fn of(&mut self, face: FaceId) -> &mut FaceMeasurement {
        let at = self.faces.iter().position(|known| known.face == face);
        let at = at.unwrap_or_else(|| {
            // The face that was added first may be closed by now.
            if self.faces.len() >= FACES {
                self.faces.remove(0);
            }
            self.faces.push(FaceMeasurement { face, rtt: Rtt::default(), deadline: None, timeouts: 0 });
            self.faces.len() - 1
        });
        &mut self.faces[at]
    }

    /// Starts the timeout of an Interest that goes to `face`, unless one is outstanding.
    fn start_timeout(&mut self, face: FaceId, now: Time) {
        let known = self.of(face);
        let timeout = known.rtt.timeout();
        known.deadline.get_or_insert(now + timeout);
    }
}

impl Algorithm for Asf {
    const MEASURES: bool = true;

    const PARAMETERS: &'static [&'static str] = &[
        Suppression::PARAMETERS[0],
        Suppression::PARAMETERS[1],
        Suppression::PARAMETERS[2],
        "probing-interval (1000 or more)",
        "max-timeouts (1 or more)",
        "n-silent-timeouts (0 or more; max-timeouts - 1)",
    ];

    fn set_parameter(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "probing-interval" => {
                self.probing_interval = positive(value).filter(|millis| *millis >= 1000)?.into();
            }
            "max-timeouts" => self.max_timeouts = positive(value)?,
            // NFD before 2022: timeouts without an effect, so that one more ranks the face last.
            "n-silent-timeouts" => self.max_timeouts = value.parse::<u32>().ok()?.checked_add(1)?,
            _ => return self.retransmission.set_parameter(name, value),
        }
        Some(())
    }

    fn on_interest(&mut self, context: &mut InterestContext<'_>) -> Decision {
        let now = context.now;
        let (interval, max_timeouts, retransmission) =
            (self.probing_interval, self.max_timeouts, self.retransmission);
        if context.records.is_pending(now) {
            let decision = retransmission.retransmit(context);
            if let Decision::Forward(faces) = &decision
                && let Some(measurements) = self.measurements_of(context.prefix, now)
            {
                faces.iter().for_each(|face| measurements.start_timeout(*face, now));
            }
            return decision;
        }
        let Some(measurements) = self.measurements_of(context.prefix, now) else { return Decision::Suppress };
        for known in &mut measurements.faces {
            if known.deadline.is_some_and(|deadline| deadline <= now) {
                known.deadline = None;
                known.timeouts = known.timeouts.saturating_add(1);
            }
        }
        let mut hops: SmallVec<[NextHop; 8]> = context.eligible().take(FACES).collect();
        hops.sort_by_key(|hop| {
            let known = measurements.faces.iter().find(|known| known.face == hop.face);
            match known.map(|known| (known.timeouts, known.rtt.smoothed())) {
                Some((timeouts, _)) if timeouts >= max_timeouts => (2, Duration::MAX, hop.cost),
                Some((_, Some(smoothed))) => (0, smoothed, hop.cost),
                _ => (1, Duration::ZERO, hop.cost),
            }
        });
        let Some((best, others)) = hops.split_first() else { return Decision::Reject(NackReason::NO_ROUTE) };
        measurements.start_timeout(best.face, now);
        if !others.is_empty() && measurements.next_probe <= now {
            measurements.next_probe = now.after_millis(interval);
            // The probability falls with the rank: of n faces, with weights n to 1.
            let total = others.len() * (others.len() + 1) / 2;
            let mut ticket = context.rng.below(total);
            for (rank, hop) in others.iter().enumerate() {
                let weight = others.len() - rank;
                if ticket < weight {
                    measurements.start_timeout(hop.face, now);
                    return Decision::Probe { best: best.face, probed: hop.face };
                }
                ticket -= weight;
            }
        }
        Decision::to(best.face)
    }

    fn on_data(&mut self, context: &DataContext<'_>) {
        let DataContext { face, prefix, .. } = *context;
        let Some(sample) = context.round_trip() else { return };
        if let Some(measurements) = self.measurements.find_mut(prefix, &prefix) {
            measurements.of(face).add_sample(sample);
        }
    }

    fn on_nack(&mut self, prefix: u64, records: &Records, face: FaceId, now: Time) -> NackDecision {
        // A face that sends Nacks is ranked with those that time out.
        if let Some(measurements) = self.measurements.find_mut(prefix, &prefix) {
            let known = measurements.of(face);
            known.deadline = None;
            known.timeouts = self.max_timeouts;
        }
        after_nack(records, now)
    }
}

impl Asf {
    /// Measurements of a prefix, added if there are none.
    fn measurements_of(&mut self, prefix: u64, now: Time) -> Option<&mut Measurements> {
        if self.measurements.find(prefix, &prefix).is_none() {
            if self.measurements.len() >= PREFIXES {
                *self.measurements = Batched::with_capacity(0);
            }
            let next_probe = now.after_millis(self.probing_interval);
            let measurements = Measurements { faces: SmallVec::new(), next_probe };
            self.measurements.insert(prefix, prefix, measurements, |prefix| *prefix);
        }
        self.measurements.find_mut(prefix, &prefix).invariant("the prefix was found or inserted")
    }
}
