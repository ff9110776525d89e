//! The registered hashes.

use crate::error::value;
use hashlane_flow::ehash::TupleHash;
use hashlane_hash::scheme::{Key, Keying, Scheme, SchemeInfo};
use hashlane_sketch::hasher::Hasher;
use hashlane_stats::nearest::suggestion;
use pyo3::PyResult;

/// A registered hash of bytes.
pub(crate) struct Registered {
    pub(crate) info: SchemeInfo,
    new: fn(&'static str, &Key) -> Result<Hasher, hashlane_sketch::Error>,
}

impl Registered {
    /// The hash under the 16 bytes `key`.
    ///
    /// # Errors
    /// `ValueError` for a keyed scheme without a key, an unkeyed one with a key, and a key of another length.
    pub(crate) fn keyed(&self, key: Option<&[u8]>) -> PyResult<Hasher> {
        (self.new)(self.info.id, &checked_key(&self.info, self.info.id, key)?).map_err(value)
    }
}

/// The key of a scheme.
///
/// # Errors
/// As [`Registered::keyed`].
pub(crate) fn checked_key(info: &SchemeInfo, id: &str, key: Option<&[u8]>) -> PyResult<Key> {
    match (info.keying, key) {
        (Keying::None, None) => Ok(Key::VECTOR),
        (Keying::None, Some(_)) => {
            Err(value(format!("{id} takes no key: anyone can compute its hashes; omit key")))
        }
        (_, None) => Err(value(format!(
            "{id} needs a key of 16 bytes: pass key=hashlane.random_key(), and keep it to get the same hashes again"
        ))),
        (_, Some(key)) => {
            let bytes = key.try_into().map_err(|_| {
                value(format!("the key has {} bytes, expected 16: pass hashlane.random_key()", key.len()))
            })?;
            Ok(Key::new(bytes))
        }
    }
}

/// All registered hashes of bytes.
pub(crate) fn schemes() -> Vec<Registered> {
    macro_rules! own {
        ($($group:ident: $($hash:ty),*;)*) => {
            vec![$($(Registered { info: <$hash>::INFO, new: Hasher::new }),*),*]
        };
    }
    macro_rules! others {
        ($($group:ident: $($hash:ty),*;)*) => {
            vec![$($(Registered { info: <$hash>::INFO, new: |_, key| Ok(Hasher::of::<$hash>(key)) }),*),*]
        };
    }
    let mut all = hashlane_hash::for_each_hash!(own);
    all.extend(hashlane_peers::for_each_hash!(others));
    all.extend(hashlane_peers::for_each_audited_hash!(others));
    all
}

/// Facts about the hashes of tuples that no hash of bytes computes, and their ids.
pub(crate) fn tuple_schemes() -> Vec<(String, SchemeInfo)> {
    macro_rules! infos {
        ($($hash:ty,)*) => {
            vec![$((format!("ehash/{}", <$hash as TupleHash>::INFO.id), <$hash as TupleHash>::INFO)),*]
        };
    }
    hashlane_baseline::for_each_tuple_hash!(infos)
}

/// The scheme `id`.
///
/// # Errors
/// `ValueError` for an unknown id, with the nearest one, and for a hash of tuples alone.
pub(crate) fn scheme(id: &str) -> PyResult<Registered> {
    let mut all = schemes();
    match all.iter().position(|scheme| scheme.info.id == id) {
        Some(place) => Ok(all.swap_remove(place)),
        None if tuple_schemes().iter().any(|(of_tuples, _)| of_tuples == id) => {
            Err(value(format!("{id} hashes tuples, and no other keys: call hashlane.flow_hash")))
        }
        None => Err(unknown(
            "scheme",
            id,
            all.iter().map(|scheme| scheme.info.id),
            "hashlane.schemes() lists them",
        )),
    }
}

/// A `ValueError` for an unknown id, with the nearest one.
pub(crate) fn unknown<'a>(
    what: &str,
    id: &str,
    known: impl Iterator<Item = &'a str>,
    next: &str,
) -> pyo3::PyErr {
    value(format!("unknown {what} {id:?}{}; {next}", suggestion(id, known)))
}
