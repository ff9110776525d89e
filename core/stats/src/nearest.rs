//! Suggestions for misspelled names: "did you mean".

/// Similarity (Jaro–Winkler, 0 to 1) from which a name is suggested.
const SIMILAR: f64 = 0.8;

/// Known name that is most similar to `name`; `None` if none is similar. Only names with the same first
/// letter are compared: names that differ in it stand for other things, such as xxhash and fxhash.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let similarity = |known: &str| strsim::jaro_winkler(known, name);
    known
        .into_iter()
        .filter(|known| known.chars().next() == name.chars().next() && similarity(known) > SIMILAR)
        .max_by(|a, b| similarity(a).total_cmp(&similarity(b)))
}

/// End of an error message about an unknown name: `; did you mean "name-encodings"?`, or nothing.
pub fn suggestion<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDIES: [&str; 4] = ["name-encodings", "flow-hash", "flow-table", "dns-render"];

    #[test]
    fn suggests_the_most_similar_name() {
        for (name, near) in [
            ("name-encoding", "name-encodings"),
            ("nameencodings", "name-encodings"),
            ("flow-tabel", "flow-table"),
            ("flowhash", "flow-hash"),
            ("dns", "dns-render"),
        ] {
            assert_eq!(nearest(name, STUDIES), Some(near), "{name}");
        }
        assert_eq!(suggestion("flow-hsah", STUDIES), "; did you mean \"flow-hash\"?");
        let schemes = ["ndn/one-by-one/crc32c", "ndn/one-pass/crc32c", "ndn/one-pass/siphash-2-4"];
        assert_eq!(nearest("ndn/onepass/crc32c", schemes), Some("ndn/one-pass/crc32c"));
    }

    #[test]
    fn suggests_nothing_for_another_name() {
        for name in ["", "pit", "everything", "/etc/passwd"] {
            assert_eq!(suggestion(name, STUDIES), "", "{name}");
        }
        assert_eq!(nearest("a", []), None);
        assert_eq!(nearest("xxhash", ["fxhash"]), None);
        assert_eq!(nearest("xxhash", ["fxhash", "xxh3", "ahash"]), Some("xxh3"));
    }
}
