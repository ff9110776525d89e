//! What a scheme's id says: parts from general to particular, joined by `/`.

/// The first part, which for names is the encoding.
pub(super) fn head(scheme: &str) -> &str {
    scheme.split_once('/').map_or(scheme, |(head, _)| head)
}

/// All parts but the first; the whole id if there is only one.
pub(super) fn tail(scheme: &str) -> &str {
    scheme.split_once('/').map_or(scheme, |(_, tail)| tail)
}

/// The last part, which is the hash.
pub(super) fn last(scheme: &str) -> &str {
    scheme.rsplit_once('/').map_or(scheme, |(_, last)| last)
}

/// The length in octets of the parts, with their `/`, that all ids begin with; no id is used up by it.
pub(super) fn common_prefix(schemes: &[&str]) -> usize {
    let Some((first, rest)) = schemes.split_first() else { return 0 };
    let cuts = first.match_indices('/').map(|(at, _)| at + 1);
    cuts.take_while(|&cut| rest.iter().all(|s| s.get(..cut) == first.get(..cut))).last().unwrap_or(0)
}

/// The ids of the walk without a hash that is the floor of a scheme with a single walk, the closest one first: one pass
/// over a burst has the walk over a burst, where that is measured. `None` for a scheme that walks more than once, or only walks.
pub(super) fn floors(scheme: &str) -> Option<[String; 2]> {
    let mut parts = scheme.split('/');
    let encoding = parts.next()?;
    let way = parts.next().filter(|way| matches!(*way, "one-pass" | "burst"))?;
    Some([format!("{encoding}/walk/{way}"), format!("{encoding}/walk")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_ids_apart() {
        let id = "ndn/one-by-one/longest-first/crc32c";
        assert_eq!((head(id), tail(id), last(id)), ("ndn", "one-by-one/longest-first/crc32c", "crc32c"));
        assert_eq!((head("ours"), tail("ours"), last("ours")), ("ours", "ours", "ours"));
    }

    #[test]
    fn finds_what_ids_begin_with() {
        assert_eq!(common_prefix(&["ndn/a/x", "ndn/a/y"]), 6);
        assert_eq!(common_prefix(&["ndn/walk", "ndn/walk/burst"]), 4);
        assert_eq!(common_prefix(&["ndn/a", "ccnx/a"]), 0);
        assert_eq!(common_prefix(&["ndn/é/x", "ndn/e/x"]), 4);
        assert_eq!(common_prefix(&["ours"]), 0);
        assert_eq!(common_prefix(&[]), 0);
    }

    #[test]
    fn knows_the_floor_of_a_single_walk() {
        assert_eq!(floors("ndn/burst/crc32c").unwrap(), ["ndn/walk/burst", "ndn/walk"]);
        assert_eq!(floors("ndn/one-pass/crc32c").unwrap(), ["ndn/walk/one-pass", "ndn/walk"]);
        assert_eq!(floors("ndn/one-by-one/crc32c"), None);
        assert_eq!(floors("ndn/walk/burst"), None);
    }
}
