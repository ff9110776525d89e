//! Properties of traces and samples: a forwarder with them forwards as one without, and each step is bounded
//! and about a name of its trace.
//!
//! The input is a list of steps: a byte for the kind of step, and a few bytes of arguments.

use crate::forwarder::{Log, briefs};
use crate::steps::Steps;
use ::hashlane_ndn::time::Time;
use ::hashlane_ndn::wire::{DataBuilder, InterestBuilder, LpHeader, LpPacket, NackReason};
use ::hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use ::hashlane_ndn_fw::fib::NextHop;
use ::hashlane_ndn_fw::forward::{Burst, Config, Forwarder};
use ::hashlane_ndn_fw::strategy::StrategyKind;
use ::hashlane_ndn_fw::trace::{
    MAX_FACES, MAX_NAME, MAX_TRACES, SAMPLED_BYTES, Sample, Sampling, Step, StepKind, Trace,
};
use hashlane_hash::scheme::Key;
use hashlane_name::ndn::NdnName;
use hashlane_name::uri::parse_uri;
use std::sync::{Arc, Mutex};

/// Faces of a run.
const FACES: u32 = 4;

/// A step of a trace of `/a`: about a name below it, and within the bounds.
fn check_step(step: &Step) {
    let name = NdnName::parse(&step.name).expect("a name");
    assert!(name.to_string().starts_with("/a") && step.name.len() <= MAX_NAME + 4);
    assert!(step.sent.len() <= MAX_FACES);
    assert_eq!(step.face == FaceId::NONE, matches!(step.kind, StepKind::Retry | StepKind::Expired));
    if let Some(rule) = &step.rule {
        assert!(step.kind == StepKind::Interest && step.verdict.is_some() && rule.hops.len() <= MAX_FACES);
        let prefixes = rule.prefix.iter().chain([&rule.choice]);
        prefixes.for_each(|prefix| assert!(NdnName::parse(prefix).is_ok()));
    }
}

/// Runs the steps with a forwarder, and with one that is traced.
///
/// # Panics
/// They differ in what they send or drop, or a step breaks a rule.
pub fn check_traces(bytes: &[u8]) {
    let mut steps = Steps(bytes);
    let new = || Forwarder::new(Config::default(), &Key::VECTOR, 7);
    let (mut plain, mut traced) = (new(), new());
    let mut faces = Vec::new();
    for number in 0..FACES {
        let scope = if number % 2 == 0 { Scope::NonLocal } else { Scope::Local };
        let face = Face::new(scope, LinkType::PointToPoint);
        faces.push(plain.add_face(face).expect("room for a face"));
        traced.add_face(Face::new(scope, LinkType::PointToPoint));
    }
    // No strategy here draws a random number, as a sample does.
    for (uri, at, strategy) in [
        ("/", 0, StrategyKind::BestRoute),
        ("/a", 1, StrategyKind::Multicast),
        ("/a/b", 2, StrategyKind::Access),
    ] {
        let prefix = parse_uri(uri.as_bytes()).expect("a name");
        for forwarder in [&mut plain, &mut traced] {
            forwarder.add_route(&prefix.view(), NextHop { face: faces[at], cost: 1 });
            forwarder.add_route(&prefix.view(), NextHop { face: faces[3], cost: 2 });
            forwarder.set_strategy(&prefix.view(), strategy.create());
        }
    }
    let (seen, mut last) = (Arc::<Mutex<Vec<Step>>>::default(), 0);
    let mut now = Time::from_millis(1);
    while !steps.is_empty() {
        let step = steps.octet();
        let face = faces[usize::from(step >> 4) % faces.len()];
        let mut header = LpHeader::default();
        let packet = match step % 8 {
            0..=3 => {
                let (name, nonce, flags) = (steps.name(), steps.octet(), steps.octet());
                if step % 8 == 3 {
                    header.nack = Some(NackReason::NO_ROUTE);
                }
                InterestBuilder {
                    can_be_prefix: flags & 1 != 0,
                    nonce: Some(nonce.into()),
                    lifetime: 10 << (flags >> 4),
                    hop_limit: (flags & 2 != 0).then_some(flags >> 2 & 3),
                    ..InterestBuilder::new(name.view())
                }
                .build()
            }
            4 => DataBuilder::new(steps.name().view(), b"x").build(),
            5 => {
                last += 1;
                let kept = seen.clone();
                let is_read = step & 0x40 == 0;
                let sink = Arc::new(move |step: Step| {
                    kept.lock().expect("no panic").push(step);
                    is_read
                });
                let before = traced.traces();
                let prefix = parse_uri(b"/a").expect("a name");
                let trace =
                    Trace { id: last, prefix, every: 1 + u32::from(step >> 7), lasts: steps.number(), sink };
                assert_eq!(traced.start_trace(trace), before < MAX_TRACES);
                continue;
            }
            6 => {
                now = now.after_millis(steps.number());
                let (mut one, mut other) = (Log::default(), Log::default());
                plain.handle_retries(now, &mut one);
                traced.handle_retries(now, &mut other);
                assert!(briefs(&one).eq(briefs(&other)));
                plain.handle_timeout(now);
                traced.handle_timeout(now);
                continue;
            }
            _ => {
                let sink = Arc::new(|sample: Sample| {
                    assert!(sample.prefix.len() <= SAMPLED_BYTES);
                    sample.prefix.len() != 3
                });
                traced.sample((step & 0x80 == 0).then_some(Sampling { every: steps.octet().into(), sink }));
                traced.stop_trace(last);
                continue;
            }
        };
        let packet = LpPacket { header, fragment: &packet };
        let (mut one, mut other) = (Log::default(), Log::default());
        let expected = plain.receive(face, &packet, now, &mut one);
        let mut burst = Burst::new();
        burst.push_packet(face, &packet);
        traced.receive_burst(&mut burst, now, &mut other);
        assert_eq!(burst.outcomes().next(), Some(expected), "{packet:?}");
        assert!(briefs(&one).eq(briefs(&other)), "{packet:?}");
    }
    seen.lock().expect("no panic").iter().for_each(check_step);
}
