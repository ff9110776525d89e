//! Responses to a signed query whose time differs from the server's (BADTIME, RFC 8945 §5.2.3).
//!
//! Their signature is made here: its input has the time of the server in 48 bits, as in the record.

use super::Key;
use domain::base::iana::{Rcode, TsigRcode};
use domain::base::name::ParsedName;
use domain::base::{Message, Record, Rtype};
use domain::rdata::Tsig;
use hashlane_dns::query::signature;
use hashlane_dns::wire::HEADER_LEN;
use ring::hmac;

/// Bytes of a TSIG record after its MAC, without other data: original identifier, error, length.
const AFTER_MAC: usize = 6;

type TsigRecord<'m> = Record<ParsedName<&'m [u8]>, Tsig<&'m [u8], ParsedName<&'m [u8]>>>;

/// The TSIG record that ends a message, and its offset.
pub(super) fn record(message: &[u8]) -> Option<(usize, TsigRecord<'_>)> {
    let start = signature(message)?;
    let last = Message::from_slice(message).ok()?.additional().ok()?.last()?.ok()?;
    (last.rtype() == Rtype::TSIG).then_some(())?;
    Some((start, last.into_record().ok()??))
}

/// Bytes that the MAC of a response covers: the MAC of the query with its length, the message without its
/// TSIG record, and the TSIG variables (RFC 8945 §4.3, §5.3).
fn covered(
    key: &Key,
    query_mac: &[u8],
    message: &[u8],
    start: usize,
    tsig: &TsigRecord<'_>,
) -> Option<Vec<u8>> {
    let (header, body) = message.get(..start)?.split_first_chunk::<HEADER_LEN>()?;
    let [_, _, flags @ .., more, records] = *header;
    let records = u16::from_be_bytes([more, records]).checked_sub(1)?;
    let data = tsig.data();
    let mut bytes = Vec::with_capacity(message.len() + query_mac.len());
    let mut add = |part: &[u8]| bytes.extend_from_slice(part);
    add(&(query_mac.len() as u16).to_be_bytes());
    add(query_mac);
    add(&data.original_id().to_be_bytes());
    add(&flags);
    add(&records.to_be_bytes());
    add(body);
    // The length of a label is less than any letter.
    add(&key.shared().name().as_slice().to_ascii_lowercase());
    // Class ANY, and a TTL of 0.
    add(&[0, 255, 0, 0, 0, 0]);
    add(key.shared().algorithm().to_name().as_slice());
    add(&data.time_signed().into_octets());
    add(&data.fudge().to_be_bytes());
    add(&data.error().to_int().to_be_bytes());
    add(&(data.other().len() as u16).to_be_bytes());
    add(data.other());
    Some(bytes)
}

/// Replaces the MAC of a response to a query with the MAC `query_mac`. The TSIG record has the length of the
/// key's own MAC; another response stays as it is.
pub(super) fn sign(key: &Key, query_mac: &[u8], response: &mut [u8]) {
    let made = record(response).and_then(|(start, tsig)| {
        let bytes = covered(key, query_mac, response, start, &tsig)?;
        Some((hmac::sign(key.hmac(), &bytes), AFTER_MAC + tsig.data().other().len()))
    });
    let Some((mac, after)) = made else { return };
    let place = response.len().checked_sub(after).and_then(|end| {
        let start = end.checked_sub(mac.as_ref().len())?;
        response.get_mut(start..end)
    });
    if let Some(place) = place {
        place.copy_from_slice(mac.as_ref());
    }
}

/// A clock that differs, as a server reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// Time of the server in seconds since 1970.
    pub(super) server: Option<u64>,
    /// The response is signed by the key.
    pub(super) is_signed: bool,
}

/// The clock difference that a response reports; `None` if it reports none.
pub(super) fn difference(key: &Key, query_mac: &[u8], response: &[u8]) -> Option<Difference> {
    let rcode = Message::from_slice(response).ok()?.header().rcode();
    let (start, tsig) = record(response)?;
    let data = tsig.data();
    if rcode != Rcode::NOTAUTH || data.error() != TsigRcode::BADTIME {
        return None;
    }
    let is_ours =
        tsig.owner() == key.shared().name() && *data.algorithm() == key.shared().algorithm().to_name();
    let is_signed = is_ours
        && covered(key, query_mac, response, start, &tsig)
            .is_some_and(|bytes| hmac::verify(key.hmac(), &bytes, data.mac()).is_ok());
    Some(Difference { server: data.other_time().map(u64::from), is_signed })
}
