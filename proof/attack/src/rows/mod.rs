//! Attacks, in the order of the table in docs/ndn/operate.md.

mod client_fetch;
mod clock_and_trust;
mod crowded_name;
mod ethernet_addresses;
mod flood;
mod idle_connections;
mod large_interests;
mod local_floods;
mod localhop_from_loopback;
mod log_lines;
mod management_prefixes;
mod one_after_the_other;
mod proxy;
mod signals;
mod startup;
mod state;
mod udp_ports;
mod unread_queues;

pub(crate) use management_prefixes::register_as_other_user;

use crate::scene::Testbed;
use crate::verdict::{Check, Line};

/// A row of the table.
pub(crate) struct Row {
    pub(crate) number: u8,
    pub(crate) name: &'static str,
    run: fn(&Testbed) -> Result<Vec<Line>, String>,
}

impl Row {
    /// Runs the row. One that cannot run has failed.
    pub(crate) fn run(&self, bench: &Testbed) -> Vec<Line> {
        (self.run)(bench).unwrap_or_else(|why| {
            let check = Check::new(false, format!("could not run: {why}"));
            vec![Line::of(&self.number.to_string(), self.name, vec![check])]
        })
    }
}

const fn row(number: u8, name: &'static str, run: fn(&Testbed) -> Result<Vec<Line>, String>) -> Row {
    Row { number, name, run }
}

pub(crate) const ROWS: [Row; 12] = [
    row(1, "unanswered Interests from one peer after the other", one_after_the_other::run),
    row(2, "log lines, with each kind of standard error", log_lines::run),
    row(3, "Interests of 8.4 kB", large_interests::run),
    row(4, "more UDP ports or Ethernet addresses than faces", many_peers),
    row(5, "idle TCP connections", idle_connections::run),
    row(6, "registrations of management prefixes", management_prefixes::run),
    row(7, "one foreseeable name, asked for first", crowded_name::run),
    row(8, "a proxy in front of the WebSocket", proxy::run),
    row(9, "floods at line rate", flood::run),
    row(10, "queues that nobody reads", unread_queues::run),
    row(11, "routes of others, withdrawn from the loopback", localhop_from_loopback::run),
    row(12, "signals, lists, handshakes, clocks, faces, files", various),
];

/// A part of a row, by its id.
type Part = fn(&Testbed, &str) -> Result<Line, String>;

/// Row 4, in parts.
fn many_peers(bench: &Testbed) -> Result<Vec<Line>, String> {
    let parts: [(&str, Part); 2] = [("4a", udp_ports::run), ("4b", ethernet_addresses::at_a_rate)];
    Ok(state::run_parts(parts, |id, part| part(bench, id)))
}

/// Row 12, in parts.
fn various(bench: &Testbed) -> Result<Vec<Line>, String> {
    let parts: [(&str, Part); 10] = [
        ("12a", signals::hang_up),
        ("12b", signals::terminate),
        ("12c", local_floods::lists),
        ("12d", local_floods::commands),
        ("12e", local_floods::handshakes),
        ("12f", clock_and_trust::signing_times),
        ("12g", clock_and_trust::expired_anchor),
        ("12h", startup::folder_of_another_user),
        ("12i", startup::face_addresses),
        ("12j", client_fetch::run),
    ];
    Ok(state::run_parts(parts, |id, part| part(bench, id)))
}
