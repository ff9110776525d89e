//! The records of all pieces in their order, with what each inherits from those before it.

use crate::Record;
use crate::error::{Fault, FaultKind};
use crate::piece::{Records, TtlFrom};
use crate::split::Piece;
use hashlane_dns::wire::RecordType;
use hashlane_name::dns::{Name, NameBuf};

/// State that a piece inherits from those before it.
#[derive(Debug, Default)]
pub(super) struct Merger {
    /// The last owner of each file that is open, the zone file first.
    owners: Vec<Option<NameBuf>>,
    default_ttl: Option<u32>,
    last_ttl: Option<u32>,
    /// A missing owner or TTL is reported once.
    no_owner: bool,
    no_ttl: bool,
}

impl Merger {
    /// A merger whose records without a TTL have `default_ttl`, until a `$TTL` or a record states one.
    pub(super) fn new(default_ttl: Option<u32>) -> Self {
        Self { last_ttl: default_ttl, ..Self::default() }
    }

    /// Passes the records of a piece to `sink`. Returns the errors of the piece by line.
    pub(super) fn add(
        &mut self,
        piece: &Piece,
        mut records: Records,
        sink: &mut dyn FnMut(Record<'_>) -> Result<(), FaultKind>,
    ) -> Vec<Fault> {
        self.owners.resize(piece.depth + 1, None);
        if piece.first
            && let Some(owner) = self.owners.last_mut()
        {
            *owner = None;
        }
        let mut faults = std::mem::take(&mut records.faults);
        for head in &records.heads {
            let mut fault = |what| {
                let file = piece.source.name.clone();
                faults.push(Fault { file, line: Some(head.line), column: None, what });
            };
            let before = self.owners.last().and_then(Option::as_ref);
            let owner = match head.owner {
                Some(owner) => records.owner(owner),
                None => before.map(NameBuf::as_bytes).unwrap_or_default(),
            };
            // What the piece has is a name.
            let Ok(owner) = Name::parse(owner) else {
                if !std::mem::replace(&mut self.no_owner, true) {
                    fault(FaultKind::NoOwner);
                }
                continue;
            };
            let ttl = match (head.ttl_from, self.default_ttl, self.last_ttl) {
                (TtlFrom::Here, ..) | (TtlFrom::Record, None, _) => head.ttl,
                (TtlFrom::Record | TtlFrom::Before, Some(ttl), _) => ttl,
                (TtlFrom::Before, None, Some(ttl)) => ttl,
                (TtlFrom::Before, None, None) => {
                    if !std::mem::replace(&mut self.no_ttl, true) {
                        fault(FaultKind::NoTtl);
                    }
                    continue;
                }
            };
            let rtype = RecordType(head.rtype);
            if let Err(what) = sink(Record { owner, rtype, ttl, data: records.data(head) }) {
                fault(what);
            }
        }
        if let Some(owner) = records.owner
            && let Ok(name) = Name::parse(records.owner(owner))
            && let Some(last) = self.owners.last_mut()
        {
            *last = Some(name.into());
        }
        self.default_ttl = records.default_ttl.or(self.default_ttl);
        self.last_ttl = records.last_ttl.or(self.last_ttl);
        faults.sort_by_key(|fault| fault.line);
        faults
    }
}
