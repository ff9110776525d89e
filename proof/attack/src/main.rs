//! `cargo xtask attack`: attacks on a forwarder and a name server in processes of their own, and the service
//! of everyone else.
#![forbid(unsafe_code)]

mod attacker;
mod cleanup;
mod dns;
mod ethernet;
mod forwarder;
mod identity;
mod innocents;
mod network;
mod options;
mod packets;
mod rows;
mod scene;
mod session;
mod stats;
mod table;
mod verdict;
mod watch;
mod wire;

use clap::Parser;
use network::Network;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use options::Options;
use scene::Testbed;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use table::Results;
use verdict::Line;

/// File descriptors that the rows need at most.
const DESCRIPTORS: u64 = 40_000;

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the rows. Returns false if our forwarder or our name server misses a criterion.
fn run(options: &Options) -> Result<bool, String> {
    if let Some(probe) = &options.register_as_other_user {
        return rows::register_as_other_user(probe).map(|()| true);
    }
    let programs = options.programs()?;
    let hashlane = options.own_program()?;
    // Before any thread is started.
    let (network, fallback) = Network::create(options.loopback || !options.has_forwarder_rows());
    cleanup::on_signals()?;
    let descriptors = raise_descriptors()?;
    let about = format!("{}; {descriptors} file descriptors for the attacker", network.describe());
    println!("{about}");
    if let Some(why) = fallback {
        println!("without network namespaces: {why}");
    }
    let (network, begun) = (Arc::new(network), Instant::now());
    let (mut all, mut passed) = (Vec::new(), true);
    let is_ours_chosen = programs.iter().any(forwarder::Program::is_ours);
    for program in programs.into_iter().filter(|_| options.has_forwarder_rows()) {
        println!("\n{}", program.path.display());
        let name = program.label.clone();
        let is_ours = program.is_ours();
        let bench = Testbed {
            network: Arc::clone(&network),
            program,
            hashlane: hashlane.clone(),
            quick: options.quick,
        };
        let mut lines: Vec<Line> = Vec::new();
        for row in rows::ROWS.iter().filter(|row| options.chooses(row.number)) {
            println!("row {}: {} … ({} s)", row.number, row.name, begun.elapsed().as_secs());
            let attempt = || {
                let found = row.run(&bench);
                found.iter().for_each(|line| println!("{}", table::progress(line)));
                found
            };
            let attempts = if is_ours { options.attempts } else { 1 };
            lines.extend(repeat(attempts, attempt, |lines| lines.iter().all(Line::passed)));
        }
        passed &= !is_ours || lines.iter().all(Line::passed);
        all.push(Results { forwarder: name, lines });
    }
    let dns = if is_ours_chosen { attack_name_server(options, &hashlane, begun) } else { Vec::new() };
    passed &= dns.iter().all(|line| line.line.passed());
    println!("\n{} s", begun.elapsed().as_secs());
    // Again, as the lines above may be far away.
    let lines = all.iter().flat_map(|results| &results.lines).chain(dns.iter().map(|line| &line.line));
    lines.filter(|line| !line.passed()).for_each(|line| println!("{}", table::progress(line)));
    options.write(&all, &dns, &about)?;
    Ok(passed)
}

/// Last result of `attempt`, which is made until one has passed, at most `times`.
fn repeat<T>(times: u8, attempt: impl Fn() -> T, passed: impl Fn(&T) -> bool) -> T {
    let mut found = attempt();
    for number in 2..=times {
        if passed(&found) {
            break;
        }
        println!("attempt {number} of {times}");
        found = attempt();
    }
    found
}

/// Runs the rows of the name server.
fn attack_name_server(options: &Options, hashlane: &forwarder::Program, begun: Instant) -> Vec<dns::Line> {
    let bench = dns::Testbed { command: hashlane.path.clone(), quick: options.quick, rate: options.rate };
    let rows = dns::ROWS.iter().filter(|row| options.chooses(row.number));
    let run = |row: &dns::Row| {
        println!("row {}: {} … ({} s)", row.number, row.name, begun.elapsed().as_secs());
        let attempt = || {
            let line = row.run(&bench);
            println!("{}", dns::progress(&line));
            line
        };
        repeat(options.attempts, attempt, |line| line.line.passed())
    };
    rows.map(run).collect()
}

/// Raises the limit of file descriptors as far as it goes, at most to what the rows need.
fn raise_descriptors() -> Result<u64, String> {
    let failed = |error| format!("the limit of file descriptors: {error}");
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(failed)?;
    // Only root may raise the hard limit.
    if setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS.max(soft), DESCRIPTORS.max(hard)).is_err() {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map_err(failed)?;
    }
    getrlimit(Resource::RLIMIT_NOFILE).map(|(soft, _)| soft).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn attempts_end_with_the_first_that_passes() {
        let made = |times, passes_at: u8| {
            let count = Cell::new(0);
            let attempt = || {
                count.set(count.get() + 1);
                count.get()
            };
            repeat(times, attempt, |number| *number >= passes_at)
        };
        assert_eq!([made(1, 2), made(2, 1), made(2, 2), made(2, 9), made(3, 2)], [1, 1, 2, 2, 2]);
    }
}
