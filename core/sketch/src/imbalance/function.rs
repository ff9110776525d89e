//! Functions that choose the queue of a packet.

use core::fmt;
use hashlane_flow::rss::{CardKey, ENTRIES, SYMMETRIC_KEY};
use hashlane_hash::scheme::Key;

/// Function that chooses the queue of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Function {
    /// Receive-side scaling: Toeplitz, and an indirection table of 128 entries that names the queues in turn
    /// ([`hashlane_flow::rss::queue`]). Key 0 is this key of a card; candidates are keys of 40 random bytes.
    Rss(CardKey),
    /// The same under keys that repeat every 16 bits, so that both directions of a flow have one queue. Key 0
    /// is [`SYMMETRIC_KEY`]; candidates are other words of 16 bits, drawn at random, so that many of them
    /// repeat.
    SymmetricRss,
    /// SipHash-1-3 of all of the tuple, and bits 32 to 47 of it scaled
    /// ([`Shards`](hashlane_flow::shards::Shards)). Key 0 is the sketch's key.
    Keyed,
}

impl Function {
    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Rss(_) => 0,
            Self::SymmetricRss => 1,
            Self::Keyed => 2,
        }
    }

    pub(super) fn most_queues(&self) -> usize {
        match self {
            Self::Rss(_) | Self::SymmetricRss => ENTRIES,
            Self::Keyed => hashlane_flow::shards::MOST,
        }
    }

    /// Key `number` of a card: 0 is the one in use, others are candidates under `key`.
    pub(super) fn card(&self, key: &Key, number: u64) -> CardKey {
        let word = |number| key.derive(b"card-key", number).to_bytes();
        match (self, number) {
            (Self::Rss(card), 0) => *card,
            (Self::SymmetricRss, 0) => SYMMETRIC_KEY,
            (Self::SymmetricRss, _) => {
                let [a, b, ..] = word(number);
                core::array::from_fn(|at| if at % 2 == 0 { a } else { b })
            }
            _ => {
                let words = [0, 1, 2].map(|part| word(number.wrapping_mul(3).wrapping_add(part)));
                words.as_flattened().first_chunk().copied().unwrap_or(SYMMETRIC_KEY)
            }
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rss(_) => "rss",
            Self::SymmetricRss => "symmetric-rss",
            Self::Keyed => "keyed",
        })
    }
}
