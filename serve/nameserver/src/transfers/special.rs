//! Messages that ordinary queries are not: NOTIFY, transfers, and signed ones (TSIG).

#[cfg(test)]
mod tests;

use super::asked::transfer;
use super::event::Event;
use super::fetch::Told;
use super::peers::{Origin, ZoneTransfers, permits};
use super::seldom::Seldom;
use crate::answer::Answerer;
use crate::clock::unix_seconds;
use crate::counters::Counters;
use crate::view::View;
use hashlane_dns::query::{Outcome, parse, truncate};
use hashlane_dns::respond::Transport;
use hashlane_dns::wire::{Header, Message, Opcode, Rcode, RecordType};
use hashlane_hash::scheme::Key as HashKey;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::notify::{self, Notify};
use hashlane_transfer::outgoing::{Outgoing, Writers};
use hashlane_transfer::tsig::{Checked, Refusal, Signer};
use std::net::SocketAddr;
use std::sync::mpsc::Sender;

pub(crate) use super::received::Received;

/// The reply to a message.
pub(crate) enum Reply {
    /// One message.
    Message(Vec<u8>),
    /// A zone, or its differences; over TCP alone.
    Transfer(Box<Transfer>),
}

/// Handles the special messages of one thread.
pub(crate) struct Special {
    writers: Writers,
    key: HashKey,
    news: Sender<Event>,
    /// Lines about signatures, and about transfers that are refused.
    bad_signatures: Seldom,
    refusals: Seldom,
    /// Counters of the queries inside of signed messages, which were counted before.
    counted: Counters,
}

/// A transfer that is sent message by message.
pub(crate) struct Transfer {
    outgoing: Outgoing,
    signer: Option<Box<Signer>>,
    zone: NameBuf,
    to: SocketAddr,
    is_complete: bool,
}

impl Transfer {
    /// True once the last message was written.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Logs that the transfer ends before its last message.
    pub(crate) fn log_end(&self) {
        let (zone, messages) = (&self.zone, self.outgoing.messages());
        let why = "the secondary has gone, or takes too long";
        tracing::warn!(zone = %zone, to = %self.to, messages, "transfer broken off: {why}");
    }
}

impl Special {
    /// `key` should be random. `news` gets the zones that have changed at a primary.
    pub(crate) fn new(key: &HashKey, transport: Transport, news: Sender<Event>) -> Self {
        Self {
            writers: Writers::new(key),
            key: *key,
            news,
            bad_signatures: Seldom::default(),
            refusals: Seldom::default(),
            counted: Counters::new(transport),
        }
    }

    /// The reply to a message that is [special](hashlane_dns::respond::Reply::is_special).
    pub(crate) fn reply(
        &mut self,
        answerer: &mut Answerer,
        view: &View,
        counters: &Counters,
        received: Received<'_>,
    ) -> Reply {
        counters.special.add(1);
        let mut message = received.message.to_vec();
        let signer = match view.keys.check(&mut message, unix_seconds()) {
            Checked::Refused { response, reason } => {
                counters.bad_signatures.add(1);
                self.log_bad_signature(received.from, &reason);
                return Reply::Message(response);
            }
            Checked::Signed(signer) => Some(signer),
            Checked::Unsigned => None,
        };
        let received = Received { message: &message, ..received };
        let header = Message::parse(&message).map(|message| message.header());
        let is_notify = header.is_ok_and(|header| header.flags.opcode() == Opcode::NOTIFY);
        let response = if is_notify {
            self.notified(answerer, view, counters, received, signer.as_deref())
        } else {
            match parse(&message) {
                Outcome::Answer(query) if matches!(query.rtype, RecordType::AXFR | RecordType::IXFR) => {
                    let (transport, signed) = (counters.transport, signer.as_deref());
                    let (by, lines) = ((&mut *answerer, &self.key), &mut self.refusals);
                    match transfer(by, view, &query, received, transport, signed, lines) {
                        Ok(outgoing) if counters.transport == Transport::Tcp => {
                            counters.transfers.add(1);
                            let (zone, to) = (NameBuf::from(query.name), received.from);
                            return Reply::Transfer(Box::new(Transfer {
                                outgoing,
                                signer,
                                zone,
                                to,
                                is_complete: false,
                            }));
                        }
                        Ok(mut outgoing) => self.alone(&mut outgoing),
                        Err(rcode) => {
                            counters.refused_transfers.add(1);
                            // With the OPT record and the reason, as any other refusal.
                            let mut response = self.answer(answerer, view, received, signer.as_deref());
                            if let Some(flags) = response.get_mut(3) {
                                *flags = *flags & 0xf0 | rcode.0 as u8 & 0xf;
                            }
                            response
                        }
                    }
                }
                _ => self.answer(answerer, view, received, signer.as_deref()),
            }
        };
        let most = match counters.transport {
            Transport::Udp => received.longest.min(view.settings.max_udp.into()).min(taken(&message)),
            Transport::Tcp => received.longest,
        };
        Reply::Message(finish(response, signer, most))
    }

