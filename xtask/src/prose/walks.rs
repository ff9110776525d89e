//! Checks the walks of `docs/architecture.md`: the files that a new thing touches.

use super::text::Text;

/// Document with the walks.
pub(super) const DOCUMENT: &str = "docs/architecture.md";

/// A walk: words of an example, and the files where they stand.
struct Walk<'a> {
    words: Vec<&'a str>,
    files: Vec<&'a str>,
}

/// Differences between the walks of `document` and the code; `sources` are all tracked source files.
///
/// A walk is a comment `<!-- walk: WORD… -->`, followed by a list of files. Its words stand in all of these
/// files and in no others, apart from comments and from files that are skipped ([`is_skipped`]).
pub(super) fn wrong(document: &str, sources: &[Text]) -> Vec<String> {
    let walks = walks(document);
    if walks.is_empty() {
        return vec![format!("{DOCUMENT}: no walk found")];
    }
    walks.iter().flat_map(|walk| differences(walk, sources)).collect()
}

fn walks(document: &str) -> Vec<Walk<'_>> {
    let mut walks = Vec::new();
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        let words = line.strip_prefix("<!-- walk: ").and_then(|rest| rest.strip_suffix(" -->"));
        let Some(words) = words else { continue };
        let mut files = Vec::new();
        while let Some(item) = lines.peek().and_then(|line| line.strip_prefix("- `")?.strip_suffix('`')) {
            files.push(item);
            lines.next();
        }
        walks.push(Walk { words: words.split(' ').collect(), files });
    }
    walks
}

fn differences(walk: &Walk<'_>, sources: &[Text]) -> Vec<String> {
    let name = walk.words.join(" ");
    let uses: Vec<&str> = sources
        .iter()
        .filter(|source| !is_skipped(&source.path) && mentions(&source.content, &walk.words))
        .map(|source| source.path.as_str())
        .collect();
    let absent = walk.files.iter().filter(|file| !uses.contains(file));
    let absent = absent.map(|file| format!("{DOCUMENT}: walk {name}: {file} does not use it"));
    let unlisted = uses.iter().filter(|file| !walk.files.contains(file));
    let unlisted = unlisted.map(|file| format!("{DOCUMENT}: walk {name}: {file} uses it, too"));
    absent.chain(unlisted).collect()
}

/// True for tests with their samples, examples, and the folders of the root that use everything.
fn is_skipped(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    matches!(first, "proof" | "records" | "xtask")
        || path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "sample.rs" | "examples"))
}

/// `true` if one of the words stands in the code before its tests, comments aside.
fn mentions(content: &str, words: &[&str]) -> bool {
    let code = content.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let is_comment = |line: &str| line.trim_start().starts_with("//") || line.starts_with("# ");
    let mut lines = code.lines().filter(|line| !is_comment(line));
    lines.any(|line| words.iter().any(|word| has_word(line, word)))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "A hash\n\n<!-- walk: Sum -->\n- `src/sum.rs`\n- `src/lib.rs`\n\nMore.\n";

    fn text(path: &str, content: &str) -> Text {
        Text { path: path.to_owned(), content: content.to_owned() }
    }

    fn sources() -> Vec<Text> {
        vec![
            text("src/sum.rs", "pub struct Sum;\n"),
            text("src/lib.rs", "list!(sum::Sum);\n"),
            text("src/other.rs", "// Sum\nstruct Summary;\n#[cfg(test)]\nmod tests { use Sum; }\n"),
            text("tests/sum.rs", "use Sum;\n"),
        ]
    }

    #[test]
    fn accepts_a_walk_that_names_every_file() {
        assert!(wrong(DOCUMENT, &sources()).is_empty());
    }

    #[test]
    fn reports_files_that_the_walk_forgets_or_invents() {
        let mut all = sources();
        all.push(text("src/third.rs", "use Sum;\n"));
        let found = wrong(DOCUMENT, &all);
        assert!(found.len() == 1 && found[0].contains("src/third.rs uses it"), "{found:?}");
        let found = wrong(&DOCUMENT.replace("src/lib.rs", "src/no.rs"), &sources());
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(wrong("no walks", &sources()).len(), 1);
    }

    #[test]
    fn skips_the_records_of_the_root_and_no_crate_of_that_name() {
        let mut all = sources();
        all.push(text("records/machine/study.toml", "use Sum;\n"));
        assert!(wrong(DOCUMENT, &all).is_empty());
        all.push(text("lab/records/src/lib.rs", "use Sum;\n"));
        let found = wrong(DOCUMENT, &all);
        assert!(found.len() == 1 && found[0].contains("lab/records/src/lib.rs uses it"), "{found:?}");
    }
}
