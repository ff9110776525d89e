//! nsd.conf: statements of a key and words, in sections.

mod refusal;
mod settings;
mod tls;
mod zone;

use super::model::{Key, Model, Zone};
use super::report::{Fate, Place, Report};
use super::source::Reached;
use super::words::{Word, words};
use super::{ImportError, Reader};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tls::{Tls, TlsAuth};
use zone::{Block, Names, add, in_zone};

/// Statements that the patterns of one zone have at most, so that patterns that include each other end.
const MAX_STATEMENTS: usize = 10_000;

/// Statements that all zones have at most.
const MAX_EXPANDED: usize = 16 << 20;

/// Sections whose statements do not concern what is served.
const OTHERS: [&str; 3] = ["remote-control", "dnstap", "cookie"];

/// The section that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Start,
    Server,
    Key,
    TlsAuth,
    Zone,
    Pattern,
    Other(&'static str),
    Lost,
}
struct Nsd<'m> {
    model: &'m mut Model,
    section: Section,
    zones: Vec<Block>,
    patterns: Vec<Block>,
    /// Addresses to listen at; those without a port get the one of the server.
    listen: Vec<(std::net::IpAddr, Option<u16>)>,
    /// Lines of these addresses.
    listen_lines: Vec<usize>,
    port: Option<u16>,
    folder: String,
    tls: Tls,
}

/// Reads a configuration.
pub(super) fn read(reader: &mut Reader<'_>, text: &str, model: &mut Model) -> Result<(), ImportError> {
    let mut nsd = Nsd {
        model,
        section: Section::Start,
        zones: Vec::new(),
        patterns: Vec::new(),
        listen: Vec::new(),
        listen_lines: Vec::new(),
        port: None,
        folder: String::new(),
        tls: Tls::default(),
    };
    nsd.file(reader, None, text, 0)?;
    nsd.finish(&mut reader.report);
    Ok(())
}

