//! Readers of DNS messages: all read the same message in alternation.

use crate::metric;
use crate::metric::BENIGN;
use crate::turn::ns_of;
use crate::workload::benign_reading;
use hashlane_dns::wire::Message;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::study::{Fact, Rounds, Session};
use std::hint::black_box;

/// Reads a message, and returns the number of its records.
type Read = Box<dyn Fn(&[u8]) -> Result<usize, String>>;

/// A reader, and its message.
struct TimedReader<'a> {
    id: &'a str,
    read: Read,
    message: &'a [u8],
    /// Records of the message; 0 if the reader refuses it.
    records: usize,
    /// Factor of its times.
    scale: f64,
}

/// Measures the readers of a message. A refusal is timed as well: it is what the message costs.
pub(crate) fn run(session: &mut Session<'_>, label: &str, message: &[u8]) {
    session.step(label, "reading");
    let benign = benign_reading(&Key::new(session.settings.key));
    let scale = message.len() as f64 / benign.len().max(1) as f64;
    let definition = session.definition;
    let mut timed = Vec::new();
    for id in definition.schemes_on(label) {
        let (message, scale) = match subject(id) {
            BENIGN => (&*benign, scale),
            _ => (message, 1.0),
        };
        let Some(read) = reader(subject(id)) else { continue };
        let records = read(message).unwrap_or(0);
        timed.push(TimedReader { id, read, message, records, scale });
    }
    session.step(label, "timing");
    let rounds = session.settings.size.repetitions as usize;
    let rounds = Rounds::run(&mut timed, rounds, |_| !session.stopped(), TimedReader::time);
    if rounds.len() < 2 {
        return;
    }
    let model = &*definition.model;
    let ids: Vec<String> = timed.iter().map(|reader| reader.id.to_owned()).collect();
    for (at, reader) in timed.iter().enumerate() {
        let exact = |value: usize| Fact::exact(value as f64, 1);
        session.add(model, label, reader.id, "rounds", metric::NS, "ns", rounds.time(at));
        session.add(model, label, reader.id, "count", metric::OCTETS, "octets", exact(message.len()));
        session.add(model, label, reader.id, "count", metric::RECORDS, "records", exact(reader.records));
    }
    session.add_ratios(model, label, "rounds", &ids, |of, to| rounds.ratio(of, to));
}

impl TimedReader<'_> {
    /// Nanoseconds for the message, over as many rounds as make it measurable.
    fn time(&mut self) -> f64 {
        let read = || {
            let _ = black_box((self.read)(black_box(self.message)));
        };
        self.scale * ns_of(1, read)
    }
}

/// The reader of a scheme; none if it only renders, or is not built in.
fn reader(id: &str) -> Option<Read> {
    match id {
        "ours" | BENIGN => Some(Box::new(ours)),
        _ => library(id).or_else(|| {
            #[cfg(feature = "peers")]
            return hashlane_peers::dns::read::reader(id).map(|read| Box::new(read) as Read);
            #[cfg(not(feature = "peers"))]
            None
        }),
    }
}

/// The reader of a C library; none if it is not built in.
fn library(id: &str) -> Option<Read> {
    let reader = hashlane_peers_cpp::Reader::new(id)?;
    Some(Box::new(move |bytes| reader.read(bytes).ok_or_else(|| "refused".to_owned())))
}

fn ours(bytes: &[u8]) -> Result<usize, String> {
    let words = |error: hashlane_dns::wire::ParseError| error.to_string();
    let (questions, records) =
        Message::parse(bytes).and_then(|message| message.questions()).map_err(words)?;
    black_box(questions);
    let mut count = 0;
    for record in records {
        black_box(record.map_err(words)?);
        count += 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Workload, generator};
    use hashlane_peers_cpp::READERS;

    fn message(id: &str) -> Vec<u8> {
        match generator(id).unwrap() {
            Workload::Read(generate) => generate(&Key::VECTOR),
            Workload::Render(_) | Workload::Serve(_) => panic!("{id} is not to be read"),
        }
    }

    #[test]
    fn ours_reads_what_is_within_the_limits_and_refuses_the_rest() {
        let refused = ["read/c-ares-1164-overlong-name", "read/c-ares-1164-chain"];
        let read = ["read/c-ares-1164-long-name", "read/long-suffixes", "read/short-chain"];
        for id in read {
            let message = message(id);
            let records = ours(&message).unwrap();
            assert!(records > 5_000 && message.len() <= 65_529, "{id}: {records}");
        }
        for id in refused {
            assert!(ours(&message(id)).is_err(), "{id}");
        }
    }

    #[cfg(feature = "peers")]
    #[test]
    fn all_readers_find_the_records_of_an_ordinary_answer() {
        let message = message("read/a500");
        for id in ["ours", "domain/hash", "hickory", "simple-dns"] {
            assert_eq!(reader(id).unwrap()(&message), Ok(500), "{id}");
        }
    }

    #[test]
    fn readers_of_c_libraries_find_the_records_or_are_noted_as_missing() {
        for (id, records) in [("read/a500", 500), ("read/ptr500", 500)] {
            let message = message(id);
            for library in READERS {
                let note = crate::renderers::note(library);
                match reader(library) {
                    Some(read) => assert_eq!((read(&message), note), (Ok(records), None), "{id}: {library}"),
                    None => assert!(note.unwrap().contains("apt install"), "{library}"),
                }
            }
        }
    }
}
