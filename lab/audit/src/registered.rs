//! The registered hashes as subjects.

use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault, Lengths, SubjectInfo};
use hashlane_flow::ehash::TupleHash;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::{Key, Scheme, SchemeInfo};

/// A registered hash.
#[derive(Clone, Debug)]
pub struct Registered {
    info: SubjectInfo,
    hash_all: fn(&Key, &Keys, &mut Vec<u64>) -> Result<(), Fault>,
}

impl AuditedHash for Registered {
    fn info(&self) -> &SubjectInfo {
        &self.info
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        hashes.clear();
        (self.hash_all)(key, keys, hashes)
    }
}

/// All registered hashes of bytes, and the hashes of tuples that no hash of bytes computes. The id of the
/// latter begins with `ehash/`; their keys are [tuples](Tuple) of 36 bytes.
pub fn subjects() -> Vec<Registered> {
    macro_rules! bytes_hash {
        ($($group:ident: $($hash:ty),*;)*) => { vec![$($(bytes_hash::<$hash>()),*),*] };
    }
    macro_rules! tuple_hash {
        ($($hash:ty,)*) => { vec![$(tuple_hash::<$hash>()),*] };
    }
    [
        hashlane_hash::for_each_hash!(bytes_hash),
        hashlane_peers::for_each_hash!(bytes_hash),
        hashlane_peers::for_each_audited_hash!(bytes_hash),
        hashlane_baseline::for_each_tuple_hash!(tuple_hash),
    ]
    .concat()
}

fn bytes_hash<H: Scheme>() -> Registered {
    Registered {
        info: info(H::INFO.id.to_owned(), &H::INFO, Lengths::Any),
        hash_all: |key, keys, hashes| {
            let hash = H::new(key);
            hashes.extend(keys.iter().map(|bytes| hash.hash(bytes)));
            Ok(())
        },
    }
}

fn tuple_hash<H: TupleHash>() -> Registered {
    Registered {
        info: info(format!("ehash/{}", H::INFO.id), &H::INFO, Lengths::Exactly(Tuple::LEN)),
        hash_all: |key, keys, hashes| {
            let hash = H::new(key);
            for bytes in keys.iter() {
                let tuple = bytes.try_into().map_err(|_| Fault::Length(bytes.len()))?;
                hashes.push(hash.hash(&Tuple::from_bytes(tuple)));
            }
            Ok(())
        },
    }
}

fn info(id: String, info: &SchemeInfo, lengths: Lengths) -> SubjectInfo {
    SubjectInfo { id, source: info.source.to_owned(), width: info.width, keying: info.keying, lengths }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_differ_and_hashes_depend_on_the_keys() {
        let mut subjects = subjects();
        let ids: HashSet<_> = subjects.iter().map(|subject| subject.info.id.clone()).collect();
        assert_eq!(ids.len(), subjects.len());
        let keys: Keys = [Tuple::CHECK.as_bytes(), &[0; Tuple::LEN]].into_iter().collect();
        for subject in &mut subjects {
            let mut hashes = vec![7];
            assert_eq!(subject.hash_all(&Key::VECTOR, &keys, &mut hashes), Ok(()));
            assert!(matches!(hashes[..], [a, b] if a != b), "{}: {hashes:x?}", subject.info.id);
        }
    }

    #[test]
    fn a_hash_of_tuples_takes_no_other_keys() {
        let mut subjects = subjects();
        let ehash = subjects.iter_mut().find(|subject| subject.info.id == "ehash/base").unwrap();
        let keys: Keys = ["too short"].into_iter().collect();
        assert_eq!(ehash.hash_all(&Key::VECTOR, &keys, &mut Vec::new()), Err(Fault::Length(9)));
    }
}
