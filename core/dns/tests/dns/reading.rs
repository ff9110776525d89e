//! The work of reading a message, in steps and not in time.

use super::hostile;
use hashlane_dns::wire::{Content, Message};
use hashlane_name::dns::message;

#[test]
fn a_hostile_message_costs_at_most_2_steps_a_byte() {
    for (id, bytes) in hostile::messages() {
        assert!((65_000..=65_535).contains(&bytes.len()), "{id}");
        let (_, mut records) = Message::parse(&bytes).unwrap().questions().unwrap();
        assert!(records.by_ref().all(|record| record.is_ok()), "{id}");
        assert_eq!(records.at(), bytes.len(), "{id}");
        assert!(records.steps() <= 2 * bytes.len(), "{id}: {} steps", records.steps());
    }
}

#[test]
fn names_of_hostile_messages_are_those_of_single_reads() {
    for (id, bytes) in hostile::messages() {
        let content = Content::parse(&bytes).unwrap();
        let mut at = 12;
        for question in &content.questions {
            let (name, end) = message::read(&bytes, at).unwrap();
            assert_eq!(question.name, name, "{id}");
            at = end + 4;
        }
        for record in &content.records {
            let (name, end) = message::read(&bytes, at).unwrap();
            assert_eq!(record.owner, name, "{id}");
            let len = usize::from(u16::from_be_bytes([bytes[end + 8], bytes[end + 9]]));
            let data = end + 10;
            at = data + len;
            let Some(layout) = record.rtype.layout().filter(|_| len > 0) else {
                assert_eq!(record.data, bytes[data..at], "{id}");
                continue;
            };
            let (first, next) = message::read(&bytes[..at], data).unwrap();
            let (second, next) = message::read(&bytes[..at], next).unwrap();
            assert_eq!((layout.before, layout.names), (0, 2));
            assert_eq!(record.data, [first.as_bytes(), second.as_bytes(), &bytes[next..at]].concat(), "{id}");
        }
    }
}
