//! Runs with one worker and with several, over captures in files.

use super::*;
use crate::record::EndReason;
use std::sync::atomic::Ordering;

/// Output that keeps everything.
#[derive(Default)]
struct Kept {
    flows: Vec<FlowRecord>,
    ticks: usize,
    fails_after: Option<usize>,
}

impl Output for Kept {
    fn flows(&mut self, flows: &[FlowRecord], _: u64) -> Result<(), ExportError> {
        self.flows.extend(flows);
        match self.fails_after {
            Some(most) if self.flows.len() > most => Err(ExportError::Parquet("kept".into(), "full".into())),
            _ => Ok(()),
        }
    }

    fn tick(&mut self, _: &[MeterStats], _: u64) -> Result<(), ExportError> {
        self.ticks += 1;
        Ok(())
    }
}

/// A capture of UDP packets between changing hosts, some of them in fragments.
fn capture(packets: u32, start: u32) -> Vec<u8> {
    let seed = start;
    let mut bytes = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    bytes[4..8].copy_from_slice(&[2, 0, 4, 0]);
    for number in 0..packets {
        let mixed = (number + seed).wrapping_mul(0x9e37_79b9) >> 20;
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, 0, 0, 48]);
        frame.extend((number as u16).to_be_bytes());
        // Each eighth datagram comes in two parts, one after the other.
        let part = if number % 8 == 6 {
            [0x20, 0]
        } else if number % 8 == 7 {
            [0, 1]
        } else {
            [0, 0]
        };
        if number % 8 == 7 {
            let id = frame.len() - 2;
            frame[id..].copy_from_slice(&(number as u16 - 1).to_be_bytes());
        }
        let mixed = if number % 8 == 7 { (number - 1 + seed).wrapping_mul(0x9e37_79b9) >> 20 } else { mixed };
        frame.extend(part);
        frame.extend([64, 17, 0, 0, 10, 0, 0, mixed as u8 % 7, 10, 0, 1, (mixed >> 3) as u8 % 11]);
        frame.extend(((mixed % 97) as u16).to_be_bytes());
        frame.extend([0, 53, 0, 28, 0, 0]);
        frame.extend([0; 20]);
        let time = [1_700_000_000 + start + number / 100, number % 100 * 10_000];
        let lengths = [frame.len() as u32; 2];
        bytes.extend([time, lengths].concat().iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(frame);
    }
    bytes
}

fn write(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn run(paths: &[PathBuf], workers: usize, output: &mut Kept) -> Result<Summary, RunError> {
    let stop = AtomicBool::new(false);
    let second = 1_000_000_000;
    let meter = MeterOptions { idle: 5 * second, active: 60 * second, domain: 4, ..MeterOptions::default() };
    let options = RunOptions { meter, workers, key: &Key::VECTOR, stop: &stop, largest: None };
    meter_captures(paths, &options, output)
}

fn sorted(mut flows: Vec<FlowRecord>) -> Vec<FlowRecord> {
    // The worker and the end may differ: an idle flow ends when its worker sees that time has gone on.
    for flow in &mut flows {
        (flow.domain, flow.end) = (0, EndReason::ForcedEnd);
    }
    flows.sort_unstable_by_key(|flow| {
        (flow.source, flow.destination, flow.source_port, flow.protocol, flow.forward.first)
    });
    flows
}

#[test]
fn several_workers_give_the_records_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let paths =
        [write(&folder, "a.pcap", &capture(50_000, 0)), write(&folder, "b.pcap", &capture(3000, 507))];
    let mut alone = Kept::default();
    let summary = run(&paths, 1, &mut alone).unwrap();
    assert_eq!((summary.total().packets, summary.problems.len()), (53_000, 0));
    let counted: u64 = alone.flows.iter().map(|flow| flow.forward.packets + flow.reverse.packets).sum();
    assert_eq!(counted, 53_000);
    assert_eq!(summary.total().dropped.total(), 0, "each part of a datagram is attributed");
    assert!(alone.flows.iter().all(|flow| flow.destination_port == 53 && flow.domain == 4));
    let alone = sorted(alone.flows);
    for workers in [2, 3, 5] {
        let mut several = Kept::default();
        let summary = run(&paths, workers, &mut several).unwrap();
        assert_eq!((summary.workers.len(), summary.total().packets), (workers, 53_000));
        assert_eq!(summary.total().flows_exported, several.flows.len() as u64);
        assert!(several.flows.iter().any(|flow| flow.domain == 3 + workers as u32));
        assert_eq!(sorted(several.flows), alone);
    }
}

