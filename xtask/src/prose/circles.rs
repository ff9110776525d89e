//! Circles of files that import each other, inside each crate.
//!
//! A file imports another one if it names an item of it: by `use`, or by a path in its code. Paths are
//! followed through re-exports to the file that defines the item, so that a `mod.rs` that only declares and
//! re-exports its files imports nothing. Files may use the items of the modules above them, as `render/a.rs`
//! does with `super::Error` of `render/mod.rs`: a module and its own files are read as one. Tests are left
//! out.

use super::text::Text;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A module that is a file, by the names of the modules above it and its own.
type Module<'a> = Vec<&'a str>;

/// Files of a crate.
type Files<'a> = BTreeMap<Module<'a>, File<'a>>;

/// Paths in a file, tests aside.
#[derive(Default)]
struct File<'a> {
    /// Path below `src/`.
    path: &'a str,
    imports: Vec<Import<'a>>,
    /// Other paths in the code.
    paths: Vec<Vec<&'a str>>,
}

/// A path in a `use` line, and the name that it has in the file.
struct Import<'a> {
    path: Vec<&'a str>,
    name: &'a str,
    is_public: bool,
}

/// A line for each circle of each crate in `sources`, as `CRATE: a.rs -> b.rs -> a.rs`.
pub(super) fn circles(sources: &[Text]) -> Vec<String> {
    let code: Vec<String> = sources.iter().map(|source| without_tests(&source.content)).collect();
    let mut crates: BTreeMap<&str, Files<'_>> = BTreeMap::new();
    for (source, code) in sources.iter().zip(&code) {
        let Some((folder, path)) = source.path.split_once("/src/") else { continue };
        let Some(module) = path.strip_suffix(".rs") else { continue };
        let mut module: Module<'_> = module.split('/').collect();
        if module.contains(&"tests") {
            continue;
        }
        module.pop_if(|name| matches!(*name, "mod" | "lib" | "main"));
        crates.entry(folder).or_default().insert(module, File::new(path, code));
    }
    crates.iter().flat_map(|(folder, files)| circles_of(folder, files)).collect()
}

fn circles_of<'a>(folder: &str, files: &Files<'a>) -> Vec<String> {
    let imports = |module: &Module<'a>| {
        let file = &files[module];
        let private = file.imports.iter().filter(|import| !import.is_public).map(|import| &import.path);
        let used = private.chain(&file.paths).filter_map(|path| defining(files, module, path, 0));
        used.filter(|used| !module.starts_with(used)).collect::<BTreeSet<_>>()
    };
    let graph: BTreeMap<_, _> = files.keys().map(|module| (module.clone(), imports(module))).collect();
    let (mut lines, mut reported) = (Vec::new(), BTreeSet::new());
    for start in graph.keys() {
        let circle = shortest_circle(&graph, start);
        if circle.is_empty() || circle.iter().any(|module| reported.contains(module)) {
            continue;
        }
        let names: Vec<&str> = circle.iter().chain([start]).map(|module| files[module].path).collect();
        lines.push(format!("{folder}: {}", names.join(" -> ")));
        reported.extend(circle);
    }
    lines
}

/// The modules of the shortest circle from `start` back to it; empty if it is in no circle.
fn shortest_circle<'a>(
    graph: &BTreeMap<Module<'a>, BTreeSet<Module<'a>>>,
    start: &Module<'a>,
) -> Vec<Module<'a>> {
    let mut ways = VecDeque::from([vec![start.clone()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in way.last().and_then(|last| graph.get(last)).into_iter().flatten() {
            if next == start {
                return way;
            }
            if seen.insert(next) {
                ways.push_back(way.iter().chain([next]).cloned().collect());
            }
        }
    }
    Vec::new()
}

/// The module whose file defines the item of `path`, a path in the file of `module`; `None` for items of
/// other crates, and for modules.
fn defining<'a>(
    files: &Files<'a>,
    module: &Module<'a>,
    path: &[&'a str],
    depth: usize,
) -> Option<Module<'a>> {
    let (first, mut rest) = path.split_first()?;
    let child = |above: &Module<'a>, name: &'a str| [above.as_slice(), &[name]].concat();
    let mut base = match *first {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => module.split_last()?.1.to_vec(),
        name if files.contains_key(&child(module, name)) => child(module, name),
        name => return imported(files, module, name, rest, depth),
    };
    while let Some((name, after)) = rest.split_first() {
        let below = child(&base, name);
        if *name == "super" {
            base.pop();
        } else if files.contains_key(&below) {
            base = below;
        } else {
            return imported(files, &base, name, after, depth)
                .or_else(|| files.contains_key(&base).then_some(base));
        }
        rest = after;
    }
    None
}

