//! `hashlane names check`

use crate::input::Stop;
use crate::lists::Lists;
use crate::loaded::List;
use crate::progress::Progress;
use crate::summary;
use anyhow::{Context as _, Result};
use clap::Args;
use hashlane_command::{STOPPED, terminal};
use hashlane_name_lists::{CompiledList, Reason, Refused};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Show the format of lists, their rules by kind, and the entries that are left out, by reason
#[derive(Debug, Args)]
#[command(after_help = "\
Exit code: 0; 1 if a list has no rule; 2 after an error.

Examples:
  hashlane names check ads.txt malware.rpz
  hashlane names check *.txt --json | jq '.lists[].reasons'")]
pub(crate) struct Check {
    #[command(flatten)]
    lists: Lists,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let stop = Stop::on_signal()?;
        let Some(loaded) = self.lists.load(&stop, Progress::new())? else {
            return Ok(ExitCode::from(STOPPED));
        };
        terminal::tell(&summary::warnings(&loaded));
        let text = if self.json {
            let lists: Vec<_> = loaded.lists.iter().map(json).collect();
            let (names, memory) = (loaded.rules.len(), loaded.rules.memory());
            let seconds = loaded.time.as_secs_f64();
            json!({ "lists": lists, "names": names, "bytes": memory, "seconds": seconds }).to_string() + "\n"
        } else {
            let lists: String = loaded.lists.iter().map(summary::list).collect();
            lists + &summary::total(&loaded)
        };
        terminal::print_verdict(&text).context("cannot write to standard output")?;
        let is_empty = |list: &List| list.about.rules == 0;
        Ok(if loaded.lists.iter().any(is_empty) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn json(list: &List) -> Value {
    let CompiledList { name, format, rules, exceptions, refused } = &list.about;
    let mut shown = json!({
        "list": name, "format": format.id(), "rules": rules, "exceptions": exceptions, "left_out": refused,
    });
    if let (Some(counts), Some(shown)) = (&list.counts, shown.as_object_mut()) {
        let reason = |(reason, refused): (&Reason, &Refused)| {
            (reason.id().to_owned(), json!({ "count": refused.count, "first_line": refused.first_line }))
        };
        let reasons: serde_json::Map<_, _> = counts.refused.iter().map(reason).collect();
        let kinds = [("exact", counts.exact), ("subtree", counts.subtree), ("below", counts.below)];
        shown.extend(kinds.map(|(kind, number)| (kind.to_owned(), number.into())));
        shown.insert("lines".to_owned(), counts.lines.into());
        shown.insert("reasons".to_owned(), reasons.into());
    }
    shown
}
