//! Outcomes of NOTIFY, which the thread that tells secondaries shares with reports.

use super::peers::Peer;
use hashlane_dns::wire::Rcode;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// A secondary that is told of changes of a zone.
#[derive(Clone, Debug)]
pub(crate) struct Recipient {
    pub(crate) address: SocketAddr,
    pub(crate) receipt: Arc<Receipt>,
}

/// The outcome of the last NOTIFY to a secondary that has one.
#[derive(Debug, Default)]
pub(crate) struct Receipt(Mutex<Option<Outcome>>);

/// An outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Serial number of the version.
    pub(crate) serial: u32,
    /// Response code; `None`: the secondary has not answered, however often it was told.
    pub(crate) rcode: Option<Rcode>,
}

impl Receipt {
    pub(super) fn set(&self, outcome: Outcome) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }

    pub(crate) fn get(&self) -> Option<Outcome> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The recipients for these servers; those that were told before keep their outcome.
pub(crate) fn recipients(before: &[Recipient], peers: &[Peer]) -> Vec<Recipient> {
    let one = |peer: &Peer| {
        let known = before.iter().find(|known| known.address == peer.address).cloned();
        known.unwrap_or_else(|| Recipient { address: peer.address, receipt: Arc::default() })
    };
    peers.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_stays_with_its_secondary() {
        let peer = |port| Peer { address: ([127, 0, 0, 1], port).into(), source: None, tls: None, key: None };
        let first = recipients(&[], &[peer(1), peer(2)]);
        let refused = Outcome { serial: 7, rcode: Some(Rcode::REFUSED) };
        first[1].receipt.set(refused);
        let second = recipients(&first, &[peer(2), peer(3)]);
        let outcomes: Vec<_> = second.iter().map(|one| (one.address.port(), one.receipt.get())).collect();
        assert_eq!(outcomes, [(2, Some(refused)), (3, None)]);
    }
}
