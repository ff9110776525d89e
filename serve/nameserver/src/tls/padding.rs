//! Padding of responses over TLS (RFC 7830), so that their lengths say little about the names in them.

use hashlane_dns::wire::{Message, RecordType};

/// Lengths of padded responses are multiples of this (RFC 8467 §4.1).
const BLOCK: usize = 468;

/// Code of the option.
const PADDING: u16 = 12;

/// Bytes of an OPT record without options: the root, type, class, TTL, and length of the data.
const OPT_LEN: usize = 11;

/// Pads a response to a query that is padded. The response is the last `len` bytes of a queue, after its
/// length in two bytes. A response whose last record is not OPT stays as it is, and so does one without room.
pub(crate) fn pad(query: &[u8], out: &mut Vec<u8>, len: usize) {
    let start = out.len().saturating_sub(len);
    let response = out.get(start..).unwrap_or_default();
    if !is_padded(query) {
        return;
    }
    let Some((opt, data)) = last_opt(response) else { return };
    let padded = (len + 4).next_multiple_of(BLOCK).min(hashlane_dns::MAX_MESSAGE_LEN);
    let Some(fill) = padded.checked_sub(len + 4) else { return };
    let Ok(data) = u16::try_from(data + 4 + fill) else { return };
    let place = start + opt + OPT_LEN - 2;
    if let Some(place) = out.get_mut(place..place + 2) {
        place.copy_from_slice(&data.to_be_bytes());
    }
    out.extend_from_slice(&PADDING.to_be_bytes());
    // Shorter than a block.
    out.extend_from_slice(&(fill as u16).to_be_bytes());
    out.resize(start + padded, 0);
    if let Some(place) = out.get_mut(start.saturating_sub(2)..start) {
        place.copy_from_slice(&(padded as u16).to_be_bytes());
    }
}

/// True if a query has the option.
fn is_padded(query: &[u8]) -> bool {
    let Ok((_, mut records)) = Message::parse(query).and_then(|message| message.questions()) else {
        return false;
    };
    records
        .any(|record| record.is_ok_and(|record| record.rtype == RecordType::OPT && has_padding(&record.data)))
}

fn has_padding(mut options: &[u8]) -> bool {
    while let [a, b, c, d, rest @ ..] = options {
        if u16::from_be_bytes([*a, *b]) == PADDING {
            return true;
        }
        options = rest.get(usize::from(u16::from_be_bytes([*c, *d]))..).unwrap_or_default();
    }
    false
}

/// Offset of the OPT record that ends a message, and the length of its data.
fn last_opt(message: &[u8]) -> Option<(usize, usize)> {
    let (_, records) = Message::parse(message).ok()?.questions().ok()?;
    let last = records.last()?.ok()?;
    let data = last.data.len();
    (last.rtype == RecordType::OPT).then_some((message.len().checked_sub(OPT_LEN + data)?, data))
}
