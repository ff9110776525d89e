//! Questions to a forwarder over one connection, one after the other: names, commands, datasets.

use crate::packets::{self, Received, fresh_nonce, is_below};
use crate::wire::{self, Wire};
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, SEGMENT};
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::segment;
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, ControlResponse, Record as _, Scope};
use hashlane_ndn::security::Signer;
use hashlane_ndn::wire::{Data, Interest, KeyLocator, NackReason, SignatureInfo};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Time limit for an answer. Innocents whose answer comes later have lost it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(4);
/// Lifetime of innocent Interests, in milliseconds: the same.
pub(crate) const LIFETIME: u64 = 4000;

/// Registrations without an answer at one time.
const AT_ONCE: u32 = 64;

/// Answer to an Interest.
pub(crate) enum Answer {
    Data(Vec<u8>),
    Nack(NackReason),
    Nothing,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(_) => f.write_str("Data"),
            Self::Nack(reason) => write!(f, "Nack {reason}"),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}

/// Outcome of a command: a code, or the reason why no code came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Code(u64, String),
    Nack(NackReason),
    Nothing,
}

impl Outcome {
    pub(crate) fn code(&self) -> Option<u64> {
        match self {
            Self::Code(code, _) => Some(*code),
            Self::Nack(_) | Self::Nothing => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code, _) => write!(f, "{code}"),
            Self::Nack(reason) => write!(f, "Nack {reason}"),
            Self::Nothing => f.write_str("no answer"),
        }
    }
}

/// Key and time of a command.
#[derive(Clone, Copy)]
pub(crate) struct Signature<'a> {
    /// Key, and its name; a digest without them.
    pub(crate) key: Option<(&'a Signer, &'a OwnedName<Ndn>)>,
    /// Signing time in milliseconds since 1970; now if absent.
    pub(crate) time: Option<u64>,
}

impl Signature<'static> {
    pub(crate) const DIGEST: Self = Self { key: None, time: None };
}

/// Connection that asks one question after the other.
pub(crate) struct Session(Box<dyn Wire>);

impl Session {
    pub(crate) fn new(wire: Box<dyn Wire>) -> Self {
        Self(wire)
    }

    pub(crate) fn unix(path: &Path) -> Result<Self, String> {
        wire::unix(path).map(Self).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(crate) fn into_wire(self) -> Box<dyn Wire> {
        self.0
    }

    /// Sends an Interest, and waits for its answer.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) fn ask(&mut self, interest: &[u8], patience: Duration) -> Result<Answer, String> {
        let broken = |error: std::io::Error| format!("the connection is broken: {error}");
        let asked = Interest::parse(interest).map_err(|error| error.to_string())?;
        let asked = OwnedName::from(&asked.name());
        self.0.send(interest).map_err(broken)?;
        let end = Instant::now() + patience;
        while let Some(wait) = end.checked_duration_since(Instant::now()) {
            let Some(bytes) = self.0.receive(wait).map_err(broken)? else { continue };
            match Received::parse(&bytes) {
                Some(Received::Nack(inner, reason)) if inner == interest => return Ok(Answer::Nack(reason)),
                Some(Received::Data(data))
                    if Data::parse(&data).is_ok_and(|data| is_below(&data, &asked)) =>
                {
                    return Ok(Answer::Data(data));
                }
                _ => {}
            }
        }
        Ok(Answer::Nothing)
    }

    /// Gives a command under `/localhost`, signed with its digest.
    pub(crate) fn command(
        &mut self,
        module: &str,
        verb: &str,
        parameters: &ControlParameters,
    ) -> Result<Outcome, String> {
        let target = Target { scope: Scope::Localhost, module: module.as_bytes(), verb: verb.as_bytes() };
        self.signed_command(target, parameters, Signature::DIGEST)
    }

    pub(crate) fn signed_command(
        &mut self,
        target: Target<'_>,
        parameters: &ControlParameters,
        signature: Signature<'_>,
    ) -> Result<Outcome, String> {
        let command = command(target, parameters, signature)?;
        Ok(match self.ask(&command, PATIENCE)? {
            Answer::Data(bytes) => {
                let data = Data::parse(&bytes).map_err(|error| error.to_string())?;
                let response = ControlResponse::parse(data.content()).map_err(|error| error.to_string())?;
                Outcome::Code(response.code, response.text)
            }
            Answer::Nack(reason) => Outcome::Nack(reason),
            Answer::Nothing => Outcome::Nothing,
        })
    }

