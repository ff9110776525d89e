//! Summaries for people, on standard error.

use crate::loaded::{List, Loaded};
use crate::search::Names;
use hashlane_name_lists::{CompiledList, Counts, Reason, Refused};
use hashlane_stats::format::{count, significant};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// A count and its noun, the thousands apart.
fn counted(number: u64, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {noun}{s}", count(number as f64))
}

/// A line for each reason.
fn refused(text: &mut String, refused: &BTreeMap<Reason, Refused>) {
    for (reason, Refused { count: number, first_line }) in refused {
        let _ = writeln!(text, "  {}: {}, first in line {first_line}", reason.text(), count(*number as f64));
    }
}

/// A list: its format, its rules by kind, and the entries that are none.
pub(crate) fn list(list: &List) -> String {
    let CompiledList { name, format, rules, exceptions, refused: none } = &list.about;
    let noun = if *exceptions == 1 { "exception" } else { "exceptions" };
    let kinds = match &list.counts {
        Some(Counts { exact, subtree, below, .. }) => {
            vec![(*exact, "exact"), (*subtree, "subtree"), (*below, "below"), (*exceptions, noun)]
        }
        None => vec![(*rules, if *rules == 1 { "rule" } else { "rules" }), (*exceptions, noun)],
    };
    let kinds = kinds.into_iter().filter(|(number, _)| *number > 0);
    let kinds: Vec<_> = kinds.map(|(number, kind)| format!("{} {kind}", count(number as f64))).collect();
    let compiled = if list.counts.is_none() { ", compiled" } else { "" };
    let mut text = format!("{name}: {format}{compiled}, ");
    text += &if kinds.is_empty() { "no rules".to_owned() } else { kinds.join(", ") };
    if *none > 0 {
        let entries = if *none == 1 { "entry" } else { "entries" };
        let _ = write!(text, "; {} {entries} left out", count(*none as f64));
    }
    match &list.counts {
        Some(counts) if *none > 0 => {
            text += ":\n";
            refused(&mut text, &counts.refused);
        }
        _ => text.push('\n'),
    }
    text
}

/// Lists without rules, and lists most of whose entries are left out: their format may be another one. They
/// are told in any case.
pub(crate) fn warnings(loaded: &Loaded) -> String {
    let mut text = String::new();
    for CompiledList { name, format, rules, exceptions, refused } in
        loaded.lists.iter().map(|list| &list.about)
    {
        let (taken, refused) = (rules + exceptions, *refused);
        if refused > taken {
            let (refused, all) = (count(refused as f64), count((refused + taken) as f64));
            let _ = writeln!(
                text,
                "warning: {name}: {refused} of {all} entries left out; if its format is not {format}, state it: --format",
            );
        } else if taken == 0 {
            let _ = writeln!(text, "warning: {name}: no rules");
        }
    }
    text
}

/// All lists together.
pub(crate) fn total(loaded: &Loaded) -> String {
    let names = counted(loaded.rules.len() as u64, "name");
    let kilobytes = significant((loaded.rules.memory() as f64 / 1e3).ceil());
    format!("{names} with rules in {kilobytes} kB, read in {} s\n", significant(loaded.time.as_secs_f64()))
}

/// Names that were looked up.
pub(crate) fn names(names: &Names, time: Duration, stopped: bool) -> String {
    let seconds = time.as_secs_f64();
    let (looked_up, matched) = (counted(names.looked_up, "name"), count(names.matched as f64));
    let speed = match seconds {
        // Over less than 0.1 s, a rate says how long the start took.
        ..0.1 => String::new(),
        _ => format!(" ({} names/s)", significant(names.looked_up as f64 / seconds)),
    };
    let end = if stopped { "; stopped" } else { "" };
    let reloads = match names.reloads {
        0 => String::new(),
        reloads => format!("; {}", counted(reloads, "reload")),
    };
    let mut text =
        format!("{looked_up} in {} s{speed}, {matched} matched{reloads}{end}\n", significant(seconds));
    let none: u64 = names.refused.values().map(|refused| refused.count).sum();
    if none > 0 {
        let _ = writeln!(text, "{} left out:", counted(none, "line"));
        refused(&mut text, &names.refused);
    }
    text
}
