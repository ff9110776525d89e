//! The reports as a page: one picture per verdict, hostile keys against the work of the table.

use super::picture;
use anyhow::{Context as _, Result};
use hashlane_audit::curve::Curve;
use hashlane_lab::report::{Block, Section, sections_html};

/// Verdict on one function or table.
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    pub(super) sentence: String,
    pub(super) facts: Vec<String>,
    /// The picture's curve, and true if its keys flood the table.
    pub(super) curve: Option<(&'a Curve, bool)>,
}

/// A page that needs no other file.
pub(super) fn html(table: &str, seed: u64, parts: &[Part<'_>]) -> Result<String> {
    let sections: Vec<Section> = parts.iter().map(section).collect();
    sections_html("audit", &format!("Table: {table}. Seed {seed}."), &sections)
        .context("cannot draw the page")
}

fn section(part: &Part<'_>) -> Section {
    let mut note = part.facts.clone();
    let plots = part.curve.map(|(curve, flooded)| picture::of_one(curve, flooded, origin(curve)));
    if plots.is_none() {
        note.push("No picture: the function gives no hashes.".to_owned());
    }
    Section {
        title: part.name.to_owned(),
        note: note.join(" · "),
        findings: vec![part.sentence.clone()],
        blocks: plots.map(Block::Lines).into_iter().collect(),
    }
}

/// Origin of the keys of a picture.
fn origin(curve: &Curve) -> String {
    match &curve.made_for {
        Some(scheme) => format!(
            "Hostile keys: {} for {scheme}. Of the keys that attacks make without a seed, they cost most here.",
            curve.attack
        ),
        None => format!("Hostile keys: {}.", curve.attack),
    }
}
