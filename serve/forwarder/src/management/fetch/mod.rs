//! Certificates fetched over NDN, and the commands that wait for them.
//!
//! A command that the rules let a key sign, but whose certificate is not at hand, waits while an Interest asks
//! for the certificate. With it the command is checked anew, which may miss the certificate of the next
//! key, up to a trust anchor. The rules are applied before each Interest: nothing is fetched that they would
//! not accept. A command that waits has changed nothing, also not the protection against replays: of two copies,
//! the first one to be verified counts.
//!
//! Limits:
//! - certificates fetched for a command: [`MAX_FETCHED`] (ndn-cxx: 25 in a chain);
//! - Interests and commands: in all, of other hosts, and of one user or address ([`interests`], [`commands`]);
//! - time of a command: the lifetime of its Interest, at most [`MAX_WAIT`];
//! - certificates that are kept: [`verified`]. Those that have verified nothing are dropped with their command.
//!
//! Source: ndn-cxx, certificate fetcher of the validator.

pub(super) mod commands;
pub(super) mod interests;
pub(super) mod verified;

use super::VERBS;
use super::access::{Grant, is_management};
use super::clock::Now;
use super::manager::Manager;
use super::origin::Origin;
use super::reply::{Done, answer};
use super::request::{Plane, Request};
use super::verb::Verb;
use commands::{Commands, Deferred};
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::ControlResponse;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::security::{Certificate, Certificates};
use hashlane_ndn::wire::{Data, Interest, LpPacket};
use hashlane_table::share::Owner;
use interests::{Interests, NotSent};
use std::sync::Arc;
use verified::Verified;

/// Most certificates that are fetched for one command.
pub(super) const MAX_FETCHED: usize = 5;

/// Longest time that a command waits for certificates, in milliseconds.
pub(super) const MAX_WAIT: u64 = 10_000;

/// Longest certificate that is taken, in bytes. One with an RSA key of 4096 bits has about 1500.
pub(super) const MAX_CERTIFICATE: usize = 4096;

/// Encoded name of a key, as a KeyLocator has it.
pub(super) type Key = Box<[u8]>;

/// Progress of a command that has waited for certificates.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Certificates fetched for it, from its own key upwards.
    fetched: Vec<Arc<[u8]>>,
    /// Rights that it has been granted already. What its announcement may do is checked after them.
    pub(super) granted: Option<Grant>,
    /// Time at which it waits no longer, in milliseconds.
    pub(super) deadline: u64,
}

impl Progress {
    /// Progress of a command that arrives now.
    pub(super) fn starting(interest: &Interest<'_>, now: Now) -> Self {
        let deadline = now.monotonic.saturating_add(interest.lifetime().min(MAX_WAIT));
        Self { deadline, ..Self::default() }
    }

    /// Progress after the rights of the command were granted.
    pub(super) fn granted(self, grant: Grant) -> Self {
        Self { fetched: Vec::new(), granted: Some(grant), ..self }
    }

    /// The certificates fetched for the command.
    pub(super) fn certificates(&self) -> Certificates {
        let mut certificates = Certificates::new();
        for bytes in &self.fetched {
            let added = Certificate::parse(bytes).and_then(|certificate| certificates.add(&certificate));
            debug_assert!(added.is_ok(), "certificates are checked when they arrive");
        }
        certificates
    }

    /// True if a certificate was fetched for the command.
    pub(super) fn has_waited(&self) -> bool {
        !self.fetched.is_empty()
    }
}

/// A certificate that a command needs.
pub(super) struct Missing {
    /// Name of its key.
    pub(super) key: OwnedName<Ndn>,
    /// Response if it is not fetched.
    pub(super) response: ControlResponse,
}

/// Number of certificates fetched, and of what waits for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchCounts {
    /// Interests sent, retransmissions included.
    pub interests: u64,
    /// Certificates received.
    pub received: u64,
    /// Keys without a usable certificate.
    pub failed: u64,
    /// Commands that wait.
    pub waiting: u64,
    /// Certificates kept.
    pub kept: u64,
}

/// State of fetching.
#[derive(Debug, Default)]
pub(super) struct Fetcher {
    interests: Interests,
    commands: Commands,
    verified: Verified,
    counts: FetchCounts,
}

