//! Name servers that answer with an RRset, in alternation: the CPU time of an answer, and its size.

use crate::metric::{self, MODEL};
use crate::servers::{self, Asked, Program, Running};
use crate::workload::{Corpus, ordinary, rendered};
use hashlane_dns::wire::{Content, Flags, Rcode, Record, RecordType, Section};
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::probe::Cores;
use hashlane_lab::study::{Contender, Figures, RunError, Session, Summary, TurnError, on_core, take_turns};
use hashlane_name::dns::{Name, NameBuf};
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// Least duration of a turn, unless it has the most answers, and the answers of a turn.
const TURN: Duration = Duration::from_millis(50);
const ANSWERS: Range<u32> = 8..256;

/// A turn of a server.
struct Turn {
    /// CPU time of the server for an answer in nanoseconds.
    ns: f64,
    /// Length of the answer in bytes.
    octets: usize,
    /// Records of the RRset in the answer: all or 0.
    records: usize,
}

/// Figures of a turn.
const FIGURES: Figures<Turn> = Figures {
    model: MODEL,
    are_launches: false,
    list: &[
        (Summary::Ratio, "cpu-clock", metric::NS, "ns", |turn| turn.ns),
        (Summary::Most, "count", metric::OCTETS, "octets", |turn| turn.octets as f64),
        (Summary::Most, "count", metric::RECORDS, "records", |turn| turn.records as f64),
    ],
};

/// An answer that a server is asked for.
struct Wanted<'a> {
    content: &'a Content,
    query: Vec<u8>,
    /// Factor of its times.
    scale: f64,
}

impl<'a> Wanted<'a> {
    fn new(content: &'a Content, scale: f64) -> Result<Self, TurnError> {
        let question = content.questions.first().ok_or_else(|| TurnError::Failed("no question".into()))?;
        Ok(Self { content, query: servers::query(&question.name, question.rtype)?, scale })
    }
}

/// Servers under way, or the reasons that they are not.
struct Servers(Vec<(Program, Result<Running, String>)>);

/// Schemes of a workload whose servers are installed.
fn installed(session: &Session<'_>, label: &str) -> Vec<(String, Program, Asked)> {
    let ids = session.definition.schemes_on(label).iter();
    let servers = ids
        .filter_map(|id| servers::server(subject(id)).map(|(program, asked)| (id.clone(), program, asked)));
    servers.filter(|(_, program, _)| program.missing().is_none()).collect()
}

/// Steps of a workload, for the progress bar.
pub(crate) fn steps(session: &Session<'_>, label: &str) -> usize {
    1 + session.settings.size.repetitions as usize * installed(session, label).len()
}

/// Measures the servers that answer with the RRset of `content`.
pub(crate) fn run(session: &mut Session<'_>, label: &str, content: &Content) -> Result<(), RunError> {
    session.step(label, "starting servers");
    session.with_folder("hashlane-compression-", |session, folder| {
        measure(session, label, content, folder).or_else(|error| error.end(label, "servers"))
    })
}

fn measure(
    session: &mut Session<'_>,
    label: &str,
    content: &Content,
    folder: &Path,
) -> Result<(), TurnError> {
    let apex = content.questions.first().map_or(NameBuf::ROOT, |question| question.name);
    let key = Key::new(session.settings.key);
    let length = |content: &Content| rendered(&Corpus::Messages(vec![content.clone()]), &key).len();
    let octets = length(content);
    let ordinary = ordinary(&apex, octets);
    let scale = octets as f64 / length(&ordinary).max(1) as f64;
    let path = folder.join("zone");
    let zone = zone_file(&apex, [content, &ordinary])?;
    std::fs::write(&path, zone).map_err(TurnError::io("cannot write a zone"))?;
    let wanted = [Wanted::new(content, 1.0)?, Wanted::new(&ordinary, scale)?];
    let schemes = installed(session, label);
    let cores = Cores::detect();
    let mut running = Servers(Vec::new());
    for (_, program, _) in &schemes {
        running.start(session, *program, cores.measured, (&apex, &path), folder, &wanted)?;
    }
    let mut contenders: Vec<Contender<_, Turn>> = Vec::new();
    for (id, program, asked) in schemes {
        let [attack, benign] = &wanted;
        let wanted = if asked == Asked::Workload { attack } else { benign };
        // A server that cannot be started, ours included, costs its rows and not the study: the command may
        // have been copied without `hashlane-dns`.
        contenders.push(Contender::new(label, &id, (program, wanted), true));
    }
    let rounds = session.settings.size.repetitions as usize;
    let turn =
        |session: &mut Session<'_>, contender: &mut Contender<(Program, &Wanted<'_>), Turn>, _: usize| {
            let (program, wanted) = contender.subject;
            let server = running.get(program)?;
            let (turn, why) = on_core(cores.load, || turn(server, wanted))?;
            if let Some(why) = why {
                let note = format!("{label}: {} answers without the records: {why}", contender.id);
                if !session.notes.contains(&note) {
                    session.notes.push(note);
                }
            }
            Ok(turn)
        };
    take_turns(session, &mut contenders, rounds, turn, |session, all| FIGURES.record(session, all))?;
    Ok(())
}

