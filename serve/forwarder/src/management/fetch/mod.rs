//! Certificates fetched over NDN, and the commands that wait for them.
//!
//! A command that the rules let a key sign, but whose certificate is not at hand, waits while an Interest
//! asks for the certificate. With it the command is checked anew, which may miss the certificate of the next
//! key, up to a trust anchor. The rules are applied before each Interest: nothing is fetched that they would
//! not accept. A command that waits has changed nothing, also not the protection against replays: of two
//! copies, the first one to be verified counts.
//!
//! Limits:
//! - certificates fetched for a command: [`MAX_FETCHED`] (ndn-cxx: 25 in a chain);
//! - Interests and commands: in all, of other hosts, and of one user or address: [`interests`], [`commands`];
//! - time of a command: the lifetime of its Interest, at most [`MAX_WAIT`];
//! - certificates that are kept: [`verified`]. Those that have verified nothing are dropped with their
//!   command.
//!
//! The management uses it in `deferral`.
//!
//! Source: ndn-cxx, certificate fetcher of the validator.

pub(super) mod commands;
pub(super) mod interests;
pub(super) mod verified;

use super::access::Grant;
use super::clock::Now;
use commands::Commands;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::ControlResponse;
use hashlane_ndn::security::{Certificate, Certificates};
use hashlane_ndn::wire::Interest;
use hashlane_table::share::Owner;
use interests::Interests;
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
    pub(super) fetched: Vec<Arc<[u8]>>,
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
    pub(super) interests: Interests,
    pub(super) commands: Commands,
    pub(super) verified: Verified,
    pub(super) counts: FetchCounts,
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

    /// Drops the certificates, those of commands that wait among them, and what is known of keys without one.
    pub(super) fn forget(&mut self) {
        self.verified.clear();
        self.interests.forget();
        self.commands.forget();
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
