//! Link packets of NDNLPv2: header fields around an Interest, a Data packet, or a fragment of one.
//!
//! ```text
//! link packet = bare Interest / bare Data / LpPacket
//! LpPacket    = 100 length *header-field [fragment]
//! ```
//! Header fields occur once, except Ack, and in the order of their types; other packets are rejected. An
//! unknown field is ignored if its type is 800 to 959 with the two lowest bits 0; otherwise the packet is
//! rejected.
//!
//! Source: NDNLPv2, revision 63.

use super::{DATA, INTEREST};
use crate::invariant::{Invariant as _, part};
use crate::tlv::{Element, Elements, WireError, integer_len, shortest, single};
use alloc::vec::Vec;
use core::fmt;

/// TLV-TYPE of a link packet.
pub const LP_PACKET: u32 = 100;
/// Fragment.
pub const FRAGMENT: u32 = 80;
/// Sequence.
pub const SEQUENCE: u32 = 81;
/// FragIndex.
pub const FRAG_INDEX: u32 = 82;
/// FragCount.
pub const FRAG_COUNT: u32 = 83;
/// PitToken.
pub const PIT_TOKEN: u32 = 98;
/// Nack.
pub const NACK: u32 = 800;
/// NackReason.
pub const NACK_REASON: u32 = 801;
/// IncomingFaceId.
pub const INCOMING_FACE_ID: u32 = 812;
/// NextHopFaceId.
pub const NEXT_HOP_FACE_ID: u32 = 816;
/// CachePolicy.
pub const CACHE_POLICY: u32 = 820;
/// CachePolicyType.
pub const CACHE_POLICY_TYPE: u32 = 821;
/// CongestionMark.
pub const CONGESTION_MARK: u32 = 832;
/// Ack.
pub const ACK: u32 = 836;
/// TxSequence.
pub const TX_SEQUENCE: u32 = 840;
/// NonDiscovery.
pub const NON_DISCOVERY: u32 = 844;
/// PrefixAnnouncement.
pub const PREFIX_ANNOUNCEMENT: u32 = 848;

/// Default TLV-TYPE of InterestDigest: the first type that may be ignored and is not assigned.
pub const INTEREST_DIGEST: u32 = 852;

/// CachePolicyType that keeps Data out of the content store.
pub const NO_CACHE: u64 = 1;

/// Longest PIT token, in bytes.
pub const MAX_PIT_TOKEN: usize = 32;

/// Longest InterestDigest, in bytes.
pub const MAX_INTEREST_DIGEST: usize = 32;

/// Reason of a Nack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NackReason(pub u64);

impl NackReason {
    /// No reason given.
    pub const NONE: Self = Self(0);
    /// Congested link.
    pub const CONGESTION: Self = Self(50);
    /// Duplicate Nonce.
    pub const DUPLICATE: Self = Self(100);
    /// No route.
    pub const NO_ROUTE: Self = Self(150);

    /// Severity for comparisons: congestion is the least severe, then duplicate, then no route, then all
    /// others.
    pub const fn severity(self) -> u8 {
        match self {
            Self::CONGESTION => 0,
            Self::DUPLICATE => 1,
            Self::NO_ROUTE => 2,
            _ => 3,
        }
    }
}

impl fmt::Display for NackReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NONE => f.write_str("None"),
            Self::CONGESTION => f.write_str("Congestion"),
            Self::DUPLICATE => f.write_str("Duplicate"),
            Self::NO_ROUTE => f.write_str("NoRoute"),
            Self(other) => write!(f, "reason {other}"),
        }
    }
}

/// Ack fields of a parsed link packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acks<'a>(&'a [u8]);

/// InterestDigest field: the digest of the Interest that a packet contains or answers. No TLV-TYPE is
/// assigned, so it is configured: a reader takes the first field of a possible type, and the caller compares
/// the type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DigestField<'a> {
    /// TLV-TYPE. Valid: see [`is_type`](Self::is_type).
    pub typ: u32,
    /// Digest of 1 to [`MAX_INTEREST_DIGEST`] bytes; empty if the field is absent.
    pub value: &'a [u8],
}

impl<'a> DigestField<'a> {
    /// True for a possible TLV-TYPE of the field: at least [`INTEREST_DIGEST`], not assigned to another
    /// field, and ignored by receivers that do not know it.
    pub const fn is_type(typ: u32) -> bool {
        typ >= INTEREST_DIGEST && typ <= 959 && typ & 3 == 0
    }

    /// Creates the field; absent if `value` is empty.
    #[inline]
    pub fn new(typ: u32, value: &'a [u8]) -> Self {
        if value.is_empty() { Self::default() } else { Self { typ, value } }
    }

    /// Value, if the field has this type; else empty.
    #[inline]
    pub fn of(&self, typ: u32) -> &'a [u8] {
        if self.typ == typ { self.value } else { &[] }
    }
}

