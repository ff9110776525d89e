//! The step `prose` of `cargo xtask test`: text files that no compiler reads.

pub(crate) mod style;

mod circles;
mod commits;
mod links;
mod markdown;
mod walks;

use crate::run::{self, Outcome};
use std::fs;

/// A text file of the repository.
struct Text {
    /// The path from the root of the repository.
    path: String,
    content: String,
}

/// Checks the links of every tracked Markdown file, the walks of the architecture, and records.
pub(crate) fn check() -> Outcome {
    let texts = match tracked(&["*.md"]) {
        Ok(texts) => texts,
        Err(why) => return Outcome::Failed(why),
    };
    let broken = links::broken(&texts);
    for link in &broken {
        println!("{link}");
    }
    let sources = match tracked(&["*.rs", "*.toml"]) {
        Ok(sources) => sources,
        Err(why) => return Outcome::Failed(why),
    };
    let document = texts.iter().find(|text| text.path == walks::DOCUMENT);
    let wrong = walks::wrong(document.map_or("", |text| text.content.as_str()), &sources);
    for difference in &wrong {
        println!("{difference}");
    }
    let circles = circles::circles(&sources);
    for circle in &circles {
        println!("circle of imports: {circle}");
    }
    let missing = match tracked(&["records/**/machine.toml"]).and_then(|texts| commits::missing(&texts)) {
        Ok(missing) => missing,
        Err(why) => return Outcome::Failed(why),
    };
    for record in &missing {
        println!("{record}");
    }
    println!(
        "{} Markdown files, {} broken links, {} wrong walks, {} circles of imports, {} records without their \
         commit",
        texts.len(),
        broken.len(),
        wrong.len(),
        circles.len(),
        missing.len()
    );
    match broken.len() + wrong.len() + circles.len() + missing.len() {
        0 => Outcome::Passed,
        faults => Outcome::Failed(format!("{faults} faults")),
    }
}

/// The tracked files that match these patterns of git.
fn tracked(patterns: &[&str]) -> Result<Vec<Text>, String> {
    let listed = run::command(&["git", "ls-files", "-z", "--"]).args(patterns).output();
    let listed = listed.map_err(|error| format!("`git ls-files`: {error}"))?;
    if !listed.status.success() {
        return Err(format!("`git ls-files`: {}", String::from_utf8_lossy(&listed.stderr).trim()));
    }
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let read = |path: &str| {
        let content =
            fs::read_to_string(run::root().join(path)).map_err(|error| format!("{path}: {error}"))?;
        Ok(Text { path: path.to_owned(), content })
    };
    // A file that was deleted and not yet committed is still listed.
    let present = listed.split_terminator('\0').filter(|path| run::root().join(path).exists());
    present.map(read).collect()
}
