//! A section of a report, which both the terminal and the page draw.

use super::charts::{BarPlots, Forest, LinePlots};

/// One kind of records, as tables, texts and drawings. Nothing in it is escaped: the views do that.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// Explanation of the figures.
    pub note: String,
    /// Findings, a sentence each; the page shows them at the head of the study.
    pub findings: Vec<String>,
    /// Contents, in their order.
    pub blocks: Vec<Block>,
}

impl Section {
    /// The table whose caption starts with `caption`, for tests.
    ///
    /// # Panics
    /// There is no such table.
    #[track_caller]
    pub fn table(&self, caption: &str) -> &Table {
        let table = self.blocks.iter().find_map(|block| match block {
            Block::Table(table) if table.caption.starts_with(caption) => Some(table),
            _ => None,
        });
        table.expect("a table with this caption")
    }
}

/// Part of a section. The terminal leaves out drawings: a table has the same figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A table.
    Table(Table),
    /// Monospaced text.
    Text(Text),
    /// Line plots.
    Lines(LinePlots),
    /// Bar charts.
    Bars(BarPlots),
    /// Differences or ratios with their intervals.
    Forest(Forest),
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Caption.
    pub caption: String,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// Number of columns, from the first, that hold words and are flush left.
    pub left: usize,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
    /// Visibility.
    pub shown: Shown,
}

/// Monospaced text, line by line.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Caption.
    pub caption: String,
    /// Lines.
    pub text: String,
    /// Visibility.
    pub shown: Shown,
}

/// Visibility of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Open on the page; printed on the terminal.
    Open,
    /// Folded on the page; printed on the terminal.
    Folded,
    /// Folded on the page; left out on the terminal.
    PageOnly,
}
