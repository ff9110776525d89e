//! `hashlane names match`

use crate::input::{BLOCK, Input, Stop, is_stdin};
use crate::lists::Lists;
use crate::loaded::Loaded;
use crate::output::Output;
use crate::progress::Progress;
use crate::reload::{Reader, Reload};
use crate::search::{MAX_LINE, Names, Search, Wanted};
use crate::summary;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use hashlane_command::{STOPPED, terminal};
use hashlane_name_lists::Reason;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Print the names that lists match, each with its list and rule
///
/// Names come one a line. A line of output has the name, the list, the name of the rule, and its target:
/// exact, subtree or below; tabs stand between them. Of several rules the longest is printed, of the first
/// list that has it.
#[derive(Debug, Args)]
#[command(after_help = "\
Formats of lists:
  hosts    0.0.0.0 NAME...        the name alone; also 127.0.0.1, ::, ::1
  domains  NAME, .NAME, *.NAME    the name alone (--plain), with all below, the names below
  adblock  ||NAME^, @@||NAME^     the name and all below; an exception
  v2ray    domain:NAME, full:NAME the name and all below; the name alone
  rpz      NAME CNAME .           the name alone; CNAME rpz-passthru. is an exception
  psl      NAME, *.NAME, !NAME    the public suffix list
  dnsmasq  address=/NAME/#        the name and all below; also local=/NAME/, server=/NAME/
Entries of other kinds are counted by reason on standard error, and match nothing. An exception
holds for its own list; in RPZ zones, the longest of rules and exceptions wins.

SIGHUP reads the lists again, from files only, while names are matched by the former rules. A list
that cannot be read leaves these as they are, with an error on standard error.

Exit code: 0 if a name was printed or counted, 1 if none was, 2 after an error, 130 after Ctrl-C.

Examples:
  hashlane names match ads.txt malware.rpz < names.txt
  hashlane names match ads.txt --names names.txt --invert > clean.txt
  tail -f queries.txt | hashlane names match ads.txt -q | cut -f 1
  hashlane names match <(zcat ads.txt.gz) --json < names.txt | jq .rule")]
pub(crate) struct Match {
    #[command(flatten)]
    lists: Lists,
    /// File of names; standard input by default
    #[arg(long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    names: PathBuf,
    /// Print the names that match nothing
    #[arg(short = 'v', long, conflicts_with = "all")]
    invert: bool,
    /// Print all rules of a name, the longest first, not one
    #[arg(short, long)]
    all: bool,
    /// Print the number of names instead of the names
    #[arg(short, long, conflicts_with_all = ["all", "json"])]
    count: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    /// Read the lists again when their files change, without a signal
    #[arg(long)]
    watch: bool,
    /// Print no summary of lists and names
    #[arg(short, long)]
    quiet: bool,
}

impl Match {
    pub(crate) fn run(self) -> Result<ExitCode> {
        if is_stdin(&self.names) && self.lists.take_stdin() {
            bail!("both a list and the names are standard input; name a file of names: --names FILE");
        }
        let (stop, asked) = Stop::on_signal_but_hangup()?;
        let input = Input::open(&self.names, &stop)?;
        let (watch, quiet) = (self.watch, self.quiet);
        let reader = Reader { lists: self.lists.clone(), stop: stop.clone(), asked, watch, quiet };
        let reload = Reload::start(reader)?;
        let Some(loaded) = self.lists.load(&stop, Progress::new())? else {
            return Ok(ExitCode::from(STOPPED));
        };
        terminal::tell(&summary::warnings(&loaded));
        if !self.quiet {
            let lists: String = loaded.lists.iter().map(summary::list).collect();
            terminal::tell(&(lists + &summary::total(&loaded)));
        }
        let (names, time) = self.search(loaded, &reload, input, &stop)?;
        if !self.quiet {
            terminal::tell(&summary::names(&names, time, stop.is_set()));
        }
        let chosen = if self.invert { names.looked_up - names.matched } else { names.matched };
        if self.count {
            terminal::print_verdict(&format!("{chosen}\n")).context("cannot write to standard output")?;
        }
        Ok(match chosen {
            _ if stop.is_set() => ExitCode::from(STOPPED),
            0 => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        })
    }

    const fn wanted(&self) -> Wanted {
        match (self.count, self.invert, self.all) {
            (true, ..) => Wanted::Nothing,
            (_, true, _) => Wanted::Inverted,
            (.., true) => Wanted::All,
            _ => Wanted::Longest,
        }
    }

    /// Looks up all names, and writes those that are wanted.
    fn search(
        &self,
        loaded: Loaded,
        reload: &Reload,
        mut input: Input,
        stop: &Stop,
    ) -> Result<(Names, Duration)> {
        let mut out = Output::new(&loaded.lists, self.json)?;
        let mut search = Search::new(loaded.rules, self.wanted());
        let mut progress = Progress::new();
        let mut room = vec![0; MAX_LINE + BLOCK + 1];
        // Bytes of a line that has begun, at the start of the room; and a line that is too long.
        let (mut begun, mut is_skipped, mut bytes) = (0, false, 0);
        loop {
            let len = input.read(room.get_mut(begun..begun + BLOCK).unwrap_or_default())?;
            let mut end = begun + len;
            if len == 0 {
                if stop.is_set() || end == 0 && !is_skipped {
                    break;
                }
                // The last line has no line feed.
                if let Some(place) = room.get_mut(end) {
                    (*place, end) = (b'\n', end + 1);
                }
            }
            bytes += len as u64;
            // A line is looked up by the rules of one reading.
            if let Some(loaded) = reload.take() {
                out.set_lists(&loaded.lists);
                search.replace(loaded.rules);
            }
            let mut text = room.get(..end).unwrap_or_default();
            if is_skipped && let Some(line_end) = memchr::memchr(b'\n', text) {
                text = text.get(line_end + 1..).unwrap_or_default();
                is_skipped = false;
            }
            let lines = memchr::memrchr(b'\n', text).map_or(0, |last| last + 1);
            let (lines, rest) = text.split_at(if is_skipped { 0 } else { lines });
            search.block(lines, &mut out).context("cannot write to standard output")?;
            if !is_skipped && rest.len() > MAX_LINE {
                is_skipped = true;
                search.names.lines += 1;
                search.names.refuse(Reason::TooLong);
            }
            let kept = if is_skipped { end..end } else { end - rest.len()..end };
            begun = kept.len();
            room.copy_within(kept, 0);
            out.flush().context("cannot write to standard output")?;
            progress.refresh(input.name(), search.names.lines, bytes, input.len());
            if len == 0 {
                break;
            }
        }
        Ok((search.names, progress.elapsed()))
    }
}
