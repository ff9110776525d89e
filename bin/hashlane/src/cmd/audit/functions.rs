//! The audit of registered functions, and of a function in a shared object.

use super::files::{keys_text, page_of, picture_of};
use super::{Audit, FAILED, Printed, json, picture, random_seed, referee, table};
use crate::output::progress::Progress;
use anyhow::{Context as _, Result, bail};
use hashlane_audit::audit::{Report, Settings};
use hashlane_audit::epsilon::vectors;
use hashlane_audit::library::{Launcher, Library};
use hashlane_audit::registered::{Registered, subjects};
use hashlane_audit::subject::{AuditedHash, Lengths, SubjectInfo};
use hashlane_audit::table::Geometry;
use hashlane_audit::verdict::Verdict;
use hashlane_hash::scheme::Keying;
use hashlane_lab::study::Step;
use hashlane_stats::nearest::suggestion;
use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Line below a verdict without a flood on a function of the user's own.
const MEANS_LITTLE: &str = "For a function of your own, a verdict without a flood means little: most \
    attacks are made for published\nfunctions (docs/audit.md, Limits).\n";

impl Audit {
    /// Audits registered functions, or a library's.
    pub(super) fn of_functions(&self) -> Result<Printed> {
        let settings = Settings {
            geometry: geometry(&self.table)?,
            length: self.length.map(|length| length as usize),
            seed_bits: self.seed_bits,
            count: self.count as usize,
            seed: self.seed.map_or_else(random_seed, Ok)?,
        };
        let mut table = None;
        let wants_curves = self.page.is_some() || self.picture.is_some();
        let (reports, curves) = match &self.library {
            Some(path) => {
                let mut library = self.load(path, &settings)?;
                check_seed_bits(library.info(), self.seed_bits)?;
                let reports = vec![self.of_library(&mut library, &settings)?];
                self.write_keys(vec![&mut library], &reports, &settings)?;
                let asked: Vec<&mut dyn AuditedHash> = vec![&mut library];
                let curves = wants_curves.then(|| picture::curves(&reports, &settings, asked));
                (reports, curves.transpose()?)
            }
            None => {
                let mut subjects = chosen(&self.schemes)?;
                subjects.iter().try_for_each(|subject| check_seed_bits(subject.info(), self.seed_bits))?;
                let reports = self.of_schemes(&subjects, &settings)?;
                self.write_keys(dynamic(&mut subjects), &reports, &settings)?;
                if self.referee.is_table() {
                    table = Some(self.referee.text(&mut subjects, &reports, &settings, self.json)?);
                }
                let asked = dynamic(&mut subjects);
                let curves = wants_curves.then(|| picture::curves(&reports, &settings, asked));
                (reports, curves.transpose()?)
            }
        };
        let curves = curves.unwrap_or_else(|| reports.iter().map(|_| None).collect());
        Ok(Printed {
            text: table.map_or_else(|| self.text(&reports, &settings), Ok)?,
            keys: keys_text(&reports),
            page: page_of(&reports, &curves, &settings)?,
            picture: picture_of(&reports, &curves),
            code: exit_code(&reports),
        })
    }

    /// Writes the keys of functions that have not failed to the folder of `--out`.
    fn write_keys(
        &self,
        subjects: Vec<&mut dyn AuditedHash>,
        reports: &[Report],
        settings: &Settings,
    ) -> Result<()> {
        match self.referee.folder() {
            Some(folder) => referee::write_keys(folder, subjects, reports, settings),
            None => Ok(()),
        }
    }

    fn text(&self, reports: &[Report], settings: &Settings) -> Result<String> {
        if self.json {
            return json::of_functions(reports, settings);
        }
        let mut text = table::text(reports, settings, self.write_keys.as_deref());
        if self.library.is_none() && self.schemes.is_empty() {
            text += &table::not_audited();
        }
        let has_flood = |report: &Report| match &report.verdict {
            Verdict::PairAlways => false,
            verdict => verdict.is_floodable() || verdict.is_faulty(),
        };
        if self.library.is_some() && !reports.iter().any(has_flood) {
            text.push_str(MEANS_LITTLE);
        }
        Ok(text)
    }

    /// Loads the library.
    fn load(&self, path: &Path, settings: &Settings) -> Result<Library> {
        let (Some(symbol), Some(signature)) = (&self.symbol, &self.signature) else {
            bail!(
                "{} has functions of any names and types: state --symbol NAME and --signature TYPE, as in \
                 --signature 'u64(const u8* data, usize len, u64 seed)'",
                path.display()
            );
        };
        let signature = match self.secret_key {
            true => &signature
                .clone()
                .with_secret()
                .with_context(|| format!("{symbol} takes no seed ({signature}): leave out --secret-key"))?,
            false => signature,
        };
        let lengths = match (settings.length, signature.integer_bytes()) {
            (Some(length), _) => Lengths::Exactly(length),
            (None, Some(bytes)) => Lengths::Exactly(bytes),
            (None, None) if signature.has_length() => Lengths::Any,
            (None, None) => {
                bail!("{symbol} takes no length ({signature}): state the bytes of a key with --keys")
            }
        };
        let limit = Duration::from_secs(self.timeout);
        let progress = Progress::new("audit")?;
        progress.show(Step { done: 0, total: 1, workload: symbol, what: "loading" });
        Library::load(launcher()?, path, symbol, signature, lengths, limit)
            .with_context(|| format!("cannot use {}", path.display()))
    }

