//! `cargo xtask style`: first words of doc lines, and the width of comments and Markdown.
//!
//! CONTRIBUTING.md states the rules.

use super::markdown;
use super::text::{Text, tracked};
use crate::run::Outcome;
use clap::Args;
use std::path::Path;

/// List doc lines that begin with a question word, and lines that are too wide
///
/// Reads tracked Markdown, Rust and TOML files, except records. Fails above the limits that
/// xtask/src/prose/style.rs states.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Style {}

const EXAMPLES: &str = "\
Examples:
  cargo xtask style";

/// Patterns of the files. Records describe their machines, and are not edited.
const TEXTS: [&str; 4] = ["*.md", "*.rs", "*.toml", ":!records"];

/// Widest line, in characters.
const WIDTH: usize = 110;
/// Most doc lines that may begin with one of [`QUESTIONS`].
const MOST_QUESTIONS: usize = 20;
/// First words of doc lines that leave open what the item is.
const QUESTIONS: [&str; 7] = ["What", "Whether", "Who", "Whose", "Where", "Why", "How"];

impl Style {
    pub(crate) fn run(&self) -> Outcome {
        let findings = match tracked(&TEXTS) {
            Ok(texts) => Findings::of(&texts),
            Err(why) => return Outcome::Failed(why),
        };
        let Findings { questions, wide } = &findings;
        for line in questions.iter().chain(wide) {
            println!("{line}");
        }
        println!(
            "{} doc lines begin with a question word, {} lines are too wide",
            questions.len(),
            wide.len()
        );
        findings.fault().map_or(Outcome::Passed, Outcome::Failed)
    }
}

/// Lines that break a rule, each as `PATH:LINE: RULE: TEXT`.
#[derive(Default)]
struct Findings {
    /// Doc lines that begin with one of [`QUESTIONS`].
    questions: Vec<String>,
    /// Lines wider than [`WIDTH`].
    wide: Vec<String>,
}

impl Findings {
    /// Finds lines in Markdown, Rust and TOML files.
    fn of(texts: &[Text]) -> Self {
        let mut findings = Self::default();
        texts.iter().for_each(|text| findings.add(text));
        findings
    }

    fn add(&mut self, text: &Text) {
        let extension = Path::new(&text.path).extension().and_then(|extension| extension.to_str());
        let lines: Vec<(usize, &str)> = match extension {
            Some("md") => markdown::prose(&text.content).collect(),
            Some("rs") => comments(&text.content, "//"),
            Some("toml") => comments(&text.content, "#"),
            _ => return,
        };
        for (number, line) in lines {
            let found = |rule: &str| format!("{}:{number}: {rule}: {}", text.path, line.trim());
            if is_question(line) {
                self.questions.push(found("begins with a question word"));
            }
            if line.chars().count() > WIDTH && !may_be_wide(line) {
                self.wide.push(found(&format!("wider than {WIDTH} columns")));
            }
        }
    }

    /// The reason to fail, if the findings exceed the limits.
    fn fault(&self) -> Option<String> {
        let (questions, wide) = (self.questions.len(), self.wide.len());
        let mut faults = Vec::new();
        if questions > MOST_QUESTIONS {
            faults.push(format!("{questions} doc lines begin with a question word, {MOST_QUESTIONS} may"));
        }
        if wide > 0 {
            faults.push(format!("{wide} lines are wider than {WIDTH} columns"));
        }
        (!faults.is_empty()).then(|| faults.join("; "))
    }
}

/// The lines that are comments, with their numbers from 1.
fn comments<'a>(content: &'a str, mark: &str) -> Vec<(usize, &'a str)> {
    (1..).zip(content.lines()).filter(|(_, line)| line.trim_start().starts_with(mark)).collect()
}

/// Tests if a line is a doc comment whose first word is one of [`QUESTIONS`].
fn is_question(line: &str) -> bool {
    let line = line.trim_start();
    let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
    let first = doc.and_then(|text| text.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty()));
    first.is_some_and(|first| QUESTIONS.contains(&first)) && doc.is_some_and(|text| !text.starts_with("  "))
}

/// Tests if a line cannot be broken: rows of tables, links and URLs.
fn may_be_wide(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches(['/', '!', '#']).trim_start();
    text.starts_with('|') || text.contains("](") || text.contains("]: ") || text.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, content: &str) -> Findings {
        Findings::of(&[Text { path: path.into(), content: content.into() }])
    }

    #[test]
    fn finds_doc_lines_that_begin_with_a_question_word() {
        let code = "//! What it is.\n    /// Whether.\n/// A name. How it is found.\n// Where\nlet how = \"/// Why\";\n";
        let found = findings("src/a.rs", code).questions;
        let expected = [
            "src/a.rs:1: begins with a question word: //! What it is.",
            "src/a.rs:2: begins with a question word: /// Whether.",
        ];
        assert_eq!(found, expected);
        assert!(findings("a.md", "What is it?\n").questions.is_empty());
    }

    #[test]
    fn finds_wide_lines() {
        let wide = "ä ".repeat(56);
        let fits = "ä".repeat(110);
        let link = format!("{wide}[a](b)");
        let content = format!("{wide}\n{fits}\n{link}\n| {wide}\n```\n{wide}\n```\n");
        assert_eq!(findings("a.md", &content).wide.len(), 1);
        let content = format!("// {wide}\nlet a = 1; {wide}\n/// https://example.com {wide}\n");
        assert_eq!(findings("a.rs", &content).wide.len(), 1);
        assert_eq!(findings("a.toml", &format!("# {wide}\nkey = \"{wide}\"\n")).wide.len(), 1);
        assert!(findings("a.py", &format!("# {wide}\n")).wide.is_empty());
    }

    #[test]
    fn few_questions_are_no_fault() {
        let line = || "a".to_owned();
        let questions = |count| Findings { questions: vec![line(); count], wide: Vec::new() };
        assert_eq!(questions(MOST_QUESTIONS).fault(), None);
        assert!(questions(MOST_QUESTIONS + 1).fault().is_some_and(|fault| fault.starts_with("21 doc lines")));
        let wide = Findings { questions: Vec::new(), wide: vec![line()] };
        assert_eq!(wide.fault().as_deref(), Some("1 lines are wider than 110 columns"));
    }
}
