//! Who may command.
//!
//! A command is done where one of these rules lets it; else the answer is 403, with the rule that it would have needed.
//! 1. It comes from a local user: over the Unix socket from root, from the user that the forwarder runs as, or from one that is listed; or
//!    from a loopback address, where that is allowed, and not from a page of a browser whose origin is neither of this host nor listed. Its
//!    signature is not verified, but a wrong digest is refused.
//! 2. It is signed by a key that `verify` trusts. So that nobody can send it again, it must say when it was signed: within
//!    60 s of now, after the start of the forwarder, and later than the last one of this key.
//!
//! Two commands of one key in the same millisecond do not both pass: signers count on where their clock has not.
//! Commands of rule 2 under `/localhop` pass where that is enabled, and only for the face that they come from.

use ndn::mgmt::values::FaceScope;
use ndn::mgmt::{Command, ControlResponse, Scope};
use ndn::wire::SignatureType;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;

/// Says whether the signature of a command is by a trusted key; if not, why.
pub type Verify = dyn Fn(&Command<'_>) -> Result<(), String> + Send;

/// How far from now a command may have been signed, in milliseconds. The same as ndn-cxx has.
const GRACE: u64 = 60_000;
/// The most keys whose last command is kept in mind.
const MAX_KEYS: usize = 4096;

/// Where an Interest comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The face.
    pub face: u64,
    /// Whether the face is local.
    pub scope: FaceScope,
    /// Who is at its other end.
    pub peer: Peer,
}

/// Who is at the other end of a face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The forwarder itself.
    Internal,
    /// A process of this machine, as the operating system knows it.
    Unix {
        /// Its user.
        uid: u32,
        /// Its number, where that is known.
        pid: Option<u32>,
    },
    /// An address on the Internet, or the loopback.
    Ip(IpAddr),
    /// A page in a browser at this address: whose it is, the page says, and not the user of the browser.
    Page {
        /// The address of the browser.
        address: IpAddr,
        /// Where the page is from, as the browser says; some octets may be escaped, and the end missing.
        origin: Box<str>,
    },
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Internal => f.write_str("the forwarder"),
            Self::Unix { uid, .. } => write!(f, "user {uid}"),
            Self::Ip(address) => write!(f, "{}", address.to_canonical()),
            Self::Page { address, origin } => {
                write!(f, "pages of the origin {origin} at {}", address.to_canonical())
            }
        }
    }
}

/// Who may command without a trusted key, and whether neighbours with one may register.
#[derive(Clone, Debug)]
pub struct Access {
    /// The user that the forwarder runs as.
    pub own_uid: u32,
    /// Other users that may command over the Unix socket; root may always.
    pub uids: Vec<u32>,
    /// Whether commands from loopback addresses, whoever sends them, are a local user's.
    pub loopback: bool,
    /// Whether `/localhop/nfd/rib` takes commands with a trusted key from neighbours.
    pub localhop: bool,
}

impl Default for Access {
    fn default() -> Self {
        Self { own_uid: 0, uids: Vec::new(), loopback: true, localhop: false }
    }
}

impl Access {
    /// Whether `peer` is a local user in the sense of rule 1.
    pub fn is_local_user(&self, peer: &Peer) -> bool {
        match *peer {
            Peer::Internal => true,
            Peer::Unix { uid, .. } => uid == 0 || uid == self.own_uid || self.uids.contains(&uid),
            Peer::Ip(address) => self.loopback && address.to_canonical().is_loopback(),
            Peer::Page { .. } => false,
        }
    }

