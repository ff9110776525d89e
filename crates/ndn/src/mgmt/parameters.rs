//! ControlParameters, what a command is about, and ControlResponse, what came of it.

use super::record::{Record, record};
use super::values::{FacePersistency, RouteOrigin};
use crate::tlv::{Element, Elements, WireError, write_element, write_integer};
use alloc::string::String;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;

/// TLV-TYPE of StatusCode.
pub const STATUS_CODE: u32 = 102;
/// TLV-TYPE of StatusText.
pub const STATUS_TEXT: u32 = 103;

record! {
    /// The parameters of a command, or of the answer to one. Which of them a command takes depends on its verb.
    #[derive(Default)]
    ControlParameters = 104 {
        /// A name: the prefix of a route, of a strategy choice, of what is erased.
        name: Option<OwnedName<Ndn>> = 7,
        /// A face; 0 is the face that the command came by.
        face_id: Option<u64> = 105,
        /// The remote end of a face.
        uri: Option<String> = 114,
        /// The local end of a face.
        local_uri: Option<String> = 129,
        /// Who made a route.
        origin: Option<RouteOrigin> = 111,
        /// Cost of a route or next hop.
        cost: Option<u64> = 106,
        /// Packets that the content store may hold; in an answer to cs/erase, the most packets that one command erases.
        capacity: Option<u64> = 131,
        /// How many packets to erase, or were erased.
        count: Option<u64> = 132,
        /// Bits, with meanings that depend on the verb.
        flags: Option<u64> = 108,
        /// Which bits of `flags` are meant.
        mask: Option<u64> = 112,
        /// A strategy.
        strategy: Option<OwnedName<Ndn>> = 107,
        /// For how long a route stays, in milliseconds.
        expiration: Option<u64> = 109,
        /// When a face goes away.
        persistency: Option<FacePersistency> = 133,
        /// How long the queue of a face may be over its threshold before packets are marked, in nanoseconds.
        marking_interval: Option<u64> = 135,
        /// Bytes in the queue of a face from which it is congested.
        congestion_threshold: Option<u64> = 136,
        /// Largest link packet, in bytes.
        mtu: Option<u64> = 137,
    }
}

impl ControlParameters {
    /// The value that the parameters state for one flag bit: `None` where the mask leaves it out.
    pub fn flag(&self, bit: u64) -> Option<bool> {
        (self.mask? & bit != 0).then_some(self.flags? & bit != 0)
    }
}

/// What came of a command: a code, a text for people, and what was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlResponse {
    /// 200 where it was done; 400 and above where not.
    pub code: u64,
    /// What happened, in words.
    pub text: String,
    /// The body: ControlParameters as an encoded element, or nothing.
    pub body: Vec<u8>,
}

impl ControlResponse {
    /// A response without a body.
    pub fn new(code: u64, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), body: Vec::new() }
    }

    /// A response with these parameters.
    pub fn with(code: u64, text: impl Into<String>, parameters: &ControlParameters) -> Self {
        Self { body: parameters.to_bytes(), ..Self::new(code, text) }
    }

    /// Whether the command was done.
    pub fn is_ok(&self) -> bool {
        self.code == 200
    }

    /// The parameters in the body; none where it is empty.
    ///
    /// # Errors
    /// The first rule that the body breaks.
    pub fn parameters(&self) -> Result<Option<ControlParameters>, WireError> {
        if self.body.is_empty() { Ok(None) } else { ControlParameters::parse(&self.body).map(Some) }
    }
}

impl Record for ControlResponse {
    const TYPE: u32 = 101;

    fn parse_fields(mut fields: Elements<'_>) -> Result<Self, WireError> {
        let mut field = |typ| match fields.next()? {
            Some(element) if element.typ == typ => Ok::<Element<'_>, WireError>(element),
            _ => Err(WireError::Missing { typ }),
        };
        let code = field(STATUS_CODE)?.number()?;
        let text = field(STATUS_TEXT)?;
        let text = core::str::from_utf8(text.value).map_err(|_| text.wrong_value())?.into();
        let body = match fields.next()? {
            Some(element) => {
                let mut body = Vec::new();
                write_element(element.typ, element.value, &mut body);
                body
            }
            None => Vec::new(),
        };
        Ok(Self { code, text, body })
    }

    fn write_fields(&self, out: &mut Vec<u8>) {
        write_integer(STATUS_CODE, self.code, out);
        write_element(STATUS_TEXT, self.text.as_bytes(), out);
        out.extend_from_slice(&self.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::uri::parse_uri;

    fn name(uri: &str) -> OwnedName<Ndn> {
        parse_uri(uri.as_bytes()).unwrap()
    }

    // ndn-cxx tests/unit/mgmt/control-response.t.cpp.
    const NOT_FOUND: &[u8] = b"\x65\x17\x66\x02\x01\x94\x67\x11Nothing not found";

    #[test]
    fn reads_and_writes_a_published_response() {
        let response = ControlResponse::new(404, "Nothing not found");
        assert_eq!(response.to_bytes(), NOT_FOUND);
        assert_eq!(ControlResponse::parse(NOT_FOUND), Ok(response));
    }

    #[test]
    fn a_response_needs_its_code_and_its_text() {
        assert_eq!(ControlResponse::parse(b"\x65\0"), Err(WireError::Missing { typ: STATUS_CODE }));
        assert_eq!(
            ControlResponse::parse(b"\x65\x04\x66\x02\x01\x94"),
            Err(WireError::Missing { typ: STATUS_TEXT })
        );
        assert_eq!(ControlResponse::parse(b"\x64\0"), Err(WireError::UnexpectedType { typ: 100 }));
    }

    #[test]
    fn all_parameters_come_back() {
        let all = ControlParameters {
            name: Some(name("ndn:/name")),
            face_id: Some(2634),
            uri: Some("udp4://192.0.2.1:6363".into()),
            local_uri: Some("udp4://192.0.2.2:6363".into()),
            origin: Some(RouteOrigin::NLSR),
            cost: Some(1388),
            capacity: Some(2632),
            count: Some(3100),
            flags: Some(0xafc4),
            mask: Some(0xf7a1),
            strategy: Some(name("ndn:/strategy-name")),
            expiration: Some(1_800_000),
            persistency: Some(FacePersistency::Persistent),
            marking_interval: Some(5),
            congestion_threshold: Some(7),
            mtu: Some(9),
        };
        assert_eq!(ControlParameters::parse(&all.to_bytes()), Ok(all));
        let none = ControlParameters::default();
        assert_eq!(none.to_bytes(), b"\x68\0");
        assert_eq!(ControlParameters::parse(b"\x68\0"), Ok(none));
    }

    #[test]
    fn parameters_come_in_any_order_but_once() {
        let parsed = ControlParameters::parse(b"\x68\x0b\x6c\x01\x01\x69\x01\x07\x07\x03\x08\x01A").unwrap();
        assert_eq!((parsed.flags, parsed.face_id), (Some(1), Some(7)));
        assert_eq!(parsed.name, Some(name("ndn:/A")));
        let twice = ControlParameters::parse(b"\x68\x06\x69\x01\x01\x69\x01\x02");
        assert_eq!(twice, Err(WireError::Critical { typ: 105, at: 5 }));
    }

    #[test]
    fn a_flag_counts_where_the_mask_has_it() {
        let some = ControlParameters { flags: Some(0b01), mask: Some(0b11), ..Default::default() };
        assert_eq!([1, 2, 4].map(|bit| some.flag(bit)), [Some(true), Some(false), None]);
    }
}
