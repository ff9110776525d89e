//! Pictures of the view.

use super::*;
use crate::top::state::{Key, Sample};
use crate::{Counters, Dropped, FlowList, FlowRecord, MeterStats};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

fn half(packets: u64, bytes: u64) -> Counters {
    Counters { packets, bytes, first: SECOND, last: SECOND, ..Counters::NONE }
}

fn flow(ends: [&str; 2], ports: [u16; 2], protocol: u8, halves: [Counters; 2]) -> FlowRecord {
    let [source, destination] = ends.map(|host| host.parse().unwrap());
    let ([source_port, destination_port], [forward, reverse]) = (ports, halves);
    FlowRecord {
        source,
        destination,
        source_port,
        destination_port,
        protocol,
        forward,
        reverse,
        ..FlowRecord::EMPTY
    }
}

fn state(live: bool) -> State {
    let source = if live { "eth0" } else { "day.pcap" };
    let mut state = State::new(source.into(), live, 1 << 20);
    let dropped = Dropped { not_ip: 12, malformed: 3, ring: 12_345, ..Dropped::default() };
    let total = MeterStats {
        packets: 12_345_678,
        bytes: 9_876_543_210,
        flows_open: 654_321,
        flows_exported: 1_234_567,
        flows_evicted: 5,
        dropped,
        ..MeterStats::default()
    };
    let [long, longer] = ["2001:db8:1111:2222:3333:4444:5555:6666", "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff"];
    let flows = vec![
        flow(["10.0.0.1", "192.0.2.1"], [50_000, 443], 6, [half(900, 54_000), half(45_678, 65_000_000)]),
        flow(
            ["198.51.100.200", "203.0.113.255"],
            [65_535, 65_534],
            17,
            [half(2_000_000, 1 << 30), half(0, 0)],
        ),
        flow(["10.0.0.1", "10.0.0.2"], [0, 0], 1, [half(7, 588), half(7, 588)]),
        flow([long, longer], [40_000, 8443], 6, [half(12, 999_499), half(0, 0)]),
        flow(["fe80::1", "ff02::5"], [0, 0], 253, [half(1, 40), half(0, 0)]),
    ];
    let list = FlowList { number: 1, time: 11 * SECOND, flows };
    state.refresh(Sample { at: Duration::from_secs(3723), total, lists: vec![list] }, Phase::Running);
    state
}

fn picture(state: &State, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(state, frame)).unwrap();
    terminal.backend().to_string()
}

#[test]
fn the_smallest_terminal_shows_everything() {
    insta::assert_snapshot!("smallest", picture(&state(true), SMALLEST.0, SMALLEST.1));
}

#[test]
fn a_wide_terminal_shows_long_addresses() {
    let mut state = state(true);
    state.on_key(Key::Rank(Ranking::Rate));
    state.on_key(Key::Pause);
    insta::assert_snapshot!("wide", picture(&state, 130, 12));
}

#[test]
fn the_end_of_captures_is_shown() {
    let mut state = state(false);
    state.on_key(Key::Rank(Ranking::Packets));
    let total = MeterStats { dropped: Dropped::default(), flows_open: 0, ..state.total };
    state.refresh(Sample { at: Duration::from_secs(4000), total, lists: Vec::new() }, Phase::Ended);
    insta::assert_snapshot!("ended", picture(&state, 90, 10));
}

#[test]
fn no_size_of_a_terminal_panics() {
    let mut state = state(true);
    for (width, height) in [(1, 1), (79, 50), (200, 9), (80, 10), (300, 100)] {
        for phase in [Phase::Running, Phase::Stopping, Phase::Ended] {
            state.phase = phase;
            picture(&state, width, height);
        }
    }
    assert!(picture(&state, 60, 5).contains("80 by 10 columns and rows are needed"));
}