/// Header fields of a link packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LpHeader<'a> {
    /// Sequence: number of the link packet, for reassembly.
    pub sequence: Option<u64>,
    /// FragIndex: index of the fragment.
    pub frag_index: u64,
    /// FragCount: number of fragments; 0 if absent, which means 1.
    pub frag_count: u64,
    /// PitToken, 1 to [`MAX_PIT_TOKEN`] bytes; empty if absent.
    pub pit_token: &'a [u8],
    /// Nack, with its reason: the fragment is an Interest sent back.
    pub nack: Option<NackReason>,
    /// IncomingFaceId: ingress face, for applications.
    pub incoming_face: Option<u64>,
    /// NextHopFaceId: next hop that an application chooses.
    pub next_hop_face: Option<u64>,
    /// CachePolicyType: treatment by content stores.
    pub cache_policy: Option<u64>,
    /// CongestionMark; 0 if absent.
    pub congestion_mark: u64,
    /// Acknowledged link packets; see [`acks`](Self::acks).
    pub acks: Acks<'a>,
    /// TxSequence: number of the link packet, for reliability.
    pub tx_sequence: Option<u64>,
    /// NonDiscovery: the Interest must not be flooded.
    pub non_discovery: bool,
    /// PrefixAnnouncement of Data, a Data packet that is not parsed; empty if absent.
    pub prefix_announcement: &'a [u8],
    /// InterestDigest.
    pub digest: DigestField<'a>,
}

impl<'a> LpHeader<'a> {
    /// Header without fields.
    pub const EMPTY: Self = Self {
        sequence: None,
        frag_index: 0,
        frag_count: 0,
        pit_token: &[],
        nack: None,
        incoming_face: None,
        next_hop_face: None,
        cache_policy: None,
        congestion_mark: 0,
        acks: Acks(&[]),
        tx_sequence: None,
        non_discovery: false,
        prefix_announcement: &[],
        digest: DigestField { typ: 0, value: &[] },
    };

    /// True if no field is set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// True if the fragment is one of several.
    #[inline]
    pub fn is_fragmented(&self) -> bool {
        self.frag_count > 1
    }

    /// Numbers of the acknowledged link packets.
    pub fn acks(&self) -> impl Iterator<Item = u64> {
        let mut elements = Elements::new(self.acks.0);
        core::iter::from_fn(move || {
            let ack = elements.next().ok()??;
            ack.number().ok().invariant("an acknowledgement has 8 bytes")
        })
    }

    /// Encodes the bytes before a fragment of `len` bytes. Empty for an empty header: the packet is sent
    /// bare. A PIT token longer than [`MAX_PIT_TOKEN`] is left out.
    pub fn frame(&self, len: usize) -> LpFrame {
        let mut frame = LpFrame::new();
        if !self.is_empty() {
            frame.fields(self);
            frame.close(len);
        }
        frame
    }

    /// As [`frame`](Self::frame), but as a link packet even if the header is empty.
    pub fn wrapped(&self, len: usize) -> LpFrame {
        let mut frame = LpFrame::new();
        frame.fields(self);
        frame.close(len);
        frame
    }

    /// Encodes the fields that all transmissions of a link packet share: those before the Acks, and those
    /// after the TxSequence with the beginning of a fragment of `len` bytes. The header has no TxSequence.
    pub fn around_acks(&self, len: usize) -> [LpFrame; 2] {
        debug_assert!(self.tx_sequence.is_none(), "each transmission has a TxSequence of its own");
        let mut frames = [LpFrame::new(), LpFrame::new()];
        let [before, after] = &mut frames;
        before.fields_before_acks(self);
        after.fields_after_acks(self);
        after.begin_fragment(len);
        frames
    }
}

/// Room for the header: [`HEAD`] bytes, 184 for the fields that are written, and 6 to begin the fragment. A
/// header with a prefix announcement takes more.
const FRAME: usize = super::MAX_LINK_HEADER;
/// Room before the fields, for type and length of the link packet.
const HEAD: usize = 10;

/// Encoded bytes before a fragment.
#[derive(Clone, Debug)]
pub struct LpFrame {
    bytes: [u8; FRAME],
    start: usize,
    /// End of the bytes; [`LONG`] if all of them are in `long`.
    end: usize,
    /// Bytes from the first field on, if they do not fit.
    long: Vec<u8>,
}

/// End of a frame whose bytes do not fit: nothing fits after it.
const LONG: usize = FRAME + 1;

impl LpFrame {
    const fn new() -> Self {
        Self { bytes: [0; FRAME], start: HEAD, end: HEAD, long: Vec::new() }
    }

