//! Packets as trees of named elements, for display.
//!
//! Only the structure of elements is checked, so packets that a parser rejects can be displayed, too.

use super::{DATA, INTEREST, NAME, data, interest, lp, signature};
use crate::tlv::{Element, Elements, WireError};

/// Kind of an element's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Nested elements.
    Nested,
    /// Name.
    Name,
    /// A NonNegativeInteger, or a number of a fixed length.
    Number,
    /// Opaque bytes.
    Bytes,
    /// Empty value; the presence of the element is the flag.
    Flag,
    /// Text.
    Text,
}

/// Element at its place in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Number of elements around it.
    pub depth: usize,
    /// Element, with offsets in the whole packet.
    pub element: Element<'a>,
    /// Name of the element; `None` if its type is unknown there.
    pub name: Option<&'static str>,
    /// Kind of its value.
    pub kind: ValueKind,
}

/// Name and kind of an element of type `typ` inside an element of type `parent` (`None`: at the top). The
/// name is `None` if the type is unknown there.
pub fn describe(parent: Option<u32>, typ: u32) -> (Option<&'static str>, ValueKind) {
    use ValueKind::{Bytes, Flag, Name, Nested, Number, Text};
    let (name, kind) = match (parent, typ) {
        (None | Some(lp::FRAGMENT), INTEREST) => ("Interest", Nested),
        (None | Some(lp::FRAGMENT | lp::PREFIX_ANNOUNCEMENT), DATA) => ("Data", Nested),
        (None, lp::LP_PACKET) => ("LpPacket", Nested),
        (Some(lp::LP_PACKET), _) => return header_field(typ),
        (Some(lp::NACK), lp::NACK_REASON) => ("NackReason", Number),
        (Some(lp::CACHE_POLICY), lp::CACHE_POLICY_TYPE) => ("CachePolicyType", Number),
        (Some(INTEREST | DATA | interest::FORWARDING_HINT | signature::KEY_LOCATOR), NAME) => ("Name", Name),
        (Some(INTEREST), interest::CAN_BE_PREFIX) => ("CanBePrefix", Flag),
        (Some(INTEREST), interest::MUST_BE_FRESH) => ("MustBeFresh", Flag),
        (Some(INTEREST), interest::FORWARDING_HINT) => ("ForwardingHint", Nested),
        (Some(INTEREST), interest::NONCE) => ("Nonce", Bytes),
        (Some(INTEREST), interest::LIFETIME) => ("InterestLifetime", Number),
        (Some(INTEREST), interest::HOP_LIMIT) => ("HopLimit", Number),
        (Some(INTEREST), interest::PARAMETERS) => ("ApplicationParameters", Bytes),
        (Some(INTEREST), interest::SIGNATURE_INFO) => ("InterestSignatureInfo", Nested),
        (Some(INTEREST), interest::SIGNATURE_VALUE) => ("InterestSignatureValue", Bytes),
        (Some(DATA), data::META_INFO) => ("MetaInfo", Nested),
        (Some(DATA), data::CONTENT) => ("Content", Bytes),
        (Some(DATA), data::SIGNATURE_INFO) => ("SignatureInfo", Nested),
        (Some(DATA), data::SIGNATURE_VALUE) => ("SignatureValue", Bytes),
        (Some(data::META_INFO), data::CONTENT_TYPE) => ("ContentType", Number),
        (Some(data::META_INFO), data::FRESHNESS_PERIOD) => ("FreshnessPeriod", Number),
        (Some(data::META_INFO), data::FINAL_BLOCK_ID) => ("FinalBlockId", Bytes),
        (Some(data::SIGNATURE_INFO | interest::SIGNATURE_INFO), _) => return signature_field(typ),
        (Some(signature::KEY_LOCATOR), signature::KEY_DIGEST) => ("KeyDigest", Bytes),
        (Some(signature::VALIDITY_PERIOD), 254) => ("NotBefore", Text),
        (Some(signature::VALIDITY_PERIOD), 255) => ("NotAfter", Text),
        _ => return (None, Bytes),
    };
    (Some(name), kind)
}

fn header_field(typ: u32) -> (Option<&'static str>, ValueKind) {
    let (name, kind) = match typ {
        lp::FRAGMENT => ("Fragment", ValueKind::Nested),
        lp::SEQUENCE => ("Sequence", ValueKind::Number),
        lp::FRAG_INDEX => ("FragIndex", ValueKind::Number),
        lp::FRAG_COUNT => ("FragCount", ValueKind::Number),
        lp::PIT_TOKEN => ("PitToken", ValueKind::Bytes),
        lp::NACK => ("Nack", ValueKind::Nested),
        lp::INCOMING_FACE_ID => ("IncomingFaceId", ValueKind::Number),
        lp::NEXT_HOP_FACE_ID => ("NextHopFaceId", ValueKind::Number),
        lp::CACHE_POLICY => ("CachePolicy", ValueKind::Nested),
        lp::CONGESTION_MARK => ("CongestionMark", ValueKind::Number),
        lp::ACK => ("Ack", ValueKind::Number),
        lp::TX_SEQUENCE => ("TxSequence", ValueKind::Number),
        lp::NON_DISCOVERY => ("NonDiscovery", ValueKind::Flag),
        lp::PREFIX_ANNOUNCEMENT => ("PrefixAnnouncement", ValueKind::Nested),
        _ => return (None, ValueKind::Bytes),
    };
    (Some(name), kind)
}

