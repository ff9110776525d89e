//! The reports as text: a table of schemes and attacks, its legend, and the verdicts.

use super::tried::{lengths, without_flood};
use super::{bias, identity, search};
use hashlane_audit::attack::{About, Knowledge};
use hashlane_audit::audit::{Epsilon, Outcome, Report, Settings};
use hashlane_audit::flood::Flood;
use hashlane_audit::table::{Geometry, MAX_KEYS, Resolution};
use hashlane_audit::verdict::{Verdict, power_of_two, rounded};
use hashlane_peers::audited::NOT_AUDITED;
use hashlane_stats::format::count;
use std::fmt::Write as _;
use std::path::Path;

/// Columns of a line of the legend.
const WIDTH: usize = 110;

/// Reports, with the file that has the keys.
pub(super) fn text(reports: &[Report], settings: &Settings, keys: Option<&Path>) -> String {
    let mut text = format!(
        "Table: {}. Seed {}. No connection is opened.\n\n",
        describe(&settings.geometry),
        settings.seed
    );
    if let [report] = reports {
        verdicts(&mut text, reports, keys);
        attacks(&mut text, report);
        return text;
    }
    // A function that fails is not attacked.
    if reports.iter().any(|report| !report.attempts.is_empty()) {
        matrix(&mut text, reports);
        text.push('\n');
    }
    verdicts(&mut text, reports, keys);
    text.push('\n');
    lines(&mut text, &summary(reports));
    text
}

/// Number of functions by what their floods need; each counts once, where least is needed.
fn summary(reports: &[Report]) -> String {
    let of = |is: fn(&Verdict) -> bool| reports.iter().filter(|report| is(&report.verdict)).count();
    let results = of(|verdict| matches!(verdict, Verdict::Floodable(Knowledge::Results, ..)));
    let faulty = of(Verdict::is_faulty);
    format!(
        "Of {} functions, {} are floodable without any knowledge, {results} more by whoever learns results, \
         {} more if the seed leaks; of {} no flood is known to this audit{}.",
        reports.len(),
        of(Verdict::is_floodable) - results,
        of(|verdict| matches!(verdict, Verdict::IfSeedLeaks(..))),
        of(|verdict| matches!(verdict, Verdict::Proved(_) | Verdict::WeakPair(_) | Verdict::NoneKnown)),
        if faulty > 0 { format!("; {faulty} are faulty") } else { String::new() },
    )
}

fn verdicts(text: &mut String, reports: &[Report], keys: Option<&Path>) {
    for report in reports {
        let keys = keys.filter(|_| report.verdict.flood().is_some());
        let keys = keys.map(|path| format!("; keys in {}", path.display())).unwrap_or_default();
        let searched = report.searched.as_ref().map(search::clause);
        let searched = searched.map(|clause| format!("; {clause}")).unwrap_or_default();
        lines(text, &format!("{}: {}{searched}{keys}", report.info.id, report.sentence()));
    }
}

/// ε of one function, the attacks that flood the table, and the number of all others.
fn attacks(text: &mut String, report: &Report) {
    if report.attempts.is_empty() {
        return;
    }
    lines(text, &format!("ε: {}", epsilon_sentence(&report.epsilon)));
    if let Some(bias) = &report.bias {
        lines(text, &format!("bias: {}", bias::sentence(bias)));
    }
    if let Some(identity) = &report.identity {
        identity::sentences(identity, &report.info).iter().for_each(|sentence| lines(text, sentence));
    }
    let floods = report.attempts.iter().filter_map(|(about, outcome)| match outcome {
        Outcome::Flood(flood) => Some((about, flood)),
        _ => None,
    });
    let floods: Vec<(&About, &Box<Flood>)> = floods.collect();
    if !floods.is_empty() {
        text.push_str("\nAttacks that flood the table, with what each needs to know:\n");
    }
    for (about, flood) in &floods {
        // The source of an attack on other functions says nothing about this one.
        let known = match about.aims_at {
            [other, ..] if !about.aims_at.contains(&report.info.id.as_str()) => {
                format!("an attack known for {other}: ")
            }
            _ => String::new(),
        };
        let note = flood.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
        let About { id, knowledge, title, source, .. } = about;
        let sentence = match flood.made_with {
            None => format!("{id} (needs {knowledge}): {title} ({known}{source}){note}"),
            // The reason is about one seed, and does not explain the others.
            Some(_) => format!(
                "{id} (needs {knowledge}): its keys flood tables of fresh seeds as well, so the seed does \
                 not protect: whoever draws a seed of his own makes them"
            ),
        };
        lines(text, &sentence);
    }
    text.push('\n');
    lines(text, &without_flood(report, floods.len()));
    lines(text, &lengths(report));
}

/// Hashes that are not audited, with the reasons.
pub(super) fn not_audited() -> String {
    let mut text = "\nNot audited:\n".to_owned();
    for missing in NOT_AUDITED {
        lines(&mut text, &format!("{}: {}", missing.id, missing.reason));
    }
    text
}

