//! The report: printed as it grows, and kept in a file.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines that end the report of a whole run.
const PASSED: &str = "All checks passed.";
const FAILED: &str = "## Failed";

/// True if this is the report of a run that was not stopped.
pub(crate) fn is_whole(report: &str) -> bool {
    report.lines().any(|line| line == PASSED || line == FAILED)
}

/// Markdown text of a run.
pub(super) struct Report {
    text: String,
    file: Option<PathBuf>,
}

impl Report {
    /// # Errors
    /// The folder of the file cannot be made.
    pub(super) fn new(file: Option<&Path>) -> Result<Self, String> {
        if let Some(folder) = file.and_then(Path::parent) {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        Ok(Self { text: String::new(), file: file.map(Path::to_owned) })
    }

    /// Adds and prints a paragraph, and writes the file: a run that is stopped keeps what it has.
    pub(super) fn text(&mut self, paragraph: &str) {
        println!("{}\n", paragraph.trim_end());
        self.text += &format!("{}\n\n", paragraph.trim_end());
        // Reported by `end`.
        let _ = self.write();
    }

    /// Adds and prints a heading with a table below it. The first row is the header.
    pub(super) fn table(&mut self, title: &str, rows: &[Vec<String>]) {
        self.text(&format!("## {title}\n\n{}", table(rows)));
    }

    /// Adds the failures, and writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn end(&mut self, failed: &[String]) -> Result<(), String> {
        let lines: Vec<String> = failed.iter().map(|line| format!("- {line}")).collect();
        match failed.len() {
            0 => self.text(PASSED),
            _ => self.text(&format!("{FAILED}\n\n{}", lines.join("\n"))),
        }
        self.write()
    }

    fn write(&self) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        fs::write(file, self.text.trim_end().to_owned() + "\n")
            .map_err(|error| format!("{}: {error}", file.display()))
    }
}

/// The first line of an error, for a cell of a table.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A Markdown table. The first row is the header.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let cell =
        |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default().replace('|', "\\|");
    let width = |column: usize| rows.iter().map(|row| cell(row, column).chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(|column| width(column).max(3)).collect();
    let line = |row: &[String]| {
        let cells: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(column, width)| format!("{:<width$}", cell(row, column)))
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let Some((header, body)) = rows.split_first() else { return String::new() };
    let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let head = line(header) + &format!("| {} |\n", dashes.join(" | "));
    body.iter().fold(head, |text, row| text + &line(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_and_escapes_bars() {
        let rows = [vec!["tool".to_owned(), "x".to_owned()], vec!["a|b".to_owned(), "yes".to_owned()]];
        assert_eq!(table(&rows), "| tool | x   |\n| ---- | --- |\n| a\\|b | yes |\n");
        assert_eq!(table(&[]), "");
    }

    #[test]
    fn a_report_is_whole_at_its_end_only() {
        let path = std::env::temp_dir().join(format!("hashlane-report-{}.md", std::process::id()));
        for failed in [vec![], vec!["x".to_owned()]] {
            let mut report = Report::new(Some(&path)).unwrap();
            report.text("a table");
            assert!(!is_whole(&fs::read_to_string(&path).unwrap()));
            report.end(&failed).unwrap();
            assert!(is_whole(&fs::read_to_string(&path).unwrap()));
        }
        fs::remove_file(&path).unwrap();
    }
}
