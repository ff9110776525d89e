//! Parts of a scheme's id, from general to particular, joined by `/`.

/// The first part.
pub fn head(scheme: &str) -> &str {
    scheme.split_once('/').map_or(scheme, |(head, _)| head)
}

/// All parts but the first; the whole id if there is only one.
pub fn tail(scheme: &str) -> &str {
    scheme.split_once('/').map_or(scheme, |(_, tail)| tail)
}

/// The last part.
pub fn last(scheme: &str) -> &str {
    scheme.rsplit_once('/').map_or(scheme, |(_, last)| last)
}

/// Length in bytes of the parts, with their `/`, that all ids begin with; shorter than every id.
pub fn common_prefix(schemes: &[&str]) -> usize {
    let Some((first, rest)) = schemes.split_first() else { return 0 };
    let cuts = first.match_indices('/').map(|(at, _)| at + 1);
    cuts.take_while(|&cut| rest.iter().all(|s| s.get(..cut) == first.get(..cut))).last().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_ids_apart() {
        let id = "foo/by-element/longest-first/summed";
        assert_eq!((head(id), tail(id), last(id)), ("foo", "by-element/longest-first/summed", "summed"));
        assert_eq!((head("ours"), tail("ours"), last("ours")), ("ours", "ours", "ours"));
    }

    #[test]
    fn finds_what_ids_begin_with() {
        assert_eq!(common_prefix(&["foo/a/x", "foo/a/y"]), 6);
        assert_eq!(common_prefix(&["foo/idle", "foo/idle/batch"]), 4);
        assert_eq!(common_prefix(&["foo/a", "quux/a"]), 0);
        assert_eq!(common_prefix(&["foo/é/x", "foo/e/x"]), 4);
        assert_eq!(common_prefix(&["ours"]), 0);
        assert_eq!(common_prefix(&[]), 0);
    }
}
