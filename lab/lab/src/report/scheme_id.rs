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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_ids_apart() {
        let id = "foo/by-element/longest-first/summed";
        assert_eq!((head(id), tail(id), last(id)), ("foo", "by-element/longest-first/summed", "summed"));
        assert_eq!((head("ours"), tail("ours"), last("ours")), ("ours", "ours", "ours"));
    }
}
