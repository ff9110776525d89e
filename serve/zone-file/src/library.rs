//! Types whose data the crate `domain` reads: the types of RFC 9460, with their list of parameters, and
//! IPSECKEY.

use crate::error::FaultKind;
use crate::scan::Scanner;
use domain::base::rdata::ComposeRecordData as _;
use domain::zonefile::inplace::{Entry, Zonefile};
use hashlane_dns::wire::RecordType;
use hashlane_name::dns::Name;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Most bytes of text: data have at most 65,535, and each takes at most four characters.
const MAX_TEXT: usize = 4 * 65_535;

/// Appends the data of a record of type `rtype`, to the end of the record.
pub(super) fn read(
    rtype: u16,
    scanner: &mut Scanner<'_>,
    origin: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), FaultKind> {
    let mnemonic = match rtype {
        64 => "SVCB",
        65 => "HTTPS",
        _ => "IPSECKEY",
    };
    let origin = origin.ok_or(FaultKind::NoOrigin)?;
    let mut line = format!(". 0 IN {mnemonic}");
    while let Some(token) = scanner.next()? {
        // A parameter's quoted value belongs to the word before it.
        if token.spaced || !(token.quoted && line.ends_with('=')) {
            line.push(' ');
        }
        if token.is(b"@") {
            // The library has no sign for the origin in data.
            if let Ok(origin) = Name::parse(origin) {
                let _ = write!(line, "{origin}");
            }
            continue;
        }
        let quote = if token.quoted { "\"" } else { "" };
        line.push_str(quote);
        for byte in token.text {
            match byte {
                b' '..=b'~' => line.push(char::from(*byte)),
                // The library takes printable ASCII alone.
                byte => drop(write!(line, "\\{byte:03}")),
            }
        }
        line.push_str(quote);
        if line.len() > MAX_TEXT {
            return Err(FaultKind::DataTooLong);
        }
    }
    line.push('\n');
    // The library panics on some malformed text, and keeps no state.
    let data = catch_unwind(AssertUnwindSafe(|| data(&line, origin)));
    let data = data.unwrap_or_else(|_| Err("malformed".into()));
    match data {
        Ok(data) => out.extend_from_slice(&data),
        Err(why) => {
            return Err(FaultKind::Data(format!("data that {} cannot have: {why}", RecordType(rtype))));
        }
    }
    Ok(())
}

/// The data of the only record of `text`.
fn data(text: &str, origin: &[u8]) -> Result<Vec<u8>, String> {
    let mut reader = Zonefile::with_capacity(text.len() + 1);
    reader.extend_from_slice(text.as_bytes());
    let origin =
        domain::base::Name::from_octets(origin.to_vec().into()).map_err(|error| error.to_string())?;
    reader.set_origin(origin);
    let reason = |error: domain::zonefile::inplace::Error| {
        // Without the position, which is that in this text.
        let error = error.to_string();
        error.splitn(3, ':').last().map(|why| why.trim().to_owned()).unwrap_or(error)
    };
    let Some(Entry::Record(record)) = reader.next_entry().map_err(reason)? else {
        return Err("no data".into());
    };
    let mut data = Vec::new();
    // Writing to a vector cannot fail.
    let Ok(()) = record.data().compose_rdata(&mut data);
    Ok(data)
}
