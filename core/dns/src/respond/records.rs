//! The records of one name in an answer: records of the type, the SOA record of a negative answer, and
//! referrals.

use super::Transport;
use super::answer::{Answer, Found};
use super::chain::Link;
use super::reply::ResponseKind;
use super::writer::{Form, Full, Owner};
use crate::wire::{RecordType, Section};
use crate::zone::{NameId, Zone};

impl Answer<'_, '_> {
    /// Writes the records of node `source` that answer, owned by the name of `link`.
    #[inline]
    pub(super) fn write_sets(
        &mut self,
        link: &Link<'_>,
        zone: &Zone,
        source: NameId,
    ) -> Result<Option<Found>, Full> {
        let form = self.form();
        if let Some(set) = zone.set(source, self.rtype) {
            self.write(Section::Answer, link.owner, zone, &set, form)?;
            self.scratch.servers.note(link.zone, source, self.rtype);
            return Ok(Some(Found::Records));
        }
        match self.rtype {
            RecordType::ANY => return self.write_any(link, zone, source),
            RecordType::RRSIG => return self.write_signatures(link, zone, source),
            _ => {}
        }
        let Some(set) = zone.set(source, RecordType::CNAME) else { return Ok(None) };
        self.write(Section::Answer, link.owner, zone, &set, form)?;
        let target = set.records().next().and_then(|record| record.names[0]);
        Ok(target.map_or(Some(Found::Records), |target| Some(Found::Alias(target))))
    }

    /// Writes all sets over TCP, and one over UDP (RFC 8482 §4.1), so that a forged source is sent little.
    #[cold]
    fn write_any(&mut self, link: &Link<'_>, zone: &Zone, source: NameId) -> Result<Option<Found>, Full> {
        let form = self.form();
        let most = if self.transport == Transport::Udp { 1 } else { usize::MAX };
        let mut found = None;
        for set in zone.sets(source).take(most) {
            self.write(Section::Answer, link.owner, zone, &set, form)?;
            found = Some(Found::Records);
        }
        Ok(found)
    }

    /// Writes the signatures of all sets.
    #[cold]
    fn write_signatures(
        &mut self,
        link: &Link<'_>,
        zone: &Zone,
        source: NameId,
    ) -> Result<Option<Found>, Full> {
        let mark = self.writer.mark(Section::Answer);
        let mut found = None;
        for set in zone.sets(source) {
            let names = (zone, &mut self.scratch.offsets);
            let written = match self.is_truncated {
                true => Ok(()),
                false => self.writer.signatures(Section::Answer, link.owner, names, &set, u32::MAX),
            };
            if written.is_err() {
                self.writer.rollback(mark, &mut self.scratch.offsets);
                return Err(Full);
            }
            if set.signatures().next().is_some() {
                found = Some(Found::Records);
            }
        }
        Ok(found)
    }

    /// Writes the SOA of a negative answer (RFC 2308 §3).
    pub(super) fn write_soa(&mut self, zone: &Zone) -> Result<(), Full> {
        let Some(set) = zone.set(zone.apex(), RecordType::SOA).filter(|_| self.has_soa) else {
            return Ok(());
        };
        let minimum = set.records().next().and_then(|soa| soa.after.last_chunk().copied());
        debug_assert!(minimum.is_some(), "the builder refuses a SOA record without its numbers");
        let max_ttl = minimum.map_or(0, u32::from_be_bytes);
        let form = Form { max_ttl, ..self.form() };
        self.write(Section::Authority, Owner::Name(zone.apex()), zone, &set, form)
    }

    /// Writes the servers of the zone below `cut`, its DS records or the proof that there are none (RFC 4035
    /// §3.1.4).
    pub(super) fn refer(
        &mut self,
        number: usize,
        zone: &Zone,
        cut: NameId,
        is_first: bool,
    ) -> Result<(), Full> {
        if is_first {
            (self.is_authoritative, self.kind) = (false, ResponseKind::Referral);
        }
        let Some(set) = zone.set(cut, RecordType::NS) else { return Ok(()) };
        let form = Form { dnssec: false, ..self.form() };
        self.write(Section::Authority, Owner::Name(cut), zone, &set, form)?;
        self.scratch.servers.note_referral(number, cut);
        if self.dnssec {
            match zone.set(cut, RecordType::DS) {
                // Without a signature they prove nothing, and no client asked for them.
                Some(set) if !set.is_signed() => {}
                Some(set) => self.write(Section::Authority, Owner::Name(cut), zone, &set, self.form())?,
                None => self.prove_no_ds(number, zone, cut),
            }
        }
        Ok(())
    }
}
