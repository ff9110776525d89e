//! Two builds, launched alternately.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};

use super::launched::Launched;
use crate::definition::{Definition, Selection};
use crate::launch::{Launch, Launcher, last_lines, unknown_scheme};
use crate::study::Step;
use hashlane_records::compare::launches::{self, Round, SIDES};
use hashlane_records::compare::{Comparison, is_time};
use hashlane_records::{Key, RecordSet};
use hashlane_stats::format::plural;

/// Most rounds of a study: more would narrow the bounds by little.
const MOST_ROUNDS: usize = 40;

/// Rounds that the size of a launch aims at.
const AIM: usize = 24;

/// Repetitions of the first launches: the fewest that a study may have.
const TRIED: u32 = 2;

/// Fewest repetitions of a launch: a median of fewer does not survive one that was interrupted.
const FEWEST: u32 = 3;

/// A launch has one of so many of the study's items at least: fewer would be learned by branch predictors.
const FEWEST_ITEMS: u32 = 8;

/// Names of the launches of a round.
const NAMES: [&str; SIDES] = ["A", "B", "A′"];

/// A comparison to run.
pub struct Plan<'a> {
    /// A and B.
    pub commands: [&'a Path; 2],
    /// Studies.
    pub studies: &'a [Definition],
    /// Compares the first workload of each study, unless the selection names workloads.
    pub first_workload: bool,
    /// Schemes and workloads to compare.
    pub selection: Selection,
    /// Compares all rows, also if there is no time for verdicts on so many.
    pub all_rows: bool,
    /// Metrics; empty stands for each study's own.
    pub metrics: &'a [String],
    /// Seconds for each study.
    pub seconds: u64,
    /// Repetitions within a launch, if they are given.
    pub repetitions: Option<u32>,
    /// Options of the launches of a study, such as its files of workloads.
    pub options: &'a dyn Fn(&Definition) -> Vec<OsString>,
    /// Ends the launch under way, and keeps the rounds before it.
    pub stop: &'a AtomicBool,
    /// Takes the events of the run.
    pub events: &'a dyn Fn(Event<'_>) -> Result<()>,
}

/// Event of a comparison under way.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A remark for the user.
    Remark(&'a str),
    /// A launch of a round of this study begins.
    Launch(&'a str, Step<'a>),
    /// The rounds of a study have ended.
    End,
}

/// Runs the studies and compares A with B. Once `stop` is set, the comparison has the rounds until then.
///
/// # Errors
/// A scheme or a metric is unknown; a build cannot be launched; the run was stopped before the first round
/// ended.
pub fn run(plan: &Plan<'_>) -> Result<Comparison> {
    let [a, b] = [command(plan.commands[0])?, command(plan.commands[1])?];
    plan.selection.check(plan.studies)?;
    let launched = plan.studies.iter().map(|study| plan.select(study)).collect::<Result<Vec<_>>>()?;

    let mut comparison = Comparison::default();
    for study in launched {
        let launcher = Launcher::new((plan.options)(&study.study), plan.stop, false)?;
        let studies = plan.studies.len();
        let run = StudyRun { plan, commands: [&a, &b], launcher, studies, begun: Instant::now() };
        if let Some(compared) = run.compare(study)? {
            comparison.extend(compared);
        }
        if plan.is_stopped() {
            break;
        }
    }
    if plan.is_stopped() {
        plan.remark("stopped by Ctrl-C; the rounds until then follow")?;
    }
    if comparison.studies.is_empty() {
        bail!(if plan.is_stopped() {
            "stopped by Ctrl-C before the first round ended"
        } else {
            "A and B have no row in common: choose what both know with STUDY, --scheme and --workload"
        });
    }
    Ok(comparison)
}

/// Path of a build, absolute.
fn command(path: &Path) -> Result<PathBuf> {
    if path.is_dir() {
        bail!(
            "{} is a folder: --run takes two commands; for folders of records, leave it out",
            path.display()
        );
    }
    path.canonicalize().with_context(|| format!("no command {}: name a build of hashlane", path.display()))
}

impl Plan<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn remark(&self, text: &str) -> Result<()> {
        (self.events)(Event::Remark(text))
    }

    /// The selected part of a study.
    fn select(&self, study: &Definition) -> Result<Launched> {
        let Some(mut selection) = self.selection.within(study) else {
            bail!("study {} has none of these schemes and workloads: leave it out, or add some", study.slug)
        };
        if self.first_workload && selection.workloads.is_empty() {
            selection.workloads.extend(study.workloads.first().cloned());
        }
        let mut study = study.clone();
        study.select(&selection)?;
        Ok(Launched::new(study))
    }

    /// The headline of a study, in place of all its rows; `None` if the user has chosen rows.
    fn headline(&self, study: &Definition) -> Result<Option<Launched>> {
        if self.all_rows || !self.selection.schemes.is_empty() || !self.selection.workloads.is_empty() {
            return Ok(None);
        }
        let mut headline = study.clone();
        headline.select(&study.headline())?;
        self.remark(&format!(
            "{}: no time for verdicts on all rows, so only on rows of its criteria and claims, {} on {}; \
             --all-rows compares all, --scheme and --workload choose",
            study.slug,
            plural(headline.schemes.len(), "scheme"),
            headline.workloads.join(", "),
        ))?;
        Ok(Some(Launched::new(headline)))
    }
}

