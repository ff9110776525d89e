//! Commands: signed Interests with a verb and its parameters in the name.
//!
//! ```text
//! name         /<top>/nfd/<module>/<verb>/<ControlParameters>/…
//! format 0.3   …/<digest>, and the signature after ApplicationParameters
//! format 0.2   …/<timestamp>/<nonce>/<SignatureInfo>/<SignatureValue>
//! ```
//! `<top>` is `localhost`, or `localhop` for registrations by a neighbour. python-ndn's `NDNApp` still uses
//! format 0.2.
//!
//! Source: NFD wiki, ControlCommand; NDN Packet Format 0.3, Signed Interest; ndn-cxx, Signed Interest 0.2.

use super::parameters::ControlParameters;
use super::record::Record;
use crate::invariant::{Invariant as _, part};
use crate::tlv::{Element, WireError, single};
use crate::wire::data::{SIGNATURE_INFO, SIGNATURE_VALUE};
use crate::wire::{Interest, InterestBuilder, KeyLocator, SignatureInfo, SignatureType};
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, GENERIC, PARAMETERS_SHA256_DIGEST};
use hashlane_name::error::BuildError;
use hashlane_name::ndn::{Ndn, NdnName};
use sha2::{Digest, Sha256};

/// First component of a management name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `localhost`: from applications on this host.
    Localhost,
    /// `localhop`: from a neighbour.
    Localhop,
}

impl Scope {
    /// Encoded value of the component.
    pub const fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Localhost => b"localhost",
            Self::Localhop => b"localhop",
        }
    }
}

/// First four components of a management name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// Scope.
    pub scope: Scope,
    /// The module: `faces`, `fib`, `rib`, …
    pub module: &'a [u8],
    /// The verb of a command, or the name of a dataset or stream.
    pub verb: &'a [u8],
}

impl<'a> Target<'a> {
    /// Components that a target takes in a name.
    pub const LEN: usize = 4;

    /// Parses the target of `name`; `None` if it is not a management name.
    pub fn of(name: NdnName<'a>) -> Option<Self> {
        let mut components =
            name.components().map(|component| (component.typ == GENERIC).then_some(component.value));
        let scope = match components.next()?? {
            b"localhost" => Scope::Localhost,
            b"localhop" => Scope::Localhop,
            _ => return None,
        };
        (components.next()?? == b"nfd").then_some(())?;
        Some(Self { scope, module: components.next()??, verb: components.next()?? })
    }
}

/// Parsed command. The signature is not verified, except for the digest of the parameters in the name of
/// format 0.3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// Name of the Interest.
    pub name: NdnName<'a>,
    /// Module and verb.
    pub target: Target<'a>,
    /// Parameters.
    pub parameters: ControlParameters,
    /// Signature.
    pub signature: Signature<'a>,
}

/// The signature of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// True for format 0.2.
    pub is_old: bool,
    /// Description of the signature.
    pub info: SignatureInfo<'a>,
    /// Covered bytes, in two pieces.
    pub covered: [&'a [u8]; 2],
    /// Signature value.
    pub value: &'a [u8],
    /// Time of signing, in milliseconds since 1970.
    pub time: Option<u64>,
    /// Nonce, unique among commands with this key.
    pub nonce: Option<&'a [u8]>,
}

impl Signature<'_> {
    /// True for a valid digest without a key, which authenticates nobody.
    pub fn is_right_digest(&self) -> bool {
        let [first, second] = self.covered;
        let digest = Sha256::new().chain_update(first).chain_update(second).finalize();
        self.info.signature_type == SignatureType::DIGEST_SHA256 && self.value == digest.as_slice()
    }

    /// Identity of the key: its encoded name, or its digest; empty if the signature names no key.
    pub fn key(&self) -> &[u8] {
        match self.info.key_locator {
            Some(KeyLocator::Name(name)) => name.as_bytes(),
            Some(KeyLocator::Digest(digest)) => digest,
            None => &[],
        }
    }
}

impl<'a> Command<'a> {
    /// Parses a command.
    ///
    /// # Errors
    /// The first rule that the Interest breaks.
    pub fn parse(interest: &Interest<'a>) -> Result<Self, CommandError> {
        let name = interest.name();
        let target = Target::of(name).ok_or(CommandError::NotManagement)?;
        let mut rest = name.components().skip(Target::LEN);
        let parameters = rest.next().filter(|component| component.typ == GENERIC);
        let parameters = parameters.ok_or(CommandError::MissingParameters)?.value;
        let signature = match interest.signature_info() {
            Some(info) => new_signature(interest, info, rest)?,
            None => old_signature(name, rest)?,
        };
        let parameters = ControlParameters::parse(parameters).map_err(CommandError::Parameters)?;
        Ok(Self { name, target, parameters, signature })
    }

