//! Traces and samples: what they tell, what they leave out, and that forwarding is the same with them.

use crate::rig::{Rig, packet};
use crate::support::fleet::Fleet;
use crate::support::{Log, ask, data, uri};
use hashlane_hash::scheme::Key;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpHeader, NackReason};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Burst, Config, DropReason};
use hashlane_ndn_fw::pit::ByName;
use hashlane_ndn_fw::strategy::StrategyKind;
use hashlane_ndn_fw::trace::{
    MAX_FACES, MAX_NAME, MAX_TRACES, Sample, Sampling, SentKind, Step, StepKind, Trace, Verdict,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Keeps the steps of a trace.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<Step>>>);

impl Steps {
    fn trace(&self, id: u64, prefix: &str) -> Trace {
        let kept = self.0.clone();
        let sink = Arc::new(move |step| {
            kept.lock().expect("no panic").push(step);
            true
        });
        Trace { id, prefix: uri(prefix), every: 1, lasts: 60_000, sink }
    }

    fn take(&self) -> Vec<Step> {
        std::mem::take(&mut self.0.lock().expect("no panic"))
    }

    /// The only step since the last call.
    fn one(&self) -> Step {
        let mut steps = self.take();
        assert_eq!(steps.len(), 1, "{steps:?}");
        steps.remove(0)
    }
}

fn sent(step: &Step) -> Vec<(FaceId, SentKind)> {
    step.sent.iter().map(|sent| (sent.face, sent.kind)).collect()
}

/// A producer and a consumer of `/a`, and a trace of it.
fn traced() -> (Rig, [FaceId; 3], Steps) {
    let mut rig = Rig::new();
    let faces = rig.faces();
    rig.route("/a", faces[2], 7);
    let steps = Steps::default();
    assert!(rig.forwarder.start_trace(steps.trace(1, "/a")));
    (rig, faces, steps)
}

#[test]
fn an_interest_is_followed_to_its_data() {
    let (mut rig, [consumer, _, producer], steps) = traced();
    rig.asks(consumer, &ask("/a/1", 1));
    let step = steps.one();
    assert_eq!((step.kind, step.face, step.at), (StepKind::Interest, consumer, rig.now));
    assert_eq!(step.name, uri("/a/1").as_bytes());
    assert_eq!((step.dropped, step.verdict), (None, Some(Verdict::Forward)));
    let rule = step.rule.clone().expect("the Interest came to the FIB");
    assert_eq!(rule.prefix.as_deref(), Some(uri("/a").as_bytes()));
    assert_eq!(rule.hops, [NextHop { face: producer, cost: 7 }]);
    assert_eq!((rule.choice.as_slice(), rule.strategy), (uri("/").as_bytes(), StrategyKind::BestRoute));
    assert_eq!(sent(&step), [(producer, SentKind::Interest)]);

    rig.gives(producer, &data("/a/1", 10_000));
    let step = steps.one();
    assert_eq!((step.kind, step.face, step.rule.is_none()), (StepKind::Data, producer, true));
    assert_eq!(sent(&step), [(consumer, SentKind::Data)]);

    // From the content store: Data, and no decision.
    assert_eq!(rig.take(consumer, LpHeader::default(), &ask("/a/1", 2).build()).len(), 1);
    let step = steps.one();
    assert_eq!((step.verdict, sent(&step)), (None, vec![(consumer, SentKind::Data)]));
}

#[test]
fn the_reason_of_a_drop_is_told() {
    let (mut rig, [consumer, other, producer], steps) = traced();
    rig.asks(consumer, &ask("/a/1", 1));
    steps.one();
    assert_eq!(rig.refuses(other, &ask("/a/1", 1)).0, DropReason::Loop);
    let step = steps.one();
    assert_eq!((step.dropped, step.verdict), (Some(DropReason::Loop), None));
    assert_eq!(sent(&step), [(other, SentKind::Nack(NackReason::DUPLICATE))]);

    // A second consumer waits for the first Interest.
    assert_eq!(rig.asks(other, &ask("/a/1", 2)), []);
    assert_eq!(steps.one().verdict, Some(Verdict::Suppress));

    assert_eq!(rig.drops(producer, &data("/a/2", 0)), DropReason::Unsolicited);
    assert_eq!(steps.one().dropped, Some(DropReason::Unsolicited));

    rig.forwarder.remove_route(&uri("/a").view(), producer);
    assert_eq!(rig.take(consumer, LpHeader::default(), &ask("/a/3", 3).build()).len(), 1);
    let step = steps.one();
    assert_eq!(step.verdict, Some(Verdict::Reject(NackReason::NO_ROUTE)));
    assert_eq!(step.rule.clone().map(|rule| (rule.prefix, rule.hops)), Some((None, vec![])));
    assert_eq!(sent(&step), [(consumer, SentKind::Nack(NackReason::NO_ROUTE))]);
}

