//! Brace expansion: `{a,b}/c` expands to `a/c` and `b/c`.

/// No text expands to more strings than this.
pub(super) const MAX_EXPANSION: usize = 4096;

/// Longest text with braces, in bytes: each of its expansions may hold nearly all of it.
const MAX_TEXT: usize = 1024;

/// Rule that a text with braces breaks, and the byte offset at which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BraceError {
    /// A `{` at `at` has no `}`.
    #[error("the brace opened at offset {at} is not closed")]
    Unclosed {
        /// Offset of the `{`.
        at: usize,
    },
    /// A `}` at `at` has no `{`.
    #[error("the brace closed at offset {at} was not opened")]
    Unopened {
        /// Offset of the `}`.
        at: usize,
    },
    /// A `{` at `at` is inside other braces.
    #[error("the brace at offset {at} opens inside another")]
    Nested {
        /// Offset of the inner `{`.
        at: usize,
    },
    /// The alternatives of the braces at `at` include an empty one.
    #[error("the braces at offset {at} hold an empty alternative")]
    EmptyAlternative {
        /// Offset of the `{`.
        at: usize,
    },
    /// The text is longer than 1024 bytes.
    #[error("longer than {MAX_TEXT} bytes")]
    TooLong,
    /// With the braces at `at` there would be more than 4096 strings.
    #[error("the braces at offset {at} expand to more than {MAX_EXPANSION} strings")]
    TooMany {
        /// Offset of the `{`.
        at: usize,
    },
}

/// All expansions of `text`, the first braces varying slowest; 1 to 4096 of them.
///
/// # Errors
/// Braces must pair up, must not nest, and hold non-empty alternatives; neither the text nor its expansions
/// are longer than the limits.
pub(super) fn expand(text: &str) -> Result<Vec<String>, BraceError> {
    if text.len() > MAX_TEXT {
        return Err(BraceError::TooLong);
    }
    let mut expanded = vec![String::new()];
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let open = rest.find(['{', '}']).unwrap_or(rest.len());
        let (literal, rest) = rest.split_at(open);
        expanded.iter_mut().for_each(|s| s.push_str(literal));
        at += open;
        if rest.is_empty() {
            break;
        }
        let Some(rest) = rest.strip_prefix('{') else {
            return Err(BraceError::Unopened { at });
        };
        let close = match rest.find(['{', '}']) {
            None => return Err(BraceError::Unclosed { at }),
            Some(i) if rest[i..].starts_with('{') => return Err(BraceError::Nested { at: at + 1 + i }),
            Some(i) => i,
        };
        let count = rest[..close].split(',').count();
        if expanded.len().saturating_mul(count) > MAX_EXPANSION {
            return Err(BraceError::TooMany { at });
        }
        let mut next = Vec::with_capacity(expanded.len() * count);
        for prefix in &expanded {
            for alternative in rest[..close].split(',') {
                if alternative.is_empty() {
                    return Err(BraceError::EmptyAlternative { at });
                }
                next.push(format!("{prefix}{alternative}"));
            }
        }
        expanded = next;
        at += close + 2;
    }
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn expands_several_braces_in_order() {
        assert_eq!(expand("x").unwrap(), ["x"]);
        assert_eq!(expand("{a,b}/c").unwrap(), ["a/c", "b/c"]);
        assert_eq!(expand("{a,b}-{1,2}!").unwrap(), ["a-1!", "a-2!", "b-1!", "b-2!"]);
    }

    #[test]
    fn refuses_braces_that_do_not_pair_up() {
        assert_eq!(expand("a{b"), Err(BraceError::Unclosed { at: 1 }));
        assert_eq!(expand("a}b"), Err(BraceError::Unopened { at: 1 }));
        assert_eq!(expand("{a,{b}}"), Err(BraceError::Nested { at: 3 }));
        assert_eq!(expand("é{a,}"), Err(BraceError::EmptyAlternative { at: 2 }));
        assert_eq!(expand("{}"), Err(BraceError::EmptyAlternative { at: 0 }));
    }

    #[test]
    fn refuses_to_expand_past_the_bound() {
        let twelve = "{a,b}".repeat(12);
        assert_eq!(expand(&twelve).unwrap().len(), MAX_EXPANSION);
        assert_eq!(expand(&"{a,b}".repeat(13)), Err(BraceError::TooMany { at: 60 }));
        assert!(matches!(expand(&"{a,b}".repeat(200)), Err(BraceError::TooMany { .. })));
        assert_eq!(expand(&"{a,b}".repeat(10_000)), Err(BraceError::TooLong));
    }

    proptest! {
        #[test]
        fn expansions_hold_no_braces(text in "[a,{}é]{0,24}") {
            if let Ok(expanded) = expand(&text) {
                prop_assert!(!expanded.is_empty());
                let braces = expanded.iter().any(|s| s.contains(['{', '}']));
                prop_assert!(!braces);
            }
        }
    }
}
