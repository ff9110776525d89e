//! The tools table: each tool over NFD and over ours.

use super::lab::Lab;
use super::node::{Forwarder, Setup};
use super::pair::Pair;
use super::report::Report;
use super::steps::{self, Outcome, Variables};
use super::{apps, nfdc, secured};

/// Runs all tools, and adds their table. Returns the rows that failed over ours.
pub(super) fn run(lab: &Lab, report: &mut Report) -> Vec<String> {
    let theirs = column(lab, Forwarder::Nfd);
    let ours = column(lab, Forwarder::Hashlane);
    let (theirs, ours) = match (theirs, ours) {
        (theirs, Ok(ours)) => (theirs, ours),
        (_, Err(why)) => return vec![format!("tools: {why}")],
    };
    if let Err(why) = &theirs {
        report.text(&format!("The tools over NFD: {why}. Nothing is compared with it."));
    }
    let mut rows = vec![["tool", "NFD", "hashlane", "text of the output"].map(str::to_owned).to_vec()];
    let (mut failed, mut details) = (Vec::new(), Vec::new());
    for (index, row) in ours.iter().enumerate() {
        let other = theirs.as_ref().ok().and_then(|theirs| theirs.get(index));
        let told = other.map_or("not run".to_owned(), |other| other.mark());
        rows.push(vec![row.name.clone(), told, row.mark(), compare(row, other, &mut details)]);
        failed.extend(row.wrong.iter().map(|why| format!("{}: {why}", row.name)));
        if let Some(other) = other {
            details.extend(other.wrong.iter().map(|why| format!("- {} over NFD: {why}", row.name)));
        }
    }
    report.table("Tools", &rows);
    if !details.is_empty() {
        report.text(&format!("Differences, `-` NFD and `+` hashlane:\n\n{}", details.join("\n")));
    }
    failed
}

/// A line of the table for one forwarder.
struct Row {
    name: String,
    /// Number of commands.
    count: usize,
    wrong: Vec<String>,
    outcomes: Vec<Outcome>,
    /// Reason that it was not run.
    missing: Option<String>,
    /// Summary of an application.
    note: String,
}

impl Row {
    fn mark(&self) -> String {
        match (&self.missing, self.wrong.len()) {
            (Some(why), _) => format!("not run: {why}"),
            (None, 0) if self.count > 1 => format!("{0} of {0}", self.count),
            (None, 0) => format!("ok{}{}", if self.note.is_empty() { "" } else { ": " }, self.note),
            (None, wrong) => format!("{} of {}", self.count.saturating_sub(wrong), self.count),
        }
    }
}

/// Text of the last column: how many outputs are equal but for numbers. Adds the differences.
fn compare(ours: &Row, theirs: Option<&Row>, details: &mut Vec<String>) -> String {
    let Some(theirs) = theirs.filter(|_| !ours.outcomes.is_empty()) else { return String::new() };
    let pairs = theirs.outcomes.iter().zip(&ours.outcomes);
    let mut equal = 0;
    let mut new = Vec::new();
    for (theirs, ours) in pairs {
        let lines = steps::difference(&theirs.lines, &ours.lines);
        if lines.is_empty() {
            equal += 1;
        }
        new.extend(lines.iter().map(|line| format!("  `{}`", shortened(line))));
    }
    new.sort();
    new.dedup();
    if new.is_empty() {
        return "equal".to_owned();
    }
    details.push(format!("- {}:\n{}", ours.name, new.join("\n")));
    format!("{equal} of {} equal", ours.outcomes.len())
}

/// The beginning of a line: XML has no end of line.
fn shortened(line: &str) -> String {
    const LONGEST: usize = 200;
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// All rows over a forwarder.
fn column(lab: &Lab, forwarder: Forwarder) -> Result<Vec<Row>, String> {
    println!("the tools over {}", forwarder.name());
    let setup = Setup { has_ether: true, ..Setup::default() };
    let pair = Pair::start_with(lab, [forwarder; 2], &setup)?;
    let mut variables = Variables::from([("mac".to_owned(), pair.link.macs()[1].clone())]);
    let mut rows = Vec::new();
    for (name, script) in nfdc::SCRIPT {
        let outcomes = steps::run(&pair.a, script, &mut variables);
        let wrong = outcomes.iter().filter_map(|outcome| outcome.wrong.clone()).collect();
        let count = script.len();
        rows.push(Row {
            name: format!("nfdc {name}"),
            count,
            wrong,
            outcomes,
            missing: None,
            note: String::new(),
        });
    }
    pair.stop()?;
    let pair = Pair::start(lab, [forwarder; 2])?;
    pair.connect("/app", "on")?;
    for app in apps::APPS {
        rows.push(app_row(
            app.name,
            lab.programs.need(app.needs).map_or_else(Err, |()| Ok((app.run)(&pair))),
        ));
    }
    pair.stop()?;
    let needs = lab.programs.need(&["ndnsec", "nfdc"]);
    rows.push(app_row(secured::NAME, needs.map(|()| secured::run(lab, forwarder))));
    Ok(rows)
}

/// A row of an application: an outer error says that a program is missing.
fn app_row(name: &str, result: Result<Result<String, String>, String>) -> Row {
    let (missing, wrong, note) = match result {
        Err(why) => (Some(why), Vec::new(), String::new()),
        Ok(Err(why)) => (None, vec![why], String::new()),
        Ok(Ok(note)) => (None, Vec::new(), note),
    };
    Row { name: name.to_owned(), count: 1, wrong, outcomes: Vec::new(), missing, note }
}
