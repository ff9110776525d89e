//! Prefix announcements: signed Data by which a producer states that it serves a prefix.
//!
//! ```text
//! name    = /<prefix>/32=PA/v=<version>/seg=0
//! content = ExpirationPeriod [ValidityPeriod], of ContentType 5
//! ```
//! Source: NFD wiki, PrefixAnnouncement.

use super::command::{Command, CommandError, Signature, Target, new_signature};
use super::parameters::ControlParameters;
use super::segment::number;
use crate::security::certificate::{NOT_AFTER, NOT_BEFORE, validity};
use crate::security::{Signer, time};
use crate::tlv::{Elements, WireError, shortest, write_element, write_integer, write_nested};
use crate::wire::data::PREFIX_ANNOUNCEMENT;
use crate::wire::signature::VALIDITY_PERIOD;
use crate::wire::{Data, DataBuilder, Interest, SignatureInfo};
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, KEYWORD, SEGMENT, VERSION};
use hashlane_name::error::BuildError;
use hashlane_name::ndn::Ndn;

/// TLV-TYPE of ExpirationPeriod.
const EXPIRATION_PERIOD: u32 = 109;

/// Component after the announced prefix.
const MARKER: Component<'static> = Component { typ: KEYWORD, value: b"PA" };

/// Components after the announced prefix.
const SUFFIX: usize = 3;

/// Checked prefix announcement. Its signature has not been verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixAnnouncement<'a> {
    data: Data<'a>,
    expiration: u64,
    validity: Option<(u64, u64)>,
}

/// Rule that a prefix announcement breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnnouncementError {
    /// Not a Data packet.
    #[error("not a prefix announcement: {0}")]
    Packet(WireError),
    /// Name other than `/<prefix>/32=PA/v=<version>/seg=0`.
    #[error("not the name of a prefix announcement: expected /<prefix>/32=PA/v=<version>/seg=0")]
    Name,
    /// ContentType other than PrefixAnn.
    #[error("not a prefix announcement: content type {stated}, expected 5 (prefix announcement)")]
    ContentType {
        /// ContentType of the packet.
        stated: u64,
    },
    /// Malformed content, with an offset in it.
    #[error("in the content of the prefix announcement: {0}")]
    Content(WireError),
    /// Not a signed command with application parameters.
    #[error("{0}")]
    Command(CommandError),
    /// ValidityPeriod malformed.
    #[error("the prefix announcement has a malformed ValidityPeriod")]
    Validity,
}

impl<'a> PrefixAnnouncement<'a> {
    /// Verb of the command that an announcement stands for. No Interest has a command with it.
    pub const VERB: &'static [u8] = b"announcement";