    pub(super) fn check(
        &self,
        command: &Command<'_>,
        from: &Origin,
        verify: &Verify,
        replay: &mut Replay,
        now: u64,
    ) -> Result<(), ControlResponse> {
        let refuse = |text: String| Err(ControlResponse::new(403, format!("not authorized: {text}")));
        let is_digest = command.signature.info.signature_type == SignatureType::DIGEST_SHA256;
        if is_digest && !command.signature.is_right_digest() {
            return refuse("the digest in the signature of the command is wrong".into());
        }
        if self.is_local_user(&from.peer) {
            return Ok(());
        }
        let peer = &from.peer;
        if command.target.scope == Scope::Localhop {
            if !self.localhop {
                return refuse(format!("registrations under /localhop from {peer} are not enabled"));
            }
            let face = command.parameters.face_id.unwrap_or(0);
            if face != 0 && face != from.face {
                return refuse(format!(
                    "under /localhop {peer} may register its own face {} only",
                    from.face
                ));
            }
        }
        if is_digest {
            let or = match peer {
                Peer::Page { .. } => "the origin in faces.websocket.origins, or ",
                _ => "",
            };
            return refuse(format!(
                "commands from {peer} need {or}a signature under a configured trust anchor"
            ));
        }
        let key = command.signature.key();
        let time = replay.check(key, command.signature.time, now).or_else(refuse_time)?;
        if let Err(reason) = verify(command) {
            return refuse(format!("the signature of the command from {peer} is not trusted: {reason}"));
        }
        replay.record(key, time);
        Ok(())
    }
}

fn refuse_time(reason: String) -> Result<u64, ControlResponse> {
    Err(ControlResponse::new(403, format!("not authorized: {reason}")))
}

/// When each key signed its last command. A key is forgotten once everything up to its last command is too old anyway.
pub(super) struct Replay {
    last: HashMap<Box<[u8]>, u64>,
    started: u64,
}

impl Replay {
    pub(super) fn new(started: u64) -> Self {
        Self { last: HashMap::new(), started }
    }

    /// The time of the command, where it is one that may pass.
    fn check(&mut self, key: &[u8], time: Option<u64>, now: u64) -> Result<u64, String> {
        let Some(time) = time else { return Err("the signature does not say when it was made".into()) };
        if time.abs_diff(now) > GRACE {
            let late = if time < now { "before" } else { "after" };
            let seconds = time.abs_diff(now) / 1000;
            return Err(format!(
                "the command was signed {seconds} s {late} now, more than {} s",
                GRACE / 1000
            ));
        }
        if time < self.started {
            return Err("the command was signed before the forwarder started".into());
        }
        if self.last.get(key).is_some_and(|&last| time <= last) {
            return Err("the key has signed another command at the same time or later".into());
        }
        if self.last.len() >= MAX_KEYS && !self.last.contains_key(key) {
            self.last.retain(|_, last| last.saturating_add(GRACE) >= now);
            if self.last.len() >= MAX_KEYS {
                return Err(format!("{MAX_KEYS} keys have signed commands within a minute"));
            }
        }
        Ok(time)
    }

    fn record(&mut self, key: &[u8], time: u64) {
        self.last.insert(key.into(), time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_passes_once_and_in_time() {
        let now = 10_000_000;
        let mut replay = Replay::new(now - 30_000);
        assert!(replay.check(b"k", None, now).is_err());
        assert!(replay.check(b"k", Some(now - 60_001), now).is_err());
        assert!(replay.check(b"k", Some(now + 60_001), now).is_err());
        assert!(replay.check(b"k", Some(now - 30_001), now).is_err(), "before the start");
        assert_eq!(replay.check(b"k", Some(now), now), Ok(now));
        replay.record(b"k", now);
        assert!(replay.check(b"k", Some(now), now).is_err());
        assert!(replay.check(b"k", Some(now - 1), now).is_err());
        assert_eq!(replay.check(b"k", Some(now + 1), now), Ok(now + 1));
        assert_eq!(replay.check(b"other", Some(now), now), Ok(now));
    }

    #[test]
    fn keys_are_forgotten_when_what_they_signed_is_too_old() {
        let mut replay = Replay::new(0);
        for key in 0..MAX_KEYS as u32 {
            replay.record(&key.to_be_bytes(), 1000);
        }
        assert!(replay.check(b"new", Some(1000), 1000).is_err());
        assert_eq!(replay.check(b"new", Some(61_001), 61_001), Ok(61_001));
        assert!(replay.last.is_empty());
    }

    #[test]
    fn local_users_are_those_of_the_rule() {
        let access = Access { own_uid: 1000, uids: vec![1002], ..Access::default() };
        let user = |uid| access.is_local_user(&Peer::Unix { uid, pid: None });
        assert_eq!([0, 1000, 1001, 1002].map(user), [true, true, false, true]);
        let at = |address: &str| access.is_local_user(&Peer::Ip(address.parse().unwrap()));
        let addresses = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "192.0.2.1", "::"];
        assert_eq!(addresses.map(at), [true, true, true, false, false]);
    }
}