fn signature_field(typ: u32) -> (Option<&'static str>, ValueKind) {
    let (name, kind) = match typ {
        signature::SIGNATURE_TYPE => ("SignatureType", ValueKind::Number),
        signature::KEY_LOCATOR => ("KeyLocator", ValueKind::Nested),
        signature::SIGNATURE_NONCE => ("SignatureNonce", ValueKind::Bytes),
        signature::SIGNATURE_TIME => ("SignatureTime", ValueKind::Number),
        signature::SIGNATURE_SEQ_NUM => ("SignatureSeqNum", ValueKind::Number),
        signature::VALIDITY_PERIOD => ("ValidityPeriod", ValueKind::Nested),
        _ => return (None, ValueKind::Bytes),
    };
    (Some(name), kind)
}

/// Visits the elements of `bytes`, parents before children. Bytes that are not an element are passed as the
/// rule that they break, and the walk continues after the outer element.
pub fn walk<'a>(bytes: &'a [u8], visit: &mut dyn FnMut(Result<Node<'a>, WireError>)) {
    level(None, Elements::new(bytes), 0, visit);
}

/// The depth is bounded by [`describe`]: link packet, fragment, Data, SignatureInfo, KeyLocator, name.
fn level<'a>(
    parent: Option<u32>,
    mut elements: Elements<'a>,
    depth: usize,
    visit: &mut dyn FnMut(Result<Node<'a>, WireError>),
) {
    // A fragment of a packet has no element structure.
    let mut in_pieces = false;
    loop {
        let element = match elements.next() {
            Ok(Some(element)) => element,
            Ok(None) => return,
            Err(error) => return visit(Err(error)),
        };
        let (name, mut kind) = describe(parent, element.typ);
        if parent == Some(lp::LP_PACKET) {
            in_pieces |= element.typ == lp::FRAG_COUNT && element.number() != Ok(1);
            if element.typ == lp::FRAGMENT && in_pieces {
                kind = ValueKind::Bytes;
            }
        }
        visit(Ok(Node { depth, element, name, kind }));
        if kind == ValueKind::Nested {
            level(Some(element.typ), element.elements(), depth + 1, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{InterestBuilder, LpHeader, NackReason};
    use hashlane_name::uri::parse_uri;
    use proptest::prelude::*;
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn names(bytes: &[u8]) -> Vec<(usize, String, usize)> {
        let mut seen = Vec::new();
        walk(bytes, &mut |node| {
            seen.push(match node {
                Ok(node) => {
                    let name = node.name.map_or_else(|| node.element.typ.to_string(), ToString::to_string);
                    (node.depth, name, node.element.at)
                }
                Err(error) => (99, error.to_string(), 0),
            });
        });
        seen
    }

    #[test]
    fn names_the_elements_of_a_packet_and_says_where_they_are() {
        let name = parse_uri::<hashlane_name::ndn::Ndn>(b"/a").unwrap();
        let interest = InterestBuilder {
            hints: [name.view()].into_iter().collect(),
            nonce: Some(7),
            ..InterestBuilder::new(name.view())
        };
        let interest = interest.build();
        let header = LpHeader { pit_token: &[1], nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
        let bytes = [header.wrapped(interest.len()).as_bytes(), &interest].concat();
        let expected = [
            (0, "LpPacket", 0),
            (1, "PitToken", 2),
            (1, "Nack", 5),
            (2, "NackReason", 9),
            (1, "Fragment", 14),
            (2, "Interest", 16),
            (3, "Name", 18),
            (3, "ForwardingHint", 23),
            (4, "Name", 25),
            (3, "Nonce", 30),
        ];
        assert_eq!(names(&bytes), expected.map(|(depth, name, at)| (depth, name.to_string(), at)));
    }

    #[test]
    fn leaves_pieces_and_what_is_unknown_alone() {
        let piece = [100, 14, 81, 1, 0, 82, 1, 0, 83, 1, 2, 80, 3, 6, 1, 0];
        let piece = names(&piece);
        assert_eq!(piece.len(), 5, "{piece:?}");
        assert_eq!(names(&[9, 1, 5, 6, 1]).last().map(|node| node.0), Some(99));
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_end(mut bytes in prop::collection::vec(any::<u8>(), 0..300), first in 0..4usize) {
            if let (Some(byte), Some(typ)) = (bytes.first_mut(), [5, 6, 100].get(first)) {
                *byte = *typ;
            }
            let mut seen = 0;
            walk(&bytes, &mut |node| {
                seen += 1;
                if let Ok(node) = node {
                    assert!(node.depth < 8 && node.element.end() <= bytes.len());
                }
            });
            // An element takes at least two bytes, and has at most six around it.
            prop_assert!(seen <= 7 * bytes.len() + 1);
        }
    }
}
