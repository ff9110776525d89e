//! The tables of a study file that say how its records are shown, as they are written.

use super::formats::Step;
use crate::definition::DefinitionError;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// Source of a text with holes, and of what its variables are made of.
type Template = String;
type Expression = String;

/// Rules by which the records of a study are shown: `[[section]]`, `[[sentence]]`, `[[table]]`, `[[chart]]`,
/// `[[text]]`, `[formats]` and `words` of its file. What stands before the first section is the answer; what
/// follows one belongs to it, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// Macros of its templates.
    pub(super) words: String,
    /// Formats of its numbers, by name.
    pub(super) formats: BTreeMap<String, Vec<Step>>,
    /// Sentences and chart of the answer.
    pub(super) answer: Vec<Placed>,
    pub(super) sections: Vec<SectionSpec>,
}

/// A part, and the line of the file on which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub(super) line: usize,
    pub(super) part: PartSpec,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PartSpec {
    Sentence(SentenceSpec),
    Table(TableSpec),
    Chart(Box<ChartSpec>),
    Text(TextSpec),
}

impl PartSpec {
    /// Model whose workloads and schemes the part lists, if not the section's.
    pub(super) fn model(&self) -> Option<&str> {
        match self {
            Self::Sentence(spec) => spec.model.as_deref(),
            Self::Table(spec) => spec.model.as_deref(),
            Self::Chart(spec) => spec.model.as_deref(),
            Self::Text(_) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct SectionSpec {
    pub(super) line: usize,
    pub(super) head: SectionHead,
    pub(super) parts: Vec<Placed>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SectionHead {
    pub(super) title: Template,
    /// Models of its records; empty for the study's own. The lists hold what the first model with records
    /// has; without records of any of them the section is left out.
    #[serde(default)]
    pub(super) models: Vec<String>,
    #[serde(default)]
    pub(super) note: Template,
    pub(super) when: Option<Expression>,
}

/// Purpose of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Purpose {
    /// The answer to the study's question: the first that has no doubt.
    Answer,
    /// A result that contradicts the source or common belief.
    Surprise,
    /// A limit of the answer.
    Limit,
    /// A finding of the section.
    Finding,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SentenceSpec {
    #[serde(rename = "as")]
    pub(super) purpose: Purpose,
    /// Template. Each figure in it must be one that a sentence may state.
    pub(super) text: String,
    /// Expression of a list: a sentence for each `it`.
    pub(super) each: Option<String>,
    pub(super) when: Option<Expression>,
    /// Model whose workloads and schemes it lists, if not the section's.
    pub(super) model: Option<String>,
    /// With `false`, figures are stated as they were measured, whatever their bounds and controls.
    #[serde(default = "yes")]
    pub(super) checked: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableSpec {
    pub(super) caption: Template,
    /// Expression of a list: a table for each `it`.
    pub(super) each: Option<String>,
    pub(super) when: Option<Expression>,
    /// Model whose workloads and schemes it lists, if not the section's.
    pub(super) model: Option<String>,
    /// Expression of a list: a row for each `row`.
    pub(super) rows: String,
    /// Expression: the rows for which it is true.
    #[serde(rename = "where")]
    pub(super) filter: Option<String>,
    pub(super) columns: Vec<ColumnSpec>,
    /// Further rows, of other things in the same columns.
    #[serde(default)]
    pub(super) more: Vec<MoreRows>,
    /// Columns of words, from the first.
    #[serde(default = "one")]
    pub(super) left: usize,
    /// One of the visibilities, or an expression of one.
    #[serde(default = "open")]
    pub(super) shown: String,
    /// Columns without a figure stay.
    #[serde(default)]
    pub(super) empty_columns: bool,
    /// The table stays even if its cells hold words and no figure.
    #[serde(default)]
    pub(super) empty: bool,
}

fn open() -> String {
    "open".to_owned()
}

fn one() -> usize {
    1
}

/// Rows that are not of the table's list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MoreRows {
    pub(super) rows: String,
    #[serde(rename = "where")]
    pub(super) filter: Option<String>,
    /// An expression for each column.
    pub(super) cells: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnSpec {
    /// Expression of a list: the columns for each `column`.
    pub(super) each: Option<String>,
    pub(super) head: Option<Template>,
    pub(super) cell: Option<Expression>,
    /// Several columns for each.
    #[serde(default)]
    pub(super) columns: Vec<ColumnSpec>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextSpec {
    pub(super) caption: Template,
    pub(super) text: Template,
    pub(super) when: Option<Expression>,
    /// As of a table.
    #[serde(default = "open")]
    pub(super) shown: String,
}

/// The kinds of charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Draws {
    Bars,
    Lines,
    Forest,
}

/// A chart: the fields that its kind has.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChartSpec {
    pub(super) draws: Draws,
    /// Expression of a list: a chart for each `it`.
    pub(super) each: Option<String>,
    pub(super) when: Option<Expression>,
    /// Model whose workloads and schemes it lists, if not the section's.
    pub(super) model: Option<String>,
    /// Name and unit of the axis, a template; of lines, of the vertical one.
    pub(super) axis: String,
    /// Template: the horizontal axis of lines.
    #[serde(default)]
    pub(super) across: String,
    /// Expression of a list: a drawing for each `plot`.
    pub(super) plots: Option<String>,
    /// Templates, for each drawing.
    #[serde(default)]
    pub(super) caption: String,
    #[serde(default)]
    pub(super) note: String,
    #[serde(default)]
    pub(super) title: String,
    /// Expression of a list: headings, a group of bars for each `group`.
    pub(super) groups: Option<String>,
    /// Template: the heading of a group.
    pub(super) heading: Option<String>,
    /// Expression of a list: the bars, lines, or rows, each as `item`.
    pub(super) items: String,
    /// Expression: the items for which it is true.
    #[serde(rename = "where")]
    pub(super) filter: Option<String>,
    /// Expression of a list: the points of a line, each as `point`.
    pub(super) points: Option<String>,
    /// Expression: the place of a point across.
    pub(super) x: Option<String>,
    /// Expression of a figure.
    pub(super) value: String,
    /// Items without a figure stay.
    #[serde(default)]
    pub(super) empty: bool,
    /// Templates of an item.
    #[serde(default = "item")]
    pub(super) label: String,
    /// Template of the printed figure, with `value`.
    #[serde(default)]
    pub(super) figure: String,
    /// Template of the title of a bar, for those who do not see the drawing, with `segments`.
    pub(super) item_title: Option<String>,
    /// Expression: `"ours"`, `"peer"`, `"historical"`, `"danger"`, or a number of a category.
    #[serde(default = "peer")]
    pub(super) role: String,
    /// Expression: only the outline of a bar.
    pub(super) hollow: Option<String>,
    /// Expression: the second figure of a bar.
    pub(super) tick: Option<String>,
    /// Meaning of the second figure.
    pub(super) tick_label: Option<String>,
    /// Expression of a list of pairs: the parts of a bar.
    pub(super) segments: Option<String>,
    /// Expression: a line in its role's colour, with a label.
    #[serde(default = "never")]
    pub(super) emphasised: String,
    /// Expression of a list: lines, most interesting first. Their `place` in it counts from 0.
    pub(super) order: Option<String>,
    /// Expression of a list of pairs: roles and their meanings.
    pub(super) legend: Option<String>,
    /// Meaning of the whiskers.
    pub(super) whiskers: Option<String>,
    /// Expression: a figure to compare bars with.
    pub(super) reference: Option<String>,
    /// Template: the label of the reference.
    #[serde(default)]
    pub(super) reference_label: String,
    /// Expression of a list of triples: from, to, label of what is shaded.
    pub(super) shades: Option<String>,
    /// The figure of no difference.
    #[serde(default)]
    pub(super) zero: f64,
    #[serde(default)]
    pub(super) log: bool,
}

fn item() -> String {
    "{{ item }}".to_owned()
}

fn peer() -> String {
    "'peer'".to_owned()
}

fn never() -> String {
    "false".to_owned()
}

/// The tables of the file that lay out the report.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    words: String,
    #[serde(default)]
    formats: BTreeMap<String, Vec<Step>>,
    #[serde(default)]
    section: Vec<Spanned<SectionHead>>,
    #[serde(default)]
    sentence: Vec<Spanned<SentenceSpec>>,
    #[serde(default)]
    table: Vec<Spanned<TableSpec>>,
    #[serde(default)]
    chart: Vec<Spanned<Box<ChartSpec>>>,
    #[serde(default)]
    text: Vec<Spanned<TextSpec>>,
}

/// Most sections of a file, and most sentences, tables, charts and texts.
const MOST_SECTIONS: usize = 64;
const MOST_PARTS: usize = 512;

impl PartSpec {
    /// Name of its table in the file.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Sentence(_) => "sentence",
            Self::Table(_) => "table",
            Self::Chart(_) => "chart",
            Self::Text(_) => "text",
        }
    }

    /// Checks that the part may stand where it is, and that its columns have heads and cells.
    fn check(&self, is_in_section: bool) -> Result<(), &'static str> {
        let is_finding = matches!(self, Self::Sentence(SentenceSpec { purpose: Purpose::Finding, .. }));
        match self {
            Self::Sentence(_) if is_in_section != is_finding => Err(
                "as: before the first [[section]] stand answers, surprises and limits, behind it findings",
            ),
            Self::Table(_) | Self::Text(_) if !is_in_section => Err(
                "rows: it stands before the first [[section]], where only sentences and a chart are shown",
            ),
            Self::Table(TableSpec { columns, .. }) if !columns.iter().all(ColumnSpec::is_whole) => {
                Err("columns: each has a head and a cell, or columns")
            }
            Self::Table(TableSpec { columns, .. }) if columns.is_empty() => Err("columns: there are none"),
            _ => Ok(()),
        }
    }
}