/// The module whose file defines `name`, which the file of `module` imports.
fn imported<'a>(
    files: &Files<'a>,
    module: &Module<'a>,
    name: &str,
    rest: &[&'a str],
    depth: usize,
) -> Option<Module<'a>> {
    let import = files.get(module)?.imports.iter().find(|import| import.name == name)?;
    // A crate that is imported by its own name, or names that lead back to themselves.
    if import.path == [name] || depth > 8 {
        return None;
    }
    defining(files, module, &[import.path.as_slice(), rest].concat(), depth + 1)
}

/// The lines of code, without comments and items of tests. Relies on the indentation that rustfmt gives.
fn without_tests(content: &str) -> String {
    let mut code = String::new();
    let mut lines = content.lines();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        if text.starts_with("#[cfg(test)]") || text.starts_with("#[cfg(all(test") {
            let end = format!("{}}}", &line[..line.len() - text.len()]);
            let item = lines.find(|line| !line.trim_start().starts_with("#["));
            if item.is_some_and(|item| !item.ends_with([';', ',', '}'])) {
                lines.find(|line| line.trim_end_matches(';') == end);
            }
        } else if !text.starts_with("//") {
            code.push_str(line.split(" // ").next().unwrap_or_default());
            code.push('\n');
        }
    }
    code
}

impl<'a> File<'a> {
    fn new(path: &'a str, code: &'a str) -> Self {
        let (mut file, tokens) = (Self { path, ..Self::default() }, tokens(code));
        let mut rest = tokens.as_slice();
        let mut before = "";
        while let Some((token, after)) = rest.split_first() {
            if *token == "use" {
                let is_public = before == "pub" || before == ")";
                let mut paths = Vec::new();
                rest = tree(after, &[], &mut paths);
                file.imports.extend(paths.into_iter().map(|(path, name)| Import { path, name, is_public }));
            } else {
                let path = names(rest);
                rest = if path.len() > 1 && before != "::" { &rest[2 * path.len() - 1..] } else { after };
                file.paths.extend((path.len() > 1 && before != "::").then_some(path));
            }
            before = token;
        }
        file
    }
}

/// Names, `::`, and other characters one by one, without spaces, strings and characters in quotes.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let len = match (first, raw_string(rest)) {
            (_, Some(len)) => len,
            (c, _) if is_part(c) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            ('"', _) => string(rest),
            ('\'', _) if rest.starts_with("'\\") => {
                rest.get(3..).and_then(|rest| rest.find('\'')).map_or(1, |end| end + 4)
            }
            ('\'', _) => rest.char_indices().nth(2).map_or(1, |(at, c)| if c == '\'' { at + 1 } else { 1 }),
            _ if rest.starts_with("::") => 2,
            (c, _) => c.len_utf8(),
        };
        let (token, after) = rest.split_at(len.min(rest.len()));
        if is_name(token) || token.len() <= 2 && !token.trim().is_empty() {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

/// The length of the string that `text` begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The length of the raw string that `text` begins with, if it does.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or(text.strip_prefix('r'))?;
    let inside = after.trim_start_matches('#').strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(after.len() - inside.len() - 1));
    let start = text.len() - inside.len();
    Some(inside.find(&end).map_or(text.len(), |at| start + at + end.len()))
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The names of the path that the tokens begin with.
fn names<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut names: Vec<&str> = tokens.first().filter(|token| is_name(token)).copied().into_iter().collect();
    for pair in tokens.get(1..).unwrap_or_default().chunks_exact(2) {
        match pair {
            ["::", name] if !names.is_empty() && is_name(name) => names.push(name),
            _ => break,
        }
    }
    names
}

