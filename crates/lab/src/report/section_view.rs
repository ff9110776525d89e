//! Sections as the page's template shows them. Text goes there as it is, to be escaped; drawings are SVG.

use serde::Serialize;

use super::bars::BarPlots;
use super::format::plain;
use super::plot::LinePlots;
use super::section::{Block, Section, Shown, Table, Text};

#[derive(Serialize)]
pub(super) struct SectionView {
    title: String,
    note: String,
    blocks: Vec<BlockView>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum BlockView {
    Table(TableView),
    Text(TextView),
    Lines(LinesView),
    Bars(BarsView),
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

#[derive(Serialize)]
struct LinesView {
    /// Class and name.
    legend: Vec<(String, String)>,
    /// Caption, note, drawing.
    plots: Vec<[String; 3]>,
}

/// Bars, in a section or as a chart of the study.
#[derive(Serialize)]
pub(super) struct BarsView {
    legend: Vec<String>,
    whiskers: Option<String>,
    /// Class and words.
    tick: Option<(&'static str, String)>,
    /// Caption and drawing.
    plots: Vec<(String, String)>,
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
        legend: plots.legend.iter().map(|words| plain(words)).collect(),
        whiskers: plots.whiskers.clone(),
        tick: plots.tick.as_ref().map(|tick| (tick.class, tick.words.clone())),
        plots: plots.draw().into_iter().map(|(caption, svg)| (plain(&caption), plain(&svg))).collect(),
    }
}

fn block(block: &Block) -> BlockView {
    let cells = |cells: &[String]| cells.iter().map(|cell| plain(cell)).collect();
    match block {
        Block::Table(Table { caption, columns, left, rows, shown }) => BlockView::Table(TableView {
            caption: plain(caption),
            columns: cells(columns),
            left: *left,
            rows: rows.iter().map(|row| cells(row)).collect(),
            open: *shown == Shown::Open,
        }),
        Block::Text(Text { caption, text, shown }) => BlockView::Text(TextView {
            caption: plain(caption),
            text: text.lines().map(|line| plain(line) + "\n").collect(),
            open: *shown == Shown::Open,
        }),
        Block::Lines(plots) => BlockView::Lines(lines(plots)),
        Block::Bars(plots) => BlockView::Bars(bars(plots)),
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
