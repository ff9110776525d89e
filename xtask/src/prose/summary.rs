//! The chapters of the book: `docs/SUMMARY.md` has every Markdown file once.

use super::links;
use super::text::Text;

/// Path of the summary.
pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";

/// A line for each Markdown file that the summary does not have, or has more than once.
pub(super) fn faults(texts: &[Text]) -> Vec<String> {
    let Some(summary) = texts.iter().find(|text| text.path == SUMMARY) else {
        return vec![format!("{SUMMARY}: missing: write the list of chapters")];
    };
    let chapters = chapters(&summary.content);
    let fault = |text: &Text| match chapters.iter().filter(|chapter| **chapter == text.path).count() {
        0 => Some(format!("{SUMMARY}: {} is missing: add it where a reader looks for it", text.path)),
        1 => None,
        _ => Some(format!("{SUMMARY}: {} is there more than once", text.path)),
    };
    texts.iter().filter(|text| text.path != SUMMARY).filter_map(fault).collect()
}

/// The files of a summary in reading order, as paths from the root of the repository.
pub(crate) fn chapters(summary: &str) -> Vec<String> {
    let targets = links::relative(summary);
    targets.iter().map(|(_, target)| links::from_root(SUMMARY, target)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_pages_that_the_summary_lacks_or_repeats() {
        let summary = "[us](../README.md)\n\n# Part\n\n- [a](a.md)\n  - [b](b/c.md)\n  - [b](./b/c.md)\n";
        let text = |path: &str| Text { path: path.into(), content: summary.into() };
        let texts = [SUMMARY, "README.md", "docs/a.md", "docs/b/c.md", "docs/b/README.md"].map(text);
        let expected = [
            "docs/SUMMARY.md: docs/b/c.md is there more than once",
            "docs/SUMMARY.md: docs/b/README.md is missing: add it where a reader looks for it",
        ];
        assert_eq!(faults(&texts), expected);
        assert_eq!(faults(&texts[1..]).len(), 1);
    }
}
