//! Commands to the forwarder, and its datasets.

use crate::client::{Client, Express};
use crate::driver::random_nonce;
use crate::fetch::{Discovery, FetchError, FetchOptions};
use crate::packet::ExpressError;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::error::BuildError;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, ControlResponse, Record, Scope};
use hashlane_ndn::tlv::WireError;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a command is waited for, and how long one that makes a face: for a connection to come about, a forwarder may wait 8 s.
const LIFETIME: Duration = Duration::from_secs(4);
const FACE_LIFETIME: Duration = Duration::from_secs(12);

/// The time of the last command, in milliseconds since 1970.
static LAST: AtomicU64 = AtomicU64::new(0);

impl Client {
    /// Sends a command of the management protocol, signed with its digest; the parameters in the answer.
    ///
    /// Over a connection that is not [local](Self::is_local) only commands of module `rib` go, under `/localhop`.
    ///
    /// # Errors
    /// The command was refused, or not answered, or does not go over this connection.
    pub async fn command(
        &self,
        module: &str,
        verb: &str,
        parameters: &ControlParameters,
    ) -> Result<ControlParameters, CommandError> {
        if !self.reaches(module) {
            return Err(CommandError::NotLocal { module: module.to_owned() });
        }
        let target = Target { scope: self.scope(), module: module.as_bytes(), verb: verb.as_bytes() };
        let lifetime = if (module, verb) == ("faces", "create") { FACE_LIFETIME } else { LIFETIME };
        let packet = CommandBuilder {
            target,
            parameters,
            nonce: random_nonce(),
            lifetime: lifetime.as_millis() as u64,
            signature_nonce: (u64::from(random_nonce()) << 32 | u64::from(random_nonce())).to_be_bytes(),
            time: next_time(),
        }
        .build()
        .map_err(CommandError::Parameters)?;
        let data = self.express_packet(packet, &Express::default()).await.map_err(CommandError::Express)?;
        let response = ControlResponse::parse(data.view().content()).map_err(CommandError::Response)?;
        if !response.is_ok() {
            return Err(CommandError::Refused(response));
        }
        let parameters = response.parameters().map_err(CommandError::Response)?;
        Ok(parameters.unwrap_or_default())
    }

    /// The octets of a dataset: `faces`/`list`, or with a filter as one component more `faces`/`query`.
    ///
    /// # Errors
    /// It could not be fetched, or is not given over a connection that is not [local](Self::is_local), as all but those of module `rib`.
    pub async fn dataset(
        &self,
        module: &str,
        list: &str,
        filter: Option<&[u8]>,
    ) -> Result<Vec<u8>, FetchError> {
        if !self.reaches(module) {
            return Err(FetchError::NotLocal { module: module.to_owned() });
        }
        let components = [self.scope().as_bytes(), b"nfd", module.as_bytes(), list.as_bytes()];
        let components = components.into_iter().chain(filter).map(Component::generic);
        let name = OwnedName::<Ndn>::from_components(components).map_err(FetchError::Name)?;
        let options = FetchOptions { discovery: Discovery::Prefix, ..FetchOptions::default() };
        let mut fetch = self.fetch(name.view(), options).await?;
        let mut octets = Vec::new();
        while let Some(data) = fetch.next().await? {
            octets.extend_from_slice(data.view().content());
            if octets.len() > MOST_OCTETS {
                return Err(FetchError::TooLong { most: MOST_OCTETS });
            }
        }
        Ok(octets)
    }

    /// Whether forwarders listen to this connection for a module.
    fn reaches(&self, module: &str) -> bool {
        self.is_local() || module == "rib"
    }

    fn scope(&self) -> Scope {
        if self.is_local() { Scope::Localhost } else { Scope::Localhop }
    }
}

/// Writes why a module is out of reach, and what to do.
pub(crate) fn write_not_local(f: &mut fmt::Formatter<'_>, module: &str) -> fmt::Result {
    write!(
        f,
        "the forwarder answers for {module} on its own host only, and takes UDP for another host's: connect by its Unix socket \
         (unix:///PATH), or there by tcp://localhost"
    )
}

/// Octets of a dataset at the most.
const MOST_OCTETS: usize = 64 << 20;

/// The time now, or a millisecond after the last command where that is later: forwarders take no two commands of the same time.
fn next_time() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let later = |last: u64| Some(now.max(last + 1));
    LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later).map_or(now, |last| now.max(last + 1))
}

/// Why a command was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandError {
    /// The forwarder does not do it, and says why.
    Refused(ControlResponse),
    /// No answer came.
    Express(ExpressError),
    /// The answer is none of the management protocol.
    Response(WireError),
    /// The parameters do not fit in a name.
    Parameters(BuildError),
    /// The connection is not one of the forwarder's host, and the module not `rib`: nothing was sent.
    NotLocal {
        /// The module.
        module: String,
    },
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(response) => {
                write!(f, "the forwarder refuses: {} {}", response.code, response.text)?;
                match response.code {
                    // Ours names the missing rule.
                    401 | 403 if !response.text.starts_with("not authorized: ") => {
                        f.write_str("; is this user, or this key, allowed to by its configuration?")
                    }
                    _ => Ok(()),
                }
            }
            Self::Express(error @ ExpressError::Timeout { .. }) => {
                write!(
                    f,
                    "{error}; the forwarder may not know the command, or not take it over this transport"
                )
            }
            Self::Express(error) => error.fmt(f),
            Self::Response(error) => write!(f, "the answer is no ControlResponse: {error}"),
            Self::NotLocal { module } => write_not_local(f, module),
            Self::Parameters(error) => write!(f, "the parameters do not fit in a name: {error}"),
        }
    }
}

impl Error for CommandError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_have_the_same_time() {
        let times: Vec<u64> = (0..100).map(|_| next_time()).collect();
        assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    }
}