#[test]
fn nacks_retries_and_expiries_are_steps() {
    let (mut rig, [consumer, other, producer], steps) = traced();
    rig.asks(consumer, &ask("/a/1", 1));
    steps.one();
    rig.nacks(producer, NackReason::CONGESTION, &ask("/a/1", 1));
    let step = steps.one();
    assert_eq!(step.kind, StepKind::Nack(NackReason::CONGESTION));
    assert_eq!(sent(&step), [(consumer, SentKind::Nack(NackReason::CONGESTION))]);

    rig.asks(consumer, &ask("/a/2", 2).lives(1000));
    steps.one();
    rig.passes(2000);
    let step = steps.one();
    assert_eq!((step.kind, step.face), (StepKind::Expired, FaceId::NONE));
    assert_eq!(sent(&step), [(producer, SentKind::Interest)], "which has not answered");

    rig.strategy("/a", "access");
    rig.route("/a", other, 9);
    rig.asks(consumer, &ask("/a/g/3", 3));
    rig.gives(producer, &data("/a/g/3", 0));
    steps.take();
    rig.asks(consumer, &ask("/a/g/4", 4));
    let step = steps.one();
    assert_eq!((step.verdict, sent(&step)), (Some(Verdict::Try), vec![(producer, SentKind::Interest)]));
    rig.retries(1500);
    let step = steps.one();
    assert_eq!((step.kind, sent(&step)), (StepKind::Retry, vec![(other, SentKind::Interest)]));
}

#[test]
fn a_hinted_interest_names_the_rule_of_its_hint() {
    let (mut rig, [consumer, other, _], steps) = traced();
    rig.route("/net", other, 1);
    rig.asks(consumer, &ask("/a/1", 1).hint("/elsewhere").hint("/net/site"));
    let rule = steps.one().rule.expect("a rule");
    assert_eq!(rule.prefix.as_deref(), Some(uri("/net").as_bytes()));
}

#[test]
fn names_outside_the_prefix_and_the_management_are_left_out() {
    let mut rig = Rig::new();
    let consumer = rig.app();
    let producer = rig.face();
    rig.route("/", producer, 1);
    rig.route("/localhost/nfd", consumer, 1);
    let (a, all) = (Steps::default(), Steps::default());
    assert!(rig.forwarder.start_trace(a.trace(1, "/a")) && rig.forwarder.start_trace(all.trace(2, "/")));
    rig.asks(consumer, &ask("/ab/1", 1));
    rig.take(consumer, LpHeader::default(), &ask("/localhost/nfd/status", 2).build());
    assert!(a.take().is_empty());
    assert_eq!(all.one().name, uri("/ab/1").as_bytes());
    // The trace of `/a` has no say about the other one.
    rig.forwarder.stop_trace(1);
    rig.asks(consumer, &ask("/a/1", 3));
    assert!(a.take().is_empty());
    all.one();
}

#[test]
fn a_trace_ends_by_itself_and_with_its_reader() {
    let (mut rig, [consumer, ..], steps) = traced();
    rig.asks(consumer, &ask("/a/1", 1).lives(100));
    rig.passes(59_000);
    assert_eq!((steps.take().len(), rig.forwarder.traces()), (2, 1));
    rig.passes(1000);
    assert_eq!(rig.forwarder.traces(), 0);
    rig.asks(consumer, &ask("/a/2", 2));
    assert!(steps.take().is_empty());

    let reads = Arc::new(AtomicBool::new(true));
    let is_read = reads.clone();
    let sink = Arc::new(move |_| is_read.load(Ordering::Relaxed));
    let trace = Trace { sink, ..steps.trace(2, "/a") };
    assert!(rig.forwarder.start_trace(trace));
    rig.asks(consumer, &ask("/a/3", 3));
    assert_eq!(rig.forwarder.traces(), 1);
    reads.store(false, Ordering::Relaxed);
    rig.asks(consumer, &ask("/a/4", 4));
    assert_eq!(rig.forwarder.traces(), 0);
}

