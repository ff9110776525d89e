//! A capture of a mix of flows, metered by all meters in turns.

use crate::meters::{self, Job, Meter, Stated};
use crate::metric;
use crate::sizes::Sizes;
use crate::traffic::Mix;
use crate::usage::{self, Usage};
use crate::workloads::{MIX_CPU, MIX_WALL, MODEL};
use hashlane_lab::definition::subject;
use hashlane_lab::study::Summary::{Median, Most, Ratio};
use hashlane_lab::study::{
    Contender, Figures, RunError, Session, Start, TurnError, by_id, empty_folder, take_turns, views,
};
use std::fs::{self, File};
use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;

/// Time in which a meter must have read the capture.
const PATIENCE: Duration = Duration::from_secs(300);

/// Outcome of a turn, for each packet where that makes sense.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metered {
    cpu_ns: f64,
    wall_ns: f64,
    peak: u64,
    /// Records of flows, if the meter states their number.
    records: f64,
}

const CPU: Figures<Metered> = Figures {
    model: MODEL,
    are_launches: true,
    list: &[
        (Ratio, "rusage", metric::NS, "ns", |metered| metered.cpu_ns),
        (Median, "rusage", metric::RATE_CORE, "1/s", |metered| 1e9 / metered.cpu_ns),
        (Median, "rusage", metric::PEAK, "bytes", |metered| metered.peak as f64),
        (Most, "count", metric::RECORDS, "records", |metered| metered.records),
    ],
};

const WALL: Figures<Metered> = Figures {
    model: MODEL,
    are_launches: true,
    list: &[(Ratio, "wall-clock", metric::NS, "ns", |metered| metered.wall_ns)],
};

/// Meters that are installed, in the order of the study.
pub(crate) fn contenders(session: &Session<'_>) -> Vec<Contender<Meter, Metered>> {
    let ids = session.definition.measured_schemes().iter();
    let contender = |id: &String| {
        let meter = by_id(&meters::ALL, subject(id)).filter(|meter| meter.missing().is_none())?;
        let slow = meter.sleeps() && !session.settings.full && !session.definition.is_selection();
        (!slow).then(|| Contender::new(MIX_CPU, id, meter, meter.is_foreign()))
    };
    ids.filter_map(contender).collect()
}

/// Measures the workloads of a mix.
pub(crate) fn run(session: &mut Session<'_>, folder: &Path) -> Result<(), RunError> {
    let mut contenders = contenders(session);
    let sizes = Sizes::of(session.settings);
    let mix = Mix { packets: sizes.items, flows: sizes.mix_flows() };
    session.step(MIX_CPU, "writing the capture");
    for id in &session.definition.schemes {
        let is_installed = by_id(&meters::ALL, id).is_some_and(|meter| meter.missing().is_none());
        if is_installed && contenders.iter().all(|contender| contender.id != *id) {
            session.notes.push(format!("{id} was left out, as it sleeps for seconds; --full measures it"));
        }
    }
    let capture = folder.join("mix.pcap");
    let written = File::create(&capture).and_then(|file| mix.capture(file));
    written.map_err(|error| RunError::Generate(MIX_CPU.to_owned(), error.to_string()))?;
    let (rounds, out) = (session.settings.size.repetitions as usize, folder.join("out"));
    let turn = |session: &mut Session<'_>, contender: &mut Contender<Meter, Metered>, _| {
        turn(session, contender.subject, mix, &capture, &out)
    };
    let ended = take_turns(session, &mut contenders, rounds, turn, |session, contenders| {
        for (label, figures) in [(MIX_CPU, CPU), (MIX_WALL, WALL)] {
            if session.has_workload(label) {
                figures.record(session, &views(contenders, label, |metered| *metered));
            }
        }
    });
    // Two captures at once are never needed.
    ended.and(fs::remove_file(&capture).map_err(RunError::other))
}

/// Meters the capture once.
fn turn(
    session: &Session<'_>,
    meter: Meter,
    mix: Mix,
    capture: &Path,
    folder: &Path,
) -> Result<Metered, TurnError> {
    empty_folder(folder)?;
    // Nobody reads it: the kernel drops what has no room.
    let sink = UdpSocket::bind(("127.0.0.1", 0)).and_then(|sink| Ok((sink.local_addr()?, sink)));
    let (to, _sink) = sink.map_err(TurnError::io("no UDP port is free"))?;
    let command = &session.settings.command;
    let job = Job { command, capture, folder, sink: to };
    let child = Start::usage(command).spawn(&meter.program(&job)?, folder.with_extension("log"))?;
    let (used, log) = usage::wait(child, PATIENCE, session.stop)?;
    let stated = Stated::of(meter, &job, &log)?;
    used.check(&log)?;
    if let Some(packets) = stated.packets.filter(|packets| *packets != u64::from(mix.packets)) {
        let of = mix.packets;
        let why = format!("it metered {packets} packets of {of}; its figures are not comparable");
        return Err(TurnError::Failed(why));
    }
    let each = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(mix.packets);
    let Usage { wall, peak, .. } = used;
    let records = stated.records.map_or(f64::NAN, |records| records as f64);
    Ok(Metered { cpu_ns: each(used.cpu()), wall_ns: each(wall), peak, records })
}
