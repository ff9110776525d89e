//! Figures of records in other formats and in Markdown files.

use crate::results::ran;
use hashlane_rig::command::holds;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files of the repository below `folder` whose names end with `end`.
fn files(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, end, found);
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
}

#[test]
fn the_figures_of_the_documentation_are_those_of_the_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut pages, mut machines) = (vec![root.join("README.md")], Vec::new());
    for folder in ["docs", "lab", "core", "serve"] {
        files(&root.join(folder), ".md", &mut pages);
    }
    pages.retain(|page| fs::read_to_string(page).unwrap().contains("\n<!-- figures\n"));
    assert!(pages.len() > 10, "{pages:?}");
    files(&root.join("records"), "machine.toml", &mut machines);
    let mut fill = Command::new(env!("CARGO_BIN_EXE_hashlane"));
    fill.arg("report").args(machines.iter().filter_map(|file| file.parent())).arg("--check");
    fill.args(pages.iter().flat_map(|page| [Path::new("--fill"), page]));
    let output = fill.output().unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{}; run `cargo xtask records --mark`", said.concat());
}

#[test]
fn a_page_of_ones_own_quotes_a_run() {
    let folder = ran();
    let page = "# Mine\n\n<!-- figures\n{{ asks('a', 'mine') }} {{ answer('a', 'mine') }}\n-->\nold\n\
                <!-- end of figures -->\n";
    let file = folder.write("page.md", page);
    let check = folder.run(&["report", "a", "--fill", "page.md", "--check"]);
    holds(&check.failed(), &["figures differ from the records in page.md"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), page);
    holds(&folder.run(&["report", "a", "--fill", "page.md"]).ok(), &["written: page.md"]);
    let written = fs::read_to_string(&file).unwrap();
    holds(&written, &["{{ asks('a', 'mine') }}", "\n-->\nDoes it run?", "Measured at commit"]);
    assert!(!written.contains("old"), "{written}");
    folder.run(&["report", "a", "--fill", "page.md", "--check"]).ok();
    folder.write("page.md", page.replace("asks('a'", "asks('b'"));
    let failed = folder.run(&["report", "a", "--fill", "page.md"]).failed();
    holds(&failed, &["page.md", "line 3: figures", "no run \"b\"; there are a"]);
}

#[test]
fn a_report_is_exported_whole() {
    let folder = ran();
    let markdown = folder.run(&["report", "a", "--export", "markdown"]).ok();
    holds(&markdown, &["# A study of one's own\n", "**Does it run?**", "\n## ", "| --- | --: |"]);
    let json = folder.run(&["report", "a", "--export", "json"]).ok();
    let studies: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(studies[0]["study"], "mine");
    let sections = studies[0]["sections"].as_array().unwrap();
    let blocks = sections.iter().flat_map(|section| section["blocks"].as_array().unwrap());
    assert!(blocks.filter(|block| block["rows"].is_array()).count() > 0, "{json}");
}
