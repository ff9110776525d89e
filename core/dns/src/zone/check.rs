//! Checks of the data of single records.

use crate::wire::{Rdata, RdataError, RecordType};
use hashlane_name::dns::Name;

/// Types from here on are for questions and messages, up to [`LAST_META`] (RFC 6895 §3.1).
const FIRST_META: u16 = 128;
const LAST_META: u16 = 255;

/// Returns true if a zone may have records of this type.
pub(super) fn is_data(rtype: RecordType) -> bool {
    rtype.0 != 0 && rtype != RecordType::OPT && !(FIRST_META..=LAST_META).contains(&rtype.0)
}

/// Splits data at the names that are stored as ids, and checks the form of data that answers are made from.
pub(super) fn parse(rtype: RecordType, data: &[u8]) -> Result<Rdata<'_>, RdataError> {
    let truncated = Err(RdataError::Truncated { at: data.len() });
    match rtype {
        RecordType::A => fixed(data, 4),
        RecordType::AAAA => fixed(data, 16),
        RecordType::DNAME => Ok(Rdata::name(name_at(data, 0, Some(0))?)),
        RecordType::RRSIG => name_at(data, 18, None).map(|_| Rdata::opaque(data)),
        RecordType::NSEC => name_at(data, 0, None).map(|_| Rdata::opaque(data)),
        RecordType::NSEC3 if super::nsec3::Params::from_nsec3(data).is_none() => truncated,
        super::nsec3::NSEC3PARAM if super::nsec3::Params::from_param(data).is_none() => truncated,
        _ if rtype.compresses() && data.is_empty() => truncated,
        _ => {
            let rdata = Rdata::parse(rtype, data)?;
            if let (Some(layout), false) = (rtype.layout(), rtype.compresses()) {
                let before = layout.before_names(data).ok_or(RdataError::Truncated { at: data.len() })?;
                names_at(data, before, layout.names, layout.after)?;
            }
            Ok(rdata)
        }
    }
}

fn fixed(data: &[u8], len: usize) -> Result<Rdata<'_>, RdataError> {
    match data.len() {
        short if short < len => Err(RdataError::Truncated { at: short }),
        long if long > len => Err(RdataError::TrailingBytes { at: len }),
        _ => Ok(Rdata::opaque(data)),
    }
}

fn name_at(data: &[u8], at: usize, after: Option<usize>) -> Result<Name<'_>, RdataError> {
    let rest = data.get(at..).ok_or(RdataError::Truncated { at: data.len() })?;
    let name = Name::parse_first(rest).map_err(|error| RdataError::Name { at, error })?;
    names_at(data, at, 1, after)?;
    Ok(name)
}

/// Checks names in a row from `at`, and the number of bytes after them.
fn names_at(data: &[u8], mut at: usize, names: usize, after: Option<usize>) -> Result<(), RdataError> {
    for _ in 0..names {
        let rest = data.get(at..).ok_or(RdataError::Truncated { at: data.len() })?;
        at += Name::parse_first(rest).map_err(|error| RdataError::Name { at, error })?.len();
    }
    match (after, data.len().saturating_sub(at)) {
        (Some(after), left) if left < after => Err(RdataError::Truncated { at: data.len() }),
        (Some(after), left) if left > after => Err(RdataError::TrailingBytes { at: at + after }),
        _ => Ok(()),
    }
}
