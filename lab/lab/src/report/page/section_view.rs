//! Sections as the page's template shows them. Text goes there as it is, to be escaped; drawings are SVG.

use serde::Serialize;

use super::drawings::{self, Drawings};
use crate::report::section::{Block, Section, Shown, Table, Text};
use hashlane_stats::format::plain;

#[derive(Serialize)]
pub(super) struct SectionView {
    title: String,
    note: String,
    findings: Vec<String>,
    blocks: Vec<BlockView>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum BlockView {
    Table(TableView),
    Text(TextView),
    Chart(Drawings),
}

#[derive(Serialize)]
struct TableView {
    caption: String,
    columns: Vec<String>,
    left: usize,
    rows: Vec<Vec<String>>,
    open: bool,
}

#[derive(Serialize)]
struct TextView {
    caption: String,
    text: String,
    open: bool,
}

pub(super) fn section(section: &Section) -> SectionView {
    SectionView {
        title: plain(&section.title),
        note: plain(&section.note),
        findings: section.findings.iter().map(|finding| plain(finding)).collect(),
        blocks: section.blocks.iter().map(block).collect(),
    }
}

fn block(block: &Block) -> BlockView {
    match block {
        Block::Table(Table { caption, columns, left, rows, shown }) => {
            let order = ratio_first(columns, *left);
            let cells = |cells: &[String]| {
                order.iter().map(|&at| cells.get(at).map_or_else(String::new, |cell| plain(cell))).collect()
            };
            BlockView::Table(TableView {
                caption: plain(caption),
                columns: cells(columns),
                left: *left,
                rows: rows.iter().map(|row| cells(row)).collect(),
                open: *shown == Shown::Open,
            })
        }
        Block::Text(Text { caption, text, shown }) => BlockView::Text(TextView {
            caption: plain(caption),
            text: text.lines().map(|line| plain(line) + "\n").collect(),
            open: *shown == Shown::Open,
        }),
        Block::Lines(plots) => BlockView::Chart(drawings::small_lines(plots)),
        Block::Bars(plots) => BlockView::Chart(drawings::small_bars(plots)),
        Block::Forest(forest) => BlockView::Chart(drawings::small_forest(forest)),
    }
}

/// Order of the columns: those that hold words, those with ratios, then the others. So the ratio is in view
/// on a narrow screen.
fn ratio_first(columns: &[String], left: usize) -> Vec<usize> {
    let is_ratio =
        |at: &usize| columns.get(*at).is_some_and(|name| name.contains("ratio") || name.contains('÷'));
    let (ratios, others): (Vec<usize>, Vec<usize>) = (left..columns.len()).partition(is_ratio);
    (0..left.min(columns.len())).chain(ratios).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_follow_the_words() {
        let columns = ["scheme", "mean", "95 %", "ratio to base"].map(str::to_owned);
        assert_eq!(ratio_first(&columns, 1), [0, 3, 1, 2]);
        assert_eq!(ratio_first(&columns[..3], 1), [0, 1, 2]);
        assert_eq!(ratio_first(&[], 1), [] as [usize; 0]);
    }
}
