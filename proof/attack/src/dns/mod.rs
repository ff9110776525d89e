//! Attacks on `hashlane dns serve`, run as a separate process, in the order of the table in
//! docs/dns-serve.md.
//!
//! The server, the attacker and the innocents share the loopback interface and differ in their addresses:
//! 127.0.0.1, 127.67.0.0/16 and 127.68.0.2.

mod innocents;
mod messages;
mod rows;
mod scene;
mod server;
mod table;

pub(crate) use scene::Testbed;
pub(crate) use table::{Line, markdown, progress};

/// A row of the table.
pub(crate) struct Row {
    pub(crate) number: u8,
    pub(crate) name: &'static str,
    run: fn(&Testbed, (u8, &str)) -> Result<Line, String>,
}

const fn row(number: u8, name: &'static str, run: fn(&Testbed, (u8, &str)) -> Result<Line, String>) -> Row {
    Row { number, name, run }
}

pub(crate) const ROWS: [Row; 14] = [
    row(13, "random subdomains from 200 networks", rows::udp::random_subdomains),
    row(14, "malformed EDNS", rows::udp::malformed_edns),
    row(15, "malformed messages", rows::udp::malformed),
    row(16, "compression loops in the question", rows::udp::compression_loops),
    row(17, "amplification: one source asks for the largest response", rows::udp::amplification),
    row(18, "TCP connections that idle", rows::tcp::idle),
    row(19, "TCP clients that never read", rows::tcp::never_read),
    row(20, "TCP clients that send a byte a second", rows::tcp::byte_a_second),
    row(21, "queries of 65,535 bytes over TCP", rows::tcp::longest_queries),
    row(22, "reloads of a bad zone under random subdomains", rows::reload::bad_zone),
    row(23, "TLS handshakes that are begun", rows::tls::begun),
    row(24, "TLS handshakes that are finished", rows::tls::finished),
    row(25, "NOTIFY from allowed and other addresses", rows::signed::notify),
    row(26, "signed queries with wrong keys", rows::signed::wrong_keys),
];

impl Row {
    /// Runs the row. One that cannot run has failed.
    pub(crate) fn run(&self, bench: &Testbed) -> Line {
        let Self { number, name, run } = self;
        run(bench, (*number, name)).unwrap_or_else(|why| Line::could_not_run(*number, name, &why))
    }
}
