//! Renderers of DNS messages: all render the same messages in alternation, and the results are read back.

use crate::metric;
use crate::model::{Messages, Packed};
use crate::reading;
use crate::renderers;
use crate::serving;
use crate::tables;
use crate::turn::{LEAST_NS, ns_of};
use crate::workload::{Corpus, Workload, benign, generator};
use ::hashlane_dns::MAX_MESSAGE_LEN;
use ::hashlane_dns::render::SuffixTable;
use ::hashlane_dns::wire::{Content, Flags};
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::study::Rounds;
use hashlane_lab::study::{Fact, RunError, Session};
use hashlane_name::dns::{NameBuf, message};
use hashlane_peers::dns::Render;
use std::hint::black_box;

/// The source's renderer with a hash table.
const NEW: &str = "new";

/// The workload of an attacker who knows the key of our table.
const KNOWN_KEY: &str = "hostile/known-key";

/// Measures a study of renderers.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let definition = session.definition;
    let generators = definition.workloads.iter().map(|id| generator(id));
    let generators = generators.collect::<Result<Vec<_>, _>>();
    let generators = generators.map_err(|error| RunError::UnknownWorkload(error.to_string()))?;
    if let Some(id) = definition.schemes.iter().find(|id| !renderers::is_known(id)) {
        return Err(RunError::UnknownScheme { id: id.clone(), help: renderers::renderers_help() });
    }
    session.notes.extend(definition.schemes.iter().filter_map(|id| renderers::note(subject(id))));
    let key = Key::new(session.settings.key);
    let own = session.own::<Vec<Content>>();
    let generated = if session.measures_generated() { generators.len() } else { 0 };
    let steps = |(label, workload): (&String, &Workload)| match workload {
        Workload::Serve(_) => serving::steps(session, label),
        Workload::Render(_) | Workload::Read(_) => 2,
    };
    let steps: usize = definition.workloads.iter().zip(&generators).take(generated).map(steps).sum();
    session.total = steps + 2 * usize::from(own.is_some());
    if let Some((label, messages)) = own {
        let corpus = Corpus::Messages(messages.clone());
        workload(session, label, &corpus)?;
    }
    for (label, generator) in definition.workloads.iter().zip(generators).take(generated) {
        if session.stopped() {
            break;
        }
        match generator {
            Workload::Render(generate) => workload(session, label, &generate(&key))?,
            Workload::Read(generate) => reading::run(session, label, &generate(&key)),
            Workload::Serve(generate) => serving::run(session, label, &generate(&key))?,
        }
    }
    Ok(())
}

/// A renderer, and the size of its messages.
struct TimedRenderer<'a> {
    id: String,
    renderer: Box<dyn Render + 'a>,
    messages: usize,
    octets: usize,
    /// The reason that it has no times.
    failed: Option<String>,
    /// Factor of its times.
    scale: f64,
}