    /// Parses `bytes`, which must be exactly one prefix announcement.
    ///
    /// # Errors
    /// The first rule that the bytes break.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, AnnouncementError> {
        Data::parse(bytes).map_err(AnnouncementError::Packet).and_then(Self::from_data)
    }

    /// Checks that `data` is a prefix announcement.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn from_data(data: Data<'a>) -> Result<Self, AnnouncementError> {
        let prefix = data.name_len().checked_sub(SUFFIX).ok_or(AnnouncementError::Name)?;
        let name = data.name();
        let mut suffix = name.components().skip(prefix);
        let is_marked = suffix.next() == Some(MARKER);
        let mut next_number = |typ| suffix.next().and_then(|component| number(component, typ));
        if !(is_marked && next_number(VERSION).is_some() && next_number(SEGMENT) == Some(0)) {
            return Err(AnnouncementError::Name);
        }
        if data.content_type() != PREFIX_ANNOUNCEMENT {
            return Err(AnnouncementError::ContentType { stated: data.content_type() });
        }
        let mut elements = Elements::new(data.content());
        let (mut expiration, mut period) = (None, None);
        while let Some(element) = elements.next().map_err(AnnouncementError::Content)? {
            match element.typ {
                EXPIRATION_PERIOD if expiration.is_none() => {
                    expiration = Some(element.number().map_err(AnnouncementError::Content)?);
                }
                VALIDITY_PERIOD if period.is_none() => {
                    period = Some(validity(element).ok_or(AnnouncementError::Validity)?);
                }
                _ => element.ignored().map_err(AnnouncementError::Content)?,
            }
        }
        let missing = AnnouncementError::Content(WireError::Missing { typ: EXPIRATION_PERIOD });
        Ok(Self { data, expiration: expiration.ok_or(missing)?, validity: period })
    }

    /// Data packet of the announcement.
    pub fn data(&self) -> &Data<'a> {
        &self.data
    }

    /// Announced prefix; may be empty.
    pub fn prefix(&self) -> OwnedName<Ndn> {
        let name = self.data.name();
        let components = name.components().take(self.data.name_len().saturating_sub(SUFFIX));
        OwnedName::from_components(components).unwrap_or_else(|_| OwnedName::from(&name))
    }

    /// Longest lifetime of a route that the announcement makes, in milliseconds.
    pub fn expiration(&self) -> u64 {
        self.expiration
    }

    /// First and last second of validity, since 1970; `None` if it has no ValidityPeriod.
    pub fn validity(&self) -> Option<(u64, u64)> {
        self.validity
    }

    /// Lifetime of a route that is made at `now`, in milliseconds since 1970: until the announcement expires
    /// or is no longer valid. `None` if it is not valid at `now`.
    pub fn lifetime(&self, now: u64) -> Option<u64> {
        let Some((from, until)) = self.validity else { return Some(self.expiration) };
        let end = until.saturating_add(1).saturating_mul(1000);
        let is_valid = from.saturating_mul(1000) <= now && now < end;
        is_valid.then(|| self.expiration.min(end - now))
    }

    /// Parses the command `rib/announce`, which has a prefix announcement as application parameters, and no
    /// parameters in its name. The parameters of the result are the announced prefix.
    ///
    /// # Errors
    /// The first rule that the Interest or the announcement breaks.
    pub fn parse_command(interest: &Interest<'a>) -> Result<(Command<'a>, Self), AnnouncementError> {
        let name = interest.name();
        let target = Target::of(name).ok_or(AnnouncementError::Command(CommandError::NotManagement))?;
        let unsigned = AnnouncementError::Command(CommandError::Unsigned);
        let info = interest.signature_info().ok_or(unsigned)?;
        let signature = new_signature(interest, info, name.components().skip(Target::LEN))
            .map_err(AnnouncementError::Command)?;
        let announcement = Self::parse(interest.parameters().ok_or(unsigned)?)?;
        Ok((Command { name, target, parameters: announcement.parameters(), signature }, announcement))
    }

    fn parameters(&self) -> ControlParameters {
        ControlParameters { name: Some(self.prefix()), ..ControlParameters::default() }
    }

    /// The command that the announcement stands for, with the verb [`VERB`](Self::VERB): a signed request for
    /// a route of its prefix, under the name of the Data. It has no time of signing.
    pub fn command(&self, target: Target<'a>) -> Command<'a> {
        let target = Target { verb: Self::VERB, ..target };
        let signature = Signature {
            is_old: false,
            info: self.data.signature_info(),
            covered: [self.data.signed_portion(), &[]],
            value: self.data.signature_value(),
            time: None,
            nonce: None,
        };
        Command { name: self.data.name(), target, parameters: self.parameters(), signature }
    }
}

/// Builder of a prefix announcement.
#[derive(Clone, Copy, Debug)]
pub struct AnnouncementBuilder<'a> {
    /// Announced prefix.
    pub prefix: &'a OwnedName<Ndn>,
    /// Version, by convention the time in milliseconds since 1970.
    pub version: u64,
    /// Longest lifetime of a route, in milliseconds.
    pub expiration: u64,
    /// First and last second of validity, since 1970. Valid: up to [`time::LAST`].
    pub validity: Option<(u64, u64)>,
}

