//! Byte strings, end to end in one buffer: names in dotted text, or encoded names.

/// Byte strings in one buffer, so that a list of names is read from front to back, as packets are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Strings {
    /// Number of strings.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all strings.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a string.
    pub(crate) fn push(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
    }

    /// String number `at`; empty beyond the last.
    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(at).copied());
        range.and_then(|(from, to)| self.bytes.get(from..to)).unwrap_or_default()
    }

    /// All strings, in order.
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        let (bytes, mut from) = (self.bytes.as_slice(), 0);
        self.ends.iter().map(move |end| {
            let string = bytes.get(from..*end).unwrap_or_default();
            from = *end;
            string
        })
    }

    /// Removes all strings, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

impl<'a> FromIterator<&'a [u8]> for Strings {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(strings: I) -> Self {
        let mut all = Self::default();
        strings.into_iter().for_each(|string| all.push(string));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_strings_apart() {
        let strings = [&b"a.b"[..], b"", b"example"];
        let mut list: Strings = strings.into_iter().collect();
        assert!(list.iter().eq(strings) && (0..3).all(|at| list.get(at) == strings[at]));
        assert_eq!((list.len(), list.bytes().len(), list.get(3)), (3, 10, &b""[..]));
        list.clear();
        assert_eq!(list, Strings::default());
    }
}
