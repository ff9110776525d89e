//! Rules for commands.
//!
//! A command is done if one of these rules permits it; otherwise the answer is 403, and names the missing
//! rule.
//! 1. Users of this host: root, the user of the forwarder, and the users and groups of the configuration may
//!    give every command. Everyone else who may connect to a Unix socket of the forwarder may register and
//!    unregister prefixes of its own face, except names under `/localhost`. The kernel reports the user of a
//!    Unix connection, and that of a TCP or WebSocket connection from a loopback address; a page of a browser
//!    counts as the user of the browser only if its origin is of this host or listed. The signature is not
//!    verified, but a wrong digest is refused.
//! 2. A key that `verify` trusts. Against replays, such a command states when it was signed: within 60 s of
//!    now, after the start of the forwarder, and later than the last command of this key.
//!
//! Of two commands of one key in the same millisecond, one is refused: signers increment a time that they
//! have used. Commands of rule 2 under `/localhop` pass if that is enabled, and only for the face that they
//! come from.
//!
//! Routes of the management's own prefixes are refused to everyone, and routes under `/localhost` to other
//! hosts.

use super::clock::Now;
use super::origin::{Origin, Over, Peer};
use super::reply::refused;
use super::users::{Access, Users};
use hashlane_name::component::Component;
use hashlane_name::ndn::NdnName;
use hashlane_ndn::mgmt::values::FaceScope;
use hashlane_ndn::mgmt::{Command, ControlResponse, Scope};
use hashlane_ndn::wire::SignatureType;
use std::collections::HashMap;

/// Verifies the signature of a command. The error is the reason why no trusted key has made it.
pub type Verify = dyn Fn(&Command<'_>) -> Result<(), String> + Send;

/// Longest difference between the time of a signature and now, in milliseconds: the same as in ndn-cxx.
const GRACE: u64 = 60_000;
/// Most keys whose last command is remembered.
const MAX_KEYS: usize = 4096;

/// Extent of the rights that a command has been granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    /// Every command.
    Full,
    /// Registrations of this user's own faces.
    OwnFaces(u32),
}

/// Rules that would permit a refused command of a user of this host, for the text of the refusal.
const NEEDS: &str = "the user in management.users, one of its groups in management.groups, or a signature under a \
                     configured trust anchor";

/// True for commands that register or unregister a prefix. Applications and neighbours may give them.
pub(super) fn is_registration(verb: &str) -> bool {
    matches!(verb, "rib/register" | "rib/unregister")
}

impl Access {
    /// Grants a command, or refuses it with 403 and the missing rule.
    #[expect(
        clippy::too_many_arguments,
        reason = "the command, its sender, and what is known of users and keys"
    )]
    pub(super) fn check(
        &self,
        verb: &str,
        command: &Command<'_>,
        from: &Origin,
        users: &mut Users,
        verify: &Verify,
        replay: &mut Replay,
        now: Now,
    ) -> Result<Grant, ControlResponse> {
        let refusal = |text: String| ControlResponse::new(403, format!("not authorized: {text}"));
        let refuse = |text| Err(refusal(text));
        let is_digest = command.signature.info.signature_type == SignatureType::DIGEST_SHA256;
        if is_digest && !command.signature.is_right_digest() {
            return refuse("the digest in the signature of the command is wrong".into());
        }
        let why = match self.check_user(verb, command, from, users, now) {
            Ok(grant) => return Ok(grant),
            Err(why) => why,
        };
        let peer = &from.peer;
        if command.target.scope == Scope::Localhop {
            if !self.localhop {
                return refuse(format!("registrations under /localhop from {peer} are not enabled"));
            }
            if !is_own_face(command, from) {
                return refuse(format!(
                    "under /localhop {peer} may register its own face {} only",
                    from.face
                ));
            }
        }
        if is_digest {
            return refuse(why);
        }
        let key = command.signature.key();
        let time = replay.check(key, command.signature.time, now.unix).map_err(refusal)?;
        if let Err(reason) = verify(command) {
            return refuse(format!("{why}; the signature of the command is not trusted: {reason}"));
        }
        replay.record(key, time);
        Ok(Grant::Full)
    }

    /// Rule 1. The error is the missing right.
    fn check_user(
        &self,
        verb: &str,
        command: &Command<'_>,
        from: &Origin,
        users: &mut Users,
        now: Now,
    ) -> Result<Grant, String> {
        let peer = &from.peer;
        let (uid, over) = match peer {
            Peer::Internal => return Ok(Grant::Full),
            Peer::User { uid, over } => (*uid, *over),
            Peer::Unidentified { address, why } => {
                return Err(format!(
                    "the user at {} is not known ({why}): connect to the Unix socket, or sign under a configured \
                     trust anchor",
                    address.to_canonical()
                ));
            }
            Peer::Page { .. } => {
                return Err(format!(
                    "commands from {peer} need the origin in faces.websocket.origins, or a signature under a \
                     configured trust anchor"
                ));
            }
            Peer::Ip(_) => {
                return Err(format!("commands from {peer} need a signature under a configured trust anchor"));
            }
        };
        let rights = users.rights(uid, self, now.monotonic);
        if rights.commands {
            return Ok(Grant::Full);
        }
        if !is_registration(verb) {
            return Err(format!("{verb} from {peer} needs {NEEDS}"));
        }
        if over == Over::Loopback && !rights.connects {
            return Err(format!(
                "{peer} may not connect to the Unix socket, so that registrations over the loopback need {NEEDS}"
            ));
        }
        if !is_own_face(command, from) {
            return Err(format!(
                "{peer} may register prefixes of its own face {} only; another face needs {NEEDS}",
                from.face
            ));
        }
        let name = command.parameters.name.as_ref();
        if name.is_some_and(|name| is_below(name.view(), &[b"localhost"])) {
            return Err(format!("names under /localhost from {peer} need {NEEDS}"));
        }
        Ok(Grant::OwnFaces(uid))
    }
}