    /// Encoded bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        if self.end == LONG { &self.long } else { part(&self.bytes, self.start..self.end) }
    }

    fn push(&mut self, bytes: &[u8]) {
        match self.bytes.get_mut(self.end..self.end + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.end += bytes.len();
            }
            None => self.push_long(bytes),
        }
    }

    /// Appends bytes that do not fit: a prefix announcement, or what follows it.
    #[cold]
    fn push_long(&mut self, bytes: &[u8]) {
        if self.end != LONG {
            self.long.extend_from_slice(part(&self.bytes, self.start..self.end));
            self.end = LONG;
        }
        self.long.extend_from_slice(bytes);
    }

    /// Appends a type or length.
    fn number(&mut self, number: u64) {
        match number {
            0..=252 => self.push(&[number as u8]),
            253..=0xffff => {
                self.push(&[253]);
                self.push(&(number as u16).to_be_bytes());
            }
            _ => {
                self.push(&[254]);
                self.push(&(number as u32).to_be_bytes());
            }
        }
    }

    fn field(&mut self, typ: u32, value: &[u8]) {
        self.number(typ.into());
        self.number(value.len() as u64);
        self.push(value);
    }

    fn integer(&mut self, typ: u32, number: u64) {
        self.field(typ, shortest(&number.to_be_bytes()));
    }

    /// Appends a field that contains a field.
    fn nested(&mut self, typ: u32, inner: u32, number: u64) {
        self.number(typ.into());
        self.number((3 + 1 + integer_len(number)) as u64);
        self.integer(inner, number);
    }

    fn fields(&mut self, header: &LpHeader<'_>) {
        self.fields_before_acks(header);
        self.fields_after_acks(header);
    }

    fn fields_before_acks(&mut self, header: &LpHeader<'_>) {
        if let Some(sequence) = header.sequence {
            self.field(SEQUENCE, &sequence.to_be_bytes());
        }
        if header.frag_count > 0 {
            self.integer(FRAG_INDEX, header.frag_index);
            self.integer(FRAG_COUNT, header.frag_count);
        }
        if (1..=MAX_PIT_TOKEN).contains(&header.pit_token.len()) {
            self.field(PIT_TOKEN, header.pit_token);
        }
        match header.nack {
            Some(NackReason::NONE) => self.field(NACK, &[]),
            Some(reason) => self.nested(NACK, NACK_REASON, reason.0),
            None => {}
        }
        if let Some(face) = header.incoming_face {
            self.integer(INCOMING_FACE_ID, face);
        }
        if let Some(face) = header.next_hop_face {
            self.integer(NEXT_HOP_FACE_ID, face);
        }
        if let Some(policy) = header.cache_policy {
            self.nested(CACHE_POLICY, CACHE_POLICY_TYPE, policy);
        }
        if header.congestion_mark > 0 {
            self.integer(CONGESTION_MARK, header.congestion_mark);
        }
    }

    fn fields_after_acks(&mut self, header: &LpHeader<'_>) {
        if let Some(sequence) = header.tx_sequence {
            self.field(TX_SEQUENCE, &sequence.to_be_bytes());
        }
        if header.non_discovery {
            self.field(NON_DISCOVERY, &[]);
        }
        if !header.prefix_announcement.is_empty() {
            self.field(PREFIX_ANNOUNCEMENT, header.prefix_announcement);
        }
        let DigestField { typ, value } = header.digest;
        if DigestField::is_type(typ) && (1..=MAX_INTEREST_DIGEST).contains(&value.len()) {
            self.field(typ, value);
        }
    }

    fn begin_fragment(&mut self, len: usize) {
        if len > 0 {
            self.number(FRAGMENT.into());
            self.number(len as u64);
        }
    }

    /// Begins the fragment, and prepends type and length of the link packet.
    fn close(&mut self, fragment: usize) {
        self.begin_fragment(fragment);
        let fields = if self.end == LONG { self.long.len() } else { self.end - HEAD };
        let mut head = Self::new();
        head.number(LP_PACKET.into());
        head.number((fields + fragment) as u64);
        let head = head.as_bytes();
        if self.end == LONG {
            self.long.splice(..0, head.iter().copied());
            return;
        }
        self.start = HEAD - head.len();
        if let Some(room) = self.bytes.get_mut(self.start..HEAD) {
            room.copy_from_slice(head);
        }
    }
}

/// Checked link packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LpPacket<'a> {
    /// Header; empty for a bare packet.
    pub header: LpHeader<'a>,
    /// Interest, Data, or a fragment of one; empty in a packet that has only header fields.
    pub fragment: &'a [u8],
}

