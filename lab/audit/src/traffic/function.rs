//! Functions that choose the bucket of a key.

use super::flows::Flow;
use super::{ecmp, rss};
use crate::keys::Keys;
use crate::registered::{Registered, subjects};
use crate::subject::{AuditedHash, Fault, Lengths};
use hashlane_baseline::rss::PUBLISHED_KEY;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_hash::toeplitz::Rss;
use std::collections::HashSet;

/// Names of functions that are no schemes.
pub const NAMED: [&str; 3] = ["rss", "ecmp", "ehash"];

/// Id of the scheme that `ehash` stands for: `inet6_ehashfn` of Linux 6.5 to 6.14.
const EHASH: &str = "ehash/jhash2";

/// A function that chooses the bucket of a key.
#[derive(Clone, Debug)]
pub enum Function {
    /// Toeplitz under the published key, as cards choose queues.
    Rss,
    /// SipHash-2-4 of the 5-tuple, as Linux chooses paths.
    Ecmp,
    /// A registered scheme: of the tuple's 36 bytes, or of a name's encoding.
    Scheme(Registered),
}

impl Function {
    /// The function of that name, which is one of [`NAMED`] or the id of a scheme.
    pub fn named(name: &str) -> Option<Self> {
        let id = match name {
            "rss" => return Some(Self::Rss),
            "ecmp" => return Some(Self::Ecmp),
            "ehash" => EHASH,
            id => id,
        };
        subjects().into_iter().find(|subject| subject.info().id == id).map(Self::Scheme)
    }

    /// True if the function hashes names.
    pub fn takes_names(&self) -> bool {
        matches!(self, Self::Scheme(scheme) if scheme.info().lengths == Lengths::Any)
    }

    /// Hashes of the distinct keys of `flows` under `key`. The key of a flow is its tuple; under `ecmp` it is
    /// its tuple and protocol.
    ///
    /// # Errors
    /// The function has failed.
    pub fn hash_flows(&mut self, key: &Key, flows: &[Flow]) -> Result<Vec<u64>, Fault> {
        if let Self::Ecmp = self {
            let siphash = SipHash24::new(key);
            return Ok(flows.iter().map(|flow| ecmp::hash(&siphash, flow)).collect());
        }
        let mut known = HashSet::new();
        let tuples = flows.iter().map(|flow| flow.tuple).filter(|tuple| known.insert(*tuple));
        match self {
            Self::Scheme(scheme) => {
                let keys: Keys = tuples.map(|tuple: Tuple| *tuple.as_bytes()).collect();
                let mut hashes = Vec::new();
                scheme.hash_all(key, &keys, &mut hashes)?;
                Ok(hashes)
            }
            Self::Rss | Self::Ecmp => {
                let card = Rss::new(&PUBLISHED_KEY);
                Ok(tuples.map(|tuple| u64::from(rss::hash(&card, &tuple))).collect())
            }
        }
    }

    /// Hashes of `names` under `key`; `None` if the function hashes no names.
    ///
    /// # Errors
    /// The function has failed.
    pub fn hash_names(&mut self, key: &Key, names: &Keys) -> Result<Option<Vec<u64>>, Fault> {
        match self {
            Self::Scheme(scheme) if scheme.info().lengths == Lengths::Any => {
                let mut hashes = Vec::new();
                scheme.hash_all(key, names, &mut hashes)?;
                Ok(Some(hashes))
            }
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_names() {
        for name in NAMED.iter().chain(&["crc32c", "ehash/base"]) {
            let mut function = Function::named(name).unwrap();
            // The second flow differs in its protocol alone.
            let flow = |protocol| Flow { tuple: Tuple::CHECK, protocol, packets: 1 };
            let hashes = function.hash_flows(&Key::VECTOR, &[flow(6), flow(17)]).unwrap();
            assert_eq!(hashes.len(), if *name == "ecmp" { 2 } else { 1 }, "{name}");
            assert_eq!(function.takes_names(), *name == "crc32c", "{name}");
            let names: Keys = ["name"].into_iter().collect();
            let hashes = function.hash_names(&Key::VECTOR, &names).unwrap();
            assert_eq!(hashes.map(|hashes| hashes.len()), (*name == "crc32c").then_some(1), "{name}");
        }
        assert!(Function::named("rsss").is_none());
    }
}
