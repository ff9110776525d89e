//! Transfers that queries ask for: who may have one, and what it has.

use super::peers::{ZoneTransfers, permits};
use super::received::Received;
use super::seldom::Seldom;
use crate::answer::Answerer;
use crate::tls::Channel;
use crate::view::View;
use hashlane_dns::query::Query;
use hashlane_dns::respond::Transport;
use hashlane_dns::wire::{Message, Rcode, RecordType, Section};
use hashlane_dns::zone::Zone;
use hashlane_hash::scheme::Key as HashKey;
use hashlane_transfer::outgoing::Outgoing;
use hashlane_transfer::soa::Soa;
use hashlane_transfer::tsig::Signer;
use std::sync::Arc;

/// The transfer that a query asks for. The log names the cause of some that are refused, by `lines`.
pub(super) fn transfer(
    (answerer, hash_key): (&mut Answerer, &HashKey),
    view: &View,
    query: &Query<'_>,
    Received { message, from, channel, .. }: Received<'_>,
    transport: Transport,
    signer: Option<&Signer>,
    lines: &mut Seldom,
) -> Result<Outgoing, Rcode> {
    let key = signer.map(Signer::key);
    let place = view.zones.position(query.name, answerer.hash()).ok_or(Rcode::REFUSED)?;
    let rights = view.transfers.get(place).ok_or(Rcode::REFUSED)?;
    if channel == Channel::Tls {
        if lines.is_due() {
            tracing::info!(zone = %query.name, %from, "transfer over TLS refused: no ALPN \"dot\" (RFC 9103)");
        }
        return Err(Rcode::REFUSED);
    }
    if !permits(&rights.allow, from.ip(), channel, key.as_ref()) {
        if lines.is_due() {
            let key = key.map_or_else(|| "none".to_owned(), |key| key.to_string());
            tracing::info!(zone = %query.name, %from, key, ?channel, "transfer refused: no rule permits it");
        }
        return Err(Rcode::REFUSED);
    }
    let zone = view.zones.entries().get(place).and_then(|entry| entry.zone.clone());
    let zone = zone.ok_or(Rcode::SERVER_FAILURE)?;
    let (id, question) = (query.header.id, (query.name, query.rtype));
    match (query.rtype, transport) {
        (RecordType::AXFR, Transport::Tcp) => Ok(Outgoing::whole(id, question, zone)),
        // A zone takes more than one datagram (RFC 5936 §4.2).
        (RecordType::AXFR, _) => Err(Rcode::FORMAT_ERROR),
        (_, transport) => {
            let theirs = serial_of(message).ok_or(Rcode::FORMAT_ERROR)?;
            Ok(incremental((id, question), zone, rights, theirs, transport, hash_key))
        }
    }
}

/// The response to IXFR from a version: nothing new, differences, or all.
fn incremental(
    (id, question): (u16, (hashlane_name::dns::Name<'_>, RecordType)),
    zone: Arc<Zone>,
    rights: &ZoneTransfers,
    theirs: u32,
    transport: Transport,
    hash_key: &HashKey,
) -> Outgoing {
    let is_current = !hashlane_dns::zone::is_before(theirs, zone.serial());
    // Over UDP, the SOA record says that the secondary should come by TCP (RFC 1995 §2).
    if is_current || transport == Transport::Udp {
        return Outgoing::deltas(id, question.0, zone, Vec::new());
    }
    match rights.history.since(theirs, &zone, hash_key) {
        Some(deltas) => Outgoing::deltas(id, question.0, zone, deltas),
        None => Outgoing::whole(id, question, zone),
    }
}

/// Serial number of the version that a query for differences has in its authority section.
fn serial_of(message: &[u8]) -> Option<u32> {
    let (_, records) = Message::parse(message).ok()?.questions().ok()?;
    let mut records = records.filter_map(Result::ok);
    let soa =
        records.find(|record| (record.section, record.rtype) == (Section::Authority, RecordType::SOA))?;
    Soa::parse(&soa.data).map(|soa| soa.serial)
}
