//! The answer to a question: RFC 1034 §4.3.2 over the zones of the server.

use super::offsets::Offsets;
use super::proofs::Proofs;
use super::reply::ResponseKind;
use super::servers::Servers;
use super::writer::{Form, Full, Owner, Writer};
use super::{MAX_CHAIN, Transport, Zones};
use crate::query::Hash;
use crate::slices::{Parts as _, own_hash};
use crate::wire::{Class, Flags, HEADER_LEN, Rcode, RecordType, Section};
use crate::zone::{Located, NameId, Set, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{MAX_NAME_LEN, Name, NameBuf};

/// Memory that is used again by each response.
pub(super) struct Scratch {
    pub(super) hash: Hash,
    pub(super) offsets: Offsets,
    pub(super) proofs: Proofs,
    pub(super) servers: Servers,
    /// A name made by a DNAME.
    made: NameBuf,
    chain: Chain,
}

/// The names of a chain of aliases, so that a loop ends where it closes.
#[derive(Debug)]
struct Chain {
    names: [Visited; MAX_CHAIN + 1],
    len: usize,
}

impl Chain {
    const EMPTY: Self = Self { names: [Visited::Hash(0); MAX_CHAIN + 1], len: 0 };

    /// Adds a name; false if it was there or if there are too many.
    fn visit(&mut self, name: Visited) -> bool {
        let is_new = !self.names.part(..self.len).contains(&name);
        match self.names.get_mut(self.len).filter(|_| is_new) {
            Some(place) => {
                *place = name;
                self.len += 1;
                true
            }
            None => false,
        }
    }

    /// Returns true if the DNAME of this owner has been used.
    fn has_dname(&self, zone: usize, owner: NameId) -> bool {
        self.names.part(..self.len).contains(&Visited::Dname(zone as u32, owner))
    }
}

/// A name of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visited {
    /// A name that exists, with the number of its zone.
    Name(u32, NameId),
    /// Hash of a name that does not.
    Hash(u64),
    /// The owner of a DNAME that a name was made of.
    Dname(u32, NameId),
}

impl Visited {
    fn of(zone: usize, located: Located, hash: u64) -> Self {
        match located.below {
            0 => Self::Name(zone as u32, located.node),
            _ => Self::Hash(hash),
        }
    }
}

impl Scratch {
    pub(super) fn new(key: &Key) -> Self {
        Self {
            hash: Hash::new(key),
            offsets: Offsets::new(),
            proofs: Proofs::default(),
            servers: Servers::default(),
            made: NameBuf::ROOT,
            chain: Chain::EMPTY,
        }
    }
}

/// A name of the chain of aliases.
#[derive(Clone, Copy)]
pub(super) enum Spelling<'q> {
    /// The name of the question.
    Question(Name<'q>),
    /// A name of the zone.
    Number(NameId),
    /// The name that a DNAME made last.
    Made,
}

/// The present end of the chain of aliases.
#[derive(Clone, Copy)]
pub(super) struct Link<'q> {
    zone: usize,
    pub(super) located: Located,
    owner: Owner<'static>,
    spelling: Spelling<'q>,
    visited: Visited,
}

/// A message whose answer has been written.
pub(super) struct Ended<'o> {
    pub(super) writer: Writer<'o>,
    pub(super) rcode: Rcode,
    pub(super) kind: ResponseKind,
    pub(super) flags: Flags,
    pub(super) truncated: bool,
}

/// An answer under construction.
pub(super) struct Answer<'a, 'o> {
    pub(super) zones: &'a Zones,
    pub(super) scratch: &'a mut Scratch,
    pub(super) writer: Writer<'o>,
    rtype: RecordType,
    transport: Transport,
    pub(super) dnssec: bool,
    /// The zone whose names the offsets are of.
    entered: usize,
    rcode: Rcode,
    kind: ResponseKind,
    is_authoritative: bool,
    /// Negative answers have the SOA record.
    has_soa: bool,
    /// Nothing more is written: a record had no room, and only the end of the chain of aliases is of
    /// interest.
    pub(super) is_truncated: bool,
}

impl<'a, 'o> Answer<'a, 'o> {
    pub(super) fn new(
        (zones, scratch): (&'a Zones, &'a mut Scratch),
        (rtype, class, transport): (RecordType, Class, Transport),
        dnssec: bool,
        writer: Writer<'o>,
    ) -> Self {
        Self {
            zones,
            scratch,
            writer,
            rtype,
            transport,
            dnssec,
            entered: usize::MAX,
            rcode: Rcode::NO_ERROR,
            kind: ResponseKind::Positive,
            is_authoritative: true,
            // In class ANY, no zone is the one whose SOA record it would be.
            has_soa: class != Class::ANY,
            is_truncated: false,
        }
    }

