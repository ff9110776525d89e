//! A script of commands for nfdc, and the comparison of two runs of it.

use super::node::Node;
use std::collections::BTreeMap;
use std::time::Duration;

/// Timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A command and its expected end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Words behind `nfdc`. `{id}` is the ID of the face that the last command with `id=` named, `{mac}` the
    /// Ethernet address of the neighbour.
    pub(super) words: &'static str,
    /// Expected exit code.
    pub(super) code: i32,
    /// Text that the output contains.
    pub(super) contains: &'static str,
}

/// Outcome of a step.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// `None` if the step did as expected.
    pub(super) wrong: Option<String>,
    /// Lines of the output, with `#` for every number, sorted.
    pub(super) lines: Vec<String>,
}

/// Values of the names in braces.
pub(super) type Variables = BTreeMap<String, String>;

/// Runs the steps in order, whatever their outcome.
pub(super) fn run(node: &Node<'_>, steps: &[Step], variables: &mut Variables) -> Vec<Outcome> {
    steps.iter().map(|step| one(node, step, variables)).collect()
}

fn one(node: &Node<'_>, step: &Step, variables: &mut Variables) -> Outcome {
    let text = variables
        .iter()
        .fold(step.words.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value));
    let words: Vec<&str> = ["nfdc"].into_iter().chain(text.split_whitespace()).collect();
    let ended = match node.run(&words, TIMEOUT) {
        Ok(ended) => ended,
        Err(why) => return Outcome { wrong: Some(why), lines: Vec::new() },
    };
    let said = ended.text();
    if let Some(id) = said.split_whitespace().find_map(|word| word.strip_prefix("id=")) {
        variables.insert("id".to_owned(), id.to_owned());
    }
    let wrong = match ended.code {
        Some(code) if code == step.code => (!said.contains(step.contains))
            .then(|| format!("`nfdc {text}` has no {:?} in {:?}", step.contains, said.trim())),
        code => Some(format!("`nfdc {text}` has exit code {code:?}, not {}: {:?}", step.code, said.trim())),
    };
    Outcome { wrong, lines: masked(&said) }
}

/// Lines of a text with `#` in place of every run of digits, sorted.
fn masked(text: &str) -> Vec<String> {
    let mask = |line: &str| {
        let mut masked = String::new();
        for c in line.chars() {
            match c {
                '0'..='9' if masked.ends_with('#') => {}
                '0'..='9' => masked.push('#'),
                c => masked.push(c),
            }
        }
        masked
    };
    let mut lines: Vec<String> = text.lines().map(|line| mask(line.trim_end())).collect();
    lines.sort();
    lines
}

/// Lines that only one of two sorted lists has: after `-` from the first, after `+` from the second.
pub(super) fn difference(first: &[String], second: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&String, i64> = BTreeMap::new();
    for line in first {
        *counts.entry(line).or_default() -= 1;
    }
    for line in second {
        *counts.entry(line).or_default() += 1;
    }
    let sign = |count: i64| if count < 0 { '-' } else { '+' };
    counts
        .into_iter()
        .filter(|(_, count)| *count != 0)
        .map(|(line, count)| format!("{} {line}", sign(count)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_masked_and_other_differences_are_shown() {
        let first = masked("b faceid=261 up\na 10.0.0.1\n");
        assert_eq!(first, ["a #.#.#.#", "b faceid=# up"]);
        let second = masked("b faceid=7 up\nc\n");
        assert_eq!(difference(&first, &second), ["- a #.#.#.#", "+ c"]);
    }
}
