//! Differences between two answers.

use crate::answer::{Answer, DS, NSEC, NSEC3, Record};
use std::fmt;

/// A difference: ours is first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    Rcode(u16, u16),
    Opcode(u8, u8),
    /// A bit, and its value in ours.
    Flag(u16, bool),
    Question,
    /// A section has a record twice; true if it is ours.
    Repeats(bool),
    /// Only one has an OPT record; true if it is ours.
    Opt(bool),
    EdnsVersion(u8, u8),
    EdnsFlag(bool),
    /// An option that only one has; true if it is ours.
    EdnsOption(u16, bool),
    /// A record that they have in this section and we do not.
    Missing(usize, Record),
    /// A record that we have in this section and they do not.
    More(usize, Record),
}

/// All differences.
pub(crate) fn differences(ours: &Answer, theirs: &Answer) -> Vec<Difference> {
    let mut found = Vec::new();
    if ours.rcode != theirs.rcode {
        found.push(Difference::Rcode(ours.rcode, theirs.rcode));
    }
    if ours.opcode != theirs.opcode {
        found.push(Difference::Opcode(ours.opcode, theirs.opcode));
    }
    for bit in (4..16).map(|place| 1 << place) {
        if (ours.flags ^ theirs.flags) & bit > 0 {
            found.push(Difference::Flag(bit, ours.flags & bit > 0));
        }
    }
    if ours.questions != theirs.questions {
        found.push(Difference::Question);
    }
    if ours.repeats != theirs.repeats {
        found.push(Difference::Repeats(ours.repeats));
    }
    match (&ours.opt, &theirs.opt) {
        (None, None) => {}
        (Some(_), None) => found.push(Difference::Opt(true)),
        (None, Some(_)) => found.push(Difference::Opt(false)),
        (Some(ours), Some(theirs)) => {
            if ours.version != theirs.version {
                found.push(Difference::EdnsVersion(ours.version, theirs.version));
            }
            if ours.dnssec != theirs.dnssec {
                found.push(Difference::EdnsFlag(ours.dnssec));
            }
            for code in ours.options.symmetric_difference(&theirs.options) {
                found.push(Difference::EdnsOption(*code, ours.options.contains(code)));
            }
        }
    }
    for (section, (ours, theirs)) in ours.sections.iter().zip(&theirs.sections).enumerate() {
        found.extend(theirs.difference(ours).map(|record| Difference::Missing(section, record.clone())));
        found.extend(ours.difference(theirs).map(|record| Difference::More(section, record.clone())));
    }
    found
}

impl Difference {
    /// True for a record of a proof: NSEC, NSEC3 and DS in the authority section, and their signatures.
    pub(crate) fn is_proof(&self) -> bool {
        let (Self::Missing(1, record) | Self::More(1, record)) = self else { return false };
        matches!(record.about(), NSEC | NSEC3 | DS)
    }

    /// Its kind in a few words, for statistics.
    pub(crate) fn kind(&self) -> String {
        let section = |section: &usize| ["answer", "authority", "additional"][*section];
        let rtype = |record: &Record| {
            let about = hashlane_dns::wire::RecordType(record.about());
            if record.covered().is_some() { format!("RRSIG {about}") } else { about.to_string() }
        };
        match self {
            Self::Missing(place, record) => format!("missing {} {}", section(place), rtype(record)),
            Self::More(place, record) => format!("more {} {}", section(place), rtype(record)),
            other => format!("{other:?}"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(_, record) | Self::More(_, record) => write!(f, "{}: {record}", self.kind()),
            other => write!(f, "{other:?}"),
        }
    }
}
