//! Sections as the page's template shows them. Text goes there as it is, to be escaped; drawings are SVG.

use serde::Serialize;

use crate::report::charts::{BarPlots, LinePlots, draw};
use crate::report::format::plain;
use crate::report::section::{Block, Section, Shown, Table, Text};

#[derive(Serialize)]
pub(super) struct SectionView {
    title: String,
    note: String,
    blocks: Vec<BlockView>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum BlockView {
    Table(TableView),
    Text(TextView),
    Lines(LinesView),
    Bars(BarsView),
    Forest(ForestView),
}

#[derive(Serialize)]
pub(super) struct TableView {
    caption: String,
    columns: Vec<String>,
    left: usize,
    rows: Vec<Vec<String>>,
    open: bool,
}

#[derive(Serialize)]
pub(super) struct TextView {
    caption: String,
    text: String,
    open: bool,
}

#[derive(Serialize)]
pub(super) struct LinesView {
    /// Class and name.
    legend: Vec<(String, String)>,
    /// Caption, note, drawing.
    plots: Vec<[String; 3]>,
}

/// Bars, in a section or as a chart of the study.
#[derive(Serialize)]
pub(super) struct BarsView {
    /// Class and words.
    legend: Vec<(&'static str, String)>,
    whiskers: Option<String>,
    tick: Option<String>,
    /// Caption and drawing.
    plots: Vec<(String, String)>,
}

#[derive(Serialize)]
pub(super) struct ForestView {
    caption: String,
    svg: String,
}

pub(super) fn section(section: &Section) -> SectionView {
    SectionView {
        title: plain(&section.title),
        note: plain(&section.note),
        blocks: section.blocks.iter().map(block).collect(),
    }
}

pub(super) fn bars(plots: &BarPlots) -> BarsView {
    BarsView {
        legend: plots.legend.iter().map(|(role, words)| (role.class(), plain(words))).collect(),
        whiskers: plots.whiskers.clone(),
        tick: plots.tick.as_deref().map(plain),
        plots: plots.draw().into_iter().map(|(caption, svg)| (plain(&caption), plain(&svg))).collect(),
    }
}

pub(super) fn block(block: &Block) -> BlockView {
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
        Block::Lines(plots) => BlockView::Lines(lines(plots)),
        Block::Bars(plots) => BlockView::Bars(bars(plots)),
        Block::Forest(forest) => BlockView::Forest(ForestView {
            caption: plain(&forest.caption),
            svg: plain(&draw::forest::draw(forest)),
        }),
    }
}

fn lines(plots: &LinePlots) -> LinesView {
    let drawn = plots.draw();
    LinesView {
        legend: drawn.legend.into_iter().map(|(class, name)| (class, plain(&name))).collect(),
        plots: drawn
            .plots
            .into_iter()
            .map(|plot| [plain(&plot.caption), plain(&plot.note), plain(&plot.svg)])
            .collect(),
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