    /// Name without the components of the signature: the digest of format 0.3, or SignatureInfo and
    /// SignatureValue of format 0.2, so that timestamp and nonce stay. Trust rules match this name.
    pub fn signed_name(&self) -> OwnedName<Ndn> {
        let count = if self.signature.is_old { 2 } else { 1 };
        let components = self.name.components().take(self.name.len().saturating_sub(count));
        // Part of a name is not longer than the name.
        OwnedName::from_components(components).unwrap_or_else(|_| OwnedName::from(&self.name))
    }
}

/// Signature of format 0.3. `rest` are the components after the parameters.
pub(super) fn new_signature<'a>(
    interest: &Interest<'a>,
    info: SignatureInfo<'a>,
    mut rest: impl Iterator<Item = Component<'a>>,
) -> Result<Signature<'a>, CommandError> {
    match (rest.next(), rest.next()) {
        (Some(digest), None) if digest.typ == PARAMETERS_SHA256_DIGEST => {}
        _ => return Err(CommandError::Components),
    }
    if !interest.has_valid_parameters_digest() {
        return Err(CommandError::ParametersDigest);
    }
    let covered = interest.signed_portion().ok_or(CommandError::Unsigned)?;
    let value = interest.signature_value().ok_or(CommandError::Unsigned)?;
    Ok(Signature { is_old: false, info, covered, value, time: info.time, nonce: info.nonce })
}

/// Signature of format 0.2. `rest` are the components after the parameters.
fn old_signature<'a>(
    name: NdnName<'a>,
    rest: impl Iterator<Item = Component<'a>>,
) -> Result<Signature<'a>, CommandError> {
    let mut parts = [&[][..]; 4];
    let mut count = 0;
    for component in rest {
        let Some(part) = parts.get_mut(count).filter(|_| component.typ == GENERIC) else {
            return Err(if count < 4 { CommandError::Unsigned } else { CommandError::Components });
        };
        *part = component.value;
        count += 1;
    }
    if count < 4 {
        return Err(CommandError::Unsigned);
    }
    let [time, nonce, info, value] = parts;
    let time = Element { typ: GENERIC.into(), value: time, at: 0, value_at: 0 };
    let time = time.number().map_err(CommandError::SignatureComponent)?;
    let inside = |bytes: &'a [u8], typ| match single(bytes) {
        Ok(element) if element.typ == typ => Ok(element),
        Ok(element) => Err(CommandError::SignatureComponent(WireError::UnexpectedType { typ: element.typ })),
        Err(error) => Err(CommandError::SignatureComponent(error)),
    };
    let info =
        SignatureInfo::parse(inside(info, SIGNATURE_INFO)?).map_err(CommandError::SignatureComponent)?;
    let value = inside(value, SIGNATURE_VALUE)?.value;
    let components = single(name.as_bytes()).map_err(CommandError::SignatureComponent)?.value;
    let last = name.spans().last().invariant("a command has at least four components");
    let covered = [last.map_or(&[][..], |last| part(components, ..last.start)), &[][..]];
    Ok(Signature { is_old: true, info, covered, value, time: Some(time), nonce: Some(nonce) })
}

/// Reason why an Interest is not a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Name other than `/localhost/nfd/<module>/<verb>…` or `/localhop/nfd/<module>/<verb>…`.
    #[error("not a management name: expected /localhost/nfd/<module>/<verb>")]
    NotManagement,
    /// No component with parameters.
    #[error("the name has no component with ControlParameters")]
    MissingParameters,
    /// Malformed parameters, with an offset in their component.
    #[error("in the ControlParameters: {0}")]
    Parameters(WireError),
    /// No signature.
    #[error("the command is not signed")]
    Unsigned,
    /// Components that a command does not have.
    #[error("the name has extra components for a command")]
    Components,
    /// Wrong digest of the parameters in the name.
    #[error("wrong digest of the application parameters and signature in the name")]
    ParametersDigest,
    /// Malformed component of a signature of format 0.2, with an offset in that component.
    #[error("in a signature component of the name: {0}")]
    SignatureComponent(WireError),
}

/// Builder of a command in format 0.3.
#[derive(Clone, Debug)]
pub struct CommandBuilder<'a> {
    /// Module and verb.
    pub target: Target<'a>,
    /// Parameters.
    pub parameters: &'a ControlParameters,
    /// Nonce of the Interest.
    pub nonce: u32,
    /// Lifetime of the Interest in milliseconds.
    pub lifetime: u64,
    /// SignatureNonce: bytes drawn at random.
    pub signature_nonce: [u8; 8],
    /// SignatureTime in milliseconds since 1970, later than in the command before.
    pub time: u64,
}

