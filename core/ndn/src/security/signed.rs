//! Signatures, with the bytes that they cover.

use super::error::Refusal;
use crate::tlv::single;
use crate::wire::{Data, Interest, SignatureInfo, data};
use hashlane_name::component::GENERIC;
use hashlane_name::ndn::NdnName;

/// Signature of a packet, and the bytes that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// Description of the signature.
    pub info: SignatureInfo<'a>,
    /// Covered bytes, in two pieces.
    pub pieces: [&'a [u8]; 2],
    /// Signature value.
    pub value: &'a [u8],
}

impl<'a> Signed<'a> {
    /// Signature of a Data packet.
    ///
    /// Source: NDN Packet Format 0.3, Data Signature.
    pub fn data(data: &Data<'a>) -> Self {
        Self {
            info: data.signature_info(),
            pieces: [data.signed_portion(), &[]],
            value: data.signature_value(),
        }
    }

    /// Signature of an Interest of format 0.3. Checks the digest of the parameters, too.
    ///
    /// # Errors
    /// [`Refusal::Unsigned`] or [`Refusal::ParametersDigest`].
    ///
    /// Source: NDN Packet Format 0.3, Processing of Signed Interests.
    pub fn interest(interest: &Interest<'a>) -> Result<Self, Refusal> {
        let (Some(info), Some(value)) = (interest.signature_info(), interest.signature_value()) else {
            return Err(Refusal::Unsigned);
        };
        // A signed Interest has no signed portion only if the digest is not at the end of the name.
        let pieces = interest.signed_portion().ok_or(Refusal::ParametersDigest)?;
        if interest.has_valid_parameters_digest() {
            Ok(Self { info, pieces, value })
        } else {
            Err(Refusal::ParametersDigest)
        }
    }

    /// Signature of a command Interest of format 0.2: the last four name components are a timestamp, a nonce,
    /// SignatureInfo and SignatureValue, and the signature covers all components except the last. Timestamp
    /// and nonce are put into [`info`](Self::info), as in format 0.3.
    ///
    /// # Errors
    /// [`Refusal::Unsigned`].
    ///
    /// Source: ndn-cxx specifications, Signed Interest and Command Interest.
    pub fn command(name: NdnName<'a>) -> Result<Self, Refusal> {
        Self::from_command(name).ok_or(Refusal::Unsigned)
    }

    fn from_command(name: NdnName<'a>) -> Option<Self> {
        let first = name.len().checked_sub(4)?;
        let mut last = name.components().skip(first);
        let mut component = || last.next().filter(|component| component.typ == GENERIC).map(|c| c.value);
        let time = u64::from_be_bytes(component()?.try_into().ok()?);
        let nonce = component().filter(|nonce| nonce.len() == 8)?;
        let info = single(component()?).ok().filter(|info| info.typ == data::SIGNATURE_INFO)?;
        let value = single(component()?).ok().filter(|value| value.typ == data::SIGNATURE_VALUE)?;
        let info = SignatureInfo { time: Some(time), nonce: Some(nonce), ..SignatureInfo::parse(info).ok()? };
        let components = single(name.as_bytes()).ok()?.value;
        let end = name.spans().last()?.start;
        Some(Self { info, pieces: [components.get(..end)?, &[]], value: value.value })
    }
}
