//! Tables of crates in documents, from `cargo metadata`, and the arrows that may not be between crates.

use super::text::Text;
use crate::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// First folders of packages, and the folders that their packages may use, tests aside. The first that fits
/// counts.
const FLOORS: [(&str, &[&str]); 9] = [
    ("core", &["core"]),
    ("serve", &["core", "serve"]),
    ("bin/hashlane", &["core", "serve", "bin/command", "lab"]),
    ("bin", &["core", "serve", "bin/command"]),
    ("lab", &["core", "serve", "lab"]),
    ("proof", &["core", "serve", "lab", "proof"]),
    ("python", &["core", "serve", "lab"]),
    ("duckdb", &["core", "serve", "lab"]),
    ("xtask", &[]),
];

/// Packages that may not need others, also not by way of a third.
const FORBIDDEN: [(&str, &str); 4] =
    [("lab/audit", "lab/lab"), ("python", "lab/lab"), ("duckdb", "lab/lab"), ("lab/lab", "lab/studies")];

/// A table in Markdown.
type Table = fn(&[Package]) -> String;

/// Documents with a table of crates, between [`BEGIN`] and [`END`].
const DOCUMENTS: [(&str, Table); 3] =
    [("docs/start/crates.md", contents), ("docs/architecture.md", arrows), ("CONTRIBUTING.md", floors)];

const BEGIN: &str = "<!-- crates, written by `cargo xtask prose --write` -->\n";
const END: &str = "<!-- end of crates -->\n";

/// A package of the workspace.
pub(crate) struct Package {
    /// Its folder, from the root of the repository.
    folder: String,
    name: String,
    description: String,
    /// Folders of the packages that it depends on, tests aside.
    uses: Vec<String>,
}

