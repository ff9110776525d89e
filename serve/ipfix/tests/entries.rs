//! Entries of messages that are built here: their fields, their times, and data that is no flow.

use hashlane_ipfix::time::SECOND;
use hashlane_ipfix::{Entry, FlowField, IpfixReader, SkipReason, element as ie};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// Export time of the messages, in seconds since 1970.
const EXPORTED: u32 = 1_700_000_000;

fn set(id: u16, content: &[u8]) -> Vec<u8> {
    let len = content.len() as u16 + 4;
    [&id.to_be_bytes()[..], &len.to_be_bytes(), content].concat()
}

/// A template of elements with their lengths; an options template has one scope field.
fn template(id: u16, fields: &[(u16, u16)], options: bool) -> Vec<u8> {
    let mut content = [id.to_be_bytes(), (fields.len() as u16).to_be_bytes()].concat();
    if options {
        content.extend(1_u16.to_be_bytes());
    }
    for (element, len) in fields {
        content.extend([element.to_be_bytes(), len.to_be_bytes()].concat());
    }
    set(if options { 3 } else { 2 }, &content)
}

fn message(sets: &[Vec<u8>]) -> Vec<u8> {
    let sets = sets.concat();
    let len = 16 + sets.len() as u16;
    [&10_u16.to_be_bytes()[..], &len.to_be_bytes(), &EXPORTED.to_be_bytes(), &[0; 8], &sets].concat()
}

fn entries(sets: &[Vec<u8>]) -> Vec<Entry> {
    let message = message(sets);
    let mut reader = IpfixReader::new(&*message);
    std::iter::from_fn(|| reader.next_entry()).map(Result::unwrap).collect()
}

const ADDRESSES: [(u16, u16); 2] = [(ie::SOURCE_IPV4_ADDRESS, 4), (ie::DESTINATION_IPV4_ADDRESS, 4)];

#[test]
fn a_record_has_the_fields_of_its_template_only() {
    let found = entries(&[template(256, &ADDRESSES, false), set(256, &[1; 8])]);
    let [Entry::Flow(_, fields)] = found[..] else { panic!("{found:?}") };
    assert_eq!(fields, hashlane_ipfix::FieldSet::default());

    let more = [&ADDRESSES[..], &[(ie::FLOW_END_REASON, 1), (ie::PACKET_DELTA_COUNT, 1)]].concat();
    for (reason, known) in [(3, true), (0, false), (9, false)] {
        let record = [&[1; 8][..], &[reason, 0]].concat();
        let found = entries(&[template(256, &more, false), set(256, &record)]);
        let [Entry::Flow(_, fields)] = found[..] else { panic!("{found:?}") };
        assert!(fields.has(FlowField::Packets) && !fields.has(FlowField::ReversePackets));
        assert_eq!(fields.has(FlowField::EndReason), known);
    }
}

#[test]
fn a_field_without_bytes_has_no_value() {
    let more = [&ADDRESSES[..], &[(ie::PACKET_DELTA_COUNT, 0), (ie::PROTOCOL_IDENTIFIER, 0xffff)]].concat();
    for (value, known) in [(&[0][..], false), (&[1, 6], true)] {
        let found = entries(&[template(256, &more, false), set(256, &[&[1; 8][..], value].concat())]);
        let [Entry::Flow(flow, fields)] = found[..] else { panic!("{found:?}") };
        assert!(!fields.has(FlowField::Packets));
        assert_eq!((fields.has(FlowField::Protocol), flow.protocol), (known, if known { 6 } else { 0 }));
    }
}