fn workload(session: &mut Session<'_>, label: &str, corpus: &Corpus) -> Result<(), RunError> {
    session.step(label, "rendering, and reading it back");
    let (packed, plain) = (Packed::new(corpus), plain(label, corpus)?);
    let key = Key::new(session.settings.key);
    let uncompressed: usize = plain.iter().map(Vec::len).sum();
    let wire = readable(plain, corpus, &packed, &key);
    // The attacker of that workload knows the key, which the table would draw anew.
    let table = if label == KNOWN_KEY { SuffixTable::with_known_key(&key) } else { SuffixTable::new(&key) };
    let benign = benign();
    let benign_packed = Packed::new(&benign);
    let mut timed: Vec<TimedRenderer<'_>> = Vec::new();
    let is_there = |id: &&String| renderers::is_there(subject(id));
    for id in session.definition.schemes_on(label).iter().filter(is_there) {
        let made = if subject(id) == metric::BENIGN {
            let renderer = renderers::renderer("ours", &benign, &benign_packed, &[], &SuffixTable::new(&key));
            renderer.and_then(|renderer| TimedRenderer::checked(id, renderer, &benign))
        } else {
            let renderer = renderers::renderer(subject(id), corpus, &packed, &wire, &table);
            renderer.and_then(|renderer| TimedRenderer::checked(id, renderer, corpus))
        };
        match made {
            Ok(renderer) => timed.push(renderer),
            // A renderer of this repository that renders other names has a defect; of others that is a
            // finding.
            Err(why) => {
                let note = format!("{label}: {id} was not measured: {why}");
                if !session.notes.contains(&note) {
                    session.notes.push(note);
                }
            }
        }
    }
    sizes(session, label, &timed)?;
    let octets =
        timed.iter().find(|renderer| renderer.id == "ours").map_or(0, |ours| ours.octets / ours.messages);
    for renderer in timed.iter_mut().filter(|renderer| subject(&renderer.id) == metric::BENIGN) {
        renderer.scale = octets as f64 / renderer.octets.max(1) as f64;
        renderer.octets = octets;
    }
    session.step(label, "timing");
    let rounds = session.settings.size.repetitions as usize;
    let rounds =
        Rounds::run(&mut timed, rounds, |_| !session.stopped(), |renderer| renderer.scale * renderer.time());
    for TimedRenderer { id, failed, .. } in &timed {
        session.notes.extend(failed.iter().map(|why| format!("{label}: {id} was not measured: {why}")));
    }
    if rounds.len() < 2 {
        return Ok(());
    }
    let ids: Vec<String> = timed.iter().map(|renderer| renderer.id.clone()).collect();
    let is_timed = |at: usize| timed.get(at).is_some_and(|renderer| renderer.failed.is_none());
    for (at, renderer) in timed.iter().enumerate().filter(|(at, _)| is_timed(*at)) {
        let exact = |value: f64| Fact::exact(value, renderer.messages);
        let per_message = |octets: usize| octets as f64 / renderer.messages as f64;
        let (id, model) = (&renderer.id, metric::MODEL);
        session.add(model, label, id, "rounds", metric::NS, "ns", rounds.time(at));
        session.add(model, label, id, "count", metric::OCTETS, "octets", exact(per_message(renderer.octets)));
        session.add(model, label, id, "count", metric::NAMES, "names", exact(corpus.names()));
        if let Corpus::Messages(messages) = corpus {
            let records = messages.iter().map(|message| message.records.len()).sum();
            let records = exact(per_message(records));
            session.add(model, label, id, "count", metric::RECORDS, "records", records);
            let bytes = exact(per_message(uncompressed));
            session.add(model, label, id, "count", metric::UNCOMPRESSED, "octets", bytes);
        }
    }
    let ratio = |of, to| (is_timed(of) && is_timed(to)).then(|| rounds.ratio(of, to)).flatten();
    session.add_ratios(metric::MODEL, label, "rounds", &ids, ratio);
    if let Corpus::Names(_) = corpus {
        collisions(session, label, &ids, &packed)?;
    }
    Ok(())
}

/// Counts what shares a bucket in the source's table and its other forms.
fn collisions(
    session: &mut Session<'_>,
    label: &str,
    ids: &[String],
    packed: &Packed,
) -> Result<(), RunError> {
    let count = |id: &str| {
        renderers::collisions(subject(id), packed)
            .transpose()
            .map_err(|what| RunError::Expectation { workload: label.into(), what })
    };
    let of_new = if ids.iter().any(|id| id == NEW) { count(NEW)?.filter(|pairs| *pairs > 0.0) } else { None };
    for id in ids {
        let Some(pairs) = count(id)? else { continue };
        let exact = |value| Fact::exact(value, 1);
        session.add(metric::MODEL, label, id, "count", metric::COLLISIONS, "pairs", exact(pairs));
        if let Some(of_new) = of_new.filter(|_| id != NEW) {
            let ratio = exact(pairs / of_new);
            session.add(metric::MODEL, label, id, "count", metric::RATIO_COLLISIONS, NEW, ratio);
        }
    }
    Ok(())
}

/// The messages of a corpus in wire form, without compression and without a limit.
fn plain(label: &str, corpus: &Corpus) -> Result<Vec<Vec<u8>>, RunError> {
    let Corpus::Messages(messages) = corpus else { return Ok(Vec::new()) };
    messages
        .iter()
        .map(|content| content.uncompressed())
        .collect::<Option<_>>()
        .ok_or_else(|| RunError::Generate(label.into(), "a section has more than 65,535 records".into()))
}