/// The launches of one study.
struct StudyRun<'a> {
    plan: &'a Plan<'a>,
    commands: [&'a Path; 2],
    launcher: Launcher<'a>,
    /// Studies that are compared together.
    studies: usize,
    begun: Instant,
}

/// Outcome of the first launches.
struct Tried {
    records: RecordSet,
    /// Seconds of a launch without its items, and of an item in a repetition.
    fixed: f64,
    item: f64,
    /// Rows that one of the builds does not know.
    only: [Vec<Key>; 2],
}

impl StudyRun<'_> {
    /// `None` if Ctrl-C ended it before the first round.
    fn compare(&self, mut study: Launched) -> Result<Option<Comparison>> {
        let Some(mut tried) = self.try_both(&mut study)? else { return Ok(None) };
        if !self.has_time(&study.study, &tried)
            && let Some(headline) = self.plan.headline(&study.study)?
        {
            study = headline;
            match self.try_both(&mut study)? {
                Some(again) => tried = again,
                None => return Ok(None),
            }
        }
        let metrics = self.metrics(&study.study, &tried.records)?;
        let is_compared = |key: &Key| metrics.contains(&key.metric) && is_time(&key.unit);
        let rows = tried.records.iter().filter(|record| is_compared(&record.key())).count();
        let needed = launches::needed(rows, self.studies);
        let (items, repetitions, rounds) = self.size(&study.study, &tried, rows, needed)?;
        self.launcher.write_study(&study.file(items, repetitions))?;
        let rounds = self.rounds(&study.study.slug, rounds)?;
        (self.plan.events)(Event::End)?;
        if rounds.is_empty() {
            return Ok(None);
        }
        let seconds = self.begun.elapsed().as_secs_f64();
        let slug = &study.study.slug;
        let mut compared = launches::compare(slug, &rounds, seconds, self.studies, is_compared);
        let [only_a, only_b] = tried.only;
        compared.only_a.extend(only_a);
        compared.only_b.extend(only_b);
        Ok(Some(compared))
    }

    /// Launches each build once, the second with more items: schemes that a build does not know are left out,
    /// and the times tell how much work a launch has time for.
    fn try_both(&self, study: &mut Launched) -> Result<Option<Tried>> {
        let all = study.study.size.quick.items;
        let mut only = [Vec::new(), Vec::new()];
        let mut items = (all / FEWEST_ITEMS).max(1);
        let mut times = Vec::new();
        let mut records = RecordSet::new();
        for (side, command) in self.commands.into_iter().enumerate() {
            let (launched, seconds) = loop {
                self.launcher.write_study(&study.file(items, TRIED))?;
                match self.launcher.launch(command, "--quick", &mut |_| ())? {
                    Launch::Stopped => return Ok(None),
                    Launch::Records(records, seconds) => break (records, seconds),
                    Launch::Failed(status, said) => {
                        let Some(scheme) = unknown_scheme(&said) else {
                            return Err(failure(command, status, &said));
                        };
                        if !study.remove(scheme) {
                            bail!("{} does not know the scheme {scheme:?}, the last one", command.display());
                        }
                        // The other build has it, as far as is known.
                        only[1 - side].push(unknown(&study.study, scheme.to_owned()));
                    }
                }
            };
            times.push((items, seconds));
            records.extend(&launched);
            // As many as take a twelfth of the time at most.
            let share = self.plan.seconds as f64 / 12.0 / seconds * f64::from(items);
            items = all.min(share as u32).max(items);
        }
        let (fixed, item) = match times.as_slice() {
            [(few, short), (many, long)] if many > few && long > short => {
                let item = (long - short) / f64::from(many - few);
                ((short - item * f64::from(*few)).max(0.0), item)
            }
            [(few, short), ..] => (0.0, short / f64::from(*few)),
            [] => (0.0, 0.0),
        };
        Ok(Some(Tried { records, fixed, item: item / f64::from(TRIED), only }))
    }

    /// Tests if there is time for verdicts on all rows, with the fewest items.
    fn has_time(&self, study: &Definition, tried: &Tried) -> bool {
        let rows = tried.records.iter().filter(|record| record.metric == study.metric).count();
        let items = f64::from((study.size.quick.items / FEWEST_ITEMS).max(1));
        let launch = tried.fixed + tried.item * items * f64::from(FEWEST);
        launch * (SIDES * launches::needed(rows, self.studies)) as f64 <= self.left()
    }

    /// Seconds that are left.
    fn left(&self) -> f64 {
        (self.plan.seconds as f64 - self.begun.elapsed().as_secs_f64()).max(0.0)
    }

    /// Metrics to compare: the named ones, else the study's, else all times.
    fn metrics(&self, study: &Definition, records: &RecordSet) -> Result<BTreeSet<String>> {
        let times: BTreeSet<String> = records
            .iter()
            .filter(|record| is_time(&record.unit))
            .map(|record| record.metric.clone())
            .collect();
        if times.is_empty() {
            bail!("study {} times nothing that can be compared", study.slug);
        }
        if self.plan.metrics.is_empty() {
            return Ok(match times.contains(&study.metric) {
                true => [study.metric.clone()].into(),
                false => times,
            });
        }
        match self.plan.metrics.iter().find(|metric| !times.contains(*metric)) {
            None => Ok(self.plan.metrics.iter().cloned().collect()),
            Some(other) => {
                let times: Vec<String> = times.into_iter().collect();
                bail!("no time {other:?} in study {}; its times are {}", study.slug, times.join(", "))
            }
        }
    }

    /// Items and repetitions of a launch, and most rounds: [`AIM`] of them with all items if there is time,
    /// else as many as verdicts need, with fewer items. Says so if there is no time for verdicts.
    fn size(
        &self,
        study: &Definition,
        tried: &Tried,
        rows: usize,
        needed: usize,
    ) -> Result<(u32, u32, usize)> {
        let Tried { fixed, item, .. } = *tried;
        let all = study.size.quick.items;
        let left = self.left();
        // Items that a launch has time for in all repetitions, if there are so many rounds.
        let work = |rounds: usize| (left / (SIDES * rounds) as f64 - fixed) / item.max(f64::MIN_POSITIVE);
        let fewest = f64::from(self.plan.repetitions.unwrap_or(FEWEST));
        // A third more than verdicts need: rounds become longer beside other processes.
        let work = [AIM.max(needed), needed + needed.div_ceil(3)].map(work);
        let work = if work[0] >= fewest * f64::from(all) { work[0] } else { work[1] };
        let items = ((work / fewest) as u32).clamp((all / FEWEST_ITEMS).max(1), all);
        let most = study.size.quick.repetitions.max(FEWEST);
        let fitting = (work / f64::from(items)) as u32;
        let repetitions = self.plan.repetitions.unwrap_or(fitting.clamp(FEWEST, most));
        let launch = fixed + item * f64::from(items) * f64::from(repetitions);
        let round = launch * SIDES as f64;
        let rounds = ((left / round.max(0.001)) as usize).clamp(1, MOST_ROUNDS);
        let slug = &study.slug;
        self.plan.remark(&format!(
            "{slug}: {}; a launch takes {launch:.2} s, so about {} of A, B and A′ in {:.0} s",
            plural(rows, "row"),
            plural(rounds, "round"),
            rounds as f64 * round
        ))?;
        if rounds < needed {
            // Half as many again, for narrower bounds than the widest.
            let seconds = (round * needed as f64 * 1.5).ceil();
            self.plan.remark(&format!(
                "{slug}: verdicts on so many rows need {needed} rounds: --time {seconds:.0}, or fewer rows \
                 with --scheme and --workload"
            ))?;
        }
        Ok((items, repetitions, rounds))
    }

    /// Launches rounds until the time is over or Ctrl-C; only complete ones count.
    fn rounds(&self, slug: &str, most: usize) -> Result<Vec<Round>> {
        let budget = Duration::from_secs(self.plan.seconds);
        let mut rounds: Vec<Round> = Vec::new();
        let mut longest = Duration::ZERO;
        // The first round may take more than the time: without it there is nothing to show.
        while rounds.len() < MOST_ROUNDS && (rounds.is_empty() || self.begun.elapsed() + longest <= budget) {
            let begun = Instant::now();
            let mut round = [RecordSet::new(), RecordSet::new(), RecordSet::new()];
            for side in launches::order(rounds.len()) {
                let what = format!("launch of {}", NAMES[side]);
                let workload = format!("round {}", rounds.len() + 1);
                let (done, total) = (rounds.len(), most.max(rounds.len() + 1));
                let step = Step { done, total, workload: &workload, what: &what };
                (self.plan.events)(Event::Launch(slug, step))?;
                let command = self.commands[side % self.commands.len()];
                match self.launcher.launch(command, "--quick", &mut |_| ())? {
                    Launch::Records(records, _) => round[side] = records,
                    Launch::Stopped => return Ok(rounds),
                    Launch::Failed(status, said) => return Err(failure(command, status, &said)),
                }
            }
            rounds.push(round);
            longest = longest.max(begun.elapsed());
        }
        Ok(rounds)
    }
}

/// Error for a launch that failed, with the next step.
fn failure(command: &Path, status: ExitStatus, said: &str) -> anyhow::Error {
    let command = command.display();
    let lines = last_lines(said);
    match status.code() {
        Some(1) => anyhow!(
            "{command} failed: {lines}; choose what both builds know with STUDY, --scheme and --workload"
        ),
        _ => anyhow!(
            "{command} failed ({status}): {lines}; is it a build of hashlane? `{command} --version` should \
             say so"
        ),
    }
}

/// Key of a scheme that one of the builds does not know.
fn unknown(study: &Definition, scheme: String) -> Key {
    Key {
        study: study.slug.clone(),
        workload: "every workload".into(),
        scheme,
        metric: study.metric.clone(),
        unit: String::new(),
        model: study.model.clone(),
        probe: String::new(),
    }
}