/// Adds the paths of a tree of `use` below `above`, each with its name; returns the tokens after the tree.
fn tree<'t, 'a>(
    mut tokens: &'t [&'a str],
    above: &[&'a str],
    paths: &mut Vec<(Vec<&'a str>, &'a str)>,
) -> &'t [&'a str] {
    let (mut path, mut alias, mut is_own) = (above.to_vec(), None, false);
    while let Some((token, mut rest)) = tokens.split_first() {
        match *token {
            "{" => loop {
                rest = tree(rest, &path, paths);
                match rest.split_first() {
                    Some((&",", after)) => rest = after,
                    _ => return rest.get(1..).unwrap_or_default(),
                }
            },
            "," | "}" | ";" => break,
            "::" => {}
            "as" => (alias, rest) = (rest.first().copied(), rest.get(1..).unwrap_or_default()),
            "self" if !path.is_empty() => is_own = true,
            name => path.push(name),
        }
        tokens = rest;
    }
    let name = alias.or(path.last().copied());
    paths.extend(name.filter(|_| is_own || path.len() > above.len()).map(|name| (path, name)));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let text = |(path, content): &(&str, &str)| Text {
            path: format!("core/dns/src/{path}"),
            content: (*content).to_owned(),
        };
        circles(&files.iter().map(text).collect::<Vec<_>>())
    }

    #[test]
    fn finds_circles_of_files() {
        let files = [
            ("lib.rs", "mod cell;\nmod render;\n"),
            ("render/mod.rs", "mod a;\nmod b;\npub use b::{B, self as bees};\n"),
            ("render/a.rs", "use super::{super::cell::Cell, B};\n"),
            ("render/b.rs", "pub struct B;\nfn f() -> B {\n    crate::render::a::g(\"(\")\n}\n"),
            ("cell.rs", "use crate::render::bees;\nfn f(b: bees::B) {}\n"),
        ];
        assert_eq!(found(&files), ["core/dns: cell.rs -> render/b.rs -> render/a.rs -> cell.rs"]);
        let files = &files[..4];
        assert_eq!(found(files), ["core/dns: render/a.rs -> render/b.rs -> render/a.rs"]);
        let mut separate = files.to_vec();
        separate[3].1 = "pub struct B;\n";
        assert!(found(&separate).is_empty());
    }

    #[test]
    fn tests_comments_and_strings_import_nothing() {
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::b;\n    use b::B;\n}\n";
        let test = "#[cfg(test)]\nuse crate::b::B;\n";
        let text =
            "// crate::b::B\nconst A: [char; 2] = ['\"', '\\''];\nconst B: &str = r#\"\"crate::b::B\"#;\n";
        for code in [tests, test, text] {
            let used = format!("{code}use crate::b::B;\n");
            assert_eq!(found(&[("a.rs", &used), ("b.rs", "use crate::a::A;\n")]).len(), 1, "{code}");
            assert!(found(&[("a.rs", code), ("b.rs", "use crate::a::A;\n")]).is_empty(), "{code}");
        }
    }

    #[test]
    fn a_module_and_its_files_are_one() {
        let files = [("a.rs", "mod b;\nuse b::B;\npub struct A;\n"), ("a/b.rs", "use super::A;\n")];
        assert!(found(&files).is_empty());
    }

    #[test]
    fn names_of_other_crates_and_names_that_lead_to_themselves_are_no_items() {
        let files = [("a.rs", "use b;\nuse crate::b::C;\n"), ("b.rs", "pub use crate::b::C;\nuse a::b;\n")];
        assert!(found(&files).is_empty());
    }
}
