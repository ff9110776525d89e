//! Packets of attackers and innocents.

use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::Record as _;
use hashlane_ndn::mgmt::dataset::FaceQueryFilter;
use hashlane_ndn::wire::{Data, DataBuilder, Interest, InterestBuilder, LpHeader, LpPacket, NackReason};
use std::sync::atomic::{AtomicU32, Ordering};

/// Longest lifetime that an attacker asks for: an hour.
pub(crate) const HOUR: u64 = 3_600_000;

/// A Nonce that no other Interest of this process has: one that comes again is a loop.
pub(crate) fn fresh_nonce() -> u32 {
    static NONCE: AtomicU32 = AtomicU32::new(1);
    NONCE.fetch_add(1, Ordering::Relaxed)
}

/// Name of a URI.
///
/// # Errors
/// The URI is malformed.
pub(crate) fn name(uri: &str) -> Result<OwnedName<Ndn>, String> {
    hashlane_name::uri::parse_uri(uri.as_bytes()).map_err(|error| format!("{uri}: {error}"))
}

/// Interest for a name, with a new Nonce.
pub(crate) fn interest(name: &OwnedName<Ndn>, lifetime: u64) -> Vec<u8> {
    InterestBuilder { nonce: Some(fresh_nonce()), lifetime, ..InterestBuilder::new(name.view()) }.build()
}

/// Interest for the newest version of a dataset.
pub(crate) fn list_interest(name: &OwnedName<Ndn>, lifetime: u64) -> Vec<u8> {
    let nonce = Some(fresh_nonce());
    let flags =
        InterestBuilder { can_be_prefix: true, must_be_fresh: true, ..InterestBuilder::new(name.view()) };
    InterestBuilder { nonce, lifetime, ..flags }.build()
}

/// Data that answers an Interest.
pub(crate) fn answer(interest: &Interest<'_>, content: &[u8]) -> Vec<u8> {
    DataBuilder::new(interest.name(), content).build()
}

/// An Interest whose last component and Nonce are replaced, packet by packet.
#[derive(Clone)]
pub(crate) struct Template {
    bytes: Vec<u8>,
    number_at: usize,
    nonce_at: usize,
}

/// Bytes that are replaced by a number: no prefix or padding has them.
const PLACE: [u8; 8] = [0xa5, 0x5a, 0xc3, 0x3c, 0x96, 0x69, 0xf0, 0x0f];

impl Template {
    /// Interest below `prefix`, with a name of `padding` bytes more.
    ///
    /// # Errors
    /// The prefix is malformed, or the name too long.
    pub(crate) fn new(prefix: &str, padding: usize, lifetime: u64) -> Result<Self, String> {
        let padding = vec![b'x'; padding];
        let rest: Vec<&[u8]> = [&padding[..], &PLACE].into_iter().filter(|part| !part.is_empty()).collect();
        Self::of(prefix, &rest, lifetime)
    }

    /// Query for the face of a number, at the management: every face is compared with it.
    ///
    /// # Errors
    /// The name is too long.
    pub(crate) fn face_query(lifetime: u64) -> Result<Self, String> {
        let id = u64::from_be_bytes(PLACE);
        let filter = FaceQueryFilter { face_id: Some(id), ..FaceQueryFilter::default() };
        Self::of("/localhost/nfd/faces/query", &[&filter.to_bytes()], lifetime)
    }

    /// Interest for `prefix` with these components; one of them has [`PLACE`].
    fn of(prefix: &str, rest: &[&[u8]], lifetime: u64) -> Result<Self, String> {
        let prefix = name(prefix)?;
        let view = prefix.view();
        let components = view.components().chain(rest.iter().copied().map(Component::generic));
        let name = OwnedName::<Ndn>::from_components(components).map_err(|error| error.to_string())?;
        let nonce = Some(u32::from_be_bytes(*b"nonc"));
        let builder = InterestBuilder { nonce, lifetime, ..InterestBuilder::new(name.view()) };
        let bytes = InterestBuilder { can_be_prefix: true, ..builder }.build();
        let at = bytes.windows(PLACE.len()).position(|window| window == PLACE);
        let nonce = Interest::parse(&bytes).ok().and_then(|interest| interest.nonce_at());
        match (at, nonce) {
            (Some(number_at), Some(nonce)) => Ok(Self { bytes, number_at, nonce_at: nonce.start }),
            _ => Err("an Interest without a name or a Nonce".into()),
        }
    }