    /// Writes answer, authority and additional section for `name` with this hash, whose place in zone `zone`
    /// is `located`. Without one, the zone is not loaded: SERVFAIL.
    pub(super) fn run(&mut self, zone: usize, located: Option<Located>, (name, hash): (Name<'_>, u64)) {
        self.scratch.chain.len = 0;
        self.scratch.proofs.clear();
        self.scratch.servers.clear();
        let Some(located) = located else {
            (self.rcode, self.kind, self.is_authoritative) =
                (Rcode::SERVER_FAILURE, ResponseKind::Error, false);
            return;
        };
        self.enter(zone);
        self.seed(zone, located, name);
        let (owner, spelling) = (Owner::QUESTION, Spelling::Question(name));
        let mut link = Link { zone, located, owner, spelling, visited: Visited::of(zone, located, hash) };
        for step in 0..=MAX_CHAIN {
            if !self.scratch.chain.visit(link.visited) {
                break;
            }
            let next = match self.step(&link, step) {
                Ok(next) => next,
                Err(Full) => {
                    self.writer.remove_part(&mut self.scratch.offsets);
                    self.is_truncated = true;
                    // The last name of the chain determines the response code, with or without room for it.
                    self.step(&link, step).unwrap_or(None)
                }
            };
            match next {
                Some(next) => link = next,
                None => break,
            }
        }
        if self.is_truncated {
            return;
        }
        if self.write_proofs().is_err() {
            self.is_truncated = true;
            return;
        }
        self.write_additional();
    }

    pub(super) fn end(self) -> Ended<'o> {
        let mut flags = Flags::default();
        if self.is_authoritative {
            flags = flags.with(Flags::AUTHORITATIVE);
        }
        // Over TCP, too: a set of more than 64 KiB has no room in any message.
        let truncated = self.is_truncated;
        if truncated {
            flags = flags.with(Flags::TRUNCATED);
        }
        Ended { writer: self.writer, rcode: self.rcode, kind: self.kind, flags, truncated }
    }

    /// Begins with the names of a zone.
    pub(super) fn enter(&mut self, zone: usize) {
        if self.entered != zone {
            self.scratch.offsets.clear();
            self.entered = zone;
        }
    }

    /// Enters the name of the question, up from the part that the zone has.
    #[inline]
    fn seed(&mut self, zone: usize, located: Located, name: Name<'_>) {
        let Some(zone) = self.zones.zone(zone) else { return };
        let known = name.labels_from(located.below).as_bytes().len();
        let (mut at, mut id) = (HEADER_LEN + name.len() - known, located.node);
        while id != NameId::ROOT {
            self.scratch.offsets.insert(id, at);
            at += zone.label(id).len();
            id = zone.parent(id);
        }
    }

    /// The form of a set: signed, if the client wants it.
    pub(super) fn form(&self) -> Form {
        Form { dnssec: self.dnssec, max_ttl: u32::MAX }
    }

    /// Writes a set of zone `zone`, which has been entered. Writes nothing to a truncated response.
    #[inline]
    pub(super) fn write(
        &mut self,
        section: Section,
        owner: Owner<'_>,
        zone: &Zone,
        set: &Set<'_>,
        form: Form,
    ) -> Result<(), Full> {
        if self.is_truncated {
            return Ok(());
        }
        self.writer.set(section, owner, (zone, &mut self.scratch.offsets), set, form)
    }

    /// Bytes of a name of the chain.
    pub(super) fn bytes(&self, link: &Link<'_>) -> NameBuf {
        match (link.spelling, self.zones.zone(link.zone)) {
            (Spelling::Question(name), _) => name.into(),
            (Spelling::Number(id), Some(zone)) => zone.name(id),
            (Spelling::Number(_), None) => NameBuf::ROOT,
            (Spelling::Made, _) => self.scratch.made,
        }
    }

    /// Answers for a name; returns the next one if it is an alias.
    ///
    /// # Errors
    /// No room is left.
    #[inline]
    fn step<'q>(&mut self, link: &Link<'q>, step: usize) -> Result<Option<Link<'q>>, Full> {
        let zones = self.zones;
        let Some(zone) = zones.zone(link.zone) else { return Ok(None) };
        self.enter(link.zone);
        let Located { node, below, cut, dname } = link.located;
        let is_name = below == 0;
        if let Some(cut) = cut
            && !(is_name && node == cut && self.rtype == RecordType::DS)
        {
            self.refer(link.zone, zone, cut, step == 0)?;
            return Ok(None);
        }
        if let Some(dname) = dname {
            return self.redirect(link, zone, dname);
        }
        let star = if is_name { None } else { zone.wildcard(node) };
        let Some(source) = star.or_else(|| is_name.then_some(node)) else {
            (self.rcode, self.kind) = (Rcode::NAME_ERROR, ResponseKind::NxDomain);
            self.write_soa(zone)?;
            if self.dnssec {
                let name = self.bytes(link);
                self.prove_name_error(link.zone, zone, name.view(), link.located);
            }
            return Ok(None);
        };
        let found = self.write_sets(link, zone, source)?;
        if let Some(found) = found {
            self.kind = if star.is_some() { ResponseKind::Wildcard } else { ResponseKind::Positive };
            if star.is_some() && self.dnssec {
                let name = self.bytes(link);
                self.prove_expansion(link.zone, zone, name.view(), link.located);
            }
            return match found {
                Found::Records => Ok(None),
                Found::Alias(target) => Ok(self.follow(link, zone, target)),
            };
        }
        self.kind = ResponseKind::NoData;
        self.write_soa(zone)?;
        if self.dnssec {
            let name = self.bytes(link);
            self.prove_no_data(link.zone, zone, name.view(), link.located, star);
        }
        Ok(None)
    }

    /// Writes the records of node `source` that answer, owned by the name of `link`.
    #[inline]
    fn write_sets(&mut self, link: &Link<'_>, zone: &Zone, source: NameId) -> Result<Option<Found>, Full> {
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
    fn write_soa(&mut self, zone: &Zone) -> Result<(), Full> {
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
    fn refer(&mut self, number: usize, zone: &Zone, cut: NameId, is_first: bool) -> Result<(), Full> {
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

    /// Writes a DNAME and the CNAME made of it (RFC 6672 §3.1); returns the name that it leads to.
    #[cold]
    fn redirect<'q>(
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
    fn follow<'q>(&mut self, link: &Link<'q>, zone: &Zone, target: NameId) -> Option<Link<'q>> {
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

/// The records of a name that answer a question.
enum Found {
    /// Of the type, or none that lead elsewhere.
    Records,
    /// A CNAME to this name.
    Alias(NameId),
}