impl Servers {
    /// Starts a server, unless it was before, and asks it for all answers once: a cache has them then, and
    /// its upstream ends.
    fn start(
        &mut self,
        session: &Session<'_>,
        program: Program,
        core: Option<usize>,
        zone: (&NameBuf, &Path),
        folder: &Path,
        wanted: &[Wanted<'_>],
    ) -> Result<(), TurnError> {
        if self.0.iter().any(|(known, _)| *known == program) {
            return Ok(());
        }
        let folder = folder.join(format!("{program:?}"));
        let started = Running::start(session, program, core, zone, &folder).and_then(|mut server| {
            wanted.iter().try_for_each(|wanted| server.ask(&wanted.query).map(drop))?;
            server.end_upstream();
            Ok(server)
        });
        if let Err(TurnError::Stopped) = started {
            return Err(TurnError::Stopped);
        }
        self.0.push((program, started.map_err(|error| error.to_string())));
        Ok(())
    }

    fn get(&mut self, program: Program) -> Result<&mut Running, TurnError> {
        match self.0.iter_mut().find(|(known, _)| *known == program) {
            Some((_, Ok(server))) => Ok(server),
            Some((_, Err(why))) => Err(TurnError::Failed(why.clone())),
            None => Err(TurnError::Failed("it was not started".to_owned())),
        }
    }
}

/// Asks a server again and again, and checks its last answer. With the reason, if it has no records.
fn turn(server: &mut Running, wanted: &Wanted<'_>) -> Result<(Turn, Option<String>), TurnError> {
    let (begun, before) = (Instant::now(), server.cpu()?);
    let mut answers = 0;
    while answers < ANSWERS.start || (answers < ANSWERS.end && begun.elapsed() < TURN) {
        server.ask(&wanted.query)?;
        answers += 1;
    }
    let spent = server.cpu()?.saturating_sub(before);
    let answer = server.ask(&wanted.query)?;
    let ns = wanted.scale * spent.as_nanos() as f64 / f64::from(answers);
    let (records, why) = match difference(answer, wanted.content).map_err(TurnError::Failed)? {
        None => (wanted.content.records.len(), None),
        Some(why) => (0, Some(why)),
    };
    Ok((Turn { ns, octets: answer.len(), records }, why))
}

/// Compares the records of an answer with the records of `content`, in any order and of any TTL. Returns the
/// reason that there are none, if the server gives one.
///
/// # Errors
/// There are other records.
fn difference(answer: &[u8], content: &Content) -> Result<Option<String>, String> {
    let read = Content::parse(answer).map_err(|error| format!("its answer cannot be read: {error}"))?;
    let flags = read.header.flags;
    if flags.contains(Flags::TRUNCATED) {
        return Ok(Some(format!("truncated to {} bytes", answer.len())));
    }
    match flags.rcode() {
        Rcode::NO_ERROR => {}
        Rcode::SERVER_FAILURE => return Ok(Some("SERVFAIL".to_owned())),
        Rcode(code) => return Ok(Some(format!("RCODE {code}"))),
    }
    if records(&read) == records(content) {
        Ok(None)
    } else {
        Err("its answer differs when read back".into())
    }
}

/// The records of the answer section, sorted.
fn records(content: &Content) -> Vec<(Vec<u8>, u16, Vec<u8>)> {
    let lower = |bytes: &[u8]| bytes.to_ascii_lowercase();
    let fields = |record: &Record| {
        // Letters may differ in case in names alone.
        let data = if record.rtype == RecordType::A { record.data.clone() } else { lower(&record.data) };
        (lower(record.owner.as_bytes()), record.rtype.0, data)
    };
    let answers = content.records.iter().filter(|record| record.section == Section::Answer);
    let mut records: Vec<_> = answers.map(fields).collect();
    records.sort_unstable();
    records
}

/// The file of a zone with the records of messages.
///
/// # Errors
/// A record is neither NS nor A.
fn zone_file(apex: &NameBuf, messages: [&Content; 2]) -> Result<String, TurnError> {
    let mut text =
        format!("{apex} 3600 IN SOA ns.example.net. hostmaster.example.net. 1 3600 900 604800 3600\n");
    for record in messages.iter().flat_map(|content| &content.records) {
        let Record { owner, rtype, ttl, data, .. } = record;
        let data = match *rtype {
            RecordType::NS => Name::parse(data).ok().map(|name| format!("NS {name}")),
            RecordType::A => {
                data.as_slice().try_into().ok().map(|ip: [u8; 4]| format!("A {}", Ipv4Addr::from(ip)))
            }
            _ => None,
        };
        let data = data.ok_or_else(|| TurnError::Failed(format!("no zone has the record {record:?}")))?;
        // Writing into a string does not fail.
        let _ = writeln!(text, "{owner} {ttl} IN {data}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Workload, generator};
    use hashlane_dns::wire::Header;

    fn content(id: &str) -> Content {
        match generator(id).unwrap() {
            Workload::Serve(generate) => generate(&Key::VECTOR),
            _ => panic!("{id} is not served"),
        }
    }

    #[test]
    fn an_ordinary_answer_has_the_length_of_the_attack() {
        for id in ["serve/cve-2024-8508", "serve/cve-2024-8508-240", "serve/rustsec-2026-0119"] {
            let content = content(id);
            let length =
                |content: &Content| rendered(&Corpus::Messages(vec![content.clone()]), &Key::VECTOR).len();
            let (octets, ordinary) =
                (length(&content), ordinary(&content.questions[0].name, length(&content)));
            let other = length(&ordinary);
            assert!(other <= octets && octets < other + 16, "{id}: {octets} {other}");
        }
    }

    #[test]
    fn a_zone_has_the_records_of_both_messages() {
        let content = content("serve/cve-2026-44390");
        let apex = content.questions[0].name;
        let ordinary = ordinary(&apex, 1000);
        let text = zone_file(&apex, [&content, &ordinary]).unwrap();
        let zone = hashlane_zone_file::messages::read(text.as_bytes(), "zone", None).unwrap();
        let data = |records: &[Record]| {
            let mut data: Vec<_> = records.iter().map(|record| record.data.clone()).collect();
            data.sort();
            data
        };
        let all = [&content.records[..], &ordinary.records].concat();
        let others: Vec<_> =
            zone.records.into_iter().filter(|record| record.rtype != RecordType::SOA).collect();
        assert_eq!(data(&others), data(&all));
        let mut mail = Content { records: all[..1].to_vec(), ..ordinary };
        mail.records[0].rtype = RecordType::MX;
        assert!(zone_file(&apex, [&mail, &mail]).unwrap_err().to_string().starts_with("no zone has"));
    }

    #[test]
    fn answers_are_the_same_in_another_order_and_no_other_records() {
        let content = content("serve/cve-2024-8508-240");
        let compared = |change: &dyn Fn(&mut Content)| {
            let mut answer = content.clone();
            change(&mut answer);
            difference(&rendered(&Corpus::Messages(vec![answer]), &Key::VECTOR), &content)
        };
        assert_eq!(compared(&|_| ()), Ok(None));
        assert_eq!(compared(&|answer| answer.records.reverse()), Ok(None));
        let flagged = |flags: Flags| compared(&|answer| answer.header = Header { id: 1, flags });
        let why = flagged(Flags::RESPONSE.with(Flags::TRUNCATED)).unwrap().unwrap();
        assert!(why.starts_with("truncated to "), "{why}");
        assert_eq!(flagged(Flags::RESPONSE.with_rcode(Rcode::SERVER_FAILURE)), Ok(Some("SERVFAIL".into())));
        assert_eq!(flagged(Flags::RESPONSE.with_rcode(Rcode::REFUSED)), Ok(Some("RCODE 5".into())));
        let last = content.records.len() - 1;
        let changes: [&dyn Fn(&mut Content); 3] = [
            &|answer| answer.records.truncate(last),
            &|answer| answer.records[0].data = answer.records[1].data.clone(),
            &|answer| answer.records.iter_mut().for_each(|record| record.section = Section::Additional),
        ];
        for change in changes {
            assert_eq!(compared(change), Err("its answer differs when read back".into()));
        }
        assert!(difference(b"\0", &content).unwrap_err().starts_with("its answer cannot be read"));
    }
}
