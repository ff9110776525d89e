//! Descriptions of packets in lines of text.

use data_encoding::HEXLOWER;
use hashlane_name::ndn::NdnName;
use hashlane_ndn::tlv::{Element, WireError, single};
use hashlane_ndn::wire::data::{APPLICATION_NACK, BLOB, KEY, LINK};
use hashlane_ndn::wire::interest::DEFAULT_LIFETIME;
use hashlane_ndn::wire::tree::{self, ValueKind};
use hashlane_ndn::wire::{DATA, Data, INTEREST, Interest, LpPacket, lp};
use std::fmt::Write as _;

/// Bytes shown of a value; longer values are cut.
const SHOWN: usize = 32;

/// The first [`SHOWN`] bytes in hex.
pub(super) fn hex(octets: &[u8]) -> String {
    let mut text = HEXLOWER.encode(octets.get(..SHOWN).unwrap_or(octets));
    if octets.len() > SHOWN {
        text.push('…');
    }
    text
}

/// The header fields of a parsed link packet, as `NDNLPv2 PitToken=a0a1 CongestionMark=1`; empty for a bare
/// packet. `digest` is the TLV type of InterestDigest.
pub(super) fn header(octets: &[u8], digest: u32) -> String {
    let Some(packet) = single(octets).ok().filter(|packet| packet.typ == lp::LP_PACKET) else {
        return String::new();
    };
    let mut text = "NDNLPv2".to_owned();
    let mut elements = packet.elements();
    while let Ok(Some(element)) = elements.next() {
        // The fragment and the Nack reason follow the header.
        if matches!(element.typ, lp::FRAGMENT | lp::NACK) {
            continue;
        }
        text.push(' ');
        text.push_str(&field(&element, digest));
    }
    text
}

fn field(element: &Element<'_>, digest: u32) -> String {
    let (name, kind) = tree::describe(Some(lp::LP_PACKET), element.typ);
    match (name, kind) {
        _ if element.typ == digest => format!("InterestDigest={}", hex(element.value)),
        (Some(name), ValueKind::Flag) => name.to_owned(),
        (Some(name), ValueKind::Number) => format!("{name}={}", number(element)),
        (Some("CachePolicy"), _) => {
            let policy = single(element.value).ok().filter(|inner| inner.typ == lp::CACHE_POLICY_TYPE);
            match policy.and_then(|policy| policy.number().ok()) {
                Some(lp::NO_CACHE) => "CachePolicy=NoCache".to_owned(),
                Some(other) => format!("CachePolicy={other}"),
                None => format!("CachePolicy={}", hex(element.value)),
            }
        }
        (Some(name), _) => format!("{name}={}", hex(element.value)),
        (None, _) => format!("{}={}", element.typ, hex(element.value)),
    }
}

fn number(element: &Element<'_>) -> String {
    element.number().map_or_else(|_| hex(element.value), |number| number.to_string())
}

/// The description of a whole packet, and its encoded name.
pub(super) fn content<'a>(packet: &LpPacket<'a>) -> Result<(String, &'a [u8]), WireError> {
    let octets = packet.fragment;
    match (single(octets)?.typ, packet.header.nack) {
        (INTEREST, None) => {
            let interest = Interest::parse(octets)?;
            Ok((format!("INTEREST: {}", self::interest(&interest)), interest.name_bytes()))
        }
        (INTEREST, Some(reason)) => {
            let interest = Interest::parse(octets)?;
            Ok((format!("NACK: {reason}, {}", self::interest(&interest)), interest.name_bytes()))
        }
        (DATA, None) => {
            let data = Data::parse(octets)?;
            Ok((format!("DATA: {}", self::data(&data)), data.name_bytes()))
        }
        (typ, _) => Err(WireError::UnexpectedType { typ }),
    }
}

