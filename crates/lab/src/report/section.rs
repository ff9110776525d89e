//! A section of a report, whatever it is about: what the terminal and the page both draw.

use super::bars::BarPlots;
use super::plot::LinePlots;

/// What one kind of records says. Nothing in it is escaped: whoever draws it does that.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Section {
    pub(super) title: String,
    /// What a reader must know to read it.
    pub(super) note: String,
    /// What was found, a sentence each; on the page they stand at its head.
    pub(super) findings: Vec<String>,
    pub(super) blocks: Vec<Block>,
}

#[cfg(test)]
impl Section {
    /// The table whose caption starts so.
    #[track_caller]
    pub(super) fn table(&self, caption: &str) -> &Table {
        let table = self.blocks.iter().find_map(|block| match block {
            Block::Table(table) if table.caption.starts_with(caption) => Some(table),
            _ => None,
        });
        table.expect("a table with this caption")
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Table(Table),
    Text(Text),
    /// Plots, which the terminal leaves out: a table has the same figures.
    Lines(LinePlots),
    /// The same of bars.
    Bars(BarPlots),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) columns: Vec<String>,
    /// How many columns, from the first, hold words and are flush left.
    pub(super) left: usize,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) shown: Shown,
}

/// Monospaced text, line by line as it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    pub(super) caption: String,
    pub(super) text: String,
    pub(super) shown: Shown,
}

/// How much of a reader's attention a block takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// It stands open.
    Open,
    /// The page folds it; the terminal prints it.
    Folded,
    /// The page folds it; the terminal leaves it out.
    PageOnly,
}
