//! The words of a line: separated by blanks, quoted or not, up to a comment.

use std::borrow::Cow;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) is_quoted: bool,
}

impl Word<'_> {
    /// The key of a statement: lower-case letters, digits and hyphens before a colon.
    pub(super) fn key(&self) -> Option<&str> {
        let key = self.text.strip_suffix(':').filter(|_| !self.is_quoted)?;
        let is_key = key.starts_with(|first: char| first.is_ascii_lowercase())
            && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        is_key.then_some(key)
    }
}

/// The words of a line. Characters of `marks` are words of their own. A quotation without an end goes to the
/// end of the line.
pub(super) fn words<'t>(line: &'t str, marks: &str) -> Vec<Word<'t>> {
    let (mut words, mut rest) = (Vec::new(), line);
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return words };
        let word;
        match first {
            '#' => return words,
            '"' | '\'' => (word, rest) = quoted(rest, first),
            mark if marks.contains(mark) => {
                let (text, after) = rest.split_at(mark.len_utf8());
                (word, rest) = (Word { text: text.into(), is_quoted: false }, after);
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || matches!(c, '#' | '"') || marks.contains(c);
                let (text, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
                (word, rest) = (Word { text: text.into(), is_quoted: false }, after);
            }
        }
        words.push(word);
    }
}

/// The quotation at the start of `text`, and what follows it.
fn quoted(text: &str, quote: char) -> (Word<'_>, &str) {
    let mut content = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => content.extend(chars.next().map(|(_, c)| c)),
            c if c == quote => {
                let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
                return (Word { text: content.into(), is_quoted: true }, rest);
            }
            c => content.push(c),
        }
    }
    (Word { text: content.into(), is_quoted: true }, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str, marks: &str) -> Vec<String> {
        words(line, marks).into_iter().map(|word| word.text.into_owned()).collect()
    }

    #[test]
    fn words_end_at_blanks_quotations_and_comments() {
        assert_eq!(texts("  a: \"b # c\"d 'e\"' # f", ""), ["a:", "b # c", "d", "e\""]);
        assert_eq!(texts("[a, b]", "[],"), ["[", "a", ",", "b", "]"]);
        assert_eq!(texts("\"a\\\"b", ""), ["a\"b"]);
        assert_eq!(texts("# all", ""), Vec::<String>::new());
    }

    #[test]
    fn addresses_and_quotations_are_no_keys() {
        let key = |line| words(line, "").first().and_then(|word| word.key().map(str::to_owned));
        assert_eq!(key("rrl-ipv4-prefix-length:").as_deref(), Some("rrl-ipv4-prefix-length"));
        for line in ["::", "fe80::", "\"name:\"", "a", ":", "9:"] {
            assert_eq!(key(line), None, "{line}");
        }
    }
}
