//! Packets that answer Interests for management.

use hashlane_name::ndn::NdnName;
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse, Record};
use hashlane_ndn::wire::data::APPLICATION_NACK;
use hashlane_ndn::wire::{DataBuilder, LpHeader, MAX_PACKET, NackReason};

/// FreshnessPeriod of answers, in milliseconds.
pub(super) const FRESHNESS: u64 = 1000;

/// Outcome of a command: a response, or `None` if a forwarding thread answers later.
pub(super) type Done = Result<Option<ControlResponse>, ControlResponse>;

/// Outcome of an Interest.
pub(super) enum Reply {
    /// This Data packet answers it.
    Data(Vec<u8>),
    /// Data answers it later: the answer of a forwarding thread, or the next event.
    Later,
    /// Nothing will answer it.
    Nothing,
}

impl From<Option<Vec<u8>>> for Reply {
    fn from(packet: Option<Vec<u8>>) -> Self {
        packet.map_or(Self::Nothing, Self::Data)
    }
}

/// Success, with the parameters that hold now.
pub(super) fn done(parameters: &ControlParameters) -> Done {
    Ok(Some(ControlResponse::with(200, "OK", parameters)))
}

/// Refusal of a command.
pub(super) fn refused<T>(code: u64, text: impl Into<String>) -> Result<T, ControlResponse> {
    Err(ControlResponse::new(code, text))
}

/// Link packet that returns an Interest as a Nack.
pub(crate) fn nack(interest: &[u8], reason: NackReason) -> Vec<u8> {
    let header = LpHeader { nack: Some(reason), ..LpHeader::default() };
    [header.wrapped(interest.len()).as_bytes(), interest].concat()
}

/// Data packet that answers the command of this name; `None` if the name leaves no room for it.
pub(super) fn answer(name: NdnName<'_>, response: &ControlResponse) -> Option<Vec<u8>> {
    packet(&DataBuilder::new(name, &response.to_bytes()))
}

/// Data packet that refuses a dataset of this name; `None` if the name leaves no room for it.
pub(super) fn no_dataset(name: NdnName<'_>, response: &ControlResponse) -> Option<Vec<u8>> {
    packet(&DataBuilder { content_type: APPLICATION_NACK, ..DataBuilder::new(name, &response.to_bytes()) })
}

fn packet(data: &DataBuilder<'_>) -> Option<Vec<u8>> {
    let packet = DataBuilder { freshness: Some(FRESHNESS), ..data.clone() }.build();
    (packet.len() <= MAX_PACKET).then_some(packet)
}
