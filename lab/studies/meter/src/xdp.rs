//! Studies of our meter on an interface by XDP and by packet sockets.

use crate::live::{self, Means, Setup, Sped};
use crate::metric;
use hashlane_lab::definition::subject;
use hashlane_lab::study::Summary::{Median, Ratio, Sum};
use hashlane_lab::study::{Contender, Figures, RunError, Session, by_id, take_turns};

#[cfg(test)]
mod tests;

/// Model of all records.
pub(crate) const MODEL: &str = "meter-xdp";

/// Frames of 64 bytes on the wire, 60 before the checksum.
const SHORT: &str = "frames/64";

/// Means by the ids of schemes.
const ALL: [(&str, Means); 4] = [
    ("ours", Means::Native),
    ("ours/generic", Means::Generic),
    ("ours/packet", Means::Packet),
    ("sender", Means::Sender),
];

/// Frames of a turn for each item of the study.
const FRAMES: u64 = 2;

const FIGURES: Figures<Sped> = Figures {
    model: MODEL,
    are_launches: true,
    list: &[
        (Ratio, "wall-clock", metric::NS, "ns", |turn| turn.wall_ns),
        (Median, "wall-clock", metric::RATE, "1/s", |turn| 1e9 / turn.wall_ns),
        (Median, "cpu-clock", metric::METER_NS, "ns", |turn| turn.cpu_ns),
        (Sum, "count", metric::PACKETS, "packets", |turn| turn.sent as f64),
        (Sum, "count", metric::LOST, "packets", |turn| turn.lost as f64),
    ],
};

/// Measures a study of meters by XDP.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    session.check_workloads(&[SHORT])?;
    session.schemes_in(&ALL)?;
    if session.stopped() {
        return Ok(());
    }
    if let Some(why) = live::refused() {
        session.notes.push(format!("nothing was measured: {why}; start as root"));
        return Ok(());
    }
    let contender = |id: &String| Some(Contender::new(SHORT, id, by_id(&ALL, subject(id))?, false));
    let mut contenders: Vec<Contender<Means, Sped>> =
        session.definition.schemes_on(SHORT).iter().filter_map(contender).collect();
    let rounds = session.settings.size.repetitions as usize;
    let frames = u64::from(session.settings.size.items) * FRAMES;
    session.total = contenders.len() * rounds;
    session.with_folder("hashlane-meter-xdp-", |session, folder| {
        let folder = folder.join("live");
        let turn = |session: &mut Session<'_>, contender: &mut Contender<Means, Sped>, _| {
            let (command, stop) = (&session.settings.command, session.stop);
            live::speed(Setup { command, folder: &folder, stop }, contender.subject, frames)
        };
        take_turns(session, &mut contenders, rounds, turn, |session, all| FIGURES.record(session, all))
    })
}
