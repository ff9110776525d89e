//! Pictures: hostile keys in the table against its work.

use crate::output::progress::Progress;
use anyhow::Result;
use hashlane_audit::attack::attacks;
use hashlane_audit::audit::{Report, Settings};
use hashlane_audit::curve::{Curve, Point, Work, from_flood, from_foreign_keys};
use hashlane_audit::draw::Draw;
use hashlane_audit::key_sets::Choices;
use hashlane_audit::registered::subjects;
use hashlane_audit::subject::AuditedHash;
use hashlane_audit::verdict::{Flaw, Verdict};
use hashlane_lab::report::{Line, LinePlot, LinePlots, Role, Series};
use hashlane_lab::study::Step;
use hashlane_stats::Interval;

/// Most that curves drawn as one line differ, as a ratio.
const ALIKE: f64 = 1.1;

/// Keys from which curves are compared: with fewer, chance decides.
const ENOUGH: usize = 64;

/// The curve of each report: its flood, or, of a function without one, the worst of the keys made for others.
/// `None` of a function that fails.
pub(super) fn curves(
    reports: &[Report],
    settings: &Settings,
    asked: Vec<&mut dyn AuditedHash>,
) -> Result<Vec<Option<Curve>>> {
    let mut curves: Vec<Option<Curve>> = reports.iter().map(|_| None).collect();
    let (mut others, mut places) = (Vec::new(), Vec::new());
    for ((place, report), subject) in reports.iter().enumerate().zip(asked) {
        // It would fail again, and each time at the limit of its time.
        if matches!(report.flaw, Some(Flaw::Fault(_))) {
            continue;
        }
        match report.verdict.attack().zip(report.verdict.flood()) {
            Some(flood) => {
                let draw = &mut Draw::new(settings.seed);
                curves[place] = from_flood(subject, &settings.geometry, flood, draw).ok();
            }
            None => {
                others.push(subject);
                places.push(place);
            }
        }
    }
    if others.is_empty() {
        return Ok(curves);
    }
    let progress = Progress::new("audit")?;
    let mut known = subjects();
    let (mut done, total) = (0, attacks().len());
    let tell = &mut |attack: &str, scheme: &str| {
        progress.show(Step { done, total, workload: scheme, what: &format!("picture, {attack}") });
        done = (done + 1).min(total - 1);
    };
    let choices = Choices { length: settings.length, count: settings.count, seed: settings.seed };
    let found = from_foreign_keys(&mut others, &mut known, &settings.geometry, choices, tell);
    for (place, curve) in places.into_iter().zip(found) {
        curves[place] = curve;
    }
    Ok(curves)
}

/// Hostile keys beside random ones; `note` stands above them.
pub(super) fn of_one(curve: &Curve, flooded: bool, note: String) -> LinePlots {
    let role = if flooded { Role::Danger } else { Role::Peer };
    let lines = [
        (role, "hostile keys", points(curve, |point| point.hostile)),
        (Role::Ours, "random keys", points(curve, |point| point.random)),
    ];
    let lines = lines.map(|(role, name, points)| (role, name.to_owned(), points));
    plots("keys in the table", curve.work, note, lines)
}

/// Hostile keys under several functions: each report with its curve. Functions whose curves agree share a
/// line.
pub(super) fn of_many(drawn: &[(&Report, &Curve)]) -> LinePlots {
    let mut lines: Vec<(&Curve, Role, String)> = Vec::new();
    for (report, curve) in drawn {
        let (role, remark) = match &report.verdict {
            Verdict::IfSeedLeaks(..) => (Role::Peer, " (seed known)"),
            verdict if verdict.flood().is_some() => (Role::Danger, ""),
            _ => (Role::Ours, ""),
        };
        let name = format!("{}{remark}", report.info.id);
        match lines.iter_mut().find(|(other, of, _)| *of == role && agree(other, curve)) {
            Some((.., names)) => {
                *names += ", ";
                *names += &name;
            }
            None => lines.push((curve, role, name)),
        }
    }
    let lines =
        lines.into_iter().map(|(curve, role, names)| (role, names, points(curve, |point| point.hostile)));
    plots("hostile keys in the table", Work::Lookup, String::new(), lines)
}

fn agree(a: &Curve, b: &Curve) -> bool {
    let last = |curve: &Curve| curve.points.last().map(|point| point.keys);
    let near = |(a, b): (&Point, &Point)| {
        a.keys < ENOUGH || (a.hostile <= b.hostile * ALIKE && b.hostile <= a.hostile * ALIKE)
    };
    last(a) == last(b) && a.points.iter().zip(&b.points).all(near)
}

fn points(curve: &Curve, value: fn(&Point) -> f64) -> Vec<(f64, Interval)> {
    curve.points.iter().map(|point| (point.keys as f64, Interval::exact(value(point)))).collect()
}

fn plots(
    x: &str,
    work: Work,
    note: String,
    lines: impl IntoIterator<Item = (Role, String, Vec<(f64, Interval)>)>,
) -> LinePlots {
    let y = match work {
        Work::Lookup => "entries compared by a lookup",
        Work::Insertion => "entries visited by an insertion",
        Work::Time => "time of a lookup (ns)",
    };
    let (series, lines) = lines
        .into_iter()
        .map(|(role, name, points)| (Series::labelled(&name, role, &name), Line { name, points }))
        .unzip();
    LinePlots {
        x: x.to_owned(),
        y: y.to_owned(),
        series,
        plots: vec![LinePlot { caption: "Hash flooding".to_owned(), note, lines }],
        ..LinePlots::default()
    }
}
