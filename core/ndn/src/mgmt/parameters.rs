//! ControlParameters and ControlResponse: parameters and outcome of a command.

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
    /// Parameters of a command, or of its response. The verb determines the fields that a command takes.
    #[derive(Default)]
    ControlParameters = 104 {
        /// Name: prefix of a route, of a strategy choice, or of Data to erase.
        name: Option<OwnedName<Ndn>> = 7,
        /// Face id; 0 means the ingress face of the command.
        face_id: Option<u64> = 105,
        /// Remote endpoint of a face.
        uri: Option<String> = 114,
        /// Local endpoint of a face.
        local_uri: Option<String> = 129,
        /// Origin of a route.
        origin: Option<RouteOrigin> = 111,
        /// Cost of a route or next hop.
        cost: Option<u64> = 106,
        /// Capacity of the content store in packets; in a response to cs/erase, the most packets that a
        /// command erases.
        capacity: Option<u64> = 131,
        /// Number of packets to erase, or erased.
        count: Option<u64> = 132,
        /// Flag bits; their meaning depends on the verb.
        flags: Option<u64> = 108,
        /// Flag bits to change.
        mask: Option<u64> = 112,
        /// Name of a strategy.
        strategy: Option<OwnedName<Ndn>> = 107,
        /// Lifetime of a route, in milliseconds.
        expiration: Option<u64> = 109,
        /// Persistency of a face.
        persistency: Option<FacePersistency> = 133,
        /// First interval between congestion marks, in nanoseconds.
        marking_interval: Option<u64> = 135,
        /// Queue length above which packets are marked, in bytes.
        congestion_threshold: Option<u64> = 136,
        /// Largest link packet, in bytes.
        mtu: Option<u64> = 137,
    }
}

impl ControlParameters {
    /// Value of one flag bit; `None` if the mask leaves it out.
    pub fn flag(&self, bit: u64) -> Option<bool> {
        (self.mask? & bit != 0).then_some(self.flags? & bit != 0)
    }
}

/// Response to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlResponse {
    /// Status code: 200 for success, 400 and above for errors.
    pub code: u64,
    /// Status text for people.
    pub text: String,
    /// Body: encoded ControlParameters, or empty.
    pub body: Vec<u8>,
}

impl ControlResponse {
    /// Creates a response without a body.
    pub fn new(code: u64, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), body: Vec::new() }
    }

    /// Creates a response with parameters.
    pub fn with(code: u64, text: impl Into<String>, parameters: &ControlParameters) -> Self {
        Self { body: parameters.to_bytes(), ..Self::new(code, text) }
    }

    /// True if the command succeeded.
    pub fn is_ok(&self) -> bool {
        self.code == 200
    }

    /// Parameters in the body; `None` if it is empty.
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
