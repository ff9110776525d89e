//! Properties of the name compressor behind a writer that knows nothing but bytes.

use crate::steps::Steps;
use hashlane_baseline::dns::Old;
use hashlane_dns::render::{Compressor, SuffixTable};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Case, Name, NameBuf, message};

/// A message as its program writes it.
struct Writer<C> {
    compressor: C,
    written: Vec<u8>,
    entries: Vec<Entry>,
}

/// A name or other bytes in a message.
struct Entry {
    at: usize,
    /// `None` for other bytes.
    name: Option<Vec<u8>>,
    pointer: Option<u16>,
}

impl<C: Compressor> Writer<C> {
    fn new(compressor: C) -> Self {
        let mut writer = Self { compressor, written: Vec::new(), entries: Vec::new() };
        writer.start(Case::Ignored);
        writer
    }

    fn start(&mut self, case: Case) {
        self.compressor.start(case);
        self.written = vec![0; 12];
        self.entries.clear();
    }

    /// Appends a name. One that is malformed is refused by the rule that it breaks.
    fn name(&mut self, name: &[u8]) {
        match self.compressor.compress(&self.written, name) {
            Ok(place) => {
                assert!(Name::parse(name).is_ok());
                let (at, pointer) = (self.written.len(), place.pointer());
                self.entries.push(Entry { at, name: Some(name.to_vec()), pointer });
                self.written.extend_from_slice(&name[..place.literal()]);
                self.written.extend(place.pointer_bytes().into_iter().flatten());
            }
            Err(error) => assert_eq!(Name::parse(name), Err(error)),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.entries.push(Entry { at: self.written.len(), name: None, pointer: None });
        self.written.extend_from_slice(bytes);
    }

    /// Cuts the message to the first `count` entries.
    fn cut(&mut self, count: usize) {
        if let Some(&Entry { at: len, .. }) = self.entries.get(count) {
            self.written.truncate(len);
            self.compressor.truncate(len);
            self.entries.truncate(count);
        }
    }

    /// Every name is read back, and its pointer leads into a name.
    fn check(&self, case: Case) {
        let ends = self.entries.iter().skip(1).map(|entry| entry.at).chain([self.written.len()]);
        let mut names: Vec<(usize, usize)> = Vec::new();
        for (Entry { at, name, pointer }, end) in self.entries.iter().zip(ends) {
            let Some(name) = name else { continue };
            let (read, after) = message::read(&self.written, *at).expect("a name that was written");
            assert!(after == end && case.eq(read.as_bytes(), name), "{read} at {at}");
            if let Some(target) = pointer.map(usize::from) {
                assert!(names.iter().any(|(from, to)| (*from..*to).contains(&target)), "{at} -> {target}");
            }
            names.push((*at, end));
        }
    }
}

/// Names, other bytes, cuts and beginnings of messages, as the bytes say: every name that stays is read back,
/// no pointer leads elsewhere than into a name, and an ordered set of suffixes makes no shorter message.
pub fn check_compressor(octets: &[u8]) {
    let mut table = Writer::new(SuffixTable::new(&Key::VECTOR));
    let mut set = Writer::new(Old::default());
    let (mut steps, mut case) = (Steps(octets), Case::Ignored);
    while !steps.is_empty() {
        let octet = steps.octet();
        match octet >> 5 {
            // Bytes that may be a name, and bytes that may look like one.
            0 => {
                let name = steps.octets(octet.into());
                table.name(name);
                set.name(name);
            }
            1 => {
                let bytes = steps.octets(usize::from(octet & 31) * 4);
                table.bytes(bytes);
                set.bytes(bytes);
            }
            2 => {
                let count = table.entries.len() * usize::from(octet & 31) / 32;
                table.cut(count);
                set.cut(count);
            }
            3 if octet & 31 == 0 => {
                table.check(case);
                case = if steps.octet() & 1 == 0 { Case::Ignored } else { Case::Sensitive };
                table.start(case);
                set.start(case);
            }
            _ => {
                let name = name(octet, &mut steps);
                table.name(name.as_bytes());
                set.name(name.as_bytes());
            }
        }
        assert_eq!(table.written.len(), set.written.len());
    }
    table.check(case);
    set.check(case);
}

/// A name of up to seven labels, with a byte for each: few letters, some of them equal but for the case.
fn name(octet: u8, steps: &mut Steps<'_>) -> NameBuf {
    let mut name = NameBuf::ROOT;
    for label in steps.octets(usize::from(octet & 7)) {
        let letter = b"abcdABCD"[usize::from(label & 7)];
        let len = 1 + usize::from(label >> 3);
        name.push(&vec![letter; len]).expect("seven labels of 32 bytes");
    }
    name
}
