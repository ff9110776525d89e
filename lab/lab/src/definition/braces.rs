//! Brace expansion: `{a,b}/c` expands to `a/c` and `b/c`.

/// No text expands to more strings than this.
pub(super) const MAX_EXPANSION: usize = 4096;

/// Longest text with braces, in bytes: each of its expansions may hold nearly all of it.
const MAX_TEXT: usize = 1024;

/// All expansions of `text`, the first braces varying slowest; 1 to 4096 of them.
///
/// # Errors
/// Braces must pair up, must not nest, and hold non-empty alternatives; neither the text nor its expansions
/// are longer than the limits.
pub(super) fn expand(text: &str) -> Result<Vec<String>, String> {
    if text.len() > MAX_TEXT {
        return Err(format!("longer than {MAX_TEXT} bytes"));
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
            return Err(format!("the brace closed at offset {at} was not opened"));
        };
        let close = match rest.find(['{', '}']) {
            None => return Err(format!("the brace opened at offset {at} is not closed")),
            Some(i) if rest[i..].starts_with('{') => {
                return Err(format!("the brace at offset {} opens inside another", at + 1 + i));
            }
            Some(i) => i,
        };
        let count = rest[..close].split(',').count();
        if expanded.len().saturating_mul(count) > MAX_EXPANSION {
            return Err(format!("the braces at offset {at} expand to more than {MAX_EXPANSION} strings"));
        }
        let mut next = Vec::with_capacity(expanded.len() * count);
        for prefix in &expanded {
            for alternative in rest[..close].split(',') {
                if alternative.is_empty() {
                    return Err(format!("the braces at offset {at} hold an empty alternative"));
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
    fn refuses_braces_that_do_not_pair_up_or_expand_too_far() {
        assert_eq!(expand(&"{a,b}".repeat(12)).unwrap().len(), MAX_EXPANSION);
        for (text, why) in [
            ("a{b", "the brace opened at offset 1 is not closed"),
            ("a}b", "the brace closed at offset 1 was not opened"),
            ("{a,{b}}", "the brace at offset 3 opens inside another"),
            ("é{a,}", "the braces at offset 2 hold an empty alternative"),
            ("{}", "the braces at offset 0 hold an empty alternative"),
            (&"{a,b}".repeat(13), "the braces at offset 60 expand to more than 4096 strings"),
            (&"{a,b}".repeat(10_000), "longer than 1024 bytes"),
        ] {
            assert_eq!(expand(text).unwrap_err(), why);
        }
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
