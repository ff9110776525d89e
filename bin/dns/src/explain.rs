//! An account of every name in a message: position, form, reason.

use super::piece::{Entry, Piece};
use hashlane_dns::render::{CompressedName, POINTER_LIMIT};
use hashlane_dns::wire::{Rdata, Record, RecordType};
use hashlane_name::dns::{Case, Name, message};
use std::collections::HashMap;
use std::fmt::Write as _;

/// A table with a row for each name in the order of the message, as comments.
///
/// The forms come from the compressor's own answers. The reasons, and the suffixes that it missed, come from
/// a search of all suffixes written before.
pub(super) fn table(piece: &Piece<'_>, case: Case) -> String {
    let mut explainer = Explainer { octets: &piece.octets, known: Known::new(case), rows: Vec::new() };
    let mut answers = piece.answers.iter();
    let mut numbers = [0; 4];
    let mut next = || answers.next().map(|answer| (answer.at, answer.place));
    for entry in &piece.entries {
        match entry {
            Entry::Question(question) => {
                let Some((at, place)) = next() else { break };
                explainer.name(at, question.name.view(), place, "question".to_owned());
            }
            Entry::Record(record) => {
                let number = &mut numbers[record.section.index()];
                *number += 1;
                let part = format!("{} {number}", record.section.name());
                let Some((at, place)) = next() else { break };
                explainer.name(at, record.owner.view(), place, format!("{part}: owner"));
                let part = format!("{part}: rdata of {}", record.rtype);
                let data = at + written_len(place) + 10;
                let rdata = Rdata::parse(record.rtype, &record.data).unwrap_or_default();
                for name in rdata.names.iter().flatten() {
                    let Some((at, place)) = next() else { break };
                    explainer.name(at, *name, place, part.clone());
                }
                for (at, name) in never_compressed(record) {
                    explainer.left_alone(data + at, name, record.rtype, part.clone());
                }
            }
        }
    }
    text(&explainer.rows)
}

/// Bytes of a name in the message.
const fn written_len(place: CompressedName) -> usize {
    place.literal() + if place.pointer().is_some() { 2 } else { 0 }
}

/// Offset, name, form, part of the message, reason.
type Row = [String; 5];

struct Explainer<'a> {
    octets: &'a [u8],
    known: Known,
    rows: Vec<Row>,
}

impl Explainer<'_> {
    fn name(&mut self, at: usize, name: Name<'_>, place: CompressedName, part: String) {
        let written = match (place.pointer(), place.literal()) {
            (None, _) if name.is_root() => "root".to_owned(),
            (None, _) => "literal".to_owned(),
            (Some(target), 0) => format!("pointer to {target}"),
            (Some(target), octets) => {
                format!("{octets} bytes + pointer to {target} ({})", self.shown(target.into()))
            }
        };
        let why = self.why(name, place);
        self.rows.push([at.to_string(), name.to_string(), written, part, why]);
        self.known.insert(at, name, place.literal());
    }

    /// A name of a type whose names no renderer compresses.
    fn left_alone(&mut self, at: usize, name: Name<'_>, rtype: RecordType, part: String) {
        let written = if name.is_root() { "root" } else { "literal" }.to_owned();
        let why = format!("not compressed: type {rtype} is not of RFC 1035 (RFC 3597 §4)");
        self.rows.push([at.to_string(), name.to_string(), written, part, why]);
    }

    fn why(&self, name: Name<'_>, place: CompressedName) -> String {
        let (near, far) = self.known.longest(name);
        if name.is_root() {
            return "one byte, shorter than a pointer".to_owned();
        }
        if let Some((at, from)) = near
            && from < place.literal()
        {
            return format!("{} at {at} was not used", self.shown(at));
        }
        let beyond = |at| format!("{} at {at} is beyond 0x4000, the reach of pointers", self.shown(at));
        let Some(target) = place.pointer().map(usize::from) else {
            return far.map_or("no suffix was written before".to_owned(), beyond);
        };
        let mut why = match place.literal() {
            0 => "the whole name was written before".to_owned(),
            _ => format!("longest suffix found at {target}"),
        };
        let suffix = name.as_bytes().get(place.literal()..).and_then(|octets| Name::parse(octets).ok());
        let shown = self.shown(target);
        if suffix.is_none_or(|suffix| suffix.to_string() != shown) {
            why = format!("{why}, spelled {shown}");
        }
        far.map_or(why.clone(), |at| format!("{why}; {}", beyond(at)))
    }

    /// The name that a reader decodes at an offset.
    fn shown(&self, at: usize) -> String {
        match message::read(self.octets, at) {
            Ok((name, _)) => name.to_string(),
            Err(error) => format!("no name: {error}"),
        }
    }
}

