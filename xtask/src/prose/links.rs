//! Relative links in Markdown, and paths of files in code spans.

use super::markdown;
use super::text::Text;
use crate::run;
use std::fs;
use std::path::Path;

/// A line for each relative link to a file, or a heading of a Markdown file, that does not exist.
pub(super) fn broken(texts: &[Text]) -> Vec<String> {
    let mut broken = Vec::new();
    for text in texts {
        let links = relative(&text.content).into_iter();
        let wrong = links.filter(|(_, target)| !resolves(text, target));
        broken.extend(wrong.map(|(number, target)| format!("{}:{number}: broken link: {target}", text.path)));
    }
    broken
}

/// The targets of the links that lead to files or headings of the repository, with their lines.
pub(crate) fn relative(content: &str) -> Vec<(usize, String)> {
    let lines = markdown::prose(content).map(|(number, line)| (number, markdown::without_code(line)));
    let targets = |(number, line): (usize, String)| -> Vec<(usize, String)> {
        targets(&line).map(|target| (number, target.to_owned())).collect()
    };
    lines.flat_map(targets).collect()
}

/// The path of a link's target without its heading, from the folder that the path of its page starts in.
pub(crate) fn from_root(page: &str, target: &str) -> String {
    let file = target.split_once('#').map_or(target, |(file, _)| file);
    if file.is_empty() {
        return page.to_owned();
    }
    let mut path: Vec<&str> = page.split('/').collect();
    path.pop();
    for part in file.split('/') {
        match part {
            ".." => drop(path.pop()),
            "." => {}
            part => path.push(part),
        }
    }
    path.join("/")
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

/// A line for each code span with the path of a source or a document that `files` of the repository do not
/// have. A path starts at the root, in the folder of the document, in a crate, or in the `src` of a crate.
pub(super) fn dead_paths(texts: &[Text], files: &[&str]) -> Vec<String> {
    let mut dead = Vec::new();
    // The changelog names files as they were.
    for text in texts.iter().filter(|text| text.path != "CHANGELOG.md") {
        let folder = text.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_there = |path: &str| {
            files.iter().any(|file| {
                *file == path
                    || file.strip_prefix(folder).is_some_and(|rest| rest.strip_prefix('/') == Some(path))
                    || file.ends_with(&format!("/src/{path}"))
                    || path.starts_with("src/") && file.ends_with(&format!("/{path}"))
            })
        };
        for (number, line) in markdown::prose(&text.content) {
            let spans = line.split('`').skip(1).step_by(2);
            let wrong = spans.filter(|span| is_path(span) && !is_there(span));
            dead.extend(wrong.map(|path| format!("{}:{number}: no such file: {path}", text.path)));
        }
    }
    dead
}

/// True for relative paths with a folder, without placeholders.
fn is_path(span: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let extension = Path::new(span).extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("rs" | "toml" | "md"))
        && span.chars().all(is_plain)
        && span.find('/').is_some_and(|at| at > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_to_files_and_headings_that_do_not_exist() {
        let content = "\
# Here
[a](../README.md) [b](../README.md#start) [c](#here) [d](https://example.com/x) ![e](missing.png)
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

    #[test]
    fn finds_paths_of_files_that_do_not_exist() {
        let content = "\
`core/a/src/b/c.rs` `b/c.rs` `src/b/c.rs` `page.md` `d/e.toml` `/etc/f.toml` `<dir>/g.rs` `a/b` `c.rs`
`a/src/b/c.rs` `c/c.rs` and `old/page.md`
";
        let text = |path: &str| Text { path: path.into(), content: content.into() };
        let files = ["core/a/src/b/c.rs", "docs/d/e.toml"];
        let expected = [
            "docs/x.md:2: no such file: a/src/b/c.rs",
            "docs/x.md:2: no such file: c/c.rs",
            "docs/x.md:2: no such file: old/page.md",
        ];
        assert_eq!(dead_paths(&[text("docs/x.md"), text("CHANGELOG.md")], &files), expected);
    }
}
