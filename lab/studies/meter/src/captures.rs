//! A capture of a mix of flows, metered by all meters in turns.

use crate::error::MeterError;
use crate::meters::{Job, Meter, Stated};
use crate::metric;
use crate::process::Process;
use crate::sizes::Sizes;
use crate::traffic::Mix;
use crate::turn;
use crate::usage::Usage;
use crate::workloads::{MIX_CPU, MIX_WALL, MODEL};
use hashlane_lab::definition::subject;
use hashlane_lab::study::{Fact, Rounds, RunError, Session, order};
use std::fs::File;
use std::net::UdpSocket;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time in which a meter must have read the capture.
const PATIENCE: Duration = Duration::from_secs(300);

/// A meter that has its turn in each round.
pub(crate) struct Subject {
    /// Id of the scheme.
    id: String,
    meter: Meter,
    /// One of each round.
    used: Vec<Usage>,
    stated: Stated,
    /// `true` if it could not be measured; a note has the reason.
    failed: bool,
}

/// Meters that are installed, in the order of the study.
pub(crate) fn subjects(session: &Session<'_>) -> Vec<Subject> {
    let ids = session.definition.measured_schemes().iter();
    ids.filter_map(|id| {
        let meter = Meter::of(subject(id)).filter(|meter| meter.missing().is_none())?;
        let slow = meter.sleeps() && !session.settings.full && !session.definition.is_selection();
        let (used, stated) = (Vec::new(), Stated::default());
        (!slow).then(|| Subject { id: id.clone(), meter, used, stated, failed: false })
    })
    .collect()
}

/// Measures the workloads of a mix.
pub(crate) fn run(session: &mut Session<'_>, folder: &Path) -> Result<(), RunError> {
    let mut subjects = subjects(session);
    let sizes = Sizes::of(session.settings);
    let mix = Mix { packets: sizes.items, flows: sizes.mix_flows() };
    session.step(MIX_CPU, "writing the capture");
    let is_left_out = |id: &&String| {
        let sleeps = Meter::of(id).is_some_and(|meter| meter.sleeps() && meter.missing().is_none());
        sleeps && subjects.iter().all(|subject| subject.id != **id)
    };
    let left_out: Vec<String> = session.definition.schemes.iter().filter(is_left_out).cloned().collect();
    for id in left_out {
        session.notes.push(format!("{id} was left out, as it sleeps for seconds; --full measures it"));
    }
    let capture = folder.join("mix.pcap");
    let written = File::create(&capture).and_then(|file| mix.capture(file));
    written.map_err(|error| RunError::Generate(MIX_CPU.to_owned(), error.to_string()))?;
    let ended = turns(session, &mut subjects, mix, &capture, &folder.join("out"));
    // Only whole rounds count.
    let rounds = subjects.iter().filter(|subject| !subject.failed).map(|subject| subject.used.len()).min();
    subjects.iter_mut().for_each(|subject| subject.used.truncate(rounds.unwrap_or(0)));
    record(session, &subjects, mix);
    // Two captures at once are never needed.
    let removed = std::fs::remove_file(&capture).map_err(|error| RunError::Other(Box::new(error)));
    ended.and(removed)
}

fn turns(
    session: &mut Session<'_>,
    subjects: &mut [Subject],
    mix: Mix,
    capture: &Path,
    folder: &Path,
) -> Result<(), RunError> {
    let rounds = session.settings.size.repetitions as usize;
    for round in 0..rounds {
        for at in order(subjects.len(), round) {
            let Some(subject) = subjects.get_mut(at) else { continue };
            if session.stopped() {
                return Ok(());
            }
            session.step(MIX_CPU, &format!("{}, round {} of {rounds}", subject.id, round + 1));
            if subject.failed {
                continue;
            }
            match turn(&session.settings.command, subject.meter, mix, capture, folder, session.stop) {
                Ok((used, stated)) => {
                    subject.used.push(used);
                    subject.stated = stated;
                }
                Err(error) if subject.meter.is_foreign() && !matches!(error, MeterError::Stopped) => {
                    subject.failed = true;
                    session.notes.push(format!("{} was not measured: {error}", subject.id));
                }
                Err(error) => return turn::failure(MIX_CPU, &subject.id, error),
            }
        }
        if round + 1 < rounds {
            session.report_rounds(|session| record(session, subjects, mix));
        }
    }
    Ok(())
}

/// Meters the capture once.
fn turn(
    command: &Path,
    meter: Meter,
    mix: Mix,
    capture: &Path,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<(Usage, Stated), MeterError> {
    turn::empty(folder)?;
    // Nobody reads it: the kernel drops what has no room.
    let sink = UdpSocket::bind(("127.0.0.1", 0)).and_then(|sink| Ok((sink.local_addr()?, sink)));
    let (to, _sink) = sink.map_err(MeterError::io("no UDP port is free"))?;
    let job = Job { command, capture, folder, sink: to };
    let log = folder.with_extension("log");
    let process = Process::start(command, log, &meter.program(&job)?, false)?;
    let (used, log) = process.wait(PATIENCE, stop)?;
    let stated = meter.stated(&job, &log)?;
    if used.code != Some(0) {
        let last = log.lines().last().unwrap_or("no output");
        return Err(MeterError::Program(format!("it failed ({:?}): {last}", used.code)));
    }
    match stated.packets {
        Some(packets) if packets != u64::from(mix.packets) => Err(MeterError::Program(format!(
            "it metered {packets} packets of {}; its figures are not comparable",
            mix.packets
        ))),
        _ => Ok((used, stated)),
    }
}

/// Adds the records of the rounds so far.
fn record(session: &mut Session<'_>, subjects: &[Subject], mix: Mix) {
    let measured: Vec<&Subject> =
        subjects.iter().filter(|subject| !subject.failed && !subject.used.is_empty()).collect();
    let packets = f64::from(mix.packets);
    let ids: Vec<String> = measured.iter().map(|subject| subject.id.clone()).collect();
    let of = |figure: fn(&Usage) -> Duration| {
        let each = |usage: &Usage| figure(usage).as_secs_f64() * 1e9 / packets;
        Rounds::of_launches(measured.iter().map(|subject| subject.used.iter().map(each).collect()).collect())
    };
    let (cpu, wall) = (of(Usage::cpu), of(|usage| usage.wall));
    for (label, probe, rounds) in [(MIX_CPU, "rusage", &cpu), (MIX_WALL, "wall-clock", &wall)] {
        if !session.definition.workloads.iter().any(|workload| workload == label) {
            continue;
        }
        for (at, id) in ids.iter().enumerate() {
            session.add(MODEL, label, id, probe, metric::NS, "ns", rounds.time(at));
        }
        session.add_ratios(MODEL, label, probe, &ids, |of, to| rounds.ratio(of, to));
    }
    for Subject { id, used, stated, .. } in &measured {
        let rates: Vec<f64> = used.iter().map(|usage| packets / usage.cpu().as_secs_f64()).collect();
        session.add(MODEL, MIX_CPU, id, "rusage", metric::RATE_CORE, "1/s", Fact::over_launches(&rates));
        let peaks: Vec<f64> = used.iter().map(|usage| usage.peak as f64).collect();
        session.add(MODEL, MIX_CPU, id, "rusage", metric::PEAK, "bytes", Fact::over_launches(&peaks));
        if let Some(records) = stated.records {
            let fact = Fact::exact(records as f64, used.len());
            session.add(MODEL, MIX_CPU, id, "count", metric::RECORDS, "records", fact);
        }
    }
}
