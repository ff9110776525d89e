//! Properties of the stages of `hashlane_dns::query` for datagrams in a batch, and one by one.

use hashlane_dns::query::{BATCH, Batch, Decode, Hash, Outcome, Suffixes, parse};
use hashlane_dns::wire::{Flags, Message, Rcode};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::LabelSequence;
use hashlane_table::stage::Stage;

/// Datagrams, each after two bytes of length, have the same outcomes and hashes in batches as one by one. A
/// query to answer is a query for our reader of messages, too; the hashes of its name equal the hashes of the
/// name in lower case.
pub fn check_queries(octets: &[u8]) {
    let datagrams = datagrams(octets);
    let mut hash = Hash::new(&Key::VECTOR);
    let mut single = Hash::new(&Key::VECTOR);
    let mut suffixes = Suffixes::new();
    for datagrams in datagrams.chunks(BATCH) {
        let mut batch = Batch::new(&mut suffixes);
        assert!(datagrams.iter().enumerate().all(|(index, datagram)| batch.push(index, datagram)));
        Decode.run(&mut batch);
        hash.run(&mut batch);
        for (number, datagram) in datagrams.iter().enumerate() {
            let outcome = parse(datagram);
            assert_eq!(batch.outcomes()[number], outcome);
            check_outcome(datagram, outcome);
            let Outcome::Answer(query) = outcome else {
                assert!(batch.suffixes(number).is_empty());
                continue;
            };
            assert_eq!(batch.suffixes(number).len(), query.name.label_count() + 1);
            let lower = query.name.as_bytes().to_ascii_lowercase();
            let lower = hashlane_name::dns::Name::parse(&lower).expect("a name in lower case");
            assert_eq!(batch.suffixes(number), single.name(lower));
            let parent = LabelSequence::of(lower).strip_left(1).as_name().expect("the root is its end");
            let of_parent = batch.suffixes(number).get(1..).filter(|hashes| !hashes.is_empty());
            assert!(of_parent.is_none_or(|hashes| hashes == single.name(parent)));
        }
    }
}

fn check_outcome(datagram: &[u8], outcome: Outcome<'_>) {
    match outcome {
        Outcome::Answer(query) => {
            let message = Message::parse(datagram).expect("a message");
            assert_eq!(message.header(), query.header);
            let (questions, _) = message.questions().expect("questions");
            let [question] = &questions[..] else { panic!("{questions:?}") };
            assert_eq!(question.name.view(), query.name);
            assert_eq!((question.rtype, question.class), (query.rtype, query.class));
            assert!(query.limit() >= 512 && query.edns.is_none_or(|edns| edns.version == 0));
        }
        Outcome::Refuse(refusal) => {
            assert!(!refusal.header.flags.contains(Flags::RESPONSE));
            let rcodes = [Rcode::FORMAT_ERROR, Rcode::NOT_IMPLEMENTED, Rcode::BAD_VERSION];
            assert!(rcodes.contains(&refusal.rcode));
            // Its upper bits are in the OPT record.
            assert!(refusal.rcode != Rcode::BAD_VERSION || refusal.edns);
        }
        Outcome::Drop(_) => assert!(datagram.len() < 12 || datagram[2] & 0x80 != 0),
    }
}

fn datagrams(mut rest: &[u8]) -> Vec<&[u8]> {
    let mut datagrams = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk() {
        let (datagram, after) = after.split_at(after.len().min(usize::from(u16::from_be_bytes(*len))));
        datagrams.push(datagram);
        rest = after;
    }
    datagrams
}
