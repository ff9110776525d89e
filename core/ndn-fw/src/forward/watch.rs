//! Observers of forwarding: traces and samples. Without them, a burst costs one comparison.

use super::scope::is_management;
use crate::face::FaceId;
use crate::hashed::{HashedName, components};
use crate::strategy::Rng;
use crate::trace::{
    MAX_NAME, MAX_TRACES, SAMPLED_BYTES, SAMPLED_COMPONENTS, Sample, Sampling, Sent, Step, StepKind, Trace,
    encoded, leading,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashlane_ndn::time::Time;

/// The observers of a forwarder.
#[derive(Debug)]
pub(super) struct Watch {
    /// True if there is a trace.
    is_tracing: bool,
    /// Packets until the next sample.
    left: u32,
    observers: Option<Box<Observers>>,
}

#[derive(Debug, Default)]
struct Observers {
    traces: Vec<Running>,
    sampling: Option<Sampling>,
}

#[derive(Debug)]
struct Running {
    trace: Trace,
    /// Time of its end, from the first packet or timeout on.
    ends: Option<Time>,
}

/// No observers.
impl Default for Watch {
    fn default() -> Self {
        Self { is_tracing: false, left: u32::MAX, observers: None }
    }
}

impl Watch {
    /// True if an observer has to see a burst of so many packets.
    #[inline(always)]
    pub(super) fn sees(&mut self, packets: usize) -> bool {
        let packets = packets as u32;
        if self.is_tracing || packets >= self.left {
            return true;
        }
        self.left -= packets;
        false
    }

    /// True if there is a trace.
    #[inline(always)]
    pub(super) fn is_tracing(&self) -> bool {
        self.is_tracing
    }

    /// Number of traces.
    pub(super) fn traces(&self) -> usize {
        self.observers.as_ref().map_or(0, |observers| observers.traces.len())
    }

    /// Starts a trace. Returns false if there are too many.
    pub(super) fn start(&mut self, trace: Trace) -> bool {
        let observers = self.observers.get_or_insert_default();
        if observers.traces.len() >= MAX_TRACES {
            return false;
        }
        observers.traces.push(Running { trace, ends: None });
        self.is_tracing = true;
        true
    }

    /// Stops the trace of this number.
    pub(super) fn stop(&mut self, id: u64) {
        self.retain(|running| running.trace.id != id);
    }

    fn retain(&mut self, stays: impl FnMut(&mut Running) -> bool) {
        if let Some(observers) = &mut self.observers {
            observers.traces.retain_mut(stays);
            self.is_tracing = !observers.traces.is_empty();
            if !self.is_tracing && observers.sampling.is_none() {
                self.observers = None;
            }
        }
    }

    /// Ends the traces whose time is over.
    pub(super) fn expire(&mut self, now: Time) {
        if self.is_tracing {
            self.retain(|Running { trace, ends }| now < *ends.get_or_insert(now.after_millis(trace.lasts)));
        }
    }

    /// Replaces the samples.
    pub(super) fn sample(&mut self, sampling: Option<Sampling>) {
        let observers = self.observers.get_or_insert_default();
        observers.sampling = sampling;
        self.left = observers.sampling.as_ref().map_or(u32::MAX, |sampling| sampling.every.max(1));
        self.retain(|_| true);
    }

    /// Counts a packet, and draws it as a sample if it is one. `rng` draws the distance to the next one, so
    /// that no pattern of packets escapes.
    pub(super) fn count(&mut self, name: &HashedName<'_>, is_interest: bool, rng: &mut Rng) {
        self.left -= 1;
        if self.left > 0 {
            return;
        }
        self.left = u32::MAX;
        let Some(observers) = &mut self.observers else { return };
        let Some(Sampling { every, sink }) = &observers.sampling else { return };
        let sample = Sample {
            prefix: leading(name.components, SAMPLED_COMPONENTS, SAMPLED_BYTES).to_vec(),
            is_interest,
        };
        let is_read = is_management(name.components) || sink(sample);
        if is_read {
            // Uniform from 1 to 2·every − 1: `every` on average.
            let span = u64::from(*every).saturating_mul(2).saturating_sub(1).max(1);
            self.left = u32::try_from(1 + rng.next_u64() % span).unwrap_or(u32::MAX);
        } else {
            observers.sampling = None;
            self.retain(|_| true);
        }
    }

    /// Begins a step, if a trace has the name.
    pub(super) fn begin(
        &self,
        kind: StepKind,
        face: FaceId,
        name: &[u8],
        hash: u64,
        now: Time,
    ) -> Option<Step> {
        if is_management(name) || !self.matching(name, hash).any(|_| true) {
            return None;
        }
        let kept = leading(name, usize::MAX, MAX_NAME);
        Some(Step {
            at: now,
            kind,
            face,
            name: encoded(kept),
            is_cut: kept.len() < name.len(),
            dropped: None,
            rule: None,
            verdict: None,
            sent: Vec::new(),
        })
    }

    /// Traces that have a name, given as its encoded components and its keyed hash.
    fn matching(&self, name: &[u8], hash: u64) -> impl Iterator<Item = &Trace> {
        let traces = self.observers.iter().flat_map(|observers| &observers.traces);
        traces.map(|running| &running.trace).filter(move |trace| {
            // Components contain their lengths: bytes with which a name starts end with a component.
            name.starts_with(components(trace.prefix.as_bytes()))
                && hash.is_multiple_of(u64::from(trace.every.max(1)))
        })
    }

    /// Hands a step to the traces that have its name. Ends those that nobody reads.
    pub(super) fn end(&mut self, step: &Step, name: &[u8], hash: u64) {
        let unread: Vec<u64> = self
            .matching(name, hash)
            .filter(|trace| !(trace.sink)(step.clone()))
            .map(|trace| trace.id)
            .collect();
        unread.into_iter().for_each(|id| self.stop(id));
    }
}

/// Adds a packet to those that a step has sent.
pub(super) fn note_sent(step: &mut Step, sent: Sent) {
    if step.sent.len() < crate::trace::MAX_FACES {
        step.sent.push(sent);
    }
}
