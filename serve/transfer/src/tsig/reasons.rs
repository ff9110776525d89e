//! Reasons for which a signature is not valid, each with the name of its key.

use super::{Key, clock};
use domain::base::iana::TsigRcode;
use domain::tsig::ValidationError;

/// A response whose signature is not valid, or that says that the query's was not.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The server reports that its clock differs (BADTIME).
    #[error("{}", clock_text(key, *now, *server, *is_signed))]
    Clock {
        /// Key of the query.
        key: Key,
        /// Our time in seconds since 1970.
        now: u64,
        /// Time of the server in seconds since 1970, if it has sent its own.
        server: Option<u64>,
        /// The report is signed by the key; without, anyone on the path can have made it.
        is_signed: bool,
    },
    /// The server reports that it does not have the key (BADKEY).
    #[error("the server does not know key {0} with {algorithm} (BADKEY); compare name and algorithm",
        algorithm = .0.algorithm())]
    UnknownKey(Key),
    /// The server reports that the signature of the query is wrong (BADSIG).
    #[error(
        "the server has another secret for key {0}, or got a changed message (BADSIG); compare the secrets"
    )]
    OtherSecret(Key),
    /// Any other reason.
    #[error("{1} (key {0})")]
    Other(Key, ValidationError),
}

impl SignatureError {
    /// The error of a response to a query signed by the key.
    pub(super) fn new(key: &Key, error: ValidationError) -> Self {
        match error {
            ValidationError::ServerBadKey => Self::UnknownKey(key.clone()),
            ValidationError::ServerBadSig => Self::OtherSecret(key.clone()),
            error => Self::Other(key.clone(), error),
        }
    }
}

fn clock_text(key: &Key, now: u64, server: Option<u64>, is_signed: bool) -> String {
    let signed = if is_signed { "signed" } else { "not signed, so not proven" };
    let clock = server.map_or_else(
        || "the server's clock differs from ours, by a time that it does not name".to_owned(),
        |server| format!("the server's clock is {} ours", apart(server, now)),
    );
    format!("{clock} (BADTIME for key {key}, {signed}); set both clocks by NTP")
}

/// The difference of one time to another one in words, in seconds.
fn apart(time: u64, other: u64) -> String {
    let side = if time < other { "behind" } else { "ahead of" };
    format!("{} s {side}", time.abs_diff(other))
}

/// A query whose signature is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No key has this name and algorithm (BADKEY).
    #[error("unknown key {key} with {algorithm}")]
    UnknownKey {
        /// Name of the key.
        key: String,
        /// Name of the algorithm.
        algorithm: String,
    },
    /// The message was not signed by the secret of the key, or changed on its way (BADSIG).
    #[error("another secret for key {key}, or a changed message")]
    OtherSecret {
        /// Name of the key.
        key: String,
    },
    /// The signature is shorter than the key's (BADTRUNC).
    #[error("a short signature by key {key}")]
    Short {
        /// Name of the key.
        key: String,
    },
    /// The time of the query is further away than the query allows (BADTIME).
    #[error("the sender's clock is {} ours, key {key} allows {fudge} s", apart(*sender, *now))]
    Clock {
        /// Name of the key.
        key: String,
        /// Time of the query in seconds since 1970.
        sender: u64,
        /// Our time in seconds since 1970.
        now: u64,
        /// Difference that the query allows, in seconds.
        fudge: u16,
    },
    /// The TSIG record is malformed, or not the only one.
    #[error("a malformed TSIG record")]
    Malformed,
}

impl Refusal {
    /// The reason for which a query is refused with an error.
    pub(super) fn new(query: &[u8], error: TsigRcode, now: u64) -> Self {
        let Some((_, tsig)) = clock::record(query) else { return Self::Malformed };
        let (key, data) = (tsig.owner().to_string(), tsig.data());
        match error {
            TsigRcode::BADKEY => Self::UnknownKey { key, algorithm: data.algorithm().to_string() },
            TsigRcode::BADSIG => Self::OtherSecret { key },
            TsigRcode::BADTRUNC => Self::Short { key },
            TsigRcode::BADTIME => {
                Self::Clock { key, sender: data.time_signed().into(), now, fudge: data.fudge() }
            }
            _ => Self::Malformed,
        }
    }
}