/// Messages for parsers of other people: those longer than a message may be are rendered by our renderer, as
/// parsers may refuse them otherwise. Parsers expand the names again.
fn readable(mut plain: Vec<Vec<u8>>, corpus: &Corpus, packed: &Packed, key: &Key) -> Vec<Vec<u8>> {
    let Corpus::Messages(messages) = corpus else { return plain };
    let Ok(mut ours) = Messages::new(messages, packed, SuffixTable::new(key)) else { return plain };
    for (number, bytes) in plain.iter_mut().enumerate().filter(|(_, bytes)| bytes.len() > MAX_MESSAGE_LEN) {
        // One that is too long all the same is for the parsers to refuse.
        if let Ok(rendered) = ours.render(number) {
            *bytes = rendered.to_vec();
        }
    }
    plain
}

fn same_names(octets: &[u8], names: &[NameBuf]) -> bool {
    let mut at = 12;
    let all = names.iter().all(|name| match message::read(octets, at) {
        Ok((read, end)) => {
            at = end;
            read.view().eq_ignore_case(name.view())
        }
        Err(_) => false,
    });
    all && at == octets.len()
}

fn same_content(octets: &[u8], content: &Content) -> bool {
    let Ok(read) = Content::parse(octets) else { return false };
    read.header.id == content.header.id
        && read.questions.len() == content.questions.len()
        && read.records.len() == content.records.len()
        && read.records.iter().zip(&content.records).all(|(read, record)| {
            read.owner.view().eq_ignore_case(record.owner.view())
                && (read.section, read.rtype, read.ttl) == (record.section, record.rtype, record.ttl)
                && read.data.eq_ignore_ascii_case(&record.data)
        })
}

/// The difference of a rendered message from its content, in words.
fn difference(octets: &[u8], content: &Content) -> Option<&'static str> {
    let is_cut = |octets: &[u8]| {
        let flags = Content::parse(octets).map(|read| read.header.flags);
        flags.is_ok_and(|flags| flags.contains(Flags::TRUNCATED))
    };
    if same_content(octets, content) {
        None
    } else if is_cut(octets) && !content.header.flags.contains(Flags::TRUNCATED) {
        Some("does not fit: it was truncated")
    } else {
        Some("differs when read back")
    }
}

/// Compares sizes with the study's expectations.
fn sizes(session: &Session<'_>, label: &str, timed: &[TimedRenderer<'_>]) -> Result<(), RunError> {
    for expected in tables::octets(session.definition)?.iter().filter(|octets| octets.workload == label) {
        for renderer in timed.iter().filter(|renderer| expected.schemes.contains(&renderer.id)) {
            if renderer.octets != expected.octets as usize {
                let what = format!(
                    "{} renders {} bytes, expected {}",
                    renderer.id, renderer.octets, expected.octets
                );
                return Err(RunError::Expectation { workload: label.into(), what });
            }
        }
    }
    Ok(())
}

impl<'a> TimedRenderer<'a> {
    /// Renders all and reads it back.
    fn checked(id: &str, mut renderer: Box<dyn Render + 'a>, corpus: &Corpus) -> Result<Self, String> {
        let (messages, mut octets) = (corpus.messages(), 0);
        for number in 0..messages {
            let rendered = renderer.render(number)?;
            octets += rendered.len();
            let differs = match corpus {
                Corpus::Names(names) => (!same_names(rendered, names)).then_some("differs when read back"),
                Corpus::Messages(messages) => messages
                    .get(number)
                    .map_or(Some("was not asked for"), |content| difference(rendered, content)),
            };
            if let Some(differs) = differs {
                return Err(format!("message {number} {differs}"));
            }
        }
        Ok(Self { id: id.to_owned(), renderer, messages, octets, failed: None, scale: 1.0 })
    }

    /// Nanoseconds for a message, over as many rounds as make it measurable; not a number if it failed.
    fn time(&mut self) -> f64 {
        if self.failed.is_some() {
            return f64::NAN;
        }
        match self.own_time(LEAST_NS) {
            Some(Ok(ns)) => return ns,
            Some(Err(why)) => {
                self.failed = Some(why);
                return f64::NAN;
            }
            None => {}
        }
        let all = || {
            for message in 0..self.messages {
                // It could render it before.
                let _ = black_box(self.renderer.render(black_box(message)));
            }
        };
        ns_of(16_usize.div_ceil(self.messages), all) / self.messages as f64
    }