    fn of_library(&self, library: &mut Library, settings: &Settings) -> Result<Report> {
        let progress = Progress::new("audit")?;
        let total = hashlane_audit::attack::attacks().len() + 2;
        let calls = Cell::new(0);
        let done = || calls.replace((calls.get() + 1).min(total - 1));
        Ok(self.search.audit(library, settings, &[], (&progress, &done, total)))
    }

    /// Audits functions on all processors, and returns the reports in the order of the functions.
    fn of_schemes(&self, subjects: &[Registered], settings: &Settings) -> Result<Vec<Report>> {
        let pairs =
            vectors::committed().map_err(|(name, error)| anyhow::anyhow!("vector {name}: {error}"))?;
        let progress = Progress::new("audit")?;
        let total = subjects.len();
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let reports: Vec<Mutex<Option<Report>>> = subjects.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some((subject, place)) = subjects.get(number).zip(reports.get(number)) else { break };
                let shown = (&progress, &(|| done.load(Ordering::Relaxed)) as &dyn Fn() -> usize, total);
                let report = self.search.audit(&mut subject.clone(), settings, &pairs, shown);
                done.fetch_add(1, Ordering::Relaxed);
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
            }
        };
        thread::scope(|scope| {
            let threads = thread::available_parallelism().map_or(1, usize::from).min(total);
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        let reports =
            reports.into_iter().map(|report| report.into_inner().unwrap_or_else(PoisonError::into_inner));
        reports.collect::<Option<_>>().context("an audit has ended without a report")
    }
}

/// The functions as trait objects.
fn dynamic(subjects: &mut [Registered]) -> Vec<&mut dyn AuditedHash> {
    subjects.iter_mut().map(|subject| subject as &mut dyn AuditedHash).collect()
}

/// Checks that a seed of `bits` bits is one of this function.
fn check_seed_bits(info: &SubjectInfo, bits: Option<u32>) -> Result<()> {
    let (id, Some(bits)) = (&info.id, bits) else { return Ok(()) };
    match info.keying {
        Keying::None => bail!("{id} takes no seed: leave out --seed-bits"),
        Keying::Seed(most) | Keying::Secret(most) if most < bits => {
            bail!("{id} takes a seed of {most} bits: --seed-bits must be at most {most}, not {bits}")
        }
        Keying::Seed(_) | Keying::Secret(_) => Ok(()),
    }
}

/// The registered functions of these ids, or all.
fn chosen(ids: &[String]) -> Result<Vec<Registered>> {
    let mut all = subjects();
    if let Some(unknown) = ids.iter().find(|id| !all.iter().any(|subject| subject.info().id == **id)) {
        let ids: Vec<&str> = all.iter().map(|subject| subject.info().id.as_str()).collect();
        let near = match suggestion(unknown, ids.iter().copied()) {
            none if none.is_empty() => format!("; known: {}", ids.join(", ")),
            near => near,
        };
        bail!("unknown scheme {unknown:?}{near}");
    }
    all.retain(|subject| ids.is_empty() || ids.contains(&subject.info().id));
    Ok(all)
}

/// The start of this program as the process of a library.
pub(super) fn launcher() -> Result<Launcher> {
    Launcher::this_program(["audit", "--serve-library"]).context("cannot start the process of the library")
}

/// The named table, or a file's.
pub(super) fn geometry(name: &str) -> Result<Geometry> {
    let named = Geometry::named();
    if let Some(geometry) = named.iter().find(|geometry| geometry.name == name) {
        return Ok(geometry.clone());
    }
    let known = named.iter().map(|geometry| geometry.name.as_str());
    if !name.contains(['.', '/']) {
        let near = suggestion(name, known.clone());
        let all: Vec<&str> = known.collect();
        bail!(
            "unknown table {name:?}{near}{}",
            match near.is_empty() {
                true => format!("; known: {}, or a file FILE.toml", all.join(", ")),
                false => String::new(),
            }
        );
    }
    let text = std::fs::read_to_string(name).with_context(|| format!("cannot read the table {name}"))?;
    Geometry::parse(name, &text).with_context(|| format!("{name} states no table"))
}

fn exit_code(reports: &[Report]) -> u8 {
    let any = |is: fn(&Report) -> bool| reports.iter().any(is);
    match (any(|report| report.verdict.is_faulty()), any(|report| report.verdict.is_floodable())) {
        (true, _) => FAILED,
        (false, flooded) => u8::from(flooded),
    }
}