impl Nsd<'_> {
    fn file(
        &mut self,
        reader: &mut Reader<'_>,
        file: Option<Arc<str>>,
        text: &str,
        depth: usize,
    ) -> Result<(), ImportError> {
        reader.take(text)?;
        for (number, line) in (1..).zip(text.lines()) {
            let place = Place { file: file.clone(), number };
            let words = words(line, "");
            if words.is_empty() {
                reader.report.blank += 1;
            }
            let mut rest = words.as_slice();
            while let Some((first, after)) = rest.split_first() {
                let len = after.iter().position(|word| word.key().is_some()).unwrap_or(after.len());
                let (values, others) = after.split_at(len);
                rest = others;
                match first.key() {
                    Some("include") => self.include(reader, &place, values, depth)?,
                    Some(key) => self.statement(reader, &place, key, values)?,
                    None => drop(reader.add(&place, &first.text, Fate::lost("not a statement"))?),
                }
            }
        }
        Ok(())
    }

    fn include(
        &mut self,
        reader: &mut Reader<'_>,
        place: &Place,
        values: &[Word<'_>],
        depth: usize,
    ) -> Result<(), ImportError> {
        let path = values.first().map_or("", |word| &word.text);
        match reader.include(path, depth) {
            Ok((name, text)) => {
                reader.add(place, "include", Fate::kept("the lines of the file"))?;
                self.file(reader, Some(name), &text, depth + 1)
            }
            Err(fate) => reader.add(place, "include", fate).map(drop),
        }
    }

    fn statement(
        &mut self,
        reader: &mut Reader<'_>,
        place: &Place,
        key: &str,
        values: &[Word<'_>],
    ) -> Result<(), ImportError> {
        let others = OTHERS.into_iter().find(|name| *name == key);
        let section = match key {
            _ if !values.is_empty() => None,
            "server" => Some((Section::Server, Fate::kept("[server]"))),
            "key" => Some((Section::Key, Fate::kept("[[key]]"))),
            "zone" => Some((Section::Zone, Fate::kept("[[zone]]"))),
            "pattern" => Some((Section::Pattern, Fate::kept("the zones that include it"))),
            "tls-auth" => Some((Section::TlsAuth, Fate::kept("the primaries that name it"))),
            "verify" | "xdp" => Some((Section::Lost, Fate::lost("no counterpart"))),
            _ => others.map(|name| (Section::Other(name), Fate::ignored("no counterpart"))),
        };
        if let Some((section, fate)) = section {
            let at = reader.add(place, key, fate)?;
            self.section = section;
            let block = Block { at, ..Block::default() };
            match section {
                Section::Zone => self.zones.push(block),
                Section::Pattern => self.patterns.push(block),
                Section::TlsAuth => self.tls.auths.push(TlsAuth::default()),
                Section::Key => self.model.keys.push(Key { lines: vec![at], ..Key::default() }),
                _ => {}
            }
            return Ok(());
        }
        // The number that the line will have.
        let at = reader.report.lines.len();
        let value = values.first().map_or("", |word| &word.text);
        let fate = match self.section {
            Section::Server => match self.tls_server(key, value, at) {
                Some(fate) => fate,
                None => {
                    let fate = self.server(key, value, values.len());
                    self.listen_lines.resize(self.listen.len(), at);
                    fate
                }
            },
            Section::TlsAuth => self.tls_auth(key, value),
            Section::Key => self.key(key, value, at),
            Section::Zone => match self.zones.last_mut() {
                Some(zone) => in_zone(zone, key, values, at, "zone.name"),
                None => Fate::lost("no zone"),
            },
            Section::Pattern => match self.patterns.last_mut() {
                Some(pattern) => in_zone(pattern, key, values, at, "the name of the pattern"),
                None => Fate::lost("no pattern"),
            },
            Section::Other(name) => Fate::ignored(format!("no counterpart to {name}")),
            Section::Lost => Fate::lost("no counterpart to its section"),
            Section::Start => Fate::lost("outside of a section"),
        };
        reader.add(place, key, fate).map(drop)
    }

    /// Ends the zones, with the statements of their patterns.
    fn finish(self, report: &mut Report) {
        let Self { model, zones, patterns, listen, listen_lines, port, folder, tls, .. } = self;
        let all = ["0.0.0.0", "::"].iter().filter_map(|text| Some((text.parse().ok()?, None)));
        let listen = if listen.is_empty() && port.is_some() { all.collect() } else { listen };
        let port = port.unwrap_or(53);
        let with_port = |(ip, own): (_, Option<u16>)| std::net::SocketAddr::new(ip, own.unwrap_or(port));
        let lines = listen_lines.into_iter().map(Some).chain(std::iter::repeat(None));
        tls.listen(listen.into_iter().map(with_port).zip(lines).collect(), model, report);
        let domains = tls.domains();
        // The last of a name, as a later statement of NSD replaces an earlier one.
        let patterns: HashMap<&str, &Block> =
            patterns.iter().map(|pattern| (pattern.name.as_str(), pattern)).collect();
        let mut left = MAX_EXPANDED;
        let mut used = HashSet::new();
        for block in &zones {
            let mut zone = Zone { name: block.name.clone(), at: block.at, ..Zone::default() };
            let mut budget = left.min(MAX_STATEMENTS + block.statements.len());
            let before = budget;
            let names = Names { patterns: &patterns, folder: &folder, domains: &domains };
            let mut refusals = Vec::new();
            if add((&mut zone, &mut refusals), block, &names, (report, &mut used), &mut budget, 0) {
                refusal::apply(&mut zone, &refusals, report);
                model.push(zone, report);
            } else {
                let why =
                    format!("its patterns have more than {MAX_STATEMENTS} statements, or include each other");
                report.set(block.at, Fate::lost(why));
            }
            left -= before - budget;
        }
        let reached = |zone: &Zone| {
            let servers = zone.primaries.iter().chain(&zone.notify).map(|peer| peer.address.as_str());
            Reached::new(servers, zone.sources.clone())
        };
        let reached: Vec<Reached> = model.zones.iter().map(reached).collect();
        model.set_sources(&reached, report);
        for pattern in patterns.values().filter(|pattern| !used.contains(&pattern.at)) {
            for at in [pattern.at].into_iter().chain(pattern.statements.iter().map(|(_, at)| *at)) {
                report.set(at, Fate::ignored("no zone includes the pattern"));
            }
        }
    }
}