    /// Registers a prefix for the face of this connection.
    ///
    /// # Errors
    /// The forwarder does not.
    pub(crate) fn register(&mut self, prefix: &str) -> Result<(), String> {
        let name = Some(packets::name(prefix)?);
        match self.command("rib", "register", &ControlParameters { name, ..Default::default() })? {
            Outcome::Code(200, _) => Ok(()),
            other => Err(format!("the registration of {prefix} failed: {other}")),
        }
    }

    /// Registers `count` prefixes for the face of this connection, many at once.
    ///
    /// # Errors
    /// One of them is not answered in time.
    pub(crate) fn register_all(&mut self, prefix: &str, count: u32) -> Result<(), String> {
        let broken = |error: std::io::Error| format!("the connection is broken: {error}");
        let target = Target { scope: Scope::Localhost, module: b"rib", verb: b"register" };
        let (mut sent, mut answered, mut heard) = (0, 0, Instant::now());
        while answered < count {
            while sent < count.min(answered + AT_ONCE) {
                let name = Some(packets::name(&format!("{prefix}/{sent}"))?);
                let parameters = ControlParameters { name, ..Default::default() };
                self.0.send(&command(target, &parameters, Signature::DIGEST)?).map_err(broken)?;
                sent += 1;
            }
            if self.0.receive(PATIENCE).map_err(broken)?.is_some() {
                (answered, heard) = (answered + 1, Instant::now());
            } else if heard.elapsed() > PATIENCE {
                return Err(format!("only {answered} of {count} registrations are answered"));
            }
        }
        Ok(())
    }

    /// Fetches all segments of a dataset, such as `rib/list`; `None` if one has no answer.
    pub(crate) fn dataset(&mut self, list: &str) -> Result<Option<Vec<u8>>, String> {
        let name = packets::name(&format!("/localhost/nfd/{list}"))?;
        let mut answer = self.ask(&packets::list_interest(&name, LIFETIME), PATIENCE)?;
        let (mut content, mut number) = (Vec::new(), 0);
        loop {
            let Answer::Data(bytes) = &answer else { return Ok(None) };
            let data = Data::parse(bytes).map_err(|error| error.to_string())?;
            content.extend_from_slice(data.content());
            let name = data.name();
            // Only the last segment of NFD names the last one.
            let is_last = |last: Component<'_>| last.typ != SEGMENT || data.final_block() == Some(last);
            if name.components().last().is_none_or(is_last) {
                return Ok(Some(content));
            }
            number += 1;
            let prefix: Vec<Component<'_>> = name.components().take(name.len() - 1).collect();
            let prefix = OwnedName::<Ndn>::from_components(prefix).map_err(|error| error.to_string())?;
            let next =
                segment::with_number(prefix.view(), SEGMENT, number).map_err(|error| error.to_string())?;
            answer = self.ask(&packets::interest(&next, LIFETIME), PATIENCE)?;
        }
    }
}

/// Interest of a command.
pub(crate) fn command(
    target: Target<'_>,
    parameters: &ControlParameters,
    signature: Signature<'_>,
) -> Result<Vec<u8>, String> {
    let builder = CommandBuilder {
        target,
        parameters,
        nonce: fresh_nonce(),
        lifetime: LIFETIME,
        signature_nonce: (u64::from(std::process::id()) << 32 | u64::from(fresh_nonce())).to_be_bytes(),
        time: signature.time.unwrap_or_else(next_time),
    };
    let built = match signature.key {
        None => builder.build(),
        Some((signer, name)) => {
            let key_locator = Some(KeyLocator::Name(name.view()));
            let info = SignatureInfo { key_locator, ..SignatureInfo::of(signer.signature_type()) };
            builder.build_signed(info, |pieces| signer.sign(&pieces))
        }
    };
    built.map_err(|error| format!("a command that does not fit into a name: {error}"))
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// The time now, or a millisecond after the last command if that is later.
fn next_time() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = now();
    LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)))
        .map_or(now, |last| now.max(last + 1))
}
