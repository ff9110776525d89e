//! Rules for commands.
//!
//! A command is done if one of these rules permits it; otherwise the answer is 403, and names the missing
//! rule.
//! 1. Users of this host: root, the user of the forwarder, and the users and groups of the configuration may
//!    give every command. Everyone else who may connect to a Unix socket of the forwarder may register and
//!    unregister prefixes of the connection's face, except names under `/localhost`. The kernel reports the
//!    user of a Unix connection, and of a TCP or WebSocket connection from a loopback address; a page of a
//!    browser counts as the user of the browser only if its origin is of this host or listed. The signature
//!    is not verified, but a wrong digest is refused.
//! 2. A key that `verify` trusts, with a time of signing that is no replay. If only a certificate is missing,
//!    the refusal names its key.
//! 3. Commands that the configuration opens to all users of this host, or to all neighbours.
//!
//! Commands of neighbours under `/localhop` pass if that is enabled, and only for the face that they come
//! from.
//!
//! Routes of the management's own prefixes are refused to everyone, except one of `/localhop/nfd` to a
//! neighbour, the gateway, to those with all rights; and routes under `/localhost` to other hosts.

use super::attempts::Attempts;
use super::clock::Now;
use super::origin::{Origin, Over, Peer};
use super::replay::Replay;
use super::reply::refused;
use super::users::{Access, Users};
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::values::FaceScope;
use hashlane_ndn::mgmt::{Command, ControlResponse, Scope};
use hashlane_ndn::security::Certificates;
use hashlane_ndn::wire::SignatureType;
use hashlane_table::share::Owner;
use std::fmt;

/// Verifies the signature of a command that arrives now, with sets of certificates that were fetched. Returns
/// an identity of the key, one for each trusted key. The error is the reason why no trusted key has made it.
pub type Verify = dyn Fn(&Command<'_>, &[&Certificates], Now) -> Result<Box<[u8]>, Distrust> + Send;

/// Reason for not trusting a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distrust {
    /// Text for people.
    pub why: String,
    /// Key that may have signed by the rules, and whose certificate is missing.
    pub missing: Option<OwnedName<Ndn>>,
}

impl From<String> for Distrust {
    fn from(why: String) -> Self {
        Self { why, missing: None }
    }
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

/// Keys that may sign commands.
pub(super) struct Keys<'a> {
    pub(super) verify: &'a Verify,
    /// Sets of certificates that were fetched.
    pub(super) certificates: &'a [&'a Certificates],
    /// True for a command that has waited for a certificate: its verification has been counted.
    pub(super) has_waited: bool,
}

/// Refusal of a command.
#[derive(Debug)]
pub(super) struct Denial {
    pub(super) response: ControlResponse,
    /// Key whose certificate might permit the command.
    pub(super) missing: Option<OwnedName<Ndn>>,
}

impl From<ControlResponse> for Denial {
    fn from(response: ControlResponse) -> Self {
        Self { response, missing: None }
    }
}

/// Extent of the rights that a command has been granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    /// Every command.
    Full,
    /// Registrations of this party's own faces.
    OwnFaces(Owner),
}

/// Rules that would permit a refused command of a user of this host, for the text of the refusal.
const NEEDS: &str = "the user in management.users, one of its groups in management.groups, or a signature under a \
                     configured trust anchor";

/// True for commands that register, announce or unregister a prefix. Applications and neighbours may give
/// them.
pub(super) fn is_registration(verb: &str) -> bool {
    matches!(verb, "rib/register" | "rib/unregister" | "rib/announce")
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
        keys: Keys<'_>,
        (attempts, replay): (&mut Attempts, &mut Replay),
        now: Now,
    ) -> Result<Grant, Denial> {
        let refusal =
            |text: String| Denial::from(ControlResponse::new(403, format!("not authorized: {text}")));
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
            if self.open.localhop {
                return Ok(localhop_grant(from));
            }
        }
        if is_digest {
            return refuse(why);
        }
        let time = replay.check_time(command.signature.time, now).map_err(refusal)?;
        let owner = peer.owner();
        if !keys.has_waited && !attempts.admits(owner, now.monotonic) {
            return refuse(format!(
                "too many commands from {peer} were refused in this second: try again later"
            ));
        }
        let key =
            (keys.verify)(command, keys.certificates, now).map_err(|Distrust { why: reason, missing }| {
                let text = format!("{why}; the signature of the command is not trusted: {reason}");
                Denial { missing, ..refusal(text) }
            })?;
        replay.admit(&key, time, owner, now).map_err(refusal)?;
        attempts.succeeded(owner);
        Ok(if command.target.scope == Scope::Localhop { localhop_grant(from) } else { Grant::Full })
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
        if command.target.scope == Scope::Localhost && self.is_open(verb, peer) {
            return Ok(Grant::Full);
        }
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
            Peer::Ip(_) | Peer::Link { .. } => {
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
        if !self.own_faces {
            return Err(format!("registrations from {peer} need {NEEDS}"));
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
        Ok(Grant::OwnFaces(Owner::User(uid)))
    }

    /// True if every user of this host may give a command. A page in a browser is not one.
    fn is_open(&self, verb: &str, peer: &Peer) -> bool {
        let is_user = matches!(peer, Peer::User { .. } | Peer::Unidentified { .. });
        let module = verb.split_once('/').map_or(verb, |(module, _)| module);
        let is_open = match is_registration(verb) {
            true => self.open.localhost,
            false => self.open.modules.iter().any(|open| open == module),
        };
        is_user && is_open
    }
}

/// Grant of a registration under `/localhop`: of the neighbour's own face, and within its share of the RIB.
pub(super) fn localhop_grant(from: &Origin) -> Grant {
    from.peer.owner().map_or(Grant::Full, Grant::OwnFaces)
}

/// True if a command is about the face that it came from.
fn is_own_face(command: &Command<'_>, from: &Origin) -> bool {
    command.parameters.face_id.is_none_or(|face| face == 0 || face == from.face)
}

/// Refuses prefixes that may not be routed, and to other hosts also this host's prefixes.
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

/// True for the name under which neighbours have routes that register prefixes for this host:
/// `/localhop/nfd`.
pub(crate) fn is_gateway(name: NdnName<'_>) -> bool {
    name.len() == 2 && is_below(name, &[b"localhop", b"nfd"])
}

/// True if a name begins with these components.
fn is_below(name: NdnName<'_>, prefix: &[&[u8]]) -> bool {
    let mut components = name.components();
    prefix.iter().all(|part| components.next() == Some(Component::generic(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
