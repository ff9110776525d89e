//! Figures that the source of a study prints, as data with their provenance.

use serde::Deserialize;

/// A table of published figures: `[[published]]` in a study file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Name by which the study's section finds the table, such as `llvm-mca/skylake`.
    pub id: String,
    /// Provenance: document, section, version, and machine if known.
    pub source: String,
    /// Unit of the figures.
    pub unit: String,
    /// Subjects of the columns: schemes, or programs.
    pub columns: Vec<String>,
    /// Rows, in the source's order.
    pub rows: Vec<PublishedRow>,
}

/// A row of a table of published figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// Subject of the row: a workload, or a metric.
    pub id: String,
    /// One figure for each column; `nan` where the source prints none.
    pub figures: Vec<f64>,
}

impl Published {
    /// Figure of a row and a column, if the source prints it.
    pub fn figure(&self, row: &str, column: &str) -> Option<f64> {
        let at = self.columns.iter().position(|id| id == column)?;
        let row = self.rows.iter().find(|other| other.id == row)?;
        row.figures.get(at).copied().filter(|figure| !figure.is_nan())
    }

    /// Checks that each row has one figure for each column.
    pub(super) fn is_rectangular(&self) -> bool {
        self.rows.iter().all(|row| row.figures.len() == self.columns.len())
    }
}
