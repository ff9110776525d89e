//! Commands that wait for certificates, and the answers that they get.

use super::VERBS;
use super::access::is_management;
use super::clock::Now;
use super::fetch::commands::{self, Deferred};
use super::fetch::interests::NotSent;
use super::fetch::{FetchCounts, Fetcher, Key, MAX_CERTIFICATE, MAX_FETCHED, Missing, Progress};
use super::manager::Manager;
use super::origin::Origin;
use super::reply::{Done, answer};
use super::request::{Plane, Request};
use super::verb::Verb;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::NdnName;
use hashlane_ndn::mgmt::ControlResponse;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::security::Certificate;
use hashlane_ndn::wire::{Data, Interest, LpPacket};
use std::sync::Arc;

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
                if self.readvertised(interest.name(), None, now) {
                    return Vec::new();
                }
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
        if self.readvertised(data.name(), Some(data.content()), now) {
            return answers;
        }
        for key in self.fetcher.interests.take(data.name()) {
            // The configuration may have changed since the Interest.
            let is_wanted = self.config.fetch.then_some(()).ok_or_else(|| "trust.fetch is off".to_owned());
            if let Err(why) = is_wanted.and_then(|()| check(packet, &key)) {
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
