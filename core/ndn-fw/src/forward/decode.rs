//! First stage: parse the packets, and hash all prefixes of their names.

use super::burst::{Burst, Content, Ingress};
use crate::drop::DropReason;
use crate::hashed::{HashedName, components};
use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_name::ndn::Ndn;
use hashlane_name::prefix::{BurstHashes, OnePass};
use hashlane_ndn::invariant::Invariant as _;
use hashlane_ndn::wire::{DATA, Data, INTEREST, Interest, MAX_PACKET};
use hashlane_table::stage::Stage;

/// Stage that parses the packets of a burst, then hashes their names together. It changes no table.
#[derive(Clone)]
pub struct Decode {
    one_pass: OnePass<Ndn, SipHash24>,
    names: Names,
}

/// Hashed names of a burst.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    root: u64,
    hashes: BurstHashes,
}

impl Names {
    /// Hashed name of a decoded packet.
    #[inline(always)]
    pub(super) fn of<'a, M>(&'a self, packet: &Ingress<'a, M>) -> HashedName<'a> {
        let Some(bytes) = packet.content.name_bytes() else {
            // A packet that was dropped, or has only a header.
            return HashedName { components: &[], root: self.root, hashes: &[] };
        };
        let hashes = packet.hashes.or_else(|| self.hashes.name(packet.name as usize).ok());
        let hashes = hashes.invariant("a packet with a malformed name was dropped").unwrap_or_default();
        HashedName { components: components(bytes), root: self.root, hashes }
    }
}

impl Decode {
    /// Creates the stage, with hashes under `key`.
    pub(super) fn new(key: &Key) -> Self {
        let hash = SipHash24::new(key);
        let names = Names { root: hash.hash(&[]), hashes: BurstHashes::new() };
        Self { one_pass: OnePass::new(hash), names }
    }

    /// Names of the last burst.
    #[inline(always)]
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Takes the names of the last burst, until [`put_back`](Self::put_back).
    #[inline(always)]
    pub(super) fn take_names(&mut self) -> Names {
        core::mem::take(&mut self.names)
    }

    /// Returns the names, with their memory.
    #[inline(always)]
    pub(super) fn put_back(&mut self, names: Names) {
        self.names = names;
    }
}

/// Keeps keys out of logs.
impl core::fmt::Debug for Decode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Decode(..)")
    }
}

impl<M> Stage<Burst<'_, M>> for Decode {
    #[inline(always)]
    fn run(&mut self, burst: &mut Burst<'_, M>) {
        let mut names = 0;
        let Burst { packets, headers, .. } = burst;
        for packet in packets.iter_mut() {
            match decode(packet, headers.of(packet).nack.is_some()) {
                Ok(content) => {
                    packet.content = content;
                    packet.name = names;
                    names += u32::from(packet.unhashed_name().is_some());
                }
                Err(reason) => packet.outcome = Err(reason),
            }
        }
        let bytes = packets.iter().filter_map(Ingress::unhashed_name);
        self.one_pass.burst(bytes, &mut self.names.hashes);
        if self.names.hashes.errors() > 0 {
            drop_malformed(packets, &self.names.hashes);
        }
    }
}

/// Drops the packets with malformed names.
#[cold]
fn drop_malformed<M>(packets: &mut [Ingress<'_, M>], hashes: &BurstHashes) {
    for packet in packets {
        if packet.unhashed_name().is_some() && hashes.name(packet.name as usize).is_err() {
            packet.content = Content::None;
            packet.outcome = Err(DropReason::Malformed);
        }
    }
}

/// Parses a packet, except the components of its name.
#[inline(always)]
fn decode<'p, M>(packet: &Ingress<'p, M>, nack: bool) -> Result<Content<'p>, DropReason> {
    let fragment = packet.fragment;
    if fragment.len() > MAX_PACKET {
        return Err(DropReason::TooLong);
    }
    Ok(match fragment.first().map(|typ| u32::from(*typ)) {
        Some(INTEREST) => {
            let interest = Interest::parse_except_name(fragment)?;
            if nack { Content::Nack(interest) } else { Content::Interest(interest) }
        }
        Some(DATA) if !nack => Content::Data(Data::parse_except_name(fragment)?),
        // A link packet without a fragment.
        None => Content::None,
        Some(_) => return Err(DropReason::Malformed),
    })
}
