//! Traces: started, read, and ended in each way.

use super::*;
use hashlane_ndn::mgmt::trace::TraceReport;
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::trace::{MAX_NAME, Sent, SentKind, Step, StepKind};

fn step(uri: &str) -> Step {
    Step {
        at: Time(7_000_000),
        kind: StepKind::Nack(NackReason::NO_ROUTE),
        face: FaceId(301),
        name: name(uri).into_bytes(),
        is_cut: false,
        dropped: Some(DropReason::Loop),
        rule: None,
        verdict: None,
        sent: vec![Sent { face: FaceId(302), kind: SentKind::Data }],
    }
}

impl TestForwarder {
    /// The report of the trace of this face.
    fn trace_report(&mut self) -> TraceReport {
        let response = self.command("trace/read", &ControlParameters::default());
        assert_eq!((response.code, response.text.as_str()), (200, "OK"));
        TraceReport::parse(&response.body).unwrap()
    }

    fn pass(&mut self, milliseconds: u64) {
        self.time += milliseconds;
        assert!(self.manager.tick(at(self.time), &mut self.plane).is_empty());
    }
}

#[test]
fn the_steps_of_a_trace_are_read_once() {
    let mut bench = TestForwarder::new();
    let parameters = ControlParameters { count: Some(8), expiration: Some(60_000), ..named("/a") };
    let done = bench.ok("trace/start", &parameters);
    assert_eq!((done.count, done.expiration, done.capacity), (Some(8), Some(60_000), Some(1024)));
    assert_eq!(bench.plane.asked, ["Trace { id: 1, prefix: /a, every: 8, lasts: 65000 }"]);
    let sink = bench.plane.traces[0].sink.clone();
    assert!(sink(step("/a/1")) && sink(step("/a/2")));
    let report = bench.trace_report();
    assert_eq!((report.lost, report.left, report.steps.len()), (0, 60_000, 2));
    let first = &report.steps[0];
    assert_eq!((first.at, first.kind.as_str(), first.face_id), (7000, "nack", Some(301)));
    assert_eq!((&first.name, first.reason.as_deref()), (&name("/a/1"), Some("NoRoute")));
    assert_eq!((first.dropped.as_deref(), first.sent[0].face_id), (Some("loop"), 302));
    assert!(bench.trace_report().steps.is_empty());
}

#[test]
fn more_steps_than_are_read_are_counted_and_reports_fit_in_packets() {
    let mut bench = TestForwarder::new();
    bench.ok("trace/start", &named("/"));
    let sink = bench.plane.traces[0].sink.clone();
    let long = format!("/{}", "x".repeat(MAX_NAME - 8));
    assert!((0..2000).all(|_| sink(step(&long))));
    let mut steps = 0;
    loop {
        let report = bench.trace_report();
        assert_eq!(report.lost, 2000 - 1024);
        steps += report.steps.len();
        if report.steps.is_empty() {
            break;
        }
    }
    assert_eq!(steps, 1024);
}

#[test]
fn a_trace_ends_unread_with_its_time_with_its_face_and_when_another_is_started() {
    let mut bench = TestForwarder::new();
    bench.ok("trace/start", &named("/a"));
    bench.pass(4000);
    bench.trace_report();
    bench.pass(4999);
    assert_eq!(bench.plane.asked.len(), 1);
    bench.pass(1);
    assert_eq!(bench.plane.asked.pop().as_deref(), Some("stop trace 1"));
    let sink = bench.plane.traces[0].sink.clone();
    assert!(!sink(step("/a/1")), "nobody reads it");
    assert_eq!(bench.refused("trace/read", &ControlParameters::default()).0, 404);

    bench.ok("trace/start", &ControlParameters { expiration: Some(1000), ..named("/a") });
    bench.pass(1000);
    assert_eq!(bench.plane.asked.pop().as_deref(), Some("stop trace 2"));

    bench.ok("trace/start", &named("/a"));
    bench.ok("trace/start", &named("/b"));
    let stopped = bench.plane.asked.iter().filter(|asked| *asked == "stop trace 3").count();
    assert_eq!(stopped, 1);
    bench.manager.face_down(300, at(bench.time), &mut bench.plane);
    assert_eq!(bench.plane.asked.pop().as_deref(), Some("stop trace 4"));
}

#[test]
fn traces_are_few_and_for_those_who_may_give_every_command() {
    let mut bench = TestForwarder::new();
    for face in 300..304 {
        bench.from.face = face;
        bench.ok("trace/start", &named("/a"));
    }
    bench.from.face = 304;
    assert_eq!(bench.refused("trace/start", &named("/a")).0, 503);
    bench.from.face = 300;
    bench.ok("trace/start", &named("/b"));
    for wrong in [
        ControlParameters::default(),
        ControlParameters { count: Some(0), ..named("/a") },
        ControlParameters { expiration: Some(0), ..named("/a") },
    ] {
        assert_eq!(bench.refused("trace/start", &wrong).0, 400, "{wrong:?}");
    }
    bench.from.peer = Peer::User { uid: 4242, over: Over::Unix };
    for verb in ["trace/start", "trace/read"] {
        let parameters = if verb == "trace/start" { named("/a") } else { ControlParameters::default() };
        assert_eq!(bench.refused(verb, &parameters).0, 403);
    }
}
