//! Tests of the log.

use super::*;
use crate::config::RateLimit;
use crate::tls::Channel;
use hashlane_dns::respond::{Entry, Settings, Zones};
use hashlane_name::dns::text;
use hashlane_transfer::incoming::Query;
use hashlane_transfer::notify::transfer_query;
use hashlane_transfer::tsig::Keys;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event as LogEvent, Metadata, Subscriber};

/// Keeps the messages of the log.
struct Log(Arc<Mutex<Vec<String>>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &LogEvent<'_>) {
        event.record(&mut Self(Arc::clone(&self.0)));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn the_log_names_the_cause_and_the_key_of_a_refused_signature() {
    let lines = Arc::default();
    let key = || "transfer.example".to_owned();
    let clock = Refusal::Clock { key: key(), sender: 1000, now: 1400, fudge: 300 };
    tracing::subscriber::with_default(Log(Arc::clone(&lines)), || {
        for reason in [Refusal::OtherSecret { key: key() }, clock] {
            let (news, _) = std::sync::mpsc::channel();
            let mut special = Special::new(&HashKey::new([1; 16]), Transport::Udp, news);
            special.log_bad_signature(([127, 0, 0, 1], 53).into(), &reason);
        }
    });
    let start = "a signature (TSIG) is not valid: ";
    let causes = [
        "another secret for key transfer.example, or a changed message",
        "the sender's clock is 400 s behind ours, key transfer.example allows 300 s",
    ];
    assert_eq!(*lines.lock().unwrap(), causes.map(|cause| format!("{start}{cause}")));
}

/// A zone, without data, that nobody may transfer.
fn view(apex: NameBuf, key: &HashKey) -> View {
    View {
        zones: Zones::new(vec![Entry { apex, zone: None }], key).unwrap(),
        settings: Settings::default(),
        rate_limit: RateLimit::default(),
        numbers: vec![0],
        counters: Vec::new(),
        transfers: vec![Arc::default()],
        query_log: 0,
        keys: Keys::default(),
    }
}

#[test]
fn a_flood_of_transfers_that_are_refused_is_a_few_lines_of_the_log() {
    const FLOOD: u64 = 1000;
    let (apex, key) = (text::parse(b"example.com").unwrap(), HashKey::new([1; 16]));
    let (view, counters) = (view(apex, &key), Counters::new(Transport::Udp));
    let mut answerer = Answerer::new(&key, 0, None);
    let mut special = Special::new(&key, Transport::Udp, std::sync::mpsc::channel().0);
    let message = transfer_query(apex.view(), 7, Query::Whole);
    let (from, channel) = (([127, 0, 0, 1], 53).into(), Channel::Clear);
    let received = Received { message: &message, from, channel, seconds: 0, longest: 1232 };
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let begun = std::time::Instant::now();
    tracing::subscriber::with_default(Log(Arc::clone(&lines)), || {
        for _ in 0..FLOOD {
            assert!(matches!(special.reply(&mut answerer, &view, &counters, received), Reply::Message(_)));
        }
    });
    assert_eq!(counters.refused_transfers.get(), FLOOD);
    let count = lines.lock().unwrap().len() as u64;
    assert!((1..=2 + begun.elapsed().as_secs()).contains(&count), "{count} lines");
}
