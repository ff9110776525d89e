//! The receive path and timeouts while a trace or samples are on.
//!
//! Packets take the same steps as without them: the stages are the same code, over an output that notes what
//! is sent.

use super::act::Act;
use super::burst::{Burst, Content};
use super::forwarder::Forwarder;
use super::output::{Output, Part};
use super::watch::note_sent;
use crate::face::FaceId;
use crate::hashed::{HashedName, components};
use crate::pit::{Key, Pit, Records};
use crate::strategy::Decision;
use crate::trace::{
    MAX_FACES, Rule, Sampling, Sent, SentKind, Step, StepKind, Trace, Verdict, encoded, leading,
};
use alloc::vec::Vec;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{INTEREST, Interest, LpHeader, NackReason};
use hashlane_table::stage::Stage as _;

/// Output that notes in a step what is sent.
struct Noted<'a, O> {
    out: &'a mut O,
    step: &'a mut Step,
}

impl<O: Output> Output for Noted<'_, O> {
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        let kind = match (header.nack, packet.first()) {
            (Some(reason), _) => SentKind::Nack(reason),
            (None, Some(typ)) if u32::from(*typ) == INTEREST => SentKind::Interest,
            (None, _) => SentKind::Data,
        };
        note_sent(self.step, Sent { face, kind });
        self.out.send(face, header, packet);
    }

    fn enter(&mut self, part: Part) {
        self.out.enter(part);
    }

    fn decided(&mut self, decision: Option<&Decision>) {
        self.step.verdict = Some(decision.map_or(Verdict::Chosen, Verdict::from));
        self.out.decided(decision);
    }
}

impl<P: Pit> Forwarder<P> {
    /// Starts a trace. Returns false if there are [`MAX_TRACES`](crate::trace::MAX_TRACES). Until all traces
    /// end, each packet costs a comparison of its name with their prefixes.
    pub fn start_trace(&mut self, trace: Trace) -> bool {
        self.watch.start(trace)
    }

    /// Stops the trace of this number, if it is running.
    pub fn stop_trace(&mut self, id: u64) {
        self.watch.stop(id);
    }

    /// Number of traces that are running.
    pub fn traces(&self) -> usize {
        self.watch.traces()
    }

    /// Draws samples of the packets from now on; `None` ends that.
    pub fn sample(&mut self, sampling: Option<Sampling>) {
        self.watch.sample(sampling);
    }

    /// Acts as [`forward_decoded`](Self::forward_decoded), for observers.
    #[cold]
    #[inline(never)]
    pub(super) fn forward_watched(
        &mut self,
        burst: &mut Burst<'_, P::Mark>,
        now: Time,
        out: &mut impl Output,
    ) {
        self.watch.expire(now);
        self.prefetch().run(burst);
        let names = self.decode.take_names();
        let Burst { packets, headers, .. } = burst;
        for packet in packets {
            let (header, name) = (headers.of(packet), names.of(packet));
            let kind = match &packet.content {
                Content::Elsewhere => continue,
                Content::None => None,
                Content::Interest(_) => Some(StepKind::Interest),
                Content::Data(_) => Some(StepKind::Data),
                Content::Nack(_) => Some(StepKind::Nack(header.nack.unwrap_or(NackReason::NONE))),
            };
            self.watch.count(&name, kind == Some(StepKind::Interest), &mut self.rng);
            let begun =
                kind.and_then(|kind| self.watch.begin(kind, packet.face, name.components, name.hash(), now));
            let Some(mut step) = begun else {
                Act { forwarder: self, now, out }.forward(packet, header, &name);
                continue;
            };
            let mut noted = Noted { out, step: &mut step };
            Act { forwarder: self, now, out: &mut noted }.forward(packet, header, &name);
            step.dropped = packet.outcome.err();
            // A packet that another shard visits next has done nothing here, unless it was answered.
            if packet.passed.is_some() && step.sent.is_empty() {
                continue;
            }
            if let Content::Interest(interest) = &packet.content
                && step.verdict.is_some_and(|verdict| verdict != Verdict::Chosen)
            {
                step.rule = self.explain(interest, &name);
            }
            self.watch.end(&step, name.components, name.hash());
        }
        self.decode.put_back(names);
    }

    /// FIB rule and strategy that apply to an Interest.
    fn explain(&mut self, interest: &Interest<'_>, name: &HashedName<'_>) -> Option<Rule> {
        let Self { hasher, fib, choice, config, .. } = self;
        let (at, strategy) = choice.longest(name)?;
        let arrived = interest.hints().any(|hint| {
            let hint = components(hint.as_bytes());
            config.regions.iter().any(|region| components(region.as_bytes()).starts_with(hint))
        });
        let found = |components: &[u8], found: Option<(usize, &[_])>| {
            found.map(|(len, hops)| {
                let hops: Vec<_> = hops.iter().take(MAX_FACES).copied().collect();
                (encoded(leading(components, len, crate::trace::MAX_NAME)), hops)
            })
        };
        let matched = if interest.forwarding_hint().is_empty() || arrived {
            found(name.components, fib.longest(name))
        } else {
            interest.hints().find_map(|hint| {
                let hint = hasher.hash_name(&hint);
                found(hint.components, fib.longest(&hint))
            })
        };
        let (prefix, hops) = matched.map_or((None, Vec::new()), |(prefix, hops)| (Some(prefix), hops));
        let choice = encoded(leading(name.components, at, crate::trace::MAX_NAME));
        Some(Rule { prefix, hops, choice, strategy })
    }

    /// Acts as [`try_others`](Self::try_others), for traces.
    #[cold]
    pub(super) fn try_others_traced(&mut self, slot: u32, now: Time, out: &mut impl Output) {
        let begun = self.pit.entry(slot).and_then(|(key, _)| {
            let (name, hash) = (key.components(), key.name_hash());
            let step = self.watch.begin(StepKind::Retry, FaceId::NONE, name, hash, now)?;
            Some((step, name.to_vec(), hash))
        });
        let Some((mut step, name, hash)) = begun else {
            self.try_others(slot, now, out);
            return;
        };
        self.try_others(slot, now, &mut Noted { out, step: &mut step });
        self.watch.end(&step, &name, hash);
    }

    /// Traces that an entry has expired.
    #[cold]
    pub(super) fn trace_expired(&mut self, key: &Key, records: &Records, now: Time) {
        let (name, hash) = (key.components(), key.name_hash());
        let Some(mut step) = self.watch.begin(StepKind::Expired, FaceId::NONE, name, hash, now) else {
            return;
        };
        for out in records.outs.iter().filter(|out| out.nack.is_none()) {
            note_sent(&mut step, Sent { face: out.face, kind: SentKind::Interest });
        }
        self.watch.end(&step, name, hash);
    }
}
