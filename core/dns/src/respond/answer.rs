//! The answer to a question: RFC 1034 §4.3.2 over the zones of the server.

use super::chain::{Chain, Link, Spelling, Visited};
use super::offsets::Offsets;
use super::proofs::Proofs;
use super::reply::ResponseKind;
use super::servers::Servers;
use super::writer::{Form, Full, Owner, Writer};
use super::{MAX_CHAIN, Transport, Zones};
use crate::query::Hash;
use crate::wire::{Class, Flags, HEADER_LEN, Rcode, RecordType, Section};
use crate::zone::{Located, NameId, Set, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf};

/// Memory that is used again by each response.
pub(super) struct Scratch {
    pub(super) hash: Hash,
    pub(super) offsets: Offsets,
    pub(super) proofs: Proofs,
    pub(super) servers: Servers,
    /// A name made by a DNAME.
    pub(super) made: NameBuf,
    pub(super) chain: Chain,
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

/// A message whose answer has been written.
pub(super) struct Ended<'o> {
    pub(super) writer: Writer<'o>,
    pub(super) rcode: Rcode,
    pub(super) kind: ResponseKind,
    pub(super) flags: Flags,
    pub(super) truncated: bool,
}

/// The records of a name that answer a question.
pub(super) enum Found {
    /// Of the type, or none that lead elsewhere.
    Records,
    /// A CNAME to this name.
    Alias(NameId),
}

/// An answer under construction.
pub(super) struct Answer<'a, 'o> {
    pub(super) zones: &'a Zones,
    pub(super) scratch: &'a mut Scratch,
    pub(super) writer: Writer<'o>,
    pub(super) rtype: RecordType,
    pub(super) transport: Transport,
    pub(super) dnssec: bool,
    /// The zone whose names the offsets are of.
    pub(super) entered: usize,
    pub(super) rcode: Rcode,
    pub(super) kind: ResponseKind,
    pub(super) is_authoritative: bool,
    /// Negative answers have the SOA record.
    pub(super) has_soa: bool,
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
}