    /// Logs a signature that is not valid, once in a second.
    fn log_bad_signature(&mut self, from: SocketAddr, reason: &Refusal) {
        if self.bad_signatures.is_due() {
            tracing::warn!(%from, "a signature (TSIG) is not valid: {reason}");
        }
    }

    /// The only message of a response over UDP.
    fn alone(&mut self, outgoing: &mut Outgoing) -> Vec<u8> {
        outgoing.write(&mut self.writers, 0).ok().flatten().unwrap_or_default().to_vec()
    }

    /// The response to a NOTIFY (RFC 1996 §3.10, §3.11).
    fn notified(
        &mut self,
        answerer: &mut Answerer,
        view: &View,
        counters: &Counters,
        Received { message, from, channel, .. }: Received<'_>,
        signer: Option<&Signer>,
    ) -> Vec<u8> {
        let Some(Notify { apex, serial }) = notify::parse(message) else {
            return notify::response(message, Rcode::FORMAT_ERROR);
        };
        let key = signer.map(Signer::key);
        let place = view.zones.position(apex.view(), answerer.hash());
        let Some(ZoneTransfers { notify_from, news, .. }) =
            place.and_then(|place| view.transfers.get(place)).map(|zone| &**zone)
        else {
            return notify::response(message, Rcode::NOT_AUTHORITATIVE);
        };
        let Some(news) = news.as_ref().filter(|_| permits(notify_from, from.ip(), channel, key.as_ref()))
        else {
            tracing::debug!(zone = %apex, %from, "NOTIFY refused");
            return notify::response(message, Rcode::REFUSED);
        };
        counters.notified.add(1);
        let ours =
            place.and_then(|place| view.zones.entries().get(place)).and_then(|entry| entry.zone.as_ref());
        let is_known = serial.is_some() && ours.map(|zone| zone.serial()) == serial;
        if news.put(is_known) {
            tracing::debug!(zone = %apex, %from, serial, "NOTIFY");
            let told = serial.map(|serial| Told { serial, from: from.ip().to_canonical() });
            // The server ends.
            let _ = self.news.send(Event::Notified(apex, told));
        }
        notify::response(message, Rcode::NO_ERROR)
    }

    /// The response to an ordinary query that was signed.
    fn answer(
        &self,
        answerer: &mut Answerer,
        view: &View,
        received: Received<'_>,
        signer: Option<&Signer>,
    ) -> Vec<u8> {
        let mut response = Vec::new();
        let messages = [(received.from, received.message)];
        let key = signer.map(Signer::key);
        let origin = Origin { channel: received.channel, key: key.as_ref() };
        answerer.run(view, &self.counted, (received.seconds, origin), &messages, |_, answer| {
            response.extend_from_slice(answer.message);
            true
        });
        response
    }

    /// Writes the next messages of a transfer to a queue of a stream, as long as it has at most `most` bytes.
    /// Returns false after the last one.
    pub(crate) fn send(&mut self, transfer: &mut Transfer, most: usize, out: &mut Vec<u8>) -> bool {
        let Transfer { outgoing, signer, zone, to, is_complete } = transfer;
        while out.len() < most {
            let room = signer.as_ref().map_or(0, |signer| signer.key().room());
            match outgoing.write(&mut self.writers, room) {
                Ok(Some(written)) => {
                    let mut signed = Vec::new();
                    let message = match signer {
                        None => written,
                        Some(signer) => {
                            signed.extend_from_slice(written);
                            signer.sign(&mut signed, unix_seconds());
                            &signed
                        }
                    };
                    // It has at most 65,535 bytes: the writer has left room.
                    out.extend_from_slice(&(message.len() as u16).to_be_bytes());
                    out.extend_from_slice(message);
                }
                Ok(None) => {
                    let how = if outgoing.is_incremental() { "IXFR" } else { "AXFR" };
                    tracing::info!(zone = %zone, %to, how, messages = outgoing.messages(), "transferred");
                    *is_complete = true;
                    return false;
                }
                Err(error) => {
                    tracing::error!(zone = %zone, %to, %error, "transfer broken off");
                    return false;
                }
            }
        }
        true
    }
}

/// Bytes of a response over UDP that the client takes.
fn taken(query: &[u8]) -> usize {
    /// Without EDNS (RFC 1035 §4.2.1).
    const PLAIN: usize = 512;
    match parse(query) {
        Outcome::Answer(query) => query.limit(),
        _ => PLAIN,
    }
}

/// The response with its signature, cut if both together have more than `most` bytes (RFC 8945 §5.3).
fn finish(mut response: Vec<u8>, signer: Option<Box<Signer>>, most: usize) -> Vec<u8> {
    let room = signer.as_ref().map_or(0, |signer| signer.key().room());
    if response.len() + room > most {
        let cut = truncate(&mut response).unwrap_or_default();
        response.truncate(cut);
    }
    if let Some(mut signer) = signer.filter(|_| response.len() >= std::mem::size_of::<Header>()) {
        signer.sign(&mut response, unix_seconds());
    }
    response
}