/// The packages of the workspace, floor by floor.
///
/// # Errors
/// cargo cannot be run, or its output is not read.
pub(crate) fn packages() -> Result<Vec<Package>, String> {
    let output = run::command(&["cargo", "metadata", "--no-deps", "--format-version", "1"]).output();
    let output = output.map_err(|error| format!("`cargo metadata`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`cargo metadata`: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("`cargo metadata`: {error}"))?;
    let mut packages: Vec<Package> = array(&metadata["packages"]).iter().filter_map(Package::read).collect();
    packages.sort_by_cached_key(|package| (floor(&package.folder), package.folder.clone()));
    Ok(packages)
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A path from the root of the repository.
fn below_root(path: &str) -> Option<String> {
    Some(Path::new(path).strip_prefix(run::root()).ok()?.to_str()?.to_owned())
}

impl Package {
    fn read(package: &Value) -> Option<Self> {
        let text = |key: &str| package[key].as_str().map(str::to_owned);
        let of_tests = |dependency: &&Value| dependency["kind"].as_str() == Some("dev");
        let used = array(&package["dependencies"]).iter().filter(|dependency| !of_tests(dependency));
        let mut uses: Vec<String> = used.filter_map(|used| below_root(used["path"].as_str()?)).collect();
        uses.sort();
        uses.dedup();
        let folder = below_root(text("manifest_path")?.strip_suffix("/Cargo.toml")?)?;
        Some(Self { folder, name: text("name")?, description: text("description").unwrap_or_default(), uses })
    }
}

/// Folders of the packages that the package in `folder` depends on, tests aside.
pub(crate) fn uses<'a>(packages: &'a [Package], folder: &str) -> &'a [String] {
    packages.iter().find(|package| package.folder == folder).map_or(&[], |package| &package.uses)
}

fn is_in(folder: &str, above: &str) -> bool {
    folder.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The place of a package's floor in [`FLOORS`].
fn floor(folder: &str) -> usize {
    FLOORS.iter().position(|(floor, _)| is_in(folder, floor)).unwrap_or(FLOORS.len())
}

/// `true` if a package uses another one, or one that needs it.
fn needs(packages: &[Package], package: &Package, folder: &str) -> bool {
    package.uses.iter().any(|used| {
        let package = packages.iter().find(|package| package.folder == *used);
        is_in(used, folder) || package.is_some_and(|package| needs(packages, package, folder))
    })
}

/// A line for each arrow that may not be.
pub(super) fn forbidden(packages: &[Package]) -> Vec<String> {
    let mut lines = Vec::new();
    for package in packages {
        let folder = &package.folder;
        let Some((_, may)) = FLOORS.get(floor(folder)) else {
            lines.push(format!("{folder}: a package of no floor"));
            continue;
        };
        let other = package.uses.iter().filter(|used| !may.iter().any(|may| is_in(used, may)));
        lines.extend(other.map(|used| format!("{folder} uses {used}: it may use {}", may.join(", "))));
        let never = FORBIDDEN.iter().filter(|(from, to)| is_in(folder, from) && needs(packages, package, to));
        lines.extend(never.map(|(_, to)| format!("{folder} needs {to}: it may not, also not by a third")));
    }
    lines
}

/// A line for each document whose table does not match these packages.
pub(super) fn outdated(texts: &[Text], packages: &[Package]) -> Vec<String> {
    let differs = |(path, table): &(&str, Table)| {
        let text = texts.iter().find(|text| text.path == *path);
        let written = text.and_then(|text| written(&text.content, &table(packages)));
        match written {
            Some(written) if text.is_some_and(|text| text.content == written) => None,
            Some(_) => {
                Some(format!("{path}: the table of crates is outdated; run `cargo xtask prose --write`"))
            }
            None => Some(format!("{path}: no table of crates between its two comments")),
        }
    };
    DOCUMENTS.iter().filter_map(differs).collect()
}

/// Writes the tables into the documents.
///
/// # Errors
/// A document cannot be read or written, or has no place for its table.
pub(super) fn write(packages: &[Package]) -> Result<(), String> {
    for (path, table) in DOCUMENTS {
        let file = run::root().join(path);
        let failed = |error| format!("{path}: {error}");
        let content = fs::read_to_string(&file).map_err(failed)?;
        let content = written(&content, &table(packages))
            .ok_or_else(|| format!("{path}: no table of crates between its two comments"))?;
        fs::write(&file, content).map_err(failed)?;
    }
    Ok(())
}

/// A document with this table; `None` if it has no place for one.
fn written(content: &str, table: &str) -> Option<String> {
    let (before, rest) = content.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some([before, BEGIN, table, END, after].concat())
}

fn code(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{}`", word.as_ref())).collect();
    words.join(", ")
}

/// Packages by folder, with their descriptions: those inside of another's folder and single studies aside.
fn contents(packages: &[Package]) -> String {
    let mut table = "| folder | content |\n| --- | --- |\n".to_owned();
    for Package { folder, description, .. } in packages.iter().filter(|p| p.folder.split('/').count() <= 2) {
        table.push_str(&format!("| `{folder}` | {description} |\n"));
    }
    table
}

/// Packages with the packages that they use. A package that another one of these needs is left out.
fn arrows(packages: &[Package]) -> String {
    let mut table = "| folder | uses | content |\n| --- | --- | --- |\n".to_owned();
    for Package { folder, description, uses, .. } in packages {
        let is_needed = |used: &&String| {
            let others = packages.iter().filter(|package| uses.contains(&package.folder));
            others.into_iter().any(|other| other.folder != **used && needs(packages, other, used))
        };
        let uses = code(uses.iter().filter(|used| !is_needed(used)));
        table.push_str(&format!("| `{folder}` | {uses} | {description} |\n"));
    }
    table
}

/// Floors with the folders that they may use, and the names of their packages.
fn floors(packages: &[Package]) -> String {
    let mut table = "| folder | may use | packages |\n| --- | --- | --- |\n".to_owned();
    for (at, (folder, may)) in FLOORS.iter().enumerate() {
        let names =
            packages.iter().filter(|package| floor(&package.folder) == at).map(|package| &package.name);
        table.push_str(&format!("| `{folder}` | {} | {} |\n", code(*may), code(names)));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: &str, uses: &[&str]) -> Package {
        let uses = uses.iter().map(|used| (*used).to_owned()).collect();
        let name = format!("hashlane-{}", folder.replace('/', "-"));
        Package { folder: folder.to_owned(), name, description: "Text".to_owned(), uses }
    }

    fn house() -> Vec<Package> {
        vec![
            package("core/hash", &[]),
            package("core/dns", &["core/hash"]),
            package("serve/nameserver", &["core/dns", "core/hash"]),
            package("bin/dns", &["serve/nameserver"]),
            package("lab/lab", &[]),
            package("lab/audit", &["core/hash"]),
            package("python", &["lab/audit"]),
        ]
    }

    #[test]
    fn arrows_go_one_way() {
        assert!(forbidden(&house()).is_empty());
        let wrong = [
            ("core/dns", "serve/link", "core/dns uses serve/link: it may use core"),
            ("serve/nameserver", "lab/lab", "serve/nameserver uses lab/lab: it may use core, serve"),
            ("bin/dns", "bin/hashlane", "bin/dns uses bin/hashlane: it may use core, serve, bin/command"),
            ("python", "lab/lab", "python needs lab/lab: it may not, also not by a third"),
        ];
        for (folder, used, line) in wrong {
            let mut house = house();
            house
                .iter_mut()
                .filter(|package| package.folder == folder)
                .for_each(|p| p.uses.push(used.to_owned()));
            assert_eq!(forbidden(&house), [line]);
        }
        let mut house = house();
        house[5].uses.push("lab/lab".to_owned());
        assert_eq!(forbidden(&house).len(), 2, "audit, and python by way of it");
        assert_eq!(forbidden(&[package("crates/dns", &[])]), ["crates/dns: a package of no floor"]);
    }

    #[test]
    fn tables_have_each_package_once_and_the_nearest_arrows() {
        let table = arrows(&house());
        assert!(table.contains("| `serve/nameserver` | `core/dns` | Text |\n"), "{table}");
        assert_eq!(table.lines().count(), 2 + house().len());
        assert!(
            floors(&house()).contains("| `core` | `core` | `hashlane-core-hash`, `hashlane-core-dns` |\n")
        );
    }

    #[test]
    fn a_table_that_differs_is_outdated() {
        let path = |path: &str, content: &str| Text { path: path.to_owned(), content: content.to_owned() };
        let empty = format!("Before\n{BEGIN}{END}After\n");
        let texts: Vec<Text> = DOCUMENTS.iter().map(|(document, _)| path(document, &empty)).collect();
        assert!(outdated(&texts, &house()).iter().all(|line| line.contains("is outdated")));
        let current =
            |(document, table): &(&str, Table)| path(document, &written(&empty, &table(&house())).unwrap());
        let texts: Vec<Text> = DOCUMENTS.iter().map(current).collect();
        assert!(outdated(&texts, &house()).is_empty());
        assert!(texts[0].content.starts_with("Before\n") && texts[0].content.ends_with("After\n"));
        assert_eq!(outdated(&[], &house()).len(), 3);
    }
}
