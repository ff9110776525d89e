//! NFD's management protocol: commands, and datasets.

use crate::client::{Client, Express};
use crate::fetch::{Discovery, FetchError, FetchOptions};
use crate::nonce::random_nonce;
use crate::packet::ExpressError;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::error::BuildError;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, ControlResponse, Record, Scope};
use hashlane_ndn::tlv::WireError;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time to wait for the answer to a command, and to faces/create: the forwarder may wait 8 s for its
/// connection.
const LIFETIME: Duration = Duration::from_secs(4);
const FACE_LIFETIME: Duration = Duration::from_secs(12);

/// Time of the last command, in milliseconds since 1970.
static LAST: AtomicU64 = AtomicU64::new(0);

impl Client {
    /// Sends a command of the management protocol, signed with its digest. Returns the parameters in the
    /// answer.
    ///
    /// Over a connection that is not [local](Self::is_local), only commands of module `rib` can be sent,
    /// under `/localhop`.
    ///
    /// # Errors
    /// The command was refused or not answered, or cannot be sent over this connection.
    pub async fn command(
        &self,
        module: &str,
        verb: &str,
        parameters: &ControlParameters,
    ) -> Result<ControlParameters, CommandError> {
        let response = self.respond(module, verb, parameters).await?;
        let parameters = response.parameters().map_err(CommandError::Response)?;
        Ok(parameters.unwrap_or_default())
    }

    /// Sends a command as [`command`](Self::command) does. Returns the record in the answer.
    ///
    /// # Errors
    /// The errors of `command`, and an answer without this record.
    pub async fn command_for<R: Record>(
        &self,
        module: &str,
        verb: &str,
        parameters: &ControlParameters,
    ) -> Result<R, CommandError> {
        let response = self.respond(module, verb, parameters).await?;
        R::parse(&response.body).map_err(CommandError::Response)
    }

    async fn respond(
        &self,
        module: &str,
        verb: &str,
        parameters: &ControlParameters,
    ) -> Result<ControlResponse, CommandError> {
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
        Ok(response)
    }

    /// Fetches a dataset, for example `faces`/`list`, or with a filter as one more component `faces`/`query`.
    ///
    /// # Errors
    /// The dataset could not be fetched. A connection that is not [local](Self::is_local) gives only the
    /// datasets of module `rib`.
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
        let mut bytes = Vec::new();
        while let Some(data) = fetch.next().await? {
            bytes.extend_from_slice(data.view().content());
            if bytes.len() > MAX_DATASET {
                return Err(FetchError::TooLong { limit: MAX_DATASET });
            }
        }
        Ok(bytes)
    }

    /// True if the forwarder answers for a module over this connection.
    fn reaches(&self, module: &str) -> bool {
        self.is_local() || module == "rib"
    }

    fn scope(&self) -> Scope {
        if self.is_local() { Scope::Localhost } else { Scope::Localhop }
    }
}

/// Longest dataset, in bytes.
const MAX_DATASET: usize = 64 << 20;

/// The time now, or a millisecond after the last command if that is later: forwarders accept no two commands
/// of the same time.
fn next_time() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let later = |last: u64| Some(now.max(last + 1));
    LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later).map_or(now, |last| now.max(last + 1))
}

/// Error of a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The forwarder refused it.
    #[error(fmt = write_refusal)]
    Refused(ControlResponse),
    /// No answer came.
    #[error(fmt = write_express)]
    Express(ExpressError),
    /// The answer is not a ControlResponse.
    #[error("the answer is not a ControlResponse: {0}")]
    Response(WireError),
    /// The parameters do not fit in a name.
    #[error("the parameters do not fit in a name: {0}")]
    Parameters(BuildError),
    /// The connection is not local, and the module is not `rib`. Nothing was sent.
    #[error(fmt = crate::transport::write_not_local)]
    NotLocal {
        /// The module.
        module: String,
    },
}

fn write_refusal(response: &ControlResponse, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "the forwarder refuses: {} {}", response.code, response.text)?;
    match response.code {
        // hashlane's forwarder names the missing rule.
        401 | 403 if !response.text.starts_with("not authorized: ") => {
            f.write_str("; is this user, or this key, allowed to by its configuration?")
        }
        _ => Ok(()),
    }
}

fn write_express(error: &ExpressError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{error}")?;
    match error {
        ExpressError::Timeout { .. } => {
            f.write_str("; the forwarder may not know the command, or not take it over this transport")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_have_the_same_time() {
        let times: Vec<u64> = (0..100).map(|_| next_time()).collect();
        assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    }
}