impl Fetcher {
    /// Certificates that have verified earlier commands.
    pub(super) fn verified(&self) -> &Certificates {
        self.verified.certificates()
    }

    /// Keeps the certificates that have verified a command.
    pub(super) fn keep(&mut self, progress: &Progress, owner: Option<Owner>, now: Now) {
        for bytes in &progress.fetched {
            self.verified.add(bytes, owner, now);
        }
    }

    /// Drops the certificates, and what is known of keys without one.
    pub(super) fn forget(&mut self) {
        self.verified.clear();
        self.interests.forget();
    }

    /// Removes the commands of a closed face.
    pub(super) fn close_face(&mut self, face: u64) {
        self.commands.close_face(face);
    }

    /// Time at which [`Manager::tick`] is due for fetching.
    pub(super) fn next_due(&self) -> Option<u64> {
        self.interests.next_due().into_iter().chain(self.commands.next_due()).min()
    }
}

impl Manager {
    /// Lets a command wait for a certificate, or refuses it.
    pub(super) fn fetch(
        &mut self,
        missing: Missing,
        interest: &Interest<'_>,
        from: &Origin,
        progress: Progress,
        now: Now,
        plane: &mut dyn Plane,
    ) -> Done {
        let Missing { key, response } = missing;
        if !self.config.fetch {
            return Err(response);
        }
        let refuse = |code, why: &str| Err(ControlResponse::new(code, format!("{}; {why}", response.text)));
        if !is_key(key.view()) || is_management(key.view()) {
            return refuse(403, "not fetched: not the name of a key");
        }
        // The certificate was fetched, and is of no use: expired, or at the end of a loop.
        let is_located = |bytes: &Arc<[u8]>| {
            Certificate::parse(bytes).is_ok_and(|certificate| certificate.is_located_by(key.view()))
        };
        if progress.fetched.iter().any(is_located) {
            return Err(response);
        }
        if progress.fetched.len() >= MAX_FETCHED {
            return refuse(
                403,
                &format!("not fetched: {MAX_FETCHED} certificates were fetched for the command"),
            );
        }
        if progress.deadline <= now.monotonic {
            return refuse(504, "not fetched in time");
        }
        let Fetcher { interests, commands, counts, .. } = &mut self.fetcher;
        if commands.has(interest.name(), from.face) {
            return Ok(None);
        }
        let owner = from.peer.owner();
        if commands.is_share_full(owner) {
            let most = commands::MAX_OF_ONE;
            return refuse(
                503,
                &format!("{most} commands of {} wait for certificates: try again later", from.peer),
            );
        }
        match interests.start(key.view(), owner, now.monotonic) {
            Ok(None) => {}
            Ok(Some(packet)) => {
                counts.interests += 1;
                tracing::debug!(%key, peer = %from.peer, "fetching a certificate");
                plane.request(Request::Interest(packet));
            }
            Err(NotSent::Failed(why)) => return refuse(403, &format!("not fetched: {why}")),
            Err(NotSent::Crowded(why)) => return refuse(503, &format!("{why}: try again later")),
        }
        let displaced = commands.add(Deferred {
            packet: interest.as_bytes().to_vec(),
            name: OwnedName::from(&interest.name()),
            from: from.clone(),
            key: key.as_bytes().into(),
            why: response.text,
            progress,
        });
        if let Some(displaced) = displaced {
            let answers = refused(&displaced, 503, "too many commands wait for certificates");
            answers.into_iter().for_each(|answer| plane.request(Request::Data(answer)));
        }
        Ok(None)
    }

    /// Handles a link packet that answers an Interest of the management: Data, or a Nack. Returns the answers
    /// to the commands that have waited for it.
    pub fn answered(&mut self, packet: &[u8], now: Now, plane: &mut impl Plane) -> Vec<Vec<u8>> {
        let Ok(packet) = LpPacket::parse(packet) else { return Vec::new() };
        match packet.header.nack {
            Some(reason) => {
                let Ok(interest) = Interest::parse(packet.fragment) else { return Vec::new() };
                let ended = self.fetcher.interests.nack(interest.name(), reason, now.monotonic);
                ended.map_or_else(Vec::new, |(key, why)| self.not_found(&key, &why))
            }
            None => self.received(packet.fragment, now, plane),
        }
    }