impl<'a> LpPacket<'a> {
    /// Parses `bytes`, which must be exactly one link packet. The content of the fragment is not checked.
    ///
    /// # Errors
    /// The first rule that the bytes break.
    #[inline(always)]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        if Self::is_bare(bytes) {
            return Ok(Self { header: LpHeader::EMPTY, fragment: bytes });
        }
        Self::parse_wrapped(bytes)
    }

    /// True if the bytes begin like a bare Interest or Data packet, whose parser checks the length.
    #[inline(always)]
    pub fn is_bare(bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|first| [INTEREST, DATA].contains(&u32::from(*first)))
    }

    #[inline(never)]
    fn parse_wrapped(bytes: &'a [u8]) -> Result<Self, WireError> {
        let packet = single(bytes)?;
        if packet.typ != LP_PACKET {
            return Err(WireError::UnexpectedType { typ: packet.typ });
        }
        let mut parsed = Self { header: LpHeader::default(), fragment: &[] };
        let mut elements = packet.elements();
        let mut last = 0;
        while let Some(element) = elements.next()? {
            if element.typ == FRAGMENT {
                parsed.fragment = element.value;
                // The fragment is the last element.
                return match elements.next()? {
                    Some(after) => Err(WireError::Critical { typ: after.typ, at: after.at }),
                    None if parsed.fragment.is_empty() => Err(element.wrong_length()),
                    None => parsed.checked(),
                };
            }
            // This rejects even fields that may be ignored: a Nack that is overlooked would be forwarded as
            // an Interest.
            if element.typ < last || element.typ == last && last != ACK {
                return Err(WireError::Critical { typ: element.typ, at: element.at });
            }
            last = element.typ;
            parsed.header.take(bytes, element)?;
        }
        parsed.checked()
    }

    /// Checks fields against each other.
    fn checked(self) -> Result<Self, WireError> {
        let header = &self.header;
        if header.frag_index >= header.frag_count.max(1) {
            return Err(WireError::Value { typ: FRAG_INDEX, at: 0 });
        }
        if header.is_fragmented() && header.sequence.is_none() {
            return Err(WireError::Missing { typ: SEQUENCE });
        }
        Ok(self)
    }
}

impl<'a> LpHeader<'a> {
    fn take(&mut self, bytes: &'a [u8], element: Element<'a>) -> Result<(), WireError> {
        match element.typ {
            SEQUENCE => self.sequence = Some(u64::from_be_bytes(element.array()?)),
            FRAG_INDEX => self.frag_index = element.number()?,
            FRAG_COUNT => {
                self.frag_count = element.number()?;
                if self.frag_count == 0 {
                    return Err(element.wrong_value());
                }
            }
            PIT_TOKEN => {
                if element.value.is_empty() || element.value.len() > MAX_PIT_TOKEN {
                    return Err(element.wrong_length());
                }
                self.pit_token = element.value;
            }
            NACK => self.nack = Some(inner(&element, NACK_REASON)?.map_or(NackReason::NONE, NackReason)),
            INCOMING_FACE_ID => self.incoming_face = Some(element.number()?),
            NEXT_HOP_FACE_ID => self.next_hop_face = Some(element.number()?),
            CACHE_POLICY => {
                let policy = inner(&element, CACHE_POLICY_TYPE)?;
                self.cache_policy = Some(policy.ok_or(WireError::Missing { typ: CACHE_POLICY_TYPE })?);
            }
            CONGESTION_MARK => self.congestion_mark = element.number()?,
            ACK => {
                element.array::<8>()?;
                // Ack fields are adjacent, as fields are in order.
                let start = element.at - self.acks.0.len();
                self.acks = Acks(part(bytes, start..element.end()));
            }
            TX_SEQUENCE => self.tx_sequence = Some(u64::from_be_bytes(element.array()?)),
            NON_DISCOVERY => {
                element.empty()?;
                self.non_discovery = true;
            }
            PREFIX_ANNOUNCEMENT => self.prefix_announcement = element.value,
            typ => {
                ignored(&element)?;
                let fits = (1..=MAX_INTEREST_DIGEST).contains(&element.value.len());
                if self.digest.typ == 0 && DigestField::is_type(typ) && fits {
                    self.digest = DigestField { typ, value: element.value };
                }
            }
        }
        Ok(())
    }
}

/// Checks that a receiver which does not expect this field may ignore it.
fn ignored(element: &Element<'_>) -> Result<(), WireError> {
    if (800..=959).contains(&element.typ) && element.typ & 3 == 0 {
        Ok(())
    } else {
        Err(WireError::Critical { typ: element.typ, at: element.at })
    }
}

/// Reads the number in the element of type `typ` in a field.
fn inner(field: &Element<'_>, typ: u32) -> Result<Option<u64>, WireError> {
    let mut elements = field.elements();
    let mut number = None;
    while let Some(element) = elements.next()? {
        if element.typ == typ && number.is_none() {
            number = Some(element.number()?);
        } else {
            element.ignored()?;
        }
    }
    Ok(number)
}
