//! A map from names, for the lookup of all prefixes of a received name.

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