    /// Handles Data that answers Interests for certificates.
    fn received(&mut self, packet: &[u8], now: Now, plane: &mut dyn Plane) -> Vec<Vec<u8>> {
        let Ok(data) = Data::parse(packet) else { return Vec::new() };
        let mut answers = Vec::new();
        for key in self.fetcher.interests.take(data.name()) {
            if let Err(why) = check(packet, &key) {
                self.fetcher.interests.note_failed(&key, &why, now.monotonic);
                answers.extend(self.not_found(&key, &why));
                continue;
            }
            self.fetcher.counts.received += 1;
            let bytes: Arc<[u8]> = packet.into();
            for mut command in self.fetcher.commands.take(&key) {
                command.progress.fetched.push(bytes.clone());
                answers.extend(self.resume(command, now, plane));
            }
        }
        answers
    }

    /// Checks a command anew.
    fn resume(&mut self, command: Deferred, now: Now, plane: &mut dyn Plane) -> Option<Vec<u8>> {
        let Deferred { packet, from, progress, .. } = command;
        let (interest, verb) =
            Interest::parse(&packet).ok().and_then(|interest| Some((interest, verb(&interest)?)))?;
        match self.command(verb, &interest, &from, progress, now, plane) {
            Ok(None) => None,
            Ok(Some(response)) | Err(response) => answer(interest.name(), &response),
        }
    }

    /// Refuses the commands that wait for a key without a certificate.
    fn not_found(&mut self, key: &Key, why: &str) -> Vec<Vec<u8>> {
        self.fetcher.counts.failed += 1;
        let commands = self.fetcher.commands.take(key);
        tracing::debug!(commands = commands.len(), why, "a certificate was not found");
        let why = format!("not fetched: {why}");
        commands.iter().filter_map(|command| refused(command, 403, &why)).collect()
    }

    /// Sends Interests again, and ends commands that have waited too long. Returns their answers.
    pub(super) fn tick_fetches(&mut self, now: Now, plane: &mut dyn Plane) -> Vec<Vec<u8>> {
        self.fetcher.verified.expire(now);
        let (again, ended) = self.fetcher.interests.tick(now.monotonic);
        for packet in again {
            self.fetcher.counts.interests += 1;
            plane.request(Request::Interest(packet));
        }
        let mut answers = Vec::new();
        for (key, why) in ended {
            answers.extend(self.not_found(&key, &why));
        }
        let late = self.fetcher.commands.expire(now.monotonic);
        answers.extend(late.iter().filter_map(|command| refused(command, 504, "not fetched in time")));
        answers
    }

    /// Numbers of certificates fetched and kept.
    pub fn fetch_counts(&self) -> FetchCounts {
        let Fetcher { commands, verified, counts, .. } = &self.fetcher;
        let (waiting, kept) = (commands.len() as u64, verified.certificates().len() as u64);
        FetchCounts { waiting, kept, ..*counts }
    }
}

/// The command of an Interest that waits.
fn verb(interest: &Interest<'_>) -> Option<&'static Verb> {
    let target = Target::of(interest.name())?;
    VERBS.into_iter().find(|verb| verb.is(target.module, target.verb))
}

/// The answer that refuses a command that has waited.
fn refused(command: &Deferred, code: u64, why: &str) -> Option<Vec<u8>> {
    answer(command.name.view(), &ControlResponse::new(code, format!("{}; {why}", command.why)))
}

/// True if a KeyLocator can name a certificate: `KEY`, the key, and at most issuer and version end it.
fn is_key(name: NdnName<'_>) -> bool {
    let is_key = |component: Component<'_>| component == Component::generic(b"KEY");
    let first = name.len().saturating_sub(4);
    name.components()
        .skip(first)
        .zip(first..)
        .any(|(component, at)| at + 2 <= name.len() && is_key(component))
}

/// Checks that Data is a usable certificate of a key.
fn check(packet: &[u8], key: &Key) -> Result<(), String> {
    if packet.len() > MAX_CERTIFICATE {
        return Err(format!("the answer is longer than {MAX_CERTIFICATE} bytes"));
    }
    let certificate = Certificate::parse(packet).map_err(|error| error.to_string())?;
    if !NdnName::parse(key).is_ok_and(|key| certificate.is_located_by(key)) {
        return Err(format!("{} is a certificate of another key", certificate.name()));
    }
    certificate.public_key().map(drop).map_err(|error| format!("in the certificate, {error}"))
}