fn interest(interest: &Interest<'_>) -> String {
    let mut query = Vec::new();
    if interest.can_be_prefix() {
        query.push("CanBePrefix".to_owned());
    }
    if interest.must_be_fresh() {
        query.push("MustBeFresh".to_owned());
    }
    let hints: Vec<String> = interest.hints().map(|hint| hint.to_string()).collect();
    if !hints.is_empty() {
        query.push(format!("ForwardingHint={}", hints.join(",")));
    }
    query.extend(interest.nonce().map(|nonce| format!("Nonce={nonce:08x}")));
    if interest.lifetime() != DEFAULT_LIFETIME {
        query.push(format!("Lifetime={}", interest.lifetime()));
    }
    query.extend(interest.hop_limit().map(|limit| format!("HopLimit={limit}")));
    let mark = if query.is_empty() { "" } else { "?" };
    let mut text = format!("{}{mark}{}", interest.name(), query.join("&"));
    if let Some(parameters) = interest.parameters() {
        let _ = write!(text, " ({} bytes of parameters", parameters.len());
        if let Some(info) = interest.signature_info() {
            let _ = write!(text, ", {}", info.signature_type);
        }
        text.push(')');
    }
    text
}

fn data(data: &Data<'_>) -> String {
    let mut text = format!("{} (", data.name());
    let _ = match data.content_type() {
        BLOB => write!(text, "Blob"),
        LINK => write!(text, "Link"),
        KEY => write!(text, "Key"),
        APPLICATION_NACK => write!(text, "Nack"),
        other => write!(text, "ContentType {other}"),
    };
    let _ = write!(text, ", {} bytes", data.content().len());
    if let Some(freshness) = data.freshness() {
        let _ = write!(text, ", FreshnessPeriod={freshness}");
    }
    if let Some(last) = data.final_block() {
        let _ = write!(text, ", FinalBlockId={last}");
    }
    let _ = write!(text, ", {})", data.signature_info().signature_type);
    text
}

/// The elements of a packet, a line each, with offset, length and value.
pub(super) fn tree(octets: &[u8], digest: u32) -> String {
    let mut text = String::new();
    let mut parent_is_packet = false;
    tree::walk(octets, &mut |node| {
        let _ = match node {
            Ok(node) => {
                let element = &node.element;
                parent_is_packet |= element.typ == lp::LP_PACKET && node.depth == 0;
                let is_digest = parent_is_packet && node.depth == 1 && element.typ == digest;
                let name = if is_digest { Some("InterestDigest") } else { node.name };
                let name = name.map_or_else(|| format!("{:#x}", element.typ), str::to_owned);
                let indent = 2 * node.depth;
                let _ = write!(
                    text,
                    "    {:indent$}{name} ({}) at {}, {} bytes",
                    "",
                    element.typ,
                    element.at,
                    element.value.len()
                );
                let shown = value(octets, element, node.kind);
                writeln!(text, "{}{shown}", if shown.is_empty() { "" } else { ": " })
            }
            Err(error) => writeln!(text, "    malformed: {error}"),
        };
    });
    text
}

fn value(octets: &[u8], element: &Element<'_>, kind: ValueKind) -> String {
    match kind {
        ValueKind::Nested | ValueKind::Flag => String::new(),
        ValueKind::Number => number(element),
        ValueKind::Text => element.value.escape_ascii().take(4 * SHOWN).map(char::from).collect(),
        ValueKind::Bytes => hex(element.value),
        ValueKind::Name => match NdnName::parse(octets.get(element.at..element.end()).unwrap_or_default()) {
            Ok(name) => name.to_string(),
            Err(error) => format!("malformed: {error}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_values_are_cut() {
        assert_eq!(hex(&[1, 0xff]), "01ff");
        assert_eq!(hex(&[0; 33]), format!("{}…", "00".repeat(32)));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_have_a_description(mut octets in prop::collection::vec(any::<u8>(), 0..200), first in 0..4usize) {
            if let (Some(octet), Some(typ)) = (octets.first_mut(), [5, 6, 100].get(first)) {
                *octet = *typ;
            }
            let _ = (header(&octets, 860), tree(&octets, 860));
            if let Ok(packet) = LpPacket::parse(&octets) {
                let _ = content(&packet);
            }
        }
    }
}
