//! What a signature covers.

use super::error::Refusal;
use crate::tlv::single;
use crate::wire::{Data, Interest, SignatureInfo, data};
use hashlane_name::component::GENERIC;
use hashlane_name::ndn::NdnName;

/// The signature of a packet, and the bytes that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// What it says of itself.
    pub info: SignatureInfo<'a>,
    /// What it covers, one piece after the other.
    pub pieces: [&'a [u8]; 2],
    /// The signature.
    pub value: &'a [u8],
}

impl<'a> Signed<'a> {
    /// The signature of a Data packet.
    ///
    /// Source: NDN Packet Format 0.3, Data Signature.
    pub fn data(data: &Data<'a>) -> Self {
        Self {
            info: data.signature_info(),
            pieces: [data.signed_portion(), &[]],
            value: data.signature_value(),
        }
    }

    /// The signature of an Interest of format 0.3, whose digest of parameters is checked too.
    ///
    /// # Errors
    /// [`Refusal::Unsigned`] or [`Refusal::ParametersDigest`].
    ///
    /// Source: NDN Packet Format 0.3, Processing of Signed Interests.
    pub fn interest(interest: &Interest<'a>) -> Result<Self, Refusal> {
        let (Some(info), Some(value)) = (interest.signature_info(), interest.signature_value()) else {
            return Err(Refusal::Unsigned);
        };
        // Signed, it lacks a signed portion only where the digest is not at the end of the name.
        let pieces = interest.signed_portion().ok_or(Refusal::ParametersDigest)?;
        if interest.has_valid_parameters_digest() {
            Ok(Self { info, pieces, value })
        } else {
            Err(Refusal::ParametersDigest)
        }
    }

    /// The signature of a command in the form that Interests had before format 0.3: the last four components of its name are a time, a nonce,
    /// SignatureInfo and SignatureValue, and the signature covers all components but the last. The time and the nonce are put into
    /// [`info`](Self::info), where Interests of format 0.3 have them.
    ///
    /// # Errors
    /// [`Refusal::Unsigned`].
    ///
    /// Source: ndn-cxx specifications, Signed Interest and Command Interest.
    pub fn command(name: NdnName<'a>) -> Result<Self, Refusal> {
        Self::of_command(name).ok_or(Refusal::Unsigned)
    }

    fn of_command(name: NdnName<'a>) -> Option<Self> {
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