    /// The Interest of a number, with a new Nonce.
    pub(crate) fn stamp(&mut self, number: u64) -> &[u8] {
        self.bytes[self.number_at..][..8].copy_from_slice(&number.to_be_bytes());
        self.bytes[self.nonce_at..][..4].copy_from_slice(&fresh_nonce().to_be_bytes());
        &self.bytes
    }
}

/// First fragment of a packet of two, of `len` bytes.
pub(crate) fn first_fragment(sequence: u64, len: usize) -> Vec<u8> {
    let header = LpHeader { sequence: Some(sequence), frag_index: 0, frag_count: 2, ..LpHeader::default() };
    [header.wrapped(len).as_bytes(), &vec![0; len]].concat()
}

/// Packet that a consumer or a producer receives.
pub(crate) enum Received {
    Interest(Vec<u8>),
    Data(Vec<u8>),
    /// An Interest sent back.
    Nack(Vec<u8>, NackReason),
}

impl Received {
    /// Parses a link packet; `None` if it has none of the three.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let packet = LpPacket::parse(bytes).ok()?;
        let inner = packet.fragment.to_vec();
        if let Some(reason) = packet.header.nack {
            return Some(Self::Nack(inner, reason));
        }
        if Interest::parse(&inner).is_ok() {
            return Some(Self::Interest(inner));
        }
        Data::parse(&inner).is_ok().then_some(Self::Data(inner))
    }
}

/// True if `data` is named `name` or below.
pub(crate) fn is_below(data: &Data<'_>, name: &OwnedName<Ndn>) -> bool {
    let view = name.view();
    let mut components = data.name().components();
    view.components().all(|component| components.next() == Some(component))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_makes_interests_that_differ() {
        let mut template = Template::new("/a/b", 5, HOUR).unwrap();
        let first = template.stamp(1).to_vec();
        let second = template.stamp(2).to_vec();
        let [one, two] = [&first, &second].map(|bytes| Interest::parse(bytes).unwrap());
        assert_ne!(one.name(), two.name());
        assert_ne!(one.nonce(), two.nonce());
        assert_eq!((one.lifetime(), one.name_len()), (HOUR, 4));
        assert!(one.name().to_string().starts_with("/a/b/xxxxx/"));
    }

    #[test]
    fn a_face_query_has_a_filter_of_its_number() {
        let mut template = Template::face_query(4000).unwrap();
        let bytes = template.stamp(1 << 60).to_vec();
        let name = Interest::parse(&bytes).unwrap().name();
        let filter = FaceQueryFilter::parse(name.components().last().unwrap().value).unwrap();
        assert_eq!(filter.face_id, Some(1 << 60));
    }

    #[test]
    fn a_first_fragment_needs_another() {
        let bytes = first_fragment(7, 1000);
        let packet = LpPacket::parse(&bytes).unwrap();
        assert!(packet.header.is_fragmented() && packet.fragment.len() == 1000);
    }

    #[test]
    fn answers_are_below_the_name_that_was_asked() {
        let question = interest(&name("/a/b").unwrap(), 4000);
        let data = answer(&Interest::parse(&question).unwrap(), b"");
        let data = Data::parse(&data).unwrap();
        assert!(is_below(&data, &name("/a").unwrap()) && is_below(&data, &name("/a/b").unwrap()));
        assert!(!is_below(&data, &name("/a/b/c").unwrap()) && !is_below(&data, &name("/b").unwrap()));
    }
}
