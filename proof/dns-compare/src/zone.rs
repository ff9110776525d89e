//! A zone: its records, and its file.

use hashlane_name::dns::{Name, NameBuf, text};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Program and method by which a zone is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signed {
    No,
    /// NSEC by `dnssec-signzone`.
    Nsec,
    /// NSEC3 by `dnssec-signzone`: iterations, salt in hexadecimal or `-`, opt-out.
    Nsec3(u16, &'static str, bool),
    /// NSEC by `ldns-signzone`.
    LdnsNsec,
    /// NSEC3 by `ldns-signzone`: iterations, salt in hexadecimal, opt-out.
    LdnsNsec3(u16, &'static str, bool),
}

/// A zone that all servers serve.
pub(crate) struct Zone {
    /// Name in presentation form, with the dot at the end.
    pub(crate) apex: String,
    pub(crate) signed: Signed,
    /// Owner, and the rest of the line.
    lines: Vec<(NameBuf, String)>,
    /// Owners of records with their types, and the empty non-terminals above them.
    pub(crate) names: BTreeMap<Vec<u8>, BTreeSet<u16>>,
    /// Hashed owner names.
    pub(crate) hashed: Vec<NameBuf>,
    /// File that is served.
    pub(crate) file: PathBuf,
}

/// Numbers of the types that the zones have.
const TYPES: [(&str, u16); 36] = [
    ("A", 1),
    ("NS", 2),
    ("CNAME", 5),
    ("SOA", 6),
    ("PTR", 12),
    ("HINFO", 13),
    ("MINFO", 14),
    ("MX", 15),
    ("TXT", 16),
    ("RP", 17),
    ("AFSDB", 18),
    ("X25", 19),
    ("ISDN", 20),
    ("RT", 21),
    ("PX", 26),
    ("AAAA", 28),
    ("LOC", 29),
    ("SRV", 33),
    ("NAPTR", 35),
    ("KX", 36),
    ("CERT", 37),
    ("DNAME", 39),
    ("DS", 43),
    ("SSHFP", 44),
    ("TLSA", 52),
    ("OPENPGPKEY", 61),
    ("SVCB", 64),
    ("HTTPS", 65),
    ("SPF", 99),
    ("EUI48", 108),
    ("EUI64", 109),
    ("URI", 256),
    ("CAA", 257),
    ("TYPE65280", 65_280),
    ("TYPE65281", 65_281),
    ("SMIMEA", 53),
];

impl Zone {
    pub(crate) fn new(apex: &str, signed: Signed) -> Self {
        Self {
            apex: apex.to_owned(),
            signed,
            lines: Vec::new(),
            names: BTreeMap::new(),
            hashed: Vec::new(),
            file: PathBuf::new(),
        }
    }

    /// Name of the apex.
    pub(crate) fn apex_name(&self) -> NameBuf {
        parse(&self.apex)
    }

    pub(crate) fn is_signed(&self) -> bool {
        self.signed != Signed::No
    }

    pub(crate) fn is_signed_by_ldns(&self) -> bool {
        matches!(self.signed, Signed::LdnsNsec | Signed::LdnsNsec3(..))
    }

    /// True if insecure delegations have no NSEC3 record.
    pub(crate) fn opts_out(&self) -> bool {
        matches!(self.signed, Signed::Nsec3(_, _, true) | Signed::LdnsNsec3(_, _, true))
    }

    /// Adds a record. An owner without a dot at its end is relative to the apex, `@`; in the data, `@` stands
    /// for the apex.
    pub(crate) fn add(&mut self, owner: &str, rtype: &str, data: &str) {
        self.add_with_ttl(owner, 3600, rtype, data);
    }

    pub(crate) fn add_with_ttl(&mut self, owner: &str, ttl: u32, rtype: &str, data: &str) {
        let full = match owner {
            "@" => self.apex.clone(),
            relative => format!("{relative}.{}", self.apex),
        };
        let name = parse(&full);
        let number = TYPES.iter().find(|(mnemonic, _)| *mnemonic == rtype).map_or(0, |(_, number)| *number);
        assert!(number > 0, "type {rtype}");
        self.names.entry(folded(name.view())).or_default().insert(number);
        let mut above = name.view();
        let apex = self.apex_name();
        while above.len() > apex.view().len() {
            self.names.entry(folded(above)).or_default();
            above = parent(above);
        }
        let data = data.replace('@', &self.apex);
        self.lines.push((name, format!("{full}\t{ttl}\tIN\t{rtype}\t{data}")));
    }

    /// Writes the records into a file in `folder`.
    pub(crate) fn write(&mut self, folder: &Path) -> Result<(), String> {
        self.file = folder.join(format!("{}zone", self.apex));
        let lines: String = self.lines.iter().map(|(_, line)| format!("{line}\n")).collect();
        fs::write(&self.file, lines).map_err(|error| format!("{}: {error}", self.file.display()))
    }

    /// Lines of the records at a name, above it, and at the wildcards and directly below them.
    pub(crate) fn lines_near(&self, name: Name<'_>) -> Vec<&str> {
        let near = |owner: &NameBuf| {
            let owner = owner.view();
            name.is_within(owner)
                || owner.is_within(name)
                || owner.as_bytes().starts_with(b"\x01*") && name.is_within(parent(owner))
        };
        let apex = self.apex_name();
        let lines = self.lines.iter().filter(|(owner, _)| near(owner) && owner.view() != apex.view());
        lines.map(|(_, line)| line.as_str()).take(30).collect()
    }

    /// Reads the hashed owner names of the signed file.
    pub(crate) fn read_hashed(&mut self) -> Result<(), String> {
        let text =
            fs::read_to_string(&self.file).map_err(|error| format!("{}: {error}", self.file.display()))?;
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let owner = words.next().unwrap_or_default();
            if words.take(3).any(|word| word == "NSEC3") && owner.ends_with('.') {
                self.hashed.push(parse(owner));
            }
        }
        Ok(())
    }
}

/// A name of a zone in presentation form.
pub(crate) fn parse(name: &str) -> NameBuf {
    text::parse(name.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The name without its first label; the root has none.
pub(crate) fn parent(name: Name<'_>) -> Name<'_> {
    name.labels_from(1).as_name().unwrap_or(Name::ROOT)
}

/// Bytes of a name in lower case. Lengths of labels are below the letters.
pub(crate) fn folded(name: Name<'_>) -> Vec<u8> {
    name.as_bytes().to_ascii_lowercase()
}
