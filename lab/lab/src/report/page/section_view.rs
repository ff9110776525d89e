//! Sections as the page's template shows them.

use super::drawings::{SMALL, drawings};
use crate::report::section::{Block, Section, Shown, Table, Text};
use minijinja::{Value, context};

pub(super) fn section(section: &Section) -> Value {
    context! {
        title => &section.title,
        note => &section.note,
        findings => section.findings.iter().collect::<Value>(),
        blocks => section.blocks.iter().map(block).collect::<Value>(),
    }
}

fn block(block: &Block) -> Value {
    match block {
        Block::Table(Table { caption, columns, left, rows, shown }) => {
            let order = ratio_first(columns, *left);
            let cells = |cells: &[String]| {
                let cell = |at: &usize| cells.get(*at).map_or("", String::as_str);
                order.iter().map(cell).collect::<Value>()
            };
            let rows = rows.iter().map(|row| cells(row)).collect::<Value>();
            let open = *shown == Shown::Open;
            context! { kind => "table", caption, columns => cells(columns), left, rows, open }
        }
        Block::Text(Text { caption, text, shown }) => {
            let lines = text.lines().collect::<Value>();
            context! { kind => "text", caption, lines, open => *shown == Shown::Open }
        }
        Block::Lines(_) | Block::Bars(_) | Block::Forest(_) => {
            context! { kind => "chart", drawings => drawings(block, SMALL) }
        }
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
