//! Metering of a pair of virtual interfaces, in a network namespace of the test's thread.
//!
//! Skipped where no namespace can be made; with CI=true that is a failure.

use super::*;
use crate::export::ExportError;
use crate::meter::MeterOptions;
use hashlane_hash::scheme::Key;
use hashlane_rig::namespace;
use std::net::UdpSocket;

/// Time for what must happen, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a test in a new namespace, in which `lo` is up.
fn in_namespace(test: fn()) {
    namespace::with(|| namespace::create().and_then(|_| namespace::ip("link set lo up")), test);
}

/// Output that keeps the flows, and acts at each tick.
struct Kept<F> {
    flows: Vec<FlowRecord>,
    act: F,
}

impl<F: FnMut(&[MeterStats]) -> Result<(), ExportError>> Output for Kept<F> {
    fn flows(&mut self, flows: &[FlowRecord], _: u64) -> Result<(), ExportError> {
        self.flows.extend(flows);
        Ok(())
    }

    fn tick(&mut self, workers: &[MeterStats], _: u64) -> Result<(), ExportError> {
        (self.act)(workers)
    }
}

const LIVE: Live<'_> = Live { interface: "lo", duration: Some(PATIENCE), promiscuous: false, io: Io::Auto };

/// Meters `lo` with this many workers until `act` has set the flag.
fn meter_lo(
    workers: usize,
    act: impl FnMut(&[MeterStats], &AtomicBool) -> Result<(), ExportError>,
) -> (Vec<FlowRecord>, Result<Summary, RunError>) {
    let (stop, mut act) = (AtomicBool::new(false), act);
    let meter = MeterOptions { flows: 1 << 12, ..MeterOptions::default() };
    let options = RunOptions { meter, workers, key: &Key::VECTOR, stop: &stop, largest: None };
    let mut kept = Kept { flows: Vec::new(), act: |stats: &[MeterStats]| act(stats, &stop) };
    let result = meter_interface(&LIVE, &options, &mut kept);
    (kept.flows, result)
}

fn packets(stats: &[MeterStats]) -> u64 {
    stats.iter().map(|worker| worker.packets).sum()
}

#[test]
fn flows_of_an_interface_are_exported_when_the_run_is_stopped() {
    in_namespace(|| {
        for workers in [1, 3] {
            let server = UdpSocket::bind("127.0.0.1:0").unwrap();
            let to = server.local_addr().unwrap();
            let clients: Vec<UdpSocket> = (0..20).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
            let mut sent = false;
            let (flows, result) = meter_lo(workers, |stats, stop| {
                if !sent {
                    sent = true;
                    for client in &clients {
                        client.send_to(b"question", to).unwrap();
                        server.send_to(b"answer", client.local_addr().unwrap()).unwrap();
                    }
                }
                stop.store(packets(stats) >= 40, Ordering::Relaxed);
                Ok(())
            });
            let summary = result.unwrap();
            assert_eq!((summary.workers.len(), summary.total().packets), (workers, 40));
            assert_eq!(summary.total().flows_lost, 0);
            assert!(summary.problems.is_empty(), "{summary:?}");
            // Both directions came to one worker.
            assert_eq!(flows.len(), 20);
            for flow in &flows {
                assert_eq!((flow.forward.packets, flow.reverse.packets), (1, 1), "{flow:?}");
                assert_eq!((flow.forward.bytes, flow.destination_port), (36, to.port()));
            }
        }
    });
}

#[test]
fn an_interface_that_goes_down_ends_the_run_with_a_problem() {
    in_namespace(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut sent = false;
        let (flows, result) = meter_lo(2, |stats, _| {
            if !sent {
                sent = true;
                socket.send_to(b"last words", socket.local_addr().unwrap()).unwrap();
            } else if packets(stats) >= 1 {
                namespace::ip("link set lo down").unwrap();
            }
            Ok(())
        });
        let problems = result.unwrap().problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].1.contains("down"), "{problems:?}");
        assert_eq!(flows.len(), 1);
    });
}

#[test]
fn an_output_that_fails_ends_the_run() {
    in_namespace(|| {
        let fails =
            |_: &[MeterStats], _: &AtomicBool| Err(ExportError::Parquet("kept".into(), "full".into()));
        let begun = Instant::now();
        let (_, result) = meter_lo(2, fails);
        assert!(matches!(result, Err(RunError::Output(_))), "{result:?}");
        assert!(begun.elapsed() < PATIENCE);
    });
}

#[test]
fn an_interface_that_does_not_exist_is_named() {
    let (stop, key) = (AtomicBool::new(false), Key::VECTOR);
    let options =
        RunOptions { meter: MeterOptions::default(), workers: 1, key: &key, stop: &stop, largest: None };
    let mut kept = Kept { flows: Vec::new(), act: |_: &[MeterStats]| Ok(()) };
    let live = Live { interface: "nothing0", ..LIVE };
    let error = meter_interface(&live, &options, &mut kept).unwrap_err().to_string();
    assert!(error.starts_with("nothing0: no such interface; this host has "), "{error}");
}

#[test]
fn records_beyond_the_channel_are_lost_and_counted() {
    let (to, taken) = sync_channel(2);
    let mut records = Records { to, batch: Vec::new(), lost: 0 };
    for _ in 0..5 * BATCH {
        records.take(&FlowRecord::EMPTY);
    }
    assert_eq!(records.lost, 3 * BATCH as u64);
    drop(records);
    assert_eq!(taken.iter().map(|batch| batch.len()).sum::<usize>(), 2 * BATCH);
}
