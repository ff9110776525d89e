//! The terminal's summary, tables and verdicts.

mod summary;

pub use self::summary::summary;

use comfy_table::{Cell, CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, TableStyle};
use textwrap::{Options, WordSeparator, WordSplitter};

use super::answer::Answer;
use super::part::Part;
use super::section::{Block, Section, Shown, Table, Text};
use super::words;
use crate::definition::Definition;
use crate::outcome::{Overall, Reached, Tally};
use hashlane_records::RecordSet;
use hashlane_stats::format::{self, ratio};

/// Colouring of verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Plain text.
    Never,
    /// ANSI escape sequences (ECMA-48 SGR) around verdicts.
    Always,
}

/// A line under the header and none elsewhere: figures are read down a column.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction(' '))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .content_lines(ContentLineStyle::none().junction(' '));

/// A study's question and answer, sections, claims and criteria as text, at most `width` columns wide, as far
/// as the ids of the schemes and the pictures in stars allow.
pub fn text(part: &Part<'_>, width: u16, colours: Colours) -> String {
    let tables = tables(part.definition, part.records, &part.sections, width, colours);
    if part.sections.is_empty() { tables } else { format!("{}\n{tables}", answer(part, width, colours)) }
}

/// A study's sections, claims and criteria, as in [`text`].
pub fn tables(
    definition: &Definition,
    records: &RecordSet,
    sections: &[Section],
    width: u16,
    colours: Colours,
) -> String {
    let mut out = String::new();
    for section in sections {
        out += &section_text(section, width);
    }
    if out.is_empty() {
        return format!("Nothing of {} was measured.\n", definition.slug);
    }
    out += &claims(definition, records, width, colours);
    out += &criteria(definition, records, width, colours);
    out
}

/// The question, the answer, and the limits of the answer.
fn answer(part: &Part<'_>, width: u16, colours: Colours) -> String {
    let mut out = wrapped(&format::plain(&part.definition.question), "", width);
    let Some(Answer { sentence, limits, .. }) = &part.answer else { return out };
    let (text, code) = match sentence {
        Ok(statement) => {
            let precision = statement.precision_text().map_or(String::new(), |text| format!("  [{text}]"));
            (format!("{}{precision}", statement.text), BOLD)
        }
        Err(doubt) => (doubt.to_string(), YELLOW),
    };
    for line in wrapped(&format::plain(&text), "  ", width).lines() {
        out += &format!("{}\n", coloured(line, code, colours));
    }
    let intervals = words::intervals(part.definition, part.records);
    limits.iter().chain(&intervals).for_each(|line| out += &wrapped(&format::plain(line), "  ", width));
    out
}