impl ColumnSpec {
    /// Tests if it has a head and a cell, or further columns.
    fn is_whole(&self) -> bool {
        if self.columns.is_empty() {
            return self.head.is_some() && self.cell.is_some();
        }
        self.head.is_none() && self.cell.is_none() && self.columns.iter().all(Self::is_whole)
    }
}

impl Layout {
    /// Names of the fields of a study file that are read here.
    pub const FIELDS: [&str; 7] = ["words", "formats", "section", "sentence", "table", "chart", "text"];

    /// `true` if the file says nothing about how its records are shown.
    pub fn is_empty(&self) -> bool {
        self.answer.is_empty() && self.sections.is_empty()
    }

    /// Reads the layout of the study file `text`; `origin` is named in errors.
    ///
    /// # Errors
    /// A field is unknown, missing or of another type, with its line.
    pub(crate) fn parse(text: &str, origin: &str) -> Result<Self, DefinitionError> {
        let file: File = toml::from_str(text).map_err(|error| DefinitionError::new(origin, error))?;
        let line = |at: usize| text.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1;
        let mut placed: Vec<(usize, PartSpec)> = Vec::new();
        placed
            .extend(file.sentence.into_iter().map(|s| (s.span().start, PartSpec::Sentence(s.into_inner()))));
        placed.extend(file.table.into_iter().map(|t| (t.span().start, PartSpec::Table(t.into_inner()))));
        placed.extend(file.text.into_iter().map(|t| (t.span().start, PartSpec::Text(t.into_inner()))));
        placed.extend(file.chart.into_iter().map(|c| (c.span().start, PartSpec::Chart(c.into_inner()))));
        placed.sort_by_key(|(at, _)| *at);
        let heads = file.section.into_iter().map(|head| (head.span().start, head.into_inner()));
        let (mut starts, mut sections) = (Vec::new(), Vec::new());
        for (at, head) in heads {
            starts.push(at);
            sections.push(SectionSpec { line: line(at), head, parts: Vec::new() });
        }
        if sections.len() > MOST_SECTIONS || placed.len() > MOST_PARTS {
            let fault = format!("line 1: section.more than {MOST_SECTIONS} sections or {MOST_PARTS} parts");
            return Err(DefinitionError::new(origin, fault));
        }
        let mut answer = Vec::new();
        for (at, part) in placed {
            let before = starts.iter().take_while(|start| **start < at).count();
            let section = before.checked_sub(1).and_then(|i| sections.get_mut(i));
            part.check(section.is_some()).map_err(|fault| {
                DefinitionError::new(origin, format!("line {}: {}.{fault}", line(at), part.name()))
            })?;
            let parts = match section {
                Some(section) => &mut section.parts,
                None => &mut answer,
            };
            parts.push(Placed { line: line(at), part });
        }
        Ok(Self { words: file.words, formats: file.formats, answer, sections })
    }
}
