//! The rules and reasons as lists of a document.

use crate::rules::RULES;
use crate::rules::verdicts::REASONS;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Columns of the document.
const WIDTH: usize = 110;

/// Names and sentences of the rules and of the reasons.
fn entries() -> [Vec<(&'static str, &'static str)>; 2] {
    let rules = RULES.iter().map(|rule| (rule.name, rule.why)).collect();
    [rules, REASONS.iter().map(|reason| (reason.name, reason.why)).collect()]
}

/// The lists, with the number of answers that each rule excuses and of verdicts that each reason explains.
pub(crate) fn lists(counts: [&BTreeMap<usize, usize>; 2]) -> String {
    let list = |(entries, counts): (Vec<(&str, &str)>, &BTreeMap<usize, usize>)| {
        let entry = |(number, (name, why)): (usize, &(&str, &str))| {
            let count = counts.get(&number).copied().unwrap_or_default();
            wrapped(&format!("- **{name}** ({}). {why}", grouped(count)))
        };
        entries.iter().enumerate().map(entry).collect::<String>()
    };
    entries().into_iter().zip(counts).map(list).collect::<Vec<_>>().join("\n")
}

/// Tests if a document explains all rules and reasons, in their words.
///
/// # Errors
/// Those that it does not explain.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let explains = |name: &str, why: &str| {
        text.split(&format!("- **{name}** (")).nth(1).and_then(|rest| rest.split_once("). ")).is_some_and(
            |(count, rest)| count.chars().all(|c| c.is_ascii_digit() || c == ',') && rest.starts_with(why),
        )
    };
    let all = entries().into_iter().flatten();
    let missing: Vec<&str> = all.filter(|(name, why)| !explains(name, why)).map(|(name, _)| name).collect();
    match &missing[..] {
        [] => Ok(()),
        missing => Err(format!(
            "{} does not explain: {}; take the lists that --markdown prints",
            path.display(),
            missing.join("; ")
        )),
    }
}

/// Lines of at most [`WIDTH`] columns, those after the first indented.
fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push_str(&line);
            lines.push('\n');
            line = format!("  {word}");
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.push_str(&line);
    lines.push('\n');
    lines
}

/// A number with separators of thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_of_thousands() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn long_entries_are_wrapped() {
        let text = wrapped(&format!("- {}", vec!["word"; 40].join(" ")));
        assert!(text.lines().count() == 2 && text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("  word")));
    }

    #[test]
    fn rules_and_reasons_have_different_names() {
        let mut names: Vec<&str> = entries().concat().into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len() + REASONS.len());
    }
}
