use super::ends::{Ends, Packets, Plan};
use super::names::{Names, draws};
use super::set::Set;
use super::work::{PREFIXES, Scheme, Tables, Work, parse};
use crate::{SHARDS, metric};
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::Size;
use hashlane_lab::study::{Studies, testing};
use hashlane_ndn::wire::{Data, Interest};
use hashlane_ndn_fw::face::FaceId;
use std::collections::HashSet;
use std::sync::Arc;

const TABLES: Tables = Tables { packets: 512, pending: 300 };
const SPREAD: Work = Work { is_hot: false, components: 4, tables: TABLES };
const HOT: Work = Work { is_hot: true, components: 11, tables: TABLES };

#[test]
fn reads_ids() {
    let (work, group) = parse("hot/11/large/cpu").unwrap();
    assert_eq!((work.is_hot, work.components, group), (true, 11, "hot/11/large"));
    assert!(work.tables.packets > parse("spread/4/small/wall").unwrap().0.tables.packets);
    for id in
        ["", "hot/11/large", "hot/3/large/cpu", "cold/4/large/cpu", "hot/4/large/cpu/more", "hot/4/x/cpu"]
    {
        assert!(parse(id).unwrap_err().to_string().contains("hot/4/large/wall"), "{id}");
    }
    assert_eq!(Scheme::parse("2/apart").unwrap(), Scheme::Apart(2));
    assert!(Scheme::parse("3").unwrap_err().to_string().contains("all"));
}

#[test]
fn packets_have_the_names_asked_for() {
    for work in [SPREAD, HOT] {
        let mut names = Names::new(work, None).unwrap();
        let mut seen = HashSet::new();
        for (prefix, number) in [(0, 0), (7, 1), (4095, u64::MAX)] {
            let bytes = names.interest(prefix, number).to_vec();
            let interest = Interest::parse(&bytes).unwrap();
            assert_eq!(interest.name_len(), work.components);
            let name = names.prefix(prefix.into()).unwrap();
            let first = name.view().components().count();
            assert_eq!(first, if work.is_hot { 3 } else { 2 });
            assert!(interest.name().components().take(first).eq(name.view().components()));
            let bytes = names.data(prefix, number).to_vec();
            assert_eq!(Data::parse(&bytes).unwrap().name_bytes(), interest.name_bytes());
            assert_eq!((names.of_data(&bytes), names.of_interest(&bytes)), (Some((prefix, number)), None));
            assert!(seen.insert((interest.name_bytes().to_vec(), interest.nonce())));
        }
    }
}

#[test]
fn prefixes_are_drawn_by_zipfs_law() {
    let draws = draws(7);
    let share = |of: u16| draws.iter().filter(|draw| **draw == of).count() as f64 / draws.len() as f64;
    // The first of 4096 prefixes has 1 in 8.9 names, the second half of that.
    assert!((0.10..0.125).contains(&share(0)) && (0.045..0.07).contains(&share(1)));
    assert!(draws.iter().all(|draw| usize::from(*draw) < PREFIXES));
}

#[test]
fn every_scheme_answers_every_interest_once() {
    let shards = [(SPREAD, Scheme::Shards(2)), (HOT, Scheme::Shards(3)), (SPREAD, Scheme::HandBack(2))];
    let alone = [Scheme::Apart(1), Scheme::Apart(2), Scheme::Load].map(|scheme| (SPREAD, scheme));
    for (work, scheme) in shards.into_iter().chain(alone) {
        let mut set = Set::new(work, scheme, &Key::VECTOR, 7).unwrap();
        for _ in 0..2 {
            let reading = set.turn(3000).unwrap();
            assert!((3000.0..3003.0).contains(&reading.exchanges));
            assert!(reading.wall_ns > 0.0 && reading.cpu_ns > 0.0, "{scheme:?} {reading:?}");
            let per_exchange = reading.handed_over / reading.exchanges;
            // Interest and Data to the shard, and from it if the thread with the face sends.
            let times = |n: usize, times: f64| times * (1.0 - 1.0 / n as f64);
            let expected = match scheme {
                Scheme::Shards(n) => Some(times(n, 2.0)),
                Scheme::HandBack(n) => Some(times(n, 4.0)),
                _ => None,
            };
            if let Some(expected) = expected {
                assert!((per_exchange - expected).abs() < 0.3, "{scheme:?} {per_exchange}");
                assert!((1.0..1.5).contains(&reading.busiest), "{scheme:?} {}", reading.busiest);
            } else {
                assert_eq!(per_exchange, 0.0);
            }
        }
    }
}

/// Ends of one thread that have sent a burst, and the packets of it.
fn sent() -> (Ends, Vec<Vec<u8>>) {
    let mut ends = Ends::new(0, &Arc::new(Plan::new(FaceId(0), 1, &draws(7))), SPREAD).unwrap();
    let mut packets = Packets::default();
    ends.begin(2);
    ends.fill(&mut packets);
    let interests = packets.iter().map(|(_, packet)| packet.to_vec()).collect();
    (ends, interests)
}

#[test]
fn data_that_is_missing_or_comes_twice_fails_the_turn() {
    let (mut ends, interests) = sent();
    interests.iter().for_each(|packet| ends.receive_own(packet));
    let mut packets = Packets::default();
    ends.fill(&mut packets);
    let data: Vec<Vec<u8>> = packets.iter().map(|(_, packet)| packet.to_vec()).collect();
    ends.receive_own(&data[0]);
    assert!(!ends.are_done());
    assert!(ends.check().unwrap_err().contains("1 of 2 Interests got their Data, and 0"));
    ends.receive_own(&data[1]);
    assert!(ends.are_done());
    ends.check().unwrap();
    ends.receive_own(&data[1]);
    assert!(ends.check().unwrap_err().contains("2 of 2 Interests got their Data, and 1"));
}

#[test]
fn packets_at_the_wrong_face_fail_the_turn() {
    let (mut ends, interests) = sent();
    ends.receive(FaceId(999), &interests[0]);
    assert!(ends.check().unwrap_err().contains("and 1 packets"));
}

#[test]
fn a_tiny_run_leaves_records_of_both_clocks() {
    // With its sentences and tables, which are drawn as if nothing and as if everything was measured.
    let text = include_str!("../../ndn-shards/study.toml");
    let mut definition = Studies(&[&SHARDS]).parse(text, "study.toml").unwrap();
    definition.workloads = vec!["spread/4/small/wall".into(), "spread/4/small/cpu".into()];
    let records = testing::records(&SHARDS, &definition, true, Size { items: 3000, repetitions: 2 });
    for workload in &definition.workloads {
        for scheme in ["1", "1/again", "2", "2/back", "2/apart", "load"] {
            assert!(records.metric("ndn-shards", workload, scheme, metric::NS).unwrap().value > 0.0);
        }
        for (of, to) in [("2", "1"), ("2", "2/apart"), ("1/again", "1")] {
            assert!(records.ratio("ndn-shards", workload, of, to).is_some(), "{of} {to}");
        }
    }
    let of = |metric| records.metric("ndn-shards", "spread/4/small/cpu", "2", metric).unwrap().value;
    assert!((0.75..1.25).contains(&of(metric::HANDED_OVER)) && of(metric::BUSIEST) < 1.5);
}
