//! Examples and commands of the README and of the pages behind its doors, run as they stand.

mod commands;
mod examples;
mod ndn;
mod shell;

/// The README and the pages behind its doors.
const PAGES: [(&str, &str); 9] = [
    ("README.md", include_str!("../../../../../README.md")),
    ("name-server.md", include_str!("../../../../../docs/start/name-server.md")),
    ("hash-tables.md", include_str!("../../../../../docs/start/hash-tables.md")),
    ("flows.md", include_str!("../../../../../docs/start/flows.md")),
    ("names.md", include_str!("../../../../../docs/names.md")),
    ("ndn.md", include_str!("../../../../../docs/start/ndn.md")),
    ("python.md", include_str!("../../../../../docs/start/python.md")),
    ("benchmarks.md", include_str!("../../../../../docs/start/benchmarks.md")),
    ("crates.md", include_str!("../../../../../docs/start/crates.md")),
];

/// The text of a page.
fn page(name: &str) -> &'static str {
    PAGES.iter().find(|(page, _)| *page == name).expect("a page").1
}

/// The blocks of code in a language, in their order.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}