impl CommandBuilder<'_> {
    /// Builds the Interest, signed with its SHA-256 digest.
    ///
    /// # Errors
    /// [`BuildError`] if the parameters are too long for a name.
    pub fn build(&self) -> Result<Vec<u8>, BuildError> {
        self.build_for(b"nfd")
    }

    /// Builds the Interest as [`build`](Self::build) does, for a program other than the forwarder: `program`
    /// is the second component of its commands, such as `nlsr`.
    ///
    /// # Errors
    /// [`BuildError`] if the parameters are too long for a name.
    pub fn build_for(&self, program: &[u8]) -> Result<Vec<u8>, BuildError> {
        let info = SignatureInfo::of(SignatureType::DIGEST_SHA256);
        let sign = |[name, rest]: [&[u8]; 2]| {
            Sha256::new().chain_update(name).chain_update(rest).finalize().to_vec()
        };
        Ok(self.build_named(&self.name(program)?, info, sign))
    }

    /// Builds the Interest. `info` describes the signature and names the key; `sign` signs the two pieces
    /// that the signature covers.
    ///
    /// # Errors
    /// [`BuildError`] if the parameters are too long for a name.
    pub fn build_signed(
        &self,
        info: SignatureInfo<'_>,
        sign: impl FnOnce([&[u8]; 2]) -> Vec<u8>,
    ) -> Result<Vec<u8>, BuildError> {
        Ok(self.build_named(&self.name(b"nfd")?, info, sign))
    }

    fn build_named(
        &self,
        name: &OwnedName<Ndn>,
        info: SignatureInfo<'_>,
        sign: impl FnOnce([&[u8]; 2]) -> Vec<u8>,
    ) -> Vec<u8> {
        let info = SignatureInfo { nonce: Some(&self.signature_nonce), time: Some(self.time), ..info };
        let mut bytes = Vec::new();
        info.write(&mut bytes);
        let interest = InterestBuilder {
            nonce: Some(self.nonce),
            lifetime: self.lifetime,
            ..InterestBuilder::new(name.view())
        };
        interest.build_signed(&bytes, sign)
    }

    fn name(&self, program: &[u8]) -> Result<OwnedName<Ndn>, BuildError> {
        let parameters = self.parameters.to_bytes();
        let Target { scope, module, verb } = self.target;
        let components = [scope.as_bytes(), program, module, verb, &parameters];
        // The digest adds a component of 34 bytes.
        let name = OwnedName::from_components(components.map(Component::generic))?;
        if name.as_bytes().len() + 34 > hashlane_name::MAX_NAME_LEN {
            return Err(BuildError::NameTooLong { index: components.len() });
        }
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mgmt::values::RouteOrigin;
    use crate::tlv::write_element;
    use hashlane_name::build::NameBuilder;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec;

    fn register() -> ControlParameters {
        let name = hashlane_name::uri::parse_uri(b"ndn:/app").unwrap();
        ControlParameters {
            name: Some(name),
            origin: Some(RouteOrigin::CLIENT),
            cost: Some(0),
            flags: Some(2),
            expiration: Some(1_200_000),
            ..Default::default()
        }
    }

    const REGISTER: Target<'static> = Target { scope: Scope::Localhost, module: b"rib", verb: b"register" };

    fn built() -> Vec<u8> {
        let builder = CommandBuilder {
            target: REGISTER,
            parameters: &register(),
            nonce: 7,
            lifetime: 1000,
            signature_nonce: [1; 8],
            time: 1_700_000_000_000,
        };
        builder.build().unwrap()
    }

    /// A command of format 0.2, as python-ndn's NDNApp makes it.
    fn old(parameters: &[u8], signature_type: u8) -> Vec<u8> {
        let mut name = NameBuilder::<Ndn>::new();
        let info = [22, 3, 27, 1, signature_type];
        let time = 1_700_000_000_000_u64.to_be_bytes();
        let parts: [&[u8]; 8] =
            [b"localhost", b"nfd", b"rib", b"register", parameters, &time, &[9; 8], &info];
        for part in parts {
            name.push(Component::generic(part)).unwrap();
        }
        let unsigned = OwnedName::from_components(parts.map(Component::generic)).unwrap();
        let unsigned: &OwnedName<Ndn> = &unsigned;
        let digest = Sha256::digest(single(unsigned.as_bytes()).unwrap().value);
        let mut value = vec![];
        write_element(SIGNATURE_VALUE, &digest, &mut value);
        name.push(Component::generic(&value)).unwrap();
        let name = name.finish();
        InterestBuilder { nonce: Some(5), lifetime: 1000, ..InterestBuilder::new(name.view()) }.build()
    }

    #[test]
    fn reads_what_it_builds() {
        let packet = built();
        let command = Command::parse(&Interest::parse(&packet).unwrap()).unwrap();
        assert_eq!(command.target, REGISTER);
        assert_eq!(command.parameters, register());
        assert!(command.signature.is_right_digest() && !command.signature.is_old);
        assert_eq!(command.signature.time, Some(1_700_000_000_000));
        assert_eq!(command.signature.nonce, Some(&[1; 8][..]));
        assert_eq!(command.signature.key(), b"");
    }

    #[test]
    fn reads_the_old_format() {
        let packet = old(b"\x68\x05\x07\x03\x08\x01A", 0);
        let command = Command::parse(&Interest::parse(&packet).unwrap()).unwrap();
        assert_eq!(command.target, REGISTER);
        assert_eq!(command.parameters.name.unwrap().to_string(), "/A");
        assert!(command.signature.is_right_digest() && command.signature.is_old);
        assert_eq!(command.signature.time, Some(1_700_000_000_000));
        let packet = old(b"\x68\x05\x07\x03\x08\x01A", 1);
        let command = Command::parse(&Interest::parse(&packet).unwrap()).unwrap();
        assert!(!command.signature.is_right_digest(), "the type is not a digest's");
    }

    #[test]
    fn reads_what_python_ndn_sends() {
        // python-ndn 0.5.2, ndn.app_support.nfd_mgmt: make_command and make_command_v2, with a DigestSha256
        // signer.
        let old = "056f076908096c6f63616c686f737408036e666408037269620808726567697374657208096807070508036170700808\
                    000001a1fde997f008088da74e4988189721080516031b010008221720e8b9a51aef518b0bb0fd969a5270d2b0bfcd58\
                    37ef33d663d954fb92f42918e10c0203e8";
        let new = "058f074c08096c6f63616c686f737408036e666408037269620808726567697374657208096807070508036170700220\
                    4f2e8e8fecd86c65b04ff94060da67b9b65adf80dac20baf83c54feb909876ef0c0203e824002c171b01002608b664fc\
                    18bef3b2892808000001a1fde997f12e2092f98700a62a4c2af52ec027b008b30abd181e42d500da572f4b0d625ecda9\
                    d5";
        for (bytes, is_old) in [(old, true), (new, false)] {
            let packet = data_encoding::HEXLOWER.decode(bytes.as_bytes()).unwrap();
            let command = Command::parse(&Interest::parse(&packet).unwrap()).unwrap();
            assert_eq!(command.target, REGISTER);
            let app = hashlane_name::uri::parse_uri(b"ndn:/app").unwrap();
            let parameters = ControlParameters { name: Some(app), ..Default::default() };
            assert_eq!(command.parameters, parameters);
            assert_eq!(command.signature.is_old, is_old);
            assert!(command.signature.is_right_digest());
            assert_eq!(command.signature.nonce.map(<[u8]>::len), Some(8));
        }
    }

    #[test]
    fn refuses_what_is_no_command() {
        let parse = |uri: &str| {
            let name: OwnedName<Ndn> = hashlane_name::uri::parse_uri(uri.as_bytes()).unwrap();
            let packet = InterestBuilder::new(name.view()).build();
            Command::parse(&Interest::parse(&packet).unwrap()).map(|_| ())
        };
        assert_eq!(parse("ndn:/localhost/nfd/rib"), Err(CommandError::NotManagement));
        assert_eq!(parse("ndn:/localhost/nlsr/rib/list/x"), Err(CommandError::NotManagement));
        assert_eq!(parse("ndn:/localhost/nfd/rib/register"), Err(CommandError::MissingParameters));
        assert_eq!(parse("ndn:/localhost/nfd/rib/register/h%00"), Err(CommandError::Unsigned));
        assert_eq!(parse("ndn:/localhost/nfd/rib/register/h%00/1/2/3/4/5"), Err(CommandError::Components));
        let time = parse("ndn:/localhost/nfd/rib/register/h%00/123/2/3/4");
        assert!(matches!(time, Err(CommandError::SignatureComponent(WireError::Length { .. }))), "{time:?}");
        let packet = old(b"\x68\x05\x07\x03\x08\x01", 0);
        let parameters = Command::parse(&Interest::parse(&packet).unwrap()).map(|_| ());
        assert_eq!(parameters, Err(CommandError::Parameters(WireError::Truncated { at: 0 })));
    }

    #[test]
    fn refuses_a_wrong_parameters_digest() {
        let mut packet = built();
        *packet.last_mut().unwrap() ^= 1;
        let command = Command::parse(&Interest::parse(&packet).unwrap());
        assert_eq!(command, Err(CommandError::ParametersDigest));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(at in 0..300_usize, byte: u8, is_old: bool) {
            let mut packet = if is_old { old(b"\x68\x05\x07\x03\x08\x01A", 0) } else { built() };
            let at = at % packet.len();
            packet[at] = byte;
            if let Ok(interest) = Interest::parse(&packet) {
                let _ = Command::parse(&interest);
            }
        }
    }
}