/// The suffixes written so far, each with its first offset.
struct Known {
    case: Case,
    first: HashMap<Vec<u8>, usize>,
}

impl Known {
    fn new(case: Case) -> Self {
        Self { case, first: HashMap::new() }
    }

    /// The suffixes of a name, longest first: offset in the name, and bytes with the case folded as for
    /// comparison.
    fn suffixes(&self, name: Name<'_>) -> Vec<(usize, Vec<u8>)> {
        let folded: Vec<u8> = name.as_bytes().iter().map(|octet| self.case.fold(*octet)).collect();
        let mut labels = name.labels();
        let mut suffixes = Vec::new();
        while labels.rest().len() > 1 {
            let from = name.len() - labels.rest().len();
            suffixes.push((from, folded[from..].to_vec()));
            labels.next();
        }
        suffixes
    }

    /// The longest known suffix that a pointer can reach, as its offset in the message and in the name; and
    /// the offset of a longer suffix that no pointer can reach, if there is one.
    fn longest(&self, name: Name<'_>) -> (Option<(usize, usize)>, Option<usize>) {
        let mut far = None;
        for (from, suffix) in self.suffixes(name) {
            match self.first.get(&suffix) {
                Some(&at) if at < POINTER_LIMIT => return (Some((at, from)), far),
                Some(&at) => far = far.or(Some(at)),
                None => {}
            }
        }
        (None, far)
    }

    /// Remembers the suffixes that begin in the first `literal` bytes of a name at `at`.
    fn insert(&mut self, at: usize, name: Name<'_>, literal: usize) {
        for (from, suffix) in self.suffixes(name) {
            if from < literal {
                self.first.entry(suffix).or_insert(at + from);
            }
        }
    }
}

/// The names in the data of types whose names are not compressed, with their offsets in the data.
fn never_compressed(record: &Record) -> Vec<(usize, Name<'_>)> {
    let (mut at, strings, names) = match record.rtype {
        rtype if rtype.compresses() => return Vec::new(),
        RecordType::DNAME | RecordType::NSEC | RecordType::TSIG => (0, 0, 1),
        RecordType::KX | RecordType::SVCB | RecordType::HTTPS => (2, 0, 1),
        RecordType::RRSIG => (18, 0, 1),
        rtype => match rtype.layout() {
            Some(layout) => (layout.before, layout.strings, layout.names),
            None => return Vec::new(),
        },
    };
    for _ in 0..strings {
        at += 1 + record.data.get(at).copied().map_or(0, usize::from);
    }
    let mut found = Vec::new();
    for _ in 0..names {
        let Some(Ok(name)) = record.data.get(at..).map(Name::parse_first) else { break };
        found.push((at, name));
        at += name.len();
    }
    found
}

/// Columns, as comments. A name longer than the widest column shifts its own row only.
fn text(rows: &[Row]) -> String {
    const WIDEST: usize = 48;
    let heading: Row = ["at", "name", "written as", "where", "why"].map(str::to_owned);
    let rows = || std::iter::once(&heading).chain(rows);
    let width = |column: usize| {
        let widths = rows().map(|row| row[column].chars().count());
        widths.filter(|width| *width <= WIDEST).max().unwrap_or_default()
    };
    let [at, name, written, part, _] = std::array::from_fn(width);
    let mut text = String::new();
    for [a, b, c, d, e] in rows() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# {a:>at$}  {b:name$}  {c:written$}  {d:part$}  {e}");
    }
    text
}
