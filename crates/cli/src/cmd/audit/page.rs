//! The reports as a page: one picture per verdict, hostile keys against entries compared.

use super::table::{describe, epsilon_sentence};
use hashlane_audit::audit::{Report, Settings};
use hashlane_audit::draw::Draw;
use hashlane_audit::flood::{Flood, curve};
use hashlane_audit::subject::Subject;
use hashlane_lab::report::format::plain;
use hashlane_lab::report::{Block, Line, LinePlot, LinePlots, Role, Series, svg_file};
use hashlane_lab::stats::Interval;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:#222;background:#fff}h2{margin-top:2.5rem}svg{max-width:100%;height:auto}small{color:#666}";

/// A page that needs no other file. `subjects` are asked again for the points of the pictures.
pub(super) fn html(reports: &[Report], settings: &Settings, subjects: &mut [impl Subject]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>hashlane audit</title>\
         <style>{STYLE}</style></head><body>\n<h1>hashlane audit</h1>\n<p>Table: {}. Seed {}.</p>\n",
        escaped(&describe(&settings.geometry)),
        settings.seed
    );
    for report in reports {
        page += &format!(
            "<h2>{}</h2>\n<p><strong>{}</strong></p>\n<p><small>{} ε: {}</small></p>\n",
            escaped(&report.info.id),
            escaped(&report.sentence()),
            escaped(&report.info.source),
            escaped(&epsilon_sentence(&report.epsilon)),
        );
        let subject = subjects.iter_mut().find(|subject| subject.info().id == report.info.id);
        if let (Some(flood), Some(subject)) = (report.verdict.flood(), subject) {
            page += &picture(flood, settings, subject).unwrap_or_default();
        }
    }
    page + "</body></html>\n"
}

/// Entries compared by a lookup as the table fills; `None` if the function fails.
fn picture(flood: &Flood, settings: &Settings, subject: &mut impl Subject) -> Option<String> {
    let points = curve(subject, &settings.geometry, flood, &mut Draw::new(settings.seed)).ok()?;
    let line = |name: &str, y: fn(&hashlane_audit::flood::Point) -> f64| Line {
        name: name.to_owned(),
        points: points.iter().map(|point| (point.keys as f64, Interval::exact(y(point)))).collect(),
    };
    let block = Block::Lines(LinePlots {
        x: "keys in the table".to_owned(),
        y: "entries compared by a lookup".to_owned(),
        series: vec![
            Series::labelled("hostile", Role::Danger, "hostile keys"),
            Series::labelled("random", Role::Ours, "random keys"),
        ],
        plots: vec![LinePlot {
            lines: vec![line("hostile", |point| point.hostile), line("random", |point| point.random)],
            ..LinePlot::default()
        }],
        ..LinePlots::default()
    });
    svg_file(&block)
}

/// Text from outside as HTML.
fn escaped(text: &str) -> String {
    plain(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
