//! The README's examples and commands, run, and held against the README.

mod commands;
mod examples;
mod ndn;
mod shell;

const README: &str = include_str!("../../../../../README.md");

/// The blocks of code in a language, in their order.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// The part of a page under a heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = page.find(heading).expect("the heading") + heading.len();
    let rest = &page[start..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}
