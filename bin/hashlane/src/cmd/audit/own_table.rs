//! `hashlane audit --table ./libmytable.so`

use super::functions::launcher;
use super::{Audit, FAILED, Printed, json, page, picture, random_seed};
use crate::output::progress::Progress;
use anyhow::{Context as _, Result, bail};
use hashlane_audit::curve::from_trial;
use hashlane_audit::epsilon::vectors::hex;
use hashlane_audit::key_sets::Choices;
use hashlane_audit::library::Table;
use hashlane_audit::own_table::{Report, audit};
use hashlane_audit::registered::subjects;
use hashlane_lab::report::{Block, svg_file};
use hashlane_lab::study::Step;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Scope of the audit of a table.
const OTHERS: &str =
    "All keys were made for other hashes; if its hash is its own, audit it with --library, too.";

/// True if the name of a table names a shared object.
pub(super) fn is_library(name: &str) -> bool {
    let extension = Path::new(name).extension();
    // Also with a version, as libmytable.so.1.
    extension.is_some_and(|extension| extension == "so" || extension == "dylib") || name.contains(".so.")
}

/// Audits the table of a shared object.
pub(super) fn run(options: &Audit) -> Result<Printed> {
    if !options.schemes.is_empty() || options.library.is_some() {
        bail!(
            "{} has its own hash: leave out --scheme and --library, which choose another; audit the \
             hash alone by --library, without --table",
            options.table
        );
    }
    if options.referee.folder().is_some() || options.referee.is_table() {
        bail!(
            "{} gives no hashes: leave out --all, --markdown and --out; --write-keys writes its keys",
            options.table
        );
    }
    if options.seed_bits.is_some() {
        bail!("{} gets a seed of 16 bytes: leave out --seed-bits", options.table);
    }
    if options.search.is_chosen() {
        bail!("{} gives no hashes to search: leave out --minutes, or use --library", options.table);
    }
    let limit = Duration::from_secs(options.timeout);
    let progress = Progress::new("audit")?;
    progress.show(Step { done: 0, total: 1, workload: &options.table, what: "loading" });
    let mut table = Table::load(launcher()?, Path::new(&options.table), limit)
        .with_context(|| format!("cannot use the table {}", options.table))?;
    let choices = Choices {
        length: options.length.map(|length| length as usize),
        count: options.count as usize,
        seed: options.seed.map_or_else(random_seed, Ok)?,
    };
    let mut subjects = subjects();
    let (mut done, total) = (0, 64);
    let report = audit(&mut table, &mut subjects, choices, &mut |attack, scheme| {
        progress.show(Step { done, total, workload: scheme, what: attack });
        done = (done + 1).min(total - 1);
    });
    drop(progress);
    if report.trials.is_empty() && report.fault.is_none() {
        bail!("no attack has keys of this length, so that nothing was tried: state another with --keys");
    }
    let worst = report.worst().map(from_trial);
    let curve = worst.as_ref().map(|curve| (curve, report.is_floodable()));
    let facts =
        vec!["Keys of all attacks that need nothing were inserted into it.".to_owned(), OTHERS.to_owned()];
    let part = page::Part { name: &options.table, sentence: report.to_string(), facts, curve };
    Ok(Printed {
        text: match options.json {
            true => json::of_table(&options.table, choices.seed, choices.length, &report)?,
            false => text(&options.table, choices.seed, &report),
        },
        keys: keys_text(&options.table, &report),
        page: page::html(&options.table, choices.seed, &[part])?,
        picture: curve.and_then(|(curve, flooded)| {
            svg_file(&Block::Lines(picture::of_one(curve, flooded, String::new())))
        }),
        code: match (report.is_faulty(), report.is_floodable()) {
            (true, _) => FAILED,
            (false, flooded) => u8::from(flooded),
        },
    })
}

fn text(table: &str, seed: u64, report: &Report) -> String {
    let mut text = format!("Table: {table}. Seed {seed}. No connection is opened.\n\n");
    for trial in report.floods() {
        // A `String` takes everything.
        let ignores = if report.ignores_seed { "; ignores its seed" } else { "" };
        let _ = writeln!(text, "{trial}{ignores}");
    }
    if report.fault.is_some() || !report.is_floodable() {
        let _ = writeln!(text, "{report}");
    }
    if !report.is_faulty() && !report.is_floodable() {
        let _ = writeln!(text, "{OTHERS}");
    }
    text
}

/// Text of the file of keys.
fn keys_text(table: &str, report: &Report) -> String {
    let mut text = String::new();
    for trial in report.floods() {
        // A `String` takes everything.
        let _ = writeln!(text, "# {table}: {} for {}", trial.about.id, trial.scheme);
        trial.keys.iter().for_each(|key| text += &(hex(key) + "\n"));
    }
    text
}