    /// Nanoseconds for a message by the renderer's own clock; `None` if it has none.
    fn own_time(&mut self, least_ns: u64) -> Option<Result<f64, String>> {
        let mut sum = 0.0;
        for message in 0..self.messages {
            match self.renderer.time(message, least_ns / self.messages as u64)? {
                Ok(ns) => sum += ns,
                Err(why) => return Some(Err(why)),
            }
        }
        Some(Ok(sum / self.messages as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Renderers;
    use crate::metric;
    use crate::programs;
    use hashlane_lab::definition::{Definition, Selection};
    use hashlane_lab::study::{self, Loaded, Settings};
    use hashlane_records::RecordSet;
    use std::sync::atomic::AtomicBool;

    const STUDY: &str = include_str!("../dns-render/study.toml");

    fn run(schemes: &[&str], workloads: &[&str], own: Option<&Loaded>, with_generated: bool) -> RecordSet {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let mut definition = Definition::parse(STUDY, "study.toml").unwrap();
        let selection = Selection { schemes: ids(schemes), workloads: ids(workloads), repetitions: Some(2) };
        definition.select(&selection).unwrap();
        let settings =
            Settings { own, with_generated, ..Settings::new(&definition, false, "hashlane".into()) };
        let outcome = study::run(&Renderers, &definition, &settings, &AtomicBool::new(false), &mut |_| ());
        assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
        outcome.records
    }

    /// A renderer of one address that fails when it is timed.
    struct Failing(usize);

    impl Render for Failing {
        fn render(&mut self, _: usize) -> Result<&[u8], String> {
            Ok(b"ended")
        }

        fn time(&mut self, _: usize, _: u64) -> Option<Result<f64, String>> {
            self.0 += 1;
            Some(if self.0 == 1 { Ok(5.0) } else { Err(format!("it ended at time {}", self.0)) })
        }
    }

    fn corpus(id: &str) -> Corpus {
        match generator(id).unwrap() {
            Workload::Render(generate) => generate(&Key::VECTOR),
            Workload::Read(_) | Workload::Serve(_) => panic!("{id} is not to be rendered"),
        }
    }

    #[test]
    fn a_renderer_that_fails_in_a_turn_has_no_times_and_is_not_asked_again() {
        let (id, renderer) = ("failing".to_owned(), Box::new(Failing(0)));
        let mut timed = TimedRenderer { id, renderer, messages: 1, octets: 5, failed: None, scale: 1.0 };
        assert_eq!(timed.time(), 5.0);
        assert!(timed.time().is_nan() && timed.time().is_nan());
        assert_eq!(timed.failed.as_deref(), Some("it ended at time 2"));
    }

    #[test]
    fn a_renderer_of_other_bytes_is_refused() {
        let corpus = corpus("response/a1");
        let refused = TimedRenderer::checked("failing", Box::new(Failing(0)), &corpus).err();
        assert_eq!(refused.as_deref(), Some("message 0 differs when read back"));
    }

    #[test]
    fn a_truncated_message_is_told_from_another_one() {
        let Corpus::Messages(messages) = corpus("response/a1") else { panic!() };
        let mut octets = messages[0].uncompressed().unwrap();
        assert_eq!(difference(&octets, &messages[0]), None);
        octets[1] ^= 1;
        assert_eq!(difference(&octets, &messages[0]), Some("differs when read back"));
        // TC.
        octets[2] |= 2;
        assert_eq!(difference(&octets, &messages[0]), Some("does not fit: it was truncated"));
    }

    #[test]
    fn renderers_of_others_read_long_messages_and_those_of_programs_time_them() {
        for workload in ["response/set100", "hostile/deep-repeated"] {
            let corpus = corpus(workload);
            let (packed, table) = (Packed::new(&corpus), SuffixTable::new(&Key::VECTOR));
            let plain = plain(workload, &corpus).unwrap();
            let is_long = plain[0].len() > MAX_MESSAGE_LEN;
            assert_eq!(is_long, workload == "hostile/deep-repeated");
            let wire = readable(plain, &corpus, &packed, &Key::VECTOR);
            assert!(wire[0].len() <= MAX_MESSAGE_LEN);
            let ids = renderers::OTHERS.iter().flat_map(|ids| ids.iter());
            for id in ids.filter(|id| renderers::is_there(id) && **id != "bind9/libdns") {
                let made = renderers::renderer(id, &corpus, &packed, &wire, &table);
                let checked = made.and_then(|renderer| TimedRenderer::checked(id, renderer, &corpus));
                let mut timed = checked.unwrap_or_else(|why| panic!("{workload}: {id}: {why}"));
                let by_itself = timed.renderer.time(0, 1000).map(Result::unwrap);
                assert_eq!(by_itself.is_some(), programs::IDS.contains(id), "{id}");
                assert!(by_itself.is_none_or(|ns| ns > 0.0), "{id}");
            }
        }
    }

    #[test]
    fn a_program_is_noted_with_its_version_or_what_it_takes() {
        for id in programs::IDS {
            let note = renderers::note(id).unwrap();
            let start = if renderers::is_there(id) { ": " } else { " was not measured: " };
            assert!(note.starts_with(&format!("{id}{start}")), "{note}");
            assert!(renderers::is_there(id) || note.contains("set HASHLANE_"), "{note}");
        }
    }

    #[test]
    fn each_renderer_alone_has_a_control() {
        for scheme in ["old", "new", "dumb", "ours", "new/whole-name"] {
            let records = run(&[scheme], &["servfail", "response/a1"], None, false);
            for workload in ["servfail", "response/a1"] {
                let again = format!("{scheme}/again");
                assert!(
                    records.ratio("dns-render", workload, &again, scheme).is_some(),
                    "{workload} {scheme}"
                );
            }
        }
    }

    #[test]
    fn the_forms_of_the_source_s_table_are_compared_with_it() {
        let forms = ["new", "new/prime-buckets", "new/whole-name", "new/hash-not-stored", "new/hashed-twice"];
        let records = run(&forms, &["names/distinct500", "hostile/same-start"], None, false);
        let at = |workload, scheme, metric| records.metric("dns-render", workload, scheme, metric).unwrap();
        for form in &forms[1..] {
            let ratio = |of, to| records.ratio("dns-render", "names/distinct500", of, to).is_some();
            assert!(ratio(form, "new") || ratio("new", form), "{form}");
            let bytes = |id| at("hostile/same-start", id, metric::OCTETS).value;
            assert_eq!(bytes(form), bytes("new"), "{form}");
        }
        let collisions = |workload, id| at(workload, id, metric::COLLISIONS).value;
        assert_eq!(
            at("names/distinct500", "new/prime-buckets", metric::RATIO_COLLISIONS).value,
            collisions("names/distinct500", "new/prime-buckets") / collisions("names/distinct500", "new")
        );
        assert!(
            records
                .metric("dns-render", "names/distinct500", "new/hashed-twice", metric::COLLISIONS)
                .is_none()
        );
    }

    #[test]
    fn each_workload_runs_alone() {
        let definition = Definition::parse(STUDY, "study.toml").unwrap();
        for workload in definition.workloads.iter().filter(|id| !id.starts_with("hostile")) {
            let records = run(&["ours"], &[workload], None, false);
            assert_eq!(records.workloads("dns-render"), [workload]);
        }
    }

    #[test]
    fn generated_messages_are_left_out_beside_the_users_own() {
        let zone = hashlane_zone_file::messages::read(b"$ORIGIN a.\na. A 192.0.2.1\n", "zone", None).unwrap();
        let own = Loaded::new("zone:a".into(), vec![zone]);
        let records = run(&[], &["servfail"], Some(&own), false);
        assert_eq!(records.workloads("dns-render"), ["zone:a"]);
        let value = |metric| records.metric("dns-render", "zone:a", "ours", metric).unwrap().value;
        assert_eq!([value("records"), value("octets_uncompressed")], [1.0, 12.0 + 7.0 + 17.0]);
        let records = run(&[], &["servfail"], Some(&own), true);
        assert_eq!(records.workloads("dns-render"), ["zone:a", "servfail"]);
    }
}
