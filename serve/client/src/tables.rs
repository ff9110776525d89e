//! Pending Interests, and receivers of Interests: the state of a connection's task without its socket.

use crate::by_name::{ByName, ends_with_digest, for_each_prefix, name_value};
use crate::link::Link;
use crate::message::{Command, Incoming, Reply};
use crate::nonce::renew_nonce;
use crate::packet::{ExpressError, OwnedData};
use hashlane_ndn::fragment::Reassembler;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{Data, DigestFunction, Interest, LpHeader, LpPacket, NackReason};
use std::collections::{BTreeSet, HashMap};
use std::io;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Pending Interests, and prefixes with a receiver of Interests.
pub(crate) struct Tables {
    sender: mpsc::WeakSender<Command>,
    reassembler: Reassembler,
    /// Zero of the reassembler's clock.
    start: Instant,
    next_id: u64,
    pending: HashMap<u64, Pending>,
    /// Ids of the pending Interests, by the value of their name.
    by_name: ByName<BTreeSet<u64>>,
    deadlines: BTreeSet<(Instant, u64)>,
    /// Pending Interests whose name ends with an implicit digest.
    with_digest: usize,
    sinks: ByName<mpsc::Sender<Incoming>>,
    /// Function of the InterestDigest, and type of its field.
    digest: Option<(DigestFunction, u32)>,
}

struct Pending {
    packet: Vec<u8>,
    name: Vec<u8>,
    can_be_prefix: bool,
    has_digest: bool,
    since: Instant,
    deadline: Instant,
    reply: Reply,
}

impl Tables {
    /// Empty tables. `sender` is the channel to the driver, for answers.
    pub(crate) fn new(sender: mpsc::WeakSender<Command>) -> Self {
        Self {
            sender,
            reassembler: Reassembler::default(),
            start: Instant::now(),
            next_id: 0,
            pending: HashMap::new(),
            by_name: ByName::new(),
            deadlines: BTreeSet::new(),
            with_digest: 0,
            sinks: ByName::new(),
            digest: None,
        }
    }

    /// Adds a pending Interest.
    pub(crate) fn insert(&mut self, packet: Vec<u8>, deadline: Instant, reply: Reply) {
        let interest = match Interest::parse(&packet) {
            Ok(interest) => interest,
            Err(error) => return reply.send(Err(ExpressError::Interest(error))),
        };
        let name = name_value(interest.name_bytes()).to_vec();
        let has_digest = ends_with_digest(&name);
        let can_be_prefix = interest.can_be_prefix();
        let id = self.next_id;
        self.next_id += 1;
        self.with_digest += usize::from(has_digest);
        match self.by_name.get_mut(&name) {
            Some(ids) => {
                ids.insert(id);
            }
            None => self.by_name.insert(name.clone(), BTreeSet::from([id])),
        }
        self.deadlines.insert((deadline, id));
        let since = Instant::now();
        self.pending.insert(id, Pending { packet, name, can_be_prefix, has_digest, since, deadline, reply });
    }

    fn remove(&mut self, id: u64) -> Option<Pending> {
        let pending = self.pending.remove(&id)?;
        self.deadlines.remove(&(pending.deadline, id));
        self.with_digest -= usize::from(pending.has_digest);
        if let Some(ids) = self.by_name.get_mut(&pending.name) {
            ids.remove(&id);
            if ids.is_empty() {
                self.by_name.remove(&pending.name);
            }
        }
        Some(pending)
    }

    /// Earliest deadline of a pending Interest.
    pub(crate) fn first_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// Answers the Interests whose deadline has passed with a timeout.
    pub(crate) fn expire(&mut self, now: Instant) {
        while let Some(&(deadline, id)) = self.deadlines.first()
            && deadline <= now
        {
            if let Some(pending) = self.remove(id) {
                let waited = deadline - pending.since;
                pending.reply.send(Err(ExpressError::Timeout { waited, sent: 1 }));
            }
        }
    }

    /// Sends all pending Interests over a new connection, with new Nonces.
    pub(crate) fn retransmit(&mut self, link: &mut Link) {
        for pending in self.pending.values_mut() {
            renew_nonce(&mut pending.packet);
        }
        self.pending.values().for_each(|pending| self.push(link, &pending.packet));
    }

    /// Queues an Interest, with its digest if the client has asked for it.
    pub(crate) fn push(&self, link: &mut Link, packet: &[u8]) {
        let Some((function, typ)) = self.digest else { return link.push(&[packet]) };
        let Ok(interest) = Interest::parse(packet) else {
            debug_assert!(false, "Interests are checked before they come here");
            return;
        };
        let digest = function.digest(&interest);
        let digest = DigestField::new(typ, digest.as_bytes());
        let header = LpHeader { digest, ..LpHeader::default() }.frame(packet.len());
        link.push(&[header.as_bytes(), packet]);
    }

    /// Number of pending Interests.
    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Sets the function of the InterestDigest of later Interests, and the type of its field.
    pub(crate) fn set_digest(&mut self, function: DigestFunction, typ: u32) {
        self.digest = Some((function, typ));
    }

    /// Delivers Interests below a prefix to `sink`. Returns false if the prefix has a receiver already.
    pub(crate) fn listen(&mut self, prefix: Vec<u8>, sink: mpsc::Sender<Incoming>) -> bool {
        let is_free = self.sinks.get(&prefix).is_none_or(mpsc::Sender::is_closed);
        if is_free {
            self.sinks.insert(prefix, sink);
        }
        is_free
    }

