//! The reports as a page: one picture per verdict, hostile keys against the work of the table.

use super::picture;
use hashlane_audit::curve::Curve;
use hashlane_stats::format::plain;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:light-dark(#1c1e21,#e7e8ea);background:light-dark(#fff,#0d1117)}\
h2{margin-top:2.5rem}svg{max-width:36rem;width:100%;height:auto}\
small{color:light-dark(#5a6068,#a2a9b2)}";

/// Verdict on one function or table.
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    pub(super) sentence: String,
    pub(super) facts: Vec<String>,
    /// The picture's curve, and true if its keys flood the table.
    pub(super) curve: Option<(&'a Curve, bool)>,
}

/// A page that needs no other file.
pub(super) fn html(table: &str, seed: u64, parts: &[Part<'_>]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>hashlane audit</title>\
         <style>{STYLE}</style></head><body>\n<h1>hashlane audit</h1>\n<p>Table: {}. Seed {seed}.</p>\n",
        escaped(table),
    );
    for part in parts {
        page += &format!("<h2>{}</h2>\n", escaped(part.name));
        page += &format!("<p><strong>{}</strong></p>\n", escaped(&part.sentence));
        for fact in &part.facts {
            page += &format!("<p><small>{}</small></p>\n", escaped(fact));
        }
        let drawn = part.curve.and_then(|(curve, flooded)| Some((picture::of_one(curve, flooded)?, curve)));
        match drawn {
            Some((svg, curve)) => {
                page += &format!("{svg}<p><small>{}</small></p>\n", escaped(&origin(curve)));
            }
            None => page += "<p><small>No picture: the function gives no hashes.</small></p>\n",
        }
    }
    page + "</body></html>\n"
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

/// Text from outside as HTML.
fn escaped(text: &str) -> String {
    plain(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
