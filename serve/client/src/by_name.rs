//! A map from names, for the lookup of all prefixes of a received name.

use hashlane_name::walk::{Encoding, Walk};
use hashlane_ndn::tlv;
use std::collections::HashMap;

/// Values by the value of the name element. A prefix of a length that no key has costs no hashing, so that a
/// packet with many long prefixes is cheap.
pub(crate) struct ByName<V> {
    entries: HashMap<Vec<u8>, V>,
    /// Number of keys of each length in bytes.
    lengths: HashMap<usize, usize>,
}

impl<V> ByName<V> {
    pub(crate) fn new() -> Self {
        Self { entries: HashMap::new(), lengths: HashMap::new() }
    }

    pub(crate) fn get(&self, name: &[u8]) -> Option<&V> {
        if self.lengths.contains_key(&name.len()) { self.entries.get(name) } else { None }
    }

    pub(crate) fn get_mut(&mut self, name: &[u8]) -> Option<&mut V> {
        self.entries.get_mut(name)
    }

    /// Sets the value of a name, in place of an earlier one.
    pub(crate) fn insert(&mut self, name: Vec<u8>, value: V) {
        let len = name.len();
        if self.entries.insert(name, value).is_none() {
            *self.lengths.entry(len).or_default() += 1;
        }
    }

    pub(crate) fn remove(&mut self, name: &[u8]) {
        if self.entries.remove(name).is_some()
            && let Some(count) = self.lengths.get_mut(&name.len())
        {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&name.len());
            }
        }
    }
}

/// The value of an encoded name: its components.
pub(crate) fn name_value(name: &[u8]) -> &[u8] {
    let element = tlv::single(name);
    debug_assert!(element.is_ok(), "the name has been checked");
    element.map_or(&[], |name| name.value)
}

/// Calls `each` with the end of each component in the name's value.
pub(crate) fn for_each_prefix(name: &[u8], mut each: impl FnMut(usize)) {
    if let Ok(mut walk) = hashlane_name::ndn::Ndn::walk(name) {
        while let Ok(Some(end)) = walk.next_end() {
            each(end);
        }
    }
}

/// True if the last component of a name, given as its value, is an implicit digest.
pub(crate) fn ends_with_digest(name: &[u8]) -> bool {
    let mut elements = tlv::Elements::new(name);
    let mut last = 0;
    while let Ok(Some(element)) = elements.next() {
        last = element.typ;
    }
    last == u32::from(hashlane_name::component::IMPLICIT_SHA256_DIGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_until_they_are_removed() {
        let mut names = ByName::new();
        names.insert(b"ab".to_vec(), 1);
        names.insert(b"cd".to_vec(), 2);
        names.insert(b"cd".to_vec(), 3);
        assert_eq!(
            [&b"ab"[..], b"cd", b"ef", b"a"].map(|name| names.get(name).copied()),
            [Some(1), Some(3), None, None]
        );
        names.remove(b"cd");
        names.remove(b"cd");
        assert_eq!((names.get(b"cd"), names.get(b"ab")), (None, Some(&1)));
        names.remove(b"ab");
        assert!(names.lengths.is_empty());
    }
}
