//! Aliases in an answer: the names that CNAME and DNAME records lead to.

use super::answer::Answer;
use super::chain::{Link, Spelling, Visited};
use super::reply::ResponseKind;
use super::writer::{Full, Owner};
use crate::slices::{Parts as _, own_hash};
use crate::wire::{Class, HEADER_LEN, Rcode, RecordType, Section};
use crate::zone::{NameId, Zone};
use hashlane_name::dns::{MAX_NAME_LEN, Name, NameBuf};

impl Answer<'_, '_> {
    /// Bytes of a name of the chain.
    pub(super) fn bytes(&self, link: &Link<'_>) -> NameBuf {
        match (link.spelling, self.zones.zone(link.zone)) {
            (Spelling::Question(name), _) => name.into(),
            (Spelling::Number(id), Some(zone)) => zone.name(id),
            (Spelling::Number(_), None) => NameBuf::ROOT,
            (Spelling::Made, _) => self.scratch.made,
        }
    }

    /// Writes a DNAME and the CNAME made of it (RFC 6672 §3.1); returns the name that it leads to.
    #[cold]
    pub(super) fn redirect<'q>(
        &mut self,
        link: &Link<'q>,
        zone: &Zone,
        dname: NameId,
    ) -> Result<Option<Link<'q>>, Full> {
        let Some(set) = zone.set(dname, RecordType::DNAME) else { return Ok(None) };
        let Some(target) = set.records().next().and_then(|record| record.names[0]) else { return Ok(None) };
        if !self.scratch.chain.has_dname(link.zone, dname) {
            self.write(Section::Answer, Owner::Name(dname), zone, &set, self.form())?;
            self.scratch.chain.visit(Visited::Dname(link.zone as u32, dname));
        }
        self.kind = ResponseKind::Positive;
        let (name, target_name) = (self.bytes(link), zone.name(target));
        let of_dname = name.view().labels_from(link.located.below).as_bytes().len();
        let (name, target_name) = (name.as_bytes(), target_name.as_bytes());
        let kept = name.part(..name.len() - of_dname);
        let mut bytes = [0; MAX_NAME_LEN];
        let Some(made) = bytes.get_mut(..kept.len() + target_name.len()) else {
            self.rcode = Rcode::NAME_TOO_LONG;
            return Ok(None);
        };
        let (start, end) = made.split_at_mut(kept.len());
        start.copy_from_slice(kept);
        end.copy_from_slice(target_name);
        let Ok(made) = Name::parse(made) else { return Ok(None) };

        let mut from = HEADER_LEN;
        if !self.is_truncated {
            let offsets = &mut self.scratch.offsets;
            self.writer.owner(zone, offsets, link.owner)?;
            from = self.writer.head(RecordType::CNAME, Class::IN, set.ttl)?;
            self.writer.bytes(kept)?;
            self.writer.name(zone, offsets, target)?;
            self.writer.end_data(from);
            self.writer.add(Section::Answer);
        }
        let made = NameBuf::from(made);
        self.scratch.made = made;
        if matches!(self.rtype, RecordType::CNAME | RecordType::ANY) || from >= 0x4000 {
            return Ok(None);
        }
        Ok(self.follow_name(Owner::At(from as u16), Spelling::Made, &made))
    }

    /// The end of an alias to a name of `zone`.
    pub(super) fn follow<'q>(&mut self, link: &Link<'q>, zone: &Zone, target: NameId) -> Option<Link<'q>> {
        let located = zone.locate_id(target);
        let spelling = Spelling::Number(target);
        if let Some(located) = located
            && (located.cut.is_none() || self.zones.entries().len() == 1)
        {
            let hash = match located.below {
                0 => 0,
                _ => own_hash(self.scratch.hash.name(zone.name(target).view())),
            };
            let visited = Visited::of(link.zone, located, hash);
            return Some(Link { zone: link.zone, located, owner: Owner::Name(target), spelling, visited });
        }
        if self.zones.entries().len() == 1 {
            return None;
        }
        // Another zone may have it. Its names have other numbers.
        let owner = match self.is_truncated {
            true => Owner::QUESTION,
            false => Owner::At(self.scratch.offsets.get(target)?),
        };
        let name = zone.name(target);
        self.scratch.made = name;
        self.follow_name(owner, Spelling::Made, &name)
    }

    /// The end of an alias to any name.
    fn follow_name<'q>(
        &mut self,
        owner: Owner<'static>,
        spelling: Spelling<'q>,
        name: &NameBuf,
    ) -> Option<Link<'q>> {
        let suffixes = self.scratch.hash.name(name.view());
        let zone = self.zones.find(suffixes, name.view(), self.rtype)?;
        if zone != self.entered && self.zones.is_restricted(zone) {
            return None;
        }
        let located = self.zones.zone(zone)?.locate(suffixes, name.view());
        let visited = Visited::of(zone, located, own_hash(suffixes));
        Some(Link { zone, located, owner, spelling, visited })
    }
}
