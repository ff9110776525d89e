//! Lines of records that break a rule of the zone as a whole.
//!
//! A zone does not keep the lines of its records: after an error, the files are read again up to the record.

use crate::error::{Fault, FaultKind, LoadError};
use crate::{Options, Record, records};
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Rule, ZoneError};
use hashlane_name::dns::Name;
use std::path::Path;

/// The error of a zone file whose records break a rule together. It names the line of the first record that
/// breaks the rule together with the records before it; if a record is missing, the line of the record beside
/// which it belongs; no line if the file has changed meanwhile.
pub(super) fn error(
    path: &Path,
    origin: Option<Name<'_>>,
    options: &Options,
    error: &ZoneError,
) -> LoadError {
    let mut search = Search::new(error);
    let mut sink = |record: Record<'_>| match search.breaks(&record) {
        true => Err(FaultKind::Zone(error.to_string())),
        false => Ok(()),
    };
    let options = Options { max_errors: 1, included: None, ..options.clone() };
    match records(path, origin, &options, &mut sink) {
        Err(found) => LoadError { more: false, ..found },
        Ok(()) => of_file(path, FaultKind::Zone(error.to_string())),
    }
}

/// An error of a whole file.
pub(super) fn of_file(path: &Path, what: FaultKind) -> LoadError {
    let fault = Fault { file: path.display().to_string(), line: None, column: None, what };
    LoadError { faults: vec![fault], more: false }
}

/// Records of a name so far.
struct Search<'e> {
    error: &'e ZoneError,
    /// Data of the first record of the type.
    first: Option<Vec<u8>>,
    /// The name has a record of the type, and one that must not stand beside it.
    has: (bool, bool),
}

impl<'e> Search<'e> {
    fn new(error: &'e ZoneError) -> Self {
        Self { error, first: None, has: (false, false) }
    }

    /// Returns true for the first record that breaks the rule.
    fn breaks(&mut self, record: &Record<'_>) -> bool {
        let Record { owner, rtype, data, .. } = *record;
        let is_owner = owner.eq_ignore_case(self.error.owner.view());
        let is_type = rtype == self.error.rtype;
        match self.error.rule {
            Rule::TooLarge => false,
            Rule::NoSoa => true,
            _ if !is_owner => false,
            Rule::NoNameServer => rtype == RecordType::SOA,
            Rule::SeveralSoa | Rule::SeveralCname | Rule::SeveralDname => {
                is_type && self.first.get_or_insert_with(|| data.to_vec()) != data
            }
            Rule::BesideCname => {
                let beside = !matches!(rtype, RecordType::NSEC | RecordType::NSEC3 | RecordType::RRSIG);
                self.together(is_type, beside && !is_type)
            }
            Rule::DnameBesideNs => self.together(is_type, rtype == RecordType::NS),
            Rule::Iterations(iterations) => is_type && data.get(2..4) == Some(&iterations.to_be_bytes()),
            _ => is_type,
        }
    }

    fn together(&mut self, is_type: bool, is_other: bool) -> bool {
        self.has = (self.has.0 || is_type, self.has.1 || is_other);
        self.has == (true, true)
    }
}
