//! A consumer and its producer.

use super::index::Index;
use super::port::Out;
use super::template::Template;
use super::window::Window;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{Data, DigestFunction, Interest, LpHeader, LpPacket};
use std::io;
use std::time::Instant;

/// A consumer and its producer.
pub(super) struct Pair {
    pub(super) template: Template,
    pub(super) window: Window,
    /// Index of the forwarder's PIT, if it is chosen.
    pub(super) index: Option<Index>,
    /// Function that digests Interests, if they are digested.
    pub(super) digests: Option<DigestFunction>,
    pub(super) paced: bool,
    /// Time of the next Interest, of a load with a pace.
    pub(super) due: Instant,
    /// Round-trip times of Interests in nanoseconds, of a load with a pace.
    pub(super) waited: Vec<u32>,
    /// Interests that reached the producer without the field that the index needs back.
    pub(super) bare: u64,
}

impl Pair {
    pub(super) fn ask(&mut self, now: Instant, most: usize, out: &mut Out<'_>) -> io::Result<()> {
        for _ in 0..most {
            let Some(number) = self.window.ask(now) else { break };
            let interest = self.template.interest(number);
            match self.digests {
                None => out.push(&LpHeader::default(), interest)?,
                Some(function) => {
                    // A template's packets are right.
                    let Ok(parsed) = Interest::parse(interest) else { break };
                    let digest = function.digest(&parsed);
                    let digest = DigestField::new(INTEREST_DIGEST, digest.as_bytes());
                    let header = LpHeader { digest, ..LpHeader::default() };
                    out.push(&header, interest)?;
                }
            }
        }
        Ok(())
    }

    /// Handles a packet that arrived at the consumer, and refills its window.
    pub(super) fn consume(&mut self, packet: &[u8], now: Instant, out: &mut Out<'_>) -> io::Result<()> {
        let number = LpPacket::parse(packet)
            .ok()
            .filter(|packet| packet.header.nack.is_none())
            // A consumer that asked by digest requires that digest in the answer.
            .filter(|packet| self.digests.is_none() || !packet.header.digest.of(INTEREST_DIGEST).is_empty())
            .and_then(|packet| Data::parse(packet.fragment).ok())
            .and_then(|data| self.template.number(data.name_bytes()));
        // An unrequested Data must not widen the window.
        match self.window.answer(number) {
            Some(asked) if self.paced => {
                let waited = asked.elapsed().as_nanos();
                self.waited.push(u32::try_from(waited).unwrap_or(u32::MAX));
            }
            Some(_) => self.ask(now, usize::MAX, out)?,
            None => {}
        }
        Ok(())
    }

    /// Handles a packet that arrived at the producer: answers an Interest for its names, with the Interest's
    /// token and digest.
    pub(super) fn produce(&mut self, packet: &[u8], out: &mut Out<'_>) -> io::Result<()> {
        let Ok(LpPacket { header, fragment }) = LpPacket::parse(packet) else { return Ok(()) };
        let interest = Interest::parse(fragment).ok();
        let number = interest.and_then(|interest| self.template.number(interest.name_bytes()));
        let Some(number) = number else { return Ok(()) };
        let data = self.template.data(number);
        let LpHeader { pit_token, digest, .. } = header;
        self.bare += u64::from(match self.index {
            Some(Index::Token) => pit_token.is_empty(),
            Some(Index::Digest | Index::DigestOne) => digest.of(INTEREST_DIGEST).is_empty(),
            Some(Index::Name) | None => false,
        });
        // The token and digest of the Interest go back with its Data.
        let header = LpHeader { pit_token, digest, ..LpHeader::default() };
        out.push(&header, data)
    }
}
