//! Studies as JSON: sentences and tables. Drawings are left out, as the tables have the same figures.

use super::answer::Answer;
use super::part::Part;
use super::section::{Block, Section};
use crate::evidence::Doubt;
use serde_json::{Value, json as object};

/// The studies of a report, a list.
pub fn json(parts: &[Part<'_>]) -> Value {
    parts.iter().map(study).collect()
}

fn study(part: &Part<'_>) -> Value {
    object!({
        "study": part.definition.slug,
        "question": part.definition.question,
        "answer": part.answer.as_ref().map(answer),
        "sections": part.sections.iter().map(section).collect::<Vec<_>>(),
    })
}

fn answer(answer: &Answer) -> Value {
    let (text, precision, doubt) = match &answer.sentence {
        Ok(statement) => (Some(&statement.text), statement.precision(), None),
        Err(doubt) => (None, None, Some(doubt)),
    };
    object!({
        "text": text,
        "precision": precision,
        "withheld": doubt.map(ToString::to_string),
        "is_noise": doubt.is_some_and(Doubt::is_noise),
        "surprises": answer.surprises,
        "limits": answer.limits,
    })
}

fn section(section: &Section) -> Value {
    let block = |block: &Block| match block {
        Block::Table(table) => {
            Some(object!({ "caption": table.caption, "columns": table.columns, "rows": table.rows }))
        }
        Block::Text(text) => Some(object!({ "caption": text.caption, "text": text.text })),
        Block::Lines(_) | Block::Bars(_) | Block::Forest(_) => None,
    };
    object!({
        "title": section.title,
        "note": section.note,
        "findings": section.findings,
        "blocks": section.blocks.iter().filter_map(block).collect::<Vec<_>>(),
    })
}