#[test]
fn steps_and_traces_are_bounded() {
    let (mut rig, [consumer, ..], steps) = traced();
    let more = (2..).take_while(|id| rig.forwarder.start_trace(steps.trace(*id, "/b"))).count();
    assert_eq!((1 + more, rig.forwarder.traces()), (MAX_TRACES, MAX_TRACES));
    rig.strategy("/a", "multicast");
    for _ in 0..40 {
        let hop = rig.face();
        rig.route("/a", hop, 1);
    }
    let long = format!("/a/{}/{}", "x".repeat(600), "y".repeat(600));
    assert_eq!(rig.asks(consumer, &ask(&long, 1)).len(), 41);
    let step = steps.one();
    assert!(step.is_cut && step.name.len() < MAX_NAME);
    assert_eq!(step.name, uri(&format!("/a/{}", "x".repeat(600))).as_bytes());
    assert_eq!((step.sent.len(), step.rule.expect("a rule").hops.len()), (MAX_FACES, MAX_FACES));
}

#[test]
fn a_part_of_the_names_is_traced_with_all_their_packets() {
    let (mut rig, [consumer, _, producer], _) = traced();
    rig.forwarder.stop_trace(1);
    let steps = Steps::default();
    assert!(rig.forwarder.start_trace(Trace { every: 4, ..steps.trace(2, "/a") }));
    let mut names = 0;
    for number in 0..400 {
        let name = format!("/a/{number}");
        rig.asks(consumer, &ask(&name, number));
        rig.gives(producer, &data(&name, 0));
        match steps.take().as_slice() {
            [] => {}
            [interest, data] => {
                names += 1;
                assert_eq!((interest.kind, data.kind), (StepKind::Interest, StepKind::Data));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!((60..140).contains(&names), "{names}");
}

#[test]
fn every_shard_traces_what_it_forwards() {
    let mut fleet = Fleet::new(4, &Config::default(), &Key::VECTOR, 7, ByName::default);
    let mut face = || fleet.add_face(&Face::new(Scope::NonLocal, LinkType::PointToPoint));
    let (consumer, producer) = (face(), face());
    fleet.add_route(&uri("/a").view(), NextHop { face: producer, cost: 0 });
    let (steps, now) = (Steps::default(), Time::from_millis(1));
    for shard in &mut fleet.shards {
        assert!(shard.start_trace(steps.trace(1, "/a")));
    }
    let mut take = |face, bytes: &[u8]| {
        let mut log = Log::default();
        assert_eq!(fleet.receive(face, &packet(LpHeader::default(), bytes), now, &mut log), Ok(()));
        log.0.len()
    };
    for number in 0..20 {
        let name = format!("/a/{number}/x");
        assert_eq!(take(consumer, &ask(&name, number).build()), 1);
        assert_eq!(steps.one().kind, StepKind::Interest);
        assert_eq!(take(producer, &data(&name, 10_000)), 1);
        assert_eq!(sent(&steps.one()), [(consumer, SentKind::Data)]);
    }
    // A short name visits several shards; one of them answers.
    assert_eq!(take(consumer, &ask("/a", 99).prefix().build()), 1);
    assert_eq!(sent(&steps.one()), [(consumer, SentKind::Data)]);
}

#[test]
fn samples_are_drawn_at_their_rate_whatever_the_size_of_bursts() {
    let (mut rig, [consumer, ..], steps) = traced();
    rig.forwarder.stop_trace(1);
    let samples = Arc::<Mutex<Vec<Sample>>>::default();
    let kept = samples.clone();
    let sink = Arc::new(move |sample| {
        kept.lock().expect("no panic").push(sample);
        true
    });
    rig.forwarder.sample(Some(Sampling { every: 16, sink }));
    let mut nonce = 0;
    for size in (1..64).cycle().take(400) {
        let packets: Vec<_> = (0..size)
            .map(|_| {
                nonce += 1;
                // Every fourth name is another one.
                let place = if nonce % 4 == 0 { "z" } else { "b" };
                ask(&format!("/a/{place}/{nonce}"), nonce).build()
            })
            .collect();
        let mut burst = Burst::new();
        packets.iter().for_each(|packet| assert_eq!(burst.push(consumer, packet), Ok(())));
        rig.forwarder.receive_burst(&mut burst, rig.now, &mut Log::default());
    }
    let samples = samples.lock().expect("no panic");
    let [all, of_z] = [
        samples.len() as u32,
        samples.iter().filter(|sample| sample.prefix == b"\x08\x01a\x08\x01z").count() as u32,
    ];
    assert!(samples.iter().all(|sample| sample.is_interest));
    let expected = nonce / 16;
    assert!(all.abs_diff(expected) < expected / 8, "{all} of {nonce}");
    assert!(of_z.abs_diff(all / 4) < all / 16, "{of_z} of {all}");
    assert!(steps.take().is_empty());
}