    /// Ends the delivery of Interests below a prefix.
    pub(crate) fn ignore(&mut self, prefix: &[u8]) {
        self.sinks.remove(prefix);
    }

    /// Handles all packets in the receive buffer of the link.
    ///
    /// # Errors
    /// The start of the next packet cannot be found: the connection is lost.
    pub(crate) fn receive_all(&mut self, link: &mut Link) -> io::Result<()> {
        while let Some(packet) = link.next_packet()? {
            self.receive(packet);
        }
        Ok(())
    }

    /// Handles a link packet. A malformed packet or fragment is dropped, like one that is lost on the link.
    fn receive(&mut self, bytes: &[u8]) {
        let Ok(packet) = LpPacket::parse(bytes) else { return };
        if packet.header.is_fragmented() {
            let now = Time(self.start.elapsed().as_nanos() as u64);
            if let Ok(Some(whole)) = self.reassembler.receive(&packet, bytes, now) {
                let whole = whole.packet();
                self.receive_network(&whole.header, whole.fragment);
            }
        } else if !packet.fragment.is_empty() {
            self.receive_network(&packet.header, packet.fragment);
        }
    }

    fn receive_network(&mut self, header: &LpHeader<'_>, bytes: &[u8]) {
        if let Ok(data) = Data::parse(bytes) {
            self.receive_data(&data, header.congestion_mark > 0);
        } else if let Ok(interest) = Interest::parse(bytes) {
            match header.nack {
                Some(reason) => self.receive_nack(&interest, reason),
                None => self.receive_interest(&interest, header),
            }
        }
    }

    fn receive_data(&mut self, data: &Data<'_>, congested: bool) {
        let name = name_value(data.name_bytes());
        let mut satisfied = Vec::new();
        let mut find = |key: &[u8], is_whole: bool| {
            for id in self.by_name.get(key).into_iter().flatten() {
                if is_whole || self.pending.get(id).is_some_and(|pending| pending.can_be_prefix) {
                    satisfied.push(*id);
                }
            }
        };
        find(&[], name.is_empty());
        for_each_prefix(data.name_bytes(), |end| {
            find(name.get(..end).unwrap_or_default(), end == name.len());
        });
        if self.with_digest > 0 {
            let mut full = name.to_vec();
            full.extend([1, 32]);
            full.extend(data.implicit_digest());
            find(&full, true);
        }
        for id in satisfied {
            if let Some(pending) = self.remove(id) {
                pending.reply.send(Ok(OwnedData::checked(data, congested)));
            }
        }
    }

    fn receive_nack(&mut self, interest: &Interest<'_>, reason: NackReason) {
        let ids = self.by_name.get(name_value(interest.name_bytes()));
        // A late Nack of an earlier Interest of the same name is not about this one.
        let same_nonce = |id: &&u64| {
            let pending = self.pending.get(id).and_then(|pending| Interest::parse(&pending.packet).ok());
            pending.is_some_and(|pending| pending.nonce() == interest.nonce())
        };
        let id = ids.into_iter().flatten().find(same_nonce).copied();
        if let Some(pending) = id.and_then(|id| self.remove(id)) {
            pending.reply.send(Err(ExpressError::Nack(reason)));
        }
    }

    /// Delivers an Interest to the receiver of the longest prefix. If the queue is full it is lost, as on any
    /// link.
    fn receive_interest(&mut self, interest: &Interest<'_>, header: &LpHeader<'_>) {
        let name = name_value(interest.name_bytes());
        let mut sink = self.sinks.get(&[][..]);
        for_each_prefix(interest.name_bytes(), |end| {
            sink = self.sinks.get(name.get(..end).unwrap_or_default()).or(sink);
        });
        if let (Some(sink), Some(sender)) = (sink, self.sender.upgrade()) {
            let typ = self.digest.map_or(INTEREST_DIGEST, |(_, typ)| typ);
            let digest = DigestField::new(typ, header.digest.of(typ));
            let header = LpHeader { digest, ..*header };
            drop(sink.try_send(Incoming::new(interest, &header, sender)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::build::OwnedName;
    use hashlane_name::ndn::Ndn;
    use hashlane_ndn::fragment::Fragmenter;
    use hashlane_ndn::wire::InterestBuilder;

    #[test]
    fn a_fragmented_interest_keeps_the_header_fields_of_its_first_fragment() {
        let (commands, _receiver) = mpsc::channel(1);
        let mut tables = Tables::new(commands.downgrade());
        let name: OwnedName<Ndn> = hashlane_name::uri::parse_uri(b"/a/b").expect("a name");
        let prefix = name_value(name.as_bytes()).to_vec();
        let (sink, mut incoming) = mpsc::channel(1);
        assert!(tables.listen(prefix, sink));
        let parameters = [7; 500];
        let interest = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) };
        let interest = InterestBuilder { parameters: Some(&parameters), ..interest }.build();
        let header = LpHeader { pit_token: b"token", ..LpHeader::default() };
        let mut fragments = Vec::new();
        let whole = Fragmenter::new(u64::MAX).send(&header, &interest, 300, |head, piece| {
            fragments.push([head, piece].concat());
        });
        assert!(whole && fragments.len() > 1, "{}", fragments.len());
        for fragment in &fragments {
            tables.receive(fragment);
        }
        let incoming = incoming.try_recv().expect("the Interest");
        assert_eq!(incoming.interest().as_bytes(), interest);
        assert_eq!(incoming.header().pit_token, b"token");
    }
}