impl AnnouncementBuilder<'_> {
    /// Builds the announcement, signed by `signer`. `info` names the key.
    ///
    /// # Errors
    /// [`BuildError`] if the prefix is too long.
    pub fn build_signed(&self, signer: &Signer, info: SignatureInfo<'_>) -> Result<Vec<u8>, BuildError> {
        let version = self.version.to_be_bytes();
        let suffix = [
            MARKER,
            Component { typ: VERSION, value: shortest(&version) },
            Component { typ: SEGMENT, value: &[0] },
        ];
        let prefix = self.prefix.view();
        let name: OwnedName<Ndn> =
            OwnedName::from_components(prefix.components().chain(suffix).collect::<Vec<_>>())?;
        let mut content = Vec::new();
        write_integer(EXPIRATION_PERIOD, self.expiration, &mut content);
        if let Some((from, until)) = self.validity {
            write_nested(VALIDITY_PERIOD, &mut content, |out| {
                write_element(NOT_BEFORE, &time::text(from), out);
                write_element(NOT_AFTER, &time::text(until), out);
            });
        }
        let builder =
            DataBuilder { content_type: PREFIX_ANNOUNCEMENT, ..DataBuilder::new(name.view(), &content) };
        Ok(signer.data(&builder, info))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mgmt::Scope;
    use crate::security::certificate::{Certificate, CertificateBuilder};
    use crate::security::{Signed, TrustAnchors};
    use crate::wire::{InterestBuilder, KeyLocator, SignatureType};
    use hashlane_name::uri::parse_uri;
    use std::string::ToString;

    fn name(uri: &str) -> OwnedName<Ndn> {
        parse_uri(uri.as_bytes()).expect("a name")
    }

    fn unsigned(uri: &str, content_type: u64, content: &[u8]) -> Vec<u8> {
        let name = name(uri);
        DataBuilder { content_type, ..DataBuilder::new(name.view(), content) }.build()
    }

    const CONTENT: &[u8] = &[109, 2, 0x0e, 0x10];

    #[test]
    fn an_announcement_has_a_prefix_and_an_expiration() {
        let bytes = unsigned("/net/example/32=PA/v=7/seg=0", 5, CONTENT);
        let announcement = PrefixAnnouncement::parse(&bytes).expect("an announcement");
        assert_eq!(announcement.prefix(), name("/net/example"));
        assert_eq!((announcement.expiration(), announcement.validity()), (3600, None));
        assert_eq!(announcement.lifetime(0), Some(3600));
        let root = unsigned("/32=PA/v=7/seg=0", 5, CONTENT);
        assert_eq!(PrefixAnnouncement::parse(&root).map(|root| root.prefix()), Ok(name("/")));
    }

    #[test]
    fn each_rule_has_its_error() {
        let parse = |uri: &str, content_type, content: &[u8]| {
            PrefixAnnouncement::parse(&unsigned(uri, content_type, content)).map(|_| ())
        };
        for uri in ["/a", "/a/v=7/seg=0", "/a/PA/v=7/seg=0", "/a/32=PA/seg=0/v=7", "/a/32=PA/v=7/seg=1"] {
            assert_eq!(parse(uri, 5, CONTENT), Err(AnnouncementError::Name), "{uri}");
        }
        let uri = "/a/32=PA/v=7/seg=0";
        assert_eq!(parse(uri, 0, CONTENT), Err(AnnouncementError::ContentType { stated: 0 }));
        let content = |error| Err(AnnouncementError::Content(error));
        assert_eq!(parse(uri, 5, &[]), content(WireError::Missing { typ: 109 }));
        assert_eq!(parse(uri, 5, &[109, 3, 1, 1, 1]), content(WireError::Length { typ: 109, at: 0 }));
        let twice = [CONTENT, CONTENT].concat();
        assert_eq!(parse(uri, 5, &twice), content(WireError::Critical { typ: 109, at: 4 }));
        assert_eq!(
            parse(uri, 5, &[CONTENT, &[201, 0]].concat()),
            content(WireError::Critical { typ: 201, at: 4 })
        );
        assert_eq!(parse(uri, 5, &[CONTENT, &[202, 0]].concat()), Ok(()), "not critical");
        let period = [&[253, 0, 253, 0][..], CONTENT].concat();
        assert_eq!(parse(uri, 5, &period), Err(AnnouncementError::Validity));
        assert!(matches!(PrefixAnnouncement::parse(&[5, 0]), Err(AnnouncementError::Packet(_))));
        let text = AnnouncementError::ContentType { stated: 0 }.to_string();
        assert_eq!(text, "not a prefix announcement: content type 0, expected 5 (prefix announcement)");
    }

    #[test]
    fn a_command_has_an_announcement_as_parameters_and_a_signature() {
        let signer = Signer::hmac(b"secret");
        let target = name("/localhost/nfd/rib/announce");
        let announcement = unsigned("/net/example/32=PA/v=7/seg=0", 5, CONTENT);
        let build = |name: &OwnedName<Ndn>, parameters| {
            let builder =
                InterestBuilder { parameters: Some(parameters), ..InterestBuilder::new(name.view()) };
            signer.interest(&builder, SignatureInfo::of(SignatureType::HMAC_WITH_SHA256))
        };
        let parse = |bytes: &[u8]| {
            let interest = Interest::parse(bytes).expect("an Interest");
            PrefixAnnouncement::parse_command(&interest).map(|(command, found)| {
                assert_eq!(command.target.verb, b"announce");
                assert_eq!(found.data().as_bytes(), announcement);
                command.parameters.name
            })
        };
        assert_eq!(parse(&build(&target, &announcement)), Ok(Some(name("/net/example"))));
        let error = |error| Err(AnnouncementError::Command(error));
        let unsigned =
            InterestBuilder { parameters: Some(&announcement), ..InterestBuilder::new(target.view()) };
        assert_eq!(parse(&unsigned.build()), error(CommandError::Unsigned));
        assert_eq!(parse(&InterestBuilder::new(target.view()).build()), error(CommandError::Unsigned));
        let longer = name("/localhost/nfd/rib/announce/x");
        assert_eq!(parse(&build(&longer, &announcement)), error(CommandError::Components));
        assert_eq!(parse(&build(&name("/a/b/c/d"), &announcement)), error(CommandError::NotManagement));
        assert!(matches!(parse(&build(&target, &[6, 0])), Err(AnnouncementError::Packet(_))));
    }

    #[test]
    fn an_announcement_that_was_built_is_signed_and_valid_for_its_time() {
        let signer = Signer::ed25519(&[7; 32]);
        let identity = name("/op");
        let certificate = CertificateBuilder {
            identity: identity.view(),
            key: Component::generic(b"1"),
            version: 1,
            valid_from: 0,
            valid_until: time::LAST,
        };
        let certificate = certificate.self_signed(&signer).expect("a certificate");
        let mut anchors = TrustAnchors::new();
        anchors.add(&Certificate::parse(&certificate).expect("a certificate")).expect("a key");
        let key = name("/op/KEY/1");
        let info = SignatureInfo {
            key_locator: Some(KeyLocator::Name(key.view())),
            ..SignatureInfo::of(SignatureType::ED25519)
        };
        let prefix = name("/net/example");
        let builder = AnnouncementBuilder {
            prefix: &prefix,
            version: 9,
            expiration: 60_000,
            validity: Some((100, 200)),
        };
        let bytes = builder.build_signed(&signer, info).expect("a short name");
        let announcement = PrefixAnnouncement::parse(&bytes).expect("an announcement");
        assert_eq!((announcement.prefix(), announcement.validity()), (prefix, Some((100, 200))));
        assert!(anchors.verify(&Signed::data(announcement.data()), 150).is_ok());
        let target = Target { scope: Scope::Localhost, module: b"rib", verb: b"announce" };
        let Signature { info, covered, value, .. } = announcement.command(target).signature;
        assert!(anchors.verify(&Signed { info, pieces: covered, value }, 150).is_ok());
        let lifetimes =
            [99_999, 100_000, 141_000, 141_001, 200_999, 201_000].map(|now| announcement.lifetime(now));
        assert_eq!(lifetimes, [None, Some(60_000), Some(60_000), Some(59_999), Some(1), None]);
    }
}
