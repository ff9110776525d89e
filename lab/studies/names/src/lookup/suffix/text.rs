//! Dotted text in lower case, forwards and backwards.

/// Bytes of the longest name in text, and a dot.
const ROOM: usize = 254;

/// Buffer for a name in lower case.
pub(super) struct Text([u8; ROOM]);

impl Text {
    pub(super) const fn new() -> Self {
        Self([0; ROOM])
    }

    /// The name in lower case; of a name that is too long, the last bytes.
    #[inline(always)]
    pub(super) fn lower(&mut self, name: &[u8]) -> &[u8] {
        let len = name.len().min(ROOM - 1);
        let name = name.get(name.len() - len..).unwrap_or_default();
        let Some(lower) = self.0.get_mut(..len) else { return &[] };
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        lower
    }

    /// The name in lower case from its last byte to its first, and a dot: a rule is then a prefix if and only
    /// if it is a suffix of the name at the start of a label.
    #[cfg(any(test, feature = "peers"))]
    #[inline(always)]
    pub(super) fn reversed(&mut self, name: &[u8]) -> &[u8] {
        let len = self.lower(name).len();
        let Some([reversed @ .., dot]) = self.0.get_mut(..=len) else { return &[] };
        reversed.reverse();
        *dot = b'.';
        self.0.get(..=len).unwrap_or_default()
    }
}

/// Suffixes of a name at the starts of its labels, the longest first.
#[inline(always)]
pub(super) fn suffixes(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(name);
    core::iter::from_fn(move || {
        let suffix = rest?;
        let dot = memchr::memchr(b'.', suffix);
        rest = dot.and_then(|dot| suffix.get(dot + 1..));
        Some(suffix)
    })
}

/// Labels of a suffix.
#[inline(always)]
pub(super) fn labels(suffix: &[u8]) -> usize {
    1 + dots(suffix)
}

/// Dots in a text.
#[inline(always)]
pub(super) fn dots(text: &[u8]) -> usize {
    memchr::memchr_iter(b'.', text).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_and_reverses() {
        let mut text = Text::new();
        assert_eq!(text.lower(b"Ab.C"), b"ab.c");
        assert_eq!(text.reversed(b"Ab.C"), b"c.ba.");
        let names: Vec<&[u8]> = suffixes(b"a.bc.d").collect();
        assert_eq!(names, [&b"a.bc.d"[..], b"bc.d", b"d"]);
        assert_eq!(names.iter().map(|name| labels(name)).collect::<Vec<_>>(), [3, 2, 1]);
    }
}
