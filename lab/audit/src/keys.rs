//! Keys that are hashed.

/// Keys of any lengths, one after the other in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    bytes: Vec<u8>,
    /// End of each key in `bytes`.
    ends: Vec<usize>,
}

impl Keys {
    /// Appends a key.
    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Key `number`, from 0.
    pub fn get(&self, number: usize) -> Option<&[u8]> {
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.bytes.get(start..end)
    }

    /// The keys in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + '_ {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let key = &self.bytes[start..*end];
            start = *end;
            key
        })
    }
}

impl<K: AsRef<[u8]>> Extend<K> for Keys {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| self.push(key.as_ref()));
    }
}

impl<K: AsRef<[u8]>> FromIterator<K> for Keys {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut all = Self::default();
        all.extend(keys);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_their_number() {
        let keys: Keys = ["a", "", "bcd"].into_iter().collect();
        assert_eq!((keys.len(), keys.is_empty()), (3, false));
        assert_eq!(keys.iter().collect::<Vec<_>>(), [&b"a"[..], b"", b"bcd"]);
        let found: Vec<_> = (0..4).map(|number| keys.get(number)).collect();
        assert_eq!(found, [Some(&b"a"[..]), Some(b""), Some(b"bcd"), None]);
    }
}