/// True if a command is about the face that it came from.
fn is_own_face(command: &Command<'_>, from: &Origin) -> bool {
    command.parameters.face_id.is_none_or(|face| face == 0 || face == from.face)
}

/// Refuses prefixes that may not be routed, and to other hosts also those of this host.
pub(super) fn check_prefix(name: NdnName<'_>, from: &Origin) -> Result<(), ControlResponse> {
    if is_management(name) {
        return refused(
            403,
            format!(
                "not authorized: {name} belongs to the management of the forwarder: choose another prefix"
            ),
        );
    }
    if from.scope == FaceScope::NonLocal && is_below(name, &[b"localhost"]) {
        return refused(
            403,
            "not authorized: names under /localhost are for applications of the forwarder's own host",
        );
    }
    Ok(())
}

/// True if the management answers for a name: `/localhost/nfd`, `/localhop/nfd`, and names below them.
pub(crate) fn is_management(name: NdnName<'_>) -> bool {
    is_below(name, &[b"localhost", b"nfd"]) || is_below(name, &[b"localhop", b"nfd"])
}

/// True if a name begins with these components.
fn is_below(name: NdnName<'_>, prefix: &[&[u8]]) -> bool {
    let mut components = name.components();
    prefix.iter().all(|part| components.next() == Some(Component::generic(part)))
}

/// Time of the last command of each key. A key is forgotten once all commands up to that time are too old
/// anyway.
pub(super) struct Replay {
    last: HashMap<Box<[u8]>, u64>,
    started: u64,
}

impl Replay {
    pub(super) fn new(started: u64) -> Self {
        Self { last: HashMap::new(), started }
    }

    /// Checks the time of a command, and returns it.
    fn check(&mut self, key: &[u8], time: Option<u64>, now: u64) -> Result<u64, String> {
        let Some(time) = time else { return Err("the signature has no time".into()) };
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
    use hashlane_name::build::OwnedName;
    use hashlane_name::ndn::Ndn;

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
    fn names_below_a_prefix_are_those_with_its_components() {
        let below = |uri: &str| {
            let name: OwnedName<Ndn> = hashlane_name::uri::parse_uri(uri.as_bytes()).unwrap();
            (is_below(name.view(), &[b"localhost"]), is_management(name.view()))
        };
        for (uri, expected) in [
            ("/", (false, false)),
            ("/localhost", (true, false)),
            ("/localhost/nfd", (true, true)),
            ("/localhost/nfd/rib/register", (true, true)),
            ("/localhost/nfdx", (true, false)),
            ("/localhop", (false, false)),
            ("/localhop/nfd/rib", (false, true)),
            ("/localhostx/nfd", (false, false)),
            ("/a/localhost/nfd", (false, false)),
            ("/8=localhost/nfd", (true, true)),
            ("/50=localhost/nfd", (false, false)),
        ] {
            assert_eq!(below(uri), expected, "{uri}");
        }
    }
}