/// A table in the house's style: the first `left` columns flush left, the others flush right.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>, left: usize, width: u16) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(STYLE).set_width(width).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.iter().enumerate().map(|(i, h)| cell(i, left, (*h).to_owned())));
    for row in rows {
        table.add_row(row.into_iter().enumerate().map(|(i, c)| cell(i, left, format::plain(&c))));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    let mut out = String::new();
    for line in table.lines() {
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn cell(column: usize, left: usize, content: String) -> Cell {
    let alignment = if column < left { CellAlignment::Left } else { CellAlignment::Right };
    Cell::new(content).set_alignment(alignment)
}

/// A section without its drawings, whose figures its tables have; empty if it is for the page only.
fn section_text(section: &Section, width: u16) -> String {
    let page_only = |block: &Block| match block {
        Block::Table(Table { shown, .. }) | Block::Text(Text { shown, .. }) => *shown == Shown::PageOnly,
        Block::Lines(_) | Block::Bars(_) | Block::Forest(_) => true,
    };
    if section.findings.is_empty() && section.blocks.iter().all(page_only) {
        return String::new();
    }
    let mut out = wrapped(&format::plain(&section.title), "", width);
    out += &wrapped(&format::plain(&section.note), "  ", width);
    for finding in &section.findings {
        out += &wrapped(&format::plain(finding), "  ", width);
    }
    out.push('\n');
    for block in &section.blocks {
        match block {
            Block::Table(block) if block.shown != Shown::PageOnly => {
                out += &wrapped(&format::plain(&block.caption), "", width);
                out += &section_table(block, width);
                out.push('\n');
            }
            Block::Text(block) if block.shown != Shown::PageOnly => {
                out += &wrapped(&format::plain(&block.caption), "", width);
                for line in block.text.lines() {
                    out += &format::plain(line);
                    out.push('\n');
                }
                out.push('\n');
            }
            Block::Table(_) | Block::Text(_) | Block::Lines(_) | Block::Bars(_) | Block::Forest(_) => {}
        }
    }
    out
}

/// A table, in several pieces if it is too wide; each piece begins with the columns that hold words.
fn section_table(block: &Table, width: u16) -> String {
    let wide = |column: usize| {
        let cells = block.rows.iter().filter_map(|row| row.get(column)).chain(block.columns.get(column));
        // Two spaces separate columns, and comfy-table pads them.
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + 2
    };
    let left = block.left.min(block.columns.len());
    let head: usize = (0..left).map(wide).sum();
    let mut pieces: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for column in left..block.columns.len() {
        let needed = wide(column);
        match pieces.last_mut() {
            Some(piece) if needed <= room => {
                piece.push(column);
                room -= needed;
            }
            _ => {
                pieces.push((0..left).chain([column]).collect());
                room = usize::from(width).saturating_sub(head + needed);
            }
        }
    }
    let piece = |columns: Vec<usize>| {
        let pick = |cells: &[String]| -> Vec<String> {
            columns.iter().map(|&column| cells.get(column).cloned().unwrap_or_default()).collect()
        };
        let header: Vec<String> = pick(&block.columns).iter().map(|words| format::plain(words)).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        table(&header, block.rows.iter().map(|row| pick(row)).collect(), left, width)
    };
    pieces.into_iter().map(piece).collect::<Vec<_>>().join("\n")
}

fn claims(definition: &Definition, records: &RecordSet, width: u16, colours: Colours) -> String {
    let mut out = String::new();
    for outcome in definition.claim_outcomes(records) {
        let overall = outcome.overall();
        let code = match overall {
            Overall::Agrees => GREEN,
            Overall::Disagrees => RED,
            Overall::Mixed | Overall::Undecided | Overall::NotMeasured => YELLOW,
        };
        out += &wrapped(&words::quoted(outcome.claim), "", width);
        let found = sentence(&words::comparisons(outcome.counts()));
        out += &format!("  {}\n", coloured(&found, code, colours));
        out += &wrapped(&words::range(&outcome), "  ", width);
    }
    if out.is_empty() { out } else { format!("The source's words\n\n{out}\n") }
}

fn criteria(definition: &Definition, records: &RecordSet, width: u16, colours: Colours) -> String {
    let mut out = String::new();
    let outcomes = definition.criterion_outcomes(records);
    for outcome in outcomes.iter().filter(|outcome| outcome.measured.is_some()) {
        let code = match outcome.reached {
            Reached::Met => GREEN,
            Reached::Missed => RED,
            Reached::Undecided | Reached::NotMeasured => YELLOW,
        };
        out += &wrapped(&format::plain(&words::criterion(outcome.criterion)), "", width);
        let verdict = coloured(&sentence(words::reached(outcome.reached)), code, colours);
        let measured = outcome.measured.map_or_else(|| format::NONE.to_owned(), words::ratio_with_bounds);
        out += &format!("  {verdict}: {measured}, at most {}\n", ratio(outcome.criterion.at_most));
    }
    let tally: Tally = outcomes.iter().map(|outcome| outcome.reached).collect();
    if out.is_empty() { out } else { format!("Criteria: {}\n\n{out}", words::tally(tally)) }
}

const BOLD: &str = "1";
const GREEN: &str = "32";
const RED: &str = "31";
const YELLOW: &str = "33";

fn coloured(words: &str, code: &str, colours: Colours) -> String {
    match colours {
        Colours::Never => words.to_owned(),
        Colours::Always => format!("\x1b[{code}m{words}\x1b[0m"),
    }
}

/// The words with a capital.
fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + characters.as_str()
}

/// Lines of at most `width` columns, broken at white space, each after `indent`; a longer word has a line to
/// itself.
pub fn wrapped(words: &str, indent: &str, width: u16) -> String {
    // Not at no-break spaces.
    let words: Vec<&str> = words.split_ascii_whitespace().collect();
    let options = Options::new(width.into())
        .initial_indent(indent)
        .subsequent_indent(indent)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::fill(&words.join(" "), options) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn printed(records: &RecordSet, sections: &[Section], width: u16, colours: Colours) -> String {
        let (definition, machine) = (sample::definition(), sample::machine());
        let sections = sections.to_vec();
        let part =
            Part { definition: &definition, records, machine: &machine, run: None, answer: None, sections };
        text(&part, width, colours)
    }

    #[test]
    fn prints_tables_claims_and_criteria() {
        let definition = sample::definition();
        let records = sample::records(&definition, &["names.txt"]);
        insta::assert_snapshot!(printed(&records, &[sample::section()], 100, Colours::Never));
    }

    #[test]
    fn has_colours_only_when_asked_and_no_control_characters_of_others() {
        let records = sample::records(&sample::definition(), &[]);
        let mut section = sample::section();
        section.title.push_str("\x1b[2Jmine\r\n");
        let print = |colours| printed(&records, &[section.clone()], 100, colours);
        assert!(print(Colours::Never).contains("mine") && !print(Colours::Never).contains(['\x1b', '\r']));
        assert!(print(Colours::Always).contains("\x1b[32mMet\x1b[0m"));
    }

    #[test]
    fn reports_that_nothing_was_measured() {
        let printed = printed(&RecordSet::new(), &[], 100, Colours::Never);
        assert_eq!(printed, "Nothing of sample was measured.\n");
    }

    #[test]
    fn fits_terminals_of_any_width() {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        for width in [0, 1, 40, u16::MAX] {
            assert!(printed(&records, &[sample::section()], width, Colours::Never).contains("Met"));
        }
        for line in printed(&records, &[sample::section()], 60, Colours::Never).lines() {
            assert!(line.chars().count() <= 60, "{line}");
        }
    }

    #[test]
    fn breaks_lines_at_spaces() {
        assert_eq!(wrapped("aa bb cc dddddddd e", " ", 6), " aa bb\n cc\n dddddddd\n e\n");
    }
}
