//! Relative links in Markdown.

use super::markdown;
use super::text::Text;
use crate::run;
use std::fs;
use std::path::Path;

/// A line for each relative link to a file, or a heading of a Markdown file, that does not exist.
pub(super) fn broken(texts: &[Text]) -> Vec<String> {
    let mut broken = Vec::new();
    for text in texts {
        for (number, line) in markdown::prose(&text.content) {
            let line = markdown::without_code(line);
            let wrong = targets(&line).filter(|target| !resolves(text, target));
            broken.extend(wrong.map(|target| format!("{}:{number}: broken link: {target}", text.path)));
        }
    }
    broken
}

/// The targets of the links of a line that lead to files or headings of the repository.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    let defined = definition.and_then(|(_, target)| target.split_whitespace().next());
    inline.chain(defined).filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
}

fn resolves(text: &Text, target: &str) -> bool {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let has_anchor =
        |content: &str| anchor.is_empty() || markdown::anchors(content).iter().any(|a| a == anchor);
    if file.is_empty() {
        return has_anchor(&text.content);
    }
    let dir = Path::new(&text.path).parent().unwrap_or(Path::new(""));
    let path = run::root().join(dir).join(file);
    if anchor.is_empty() || path.extension().is_none_or(|extension| extension != "md") {
        return path.exists();
    }
    fs::read_to_string(path).is_ok_and(|content| has_anchor(&content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_to_files_and_headings_that_do_not_exist() {
        let content = "\
# Here
[a](../README.md) [b](../README.md#layout) [c](#here) [d](https://example.com/x) ![e](missing.png)
`[f](missing)` [g](#there)
[h]: missing.md \"title\"
[i]: ../README.md#no-such-heading
";
        let text = Text { path: "docs/page.md".into(), content: content.into() };
        let expected = [
            "docs/page.md:2: broken link: missing.png",
            "docs/page.md:3: broken link: #there",
            "docs/page.md:4: broken link: missing.md",
            "docs/page.md:5: broken link: ../README.md#no-such-heading",
        ];
        assert_eq!(broken(&[text]), expected);
    }
}
