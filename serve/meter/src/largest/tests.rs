//! Scans of a table that changes between the parts.

use super::*;
use crate::meter::MeterOptions;
use hashlane_hash::scheme::Key;
use hashlane_link::capture::Frame;

const SECOND: u64 = 1_000_000_000;

/// Receives a UDP packet of that many bytes from each of the clients.
fn receive(meter: &mut Meter, clients: impl Iterator<Item = u32>, bytes: u16, time: u64) {
    for client in clients {
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, 0]);
        frame.extend(bytes.to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, 17, 0, 0]);
        frame.extend(client.to_be_bytes());
        frame.extend([192, 0, 2, 1, 0, 9, 0, 53]);
        frame.resize(14 + usize::from(bytes), 0);
        let original = frame.len() as u32;
        let frame = Frame { time, link: Some(1), original, bytes: &frame };
        meter.receive([frame], &mut |_| {});
    }
}

fn scanning(to: &LargestFlows) -> Scanning<'_> {
    Scan::new(Some(to), 0).0.unwrap()
}

/// The clients in the list of the only worker, in order.
fn listed(largest: &LargestFlows) -> Vec<String> {
    let mut clients: Vec<_> = largest.lists()[0].flows.iter().map(|flow| flow.source.to_string()).collect();
    clients.sort_unstable();
    clients
}

#[test]
fn the_largest_flows_by_each_ranking_are_listed() {
    let mut meter = Meter::new(&Key::VECTOR, MeterOptions { flows: 10_000, ..MeterOptions::default() });
    // The most bytes in one packet; the most packets; the most bytes a second, as it is new.
    receive(&mut meter, 1..2, 20_000, SECOND);
    (0..100).for_each(|_| receive(&mut meter, 2..3, 40, SECOND));
    receive(&mut meter, 1000..6000, 50, SECOND);
    receive(&mut meter, 3..4, 4_900, 21 * SECOND);
    let largest = LargestFlows::new(1);
    scanning(&largest).scan(&meter, u32::MAX);
    assert_eq!(listed(&largest), ["0.0.0.1", "0.0.0.2", "0.0.0.3"]);
    assert_eq!(largest.lists()[0].time, 21 * SECOND);
}

#[test]
fn a_part_scans_as_many_slots_as_time_has_passed_for() {
    let mut meter = Meter::new(&Key::VECTOR, MeterOptions { flows: 10_000, ..MeterOptions::default() });
    receive(&mut meter, 0..5000, 50, SECOND);
    let largest = LargestFlows::new(10);
    let mut scanning = scanning(&largest);
    let begun = scanning.last;
    let at = |milliseconds| begun + Duration::from_millis(milliseconds);
    scanning.step(&meter, at(1));
    assert_eq!((scanning.slot, largest.lists().len()), (1048, 0));
    // Flows that count on and those that begin meanwhile.
    receive(&mut meter, 0..1, 1000, SECOND);
    scanning.step(&meter, at(3));
    receive(&mut meter, 7000..7001, 60, SECOND);
    assert_eq!(scanning.slot, 1048 + 2097);
    scanning.step(&meter, at(4));
    scanning.step(&meter, at(5));
    assert_eq!((scanning.slot, largest.lists().len()), (0, 1));
    let list = &largest.lists()[0];
    assert_eq!(list.flows.iter().filter(|flow| flow.forward.bytes == 60).count(), 1);
    // The next scan begins a second after this one.
    receive(&mut meter, 7001..7002, 70, SECOND);
    scanning.step(&meter, at(900));
    assert_eq!(scanning.slot, 0);
    scanning.step(&meter, at(1002));
    assert_eq!(scanning.slot, 0, "102 ms are enough for the table");
    assert!(listed(&largest).contains(&"0.0.27.89".to_owned()));
}

#[test]
fn flows_that_have_ended_since_they_were_seen_are_not_listed() {
    let mut meter = Meter::new(&Key::VECTOR, MeterOptions { flows: 10_000, ..MeterOptions::default() });
    receive(&mut meter, 0..100, 50, SECOND);
    let largest = LargestFlows::new(10);
    let mut scanning = scanning(&largest);
    scanning.scan(&meter, 90);
    meter.advance(100 * SECOND, &mut |_| {});
    scanning.scan(&meter, u32::MAX);
    assert!(listed(&largest).is_empty());
}

#[test]
fn the_end_of_a_run_lists_all_again() {
    let mut meter = Meter::new(&Key::VECTOR, MeterOptions { flows: 10_000, ..MeterOptions::default() });
    receive(&mut meter, 0..100, 50, SECOND);
    let largest = LargestFlows::new(1000);
    let mut scan = Scan::new(Some(&largest), 1);
    scan.0.as_mut().unwrap().scan(&meter, 90);
    scan.finish(&meter);
    let lists = largest.lists();
    assert_eq!((lists.len(), lists[0].flows.len(), lists[1].flows.len()), (2, 0, 100));
}