/// One row for each scheme, one column for each attack.
fn matrix(text: &mut String, reports: &[Report]) {
    let Some(attempts) = reports.iter().map(|report| &report.attempts).max_by_key(|attempts| attempts.len())
    else {
        return;
    };
    let wide = reports.iter().map(|report| report.info.id.len()).max().unwrap_or(0).max(6);
    let numbers: String = (1..=attempts.len()).map(|number| format!("{number:>3}")).collect();
    push(text, &format!("{:wide$}  {:>9} {numbers}", "scheme", "ε"));
    for report in reports {
        let marks: String =
            report.attempts.iter().map(|(about, outcome)| mark(about.knowledge, outcome)).collect();
        push(text, &format!("{:wide$}  {:>9} {marks}", report.info.id, epsilon(&report.epsilon)));
    }
    text.push_str(
        "\nN floods the table without the seed, R after learning results, S if the seed leaks; - its keys \
         take no\nmore work than random ones; . it does not apply. ε: share of seeds for which the worst \
         pair known collides.\n\n",
    );
    for (number, (about, _)) in (1..).zip(attempts) {
        let line = format!("{number:>2} {}: {} ({})", about.id, about.title, about.source);
        lines(text, &line);
    }
}

fn mark(knowledge: Knowledge, outcome: &Outcome) -> &'static str {
    match (outcome, knowledge) {
        (Outcome::Flood(_), Knowledge::Nothing) => "  N",
        (Outcome::Flood(_), Knowledge::Results) => "  R",
        (Outcome::Flood(_), Knowledge::Seed) => "  S",
        (Outcome::Harmless, _) => "  -",
        (Outcome::NotApplicable(_) | Outcome::NotTried, _) => "  .",
    }
}

/// ε in few characters.
pub(super) fn epsilon(epsilon: &Epsilon) -> String {
    match epsilon {
        Epsilon::Proved(proved) => format!("≤ {}", power_of_two(proved.log2)),
        Epsilon::Broken { log2, .. } => power_of_two(*log2),
        Epsilon::Measured { .. } => "none".to_owned(),
        Epsilon::Unknown => "unknown".to_owned(),
    }
}

/// ε in a sentence.
pub(super) fn epsilon_sentence(epsilon: &Epsilon) -> String {
    match epsilon {
        Epsilon::Proved(proved) => {
            format!("proved ≤ {} a pair: {}", power_of_two(proved.log2), proved.source)
        }
        Epsilon::Broken { source, measured, log2, .. } => format!(
            "broken: a pair collides for {} of the seeds ({} of {} here, 95 % interval {} to {}): {source}",
            power_of_two(*log2),
            count(measured.collisions as f64),
            count(measured.seeds as f64),
            power_of_two(measured.low.log2()),
            power_of_two(measured.high.log2()),
        ),
        Epsilon::Measured { keys, seeds } => format!(
            "measured: no pair of {} keys of low weight collided twice under {} seeds, which shows pairs \
             that collide for more than {} of the seeds",
            count(*keys as f64),
            count(*seeds as f64),
            // Five expected collisions are two or more in 96 % of the cases.
            power_of_two((5.0 / *seeds as f64).log2()),
        ),
        Epsilon::Unknown => "unknown: the function has failed".to_owned(),
    }
}

/// A table in one clause.
pub(super) fn describe(geometry: &Geometry) -> String {
    let kind = match geometry.kind {
        Resolution::Chained => "chains",
        Resolution::Linear => "linear probing",
        Resolution::Swiss { .. } => "Swiss groups of 16",
    };
    let growth = match geometry.grows_at {
        Some(load) => format!("doubling at a load of {}", rounded(load)),
        None => "never growing".to_owned(),
    };
    if geometry.buckets_for(MAX_KEYS) == 1 {
        return format!(
            "{}, one bucket, {growth}: each lookup compares all keys, whatever the hash",
            geometry.name
        );
    }
    let buckets = count(geometry.buckets as f64);
    format!("{}, {kind}, {buckets} buckets when empty, {growth}", geometry.name)
}

/// Appends a line without spaces at its end.
fn push(text: &mut String, line: &str) {
    // A `String` takes everything.
    let _ = writeln!(text, "{}", line.trim_end());
}

/// Appends `line` in lines of [`WIDTH`] columns.
fn lines(text: &mut String, line: &str) {
    for (place, line) in textwrap(line, WIDTH - 4).into_iter().enumerate() {
        push(text, &if place == 0 { line } else { format!("    {line}") });
    }
}

/// The words of `text` in lines of at most `width` characters.
fn textwrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let long = lines.last().is_some_and(|line| line.chars().count() + 1 + word.chars().count() > width);
        match lines.last_mut() {
            Some(line) if !long && !line.is_empty() => {
                line.push(' ');
                line.push_str(word);
            }
            Some(line) if line.is_empty() => line.push_str(word),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