#[test]
fn times_count_from_the_export_and_from_the_start_of_the_exporter() {
    let deltas = [(ie::FLOW_START_DELTA_MICROSECONDS, 4), (ie::FLOW_END_DELTA_MICROSECONDS, 4)];
    let record = [&[1; 8][..], &3_000_000_u32.to_be_bytes(), &5_u32.to_be_bytes()].concat();
    let found = entries(&[template(256, &[&ADDRESSES[..], &deltas].concat(), false), set(256, &record)]);
    let [Entry::Flow(flow, _)] = found[..] else { panic!("{found:?}") };
    let exported = u64::from(EXPORTED) * SECOND;
    assert_eq!((flow.forward.first, flow.forward.last), (exported - 3 * SECOND, exported - 5_000));

    let uptimes = [(ie::FLOW_START_SYS_UP_TIME, 4), (ie::FLOW_END_SYS_UP_TIME, 4)];
    let flows = template(256, &[&ADDRESSES[..], &uptimes].concat(), false);
    let record = set(256, &[&[1; 8][..], &2_000_u32.to_be_bytes(), &2_001_u32.to_be_bytes()].concat());
    let found = entries(&[flows.clone(), record.clone()]);
    let [Entry::Flow(_, fields)] = found[..] else { panic!("{found:?}") };
    assert!(!fields.has(FlowField::First) && !fields.has(FlowField::Last));

    let start = [(ie::OBSERVATION_DOMAIN_ID, 4), (ie::SYSTEM_INIT_TIME_MILLISECONDS, 8)];
    let started = [&[0; 4][..], &1_600_000_000_000_u64.to_be_bytes()].concat();
    let found = entries(&[template(257, &start, true), set(257, &started), flows, record]);
    let [Entry::Skipped(SkipReason::Options), Entry::Flow(flow, fields)] = found[..] else {
        panic!("{found:?}")
    };
    assert!(fields.has(FlowField::First) && fields.has(FlowField::Last));
    assert_eq!(flow.forward.first, 1_600_000_002 * SECOND);
    assert_eq!(flow.forward.last, 1_600_000_002 * SECOND + SECOND / 1_000);
}

#[test]
fn data_that_is_no_flow_is_an_entry_with_its_reason() {
    let mixed = [(ie::SOURCE_IPV4_ADDRESS, 4), (ie::DESTINATION_IPV6_ADDRESS, 16)];
    let found = entries(&[
        set(300, &[1; 20]),
        template(256, &mixed, false),
        set(256, &[1; 40]),
        template(257, &[(ie::PROTOCOL_IDENTIFIER, 1)], false),
        set(257, &[6]),
    ]);
    let expected = [
        SkipReason::NoTemplate,
        SkipReason::MixedVersions,
        SkipReason::MixedVersions,
        SkipReason::NoAddresses,
    ];
    assert_eq!(found, expected.map(Entry::Skipped));
}

proptest! {
    #[test]
    fn entries_are_those_that_the_report_counts(
        changes in vec((any::<Index>(), any::<u8>()), 0..6),
        cut in any::<Index>(),
    ) {
        let start = [(ie::OBSERVATION_DOMAIN_ID, 4), (ie::SYSTEM_INIT_TIME_MILLISECONDS, 8)];
        let times = [(ie::FLOW_START_SYS_UP_TIME, 4), (ie::FLOW_END_DELTA_MICROSECONDS, 4)];
        let mut bytes = message(&[
            template(257, &start, true),
            set(257, &[0xff; 24]),
            template(256, &[&ADDRESSES[..], &times].concat(), false),
            set(256, &[0xff; 48]),
            set(300, &[1; 9]),
        ])
        .repeat(2);
        for (at, to) in changes {
            let at = at.index(bytes.len());
            bytes[at] = to;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        let mut reader = IpfixReader::new(&*bytes);
        let (mut flows, mut skipped, mut failed) = (0, 0, false);
        while let Some(entry) = reader.next_entry() {
            match entry {
                Ok(Entry::Flow(..)) => flows += 1,
                Ok(Entry::Skipped(_)) => skipped += 1,
                Err(_) => failed = true,
            }
        }
        let report = reader.report();
        let others = report.options + report.other_records + report.sets_without_template;
        // A message with an error has no entries.
        prop_assert!(flows <= report.flows && skipped <= others);
        prop_assert!(failed || (flows, skipped) == (report.flows, others));
        prop_assert_eq!(IpfixReader::new(&*bytes).filter(Result::is_ok).count() as u64, flows);
    }
}