#[test]
fn a_capture_that_ends_early_counts_so_far_and_the_next_one_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let cut = capture(100, 0);
    let paths = [
        write(&folder, "cut.pcap", &cut[..cut.len() - 5]),
        folder.path().join("missing.pcap"),
        write(&folder, "text.pcap", b"no capture, but text"),
        write(&folder, "whole.pcap", &capture(100, 0)),
    ];
    for workers in [1, 2] {
        let mut kept = Kept::default();
        let summary = run(&paths, workers, &mut kept).unwrap();
        assert_eq!(summary.total().packets, 199);
        let problems: Vec<_> = summary.problems.iter().map(|(path, _)| path.clone()).collect();
        assert_eq!(problems, paths[..3]);
        assert!(
            matches!(run(&paths[1..], workers, &mut kept), Err(RunError::Capture(path, _)) if path == paths[1])
        );
    }
}

#[test]
fn an_output_that_fails_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [write(&folder, "a.pcap", &capture(50_000, 0))];
    for workers in [1, 3] {
        let mut kept = Kept { fails_after: Some(1000), ..Kept::default() };
        assert!(matches!(run(&paths, workers, &mut kept), Err(RunError::Output(ExportError::Parquet(..)))));
        assert!(kept.flows.len() < 3000, "{} flows", kept.flows.len());
    }
}

#[test]
fn a_stopped_run_exports_the_flows_that_are_open() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [write(&folder, "a.pcap", &capture(50_000, 0))];
    for workers in [1, 2] {
        let stop = AtomicBool::new(true);
        let meter = MeterOptions::default();
        let options = RunOptions { meter, workers, key: &Key::VECTOR, stop: &stop, largest: None };
        let mut kept = Kept::default();
        let summary = meter_captures(&paths, &options, &mut kept).unwrap();
        assert!(stop.load(Ordering::Relaxed) && summary.total().packets < 50_000);
        assert_eq!(summary.total().flows_opened, kept.flows.len() as u64);
    }
}

#[test]
fn each_worker_lists_the_flows_that_are_open_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [write(&folder, "a.pcap", &capture(5000, 0))];
    for workers in [1, 3] {
        let (stop, largest) = (AtomicBool::new(false), LargestFlows::new(1 << 12));
        let meter = MeterOptions::default();
        let options = RunOptions { meter, workers, key: &Key::VECTOR, stop: &stop, largest: Some(&largest) };
        let mut kept = Kept::default();
        meter_captures(&paths, &options, &mut kept).unwrap();
        let lists = largest.lists();
        assert_eq!(lists.len(), workers);
        let listed: Vec<FlowRecord> = lists.into_iter().flat_map(|list| list.flows).collect();
        // No flow of this capture ends before it.
        assert_eq!(sorted(listed), sorted(kept.flows));
    }
}

/// Output that ends the run after so many packets.
struct Stops<'a> {
    stop: &'a AtomicBool,
    after: u64,
    flows: usize,
}

impl Output for Stops<'_> {
    fn flows(&mut self, flows: &[FlowRecord], _: u64) -> Result<(), ExportError> {
        self.flows += flows.len();
        Ok(())
    }

    fn tick(&mut self, workers: &[MeterStats], _: u64) -> Result<(), ExportError> {
        let packets: u64 = workers.iter().map(|worker| worker.packets).sum();
        self.stop.fetch_or(packets >= self.after, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_stopped_run_does_not_wait_for_a_silent_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let whole = capture(100, 0);
    // Before the header, within it, within a packet, and between packets.
    for (sent, packets) in [(0, 0), (10, 0), (whole.len() - 5, 99), (whole.len(), 100)] {
        for workers in [1, 2] {
            let stop = AtomicBool::new(false);
            let mut output = Stops { stop: &stop, after: packets, flows: 0 };
            let summary = std::thread::scope(|scope| {
                let run = scope.spawn(|| {
                    let meter = MeterOptions::default();
                    let options =
                        RunOptions { meter, workers, key: &Key::VECTOR, stop: &stop, largest: None };
                    meter_captures(std::slice::from_ref(&path), &options, &mut output)
                });
                // It stays open until the run has ended.
                let mut pipe = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
                std::io::Write::write_all(&mut pipe, &whole[..sent]).unwrap();
                // Else the output stops the run, which so ticks while the pipe is silent.
                stop.store(packets == 0, Ordering::Relaxed);
                run.join().unwrap().unwrap()
            });
            assert_eq!((summary.total().packets, summary.problems.len()), (packets, 0));
            assert_eq!(summary.total().flows_opened, output.flows as u64);
        }
    }
}
