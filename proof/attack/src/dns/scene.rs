//! A name server, its innocents, and the phases of one attack on it.

use super::innocents::{Dot, Innocents};
use super::server::{Server, Stats};
use super::table::Line;
use crate::attacker::Speed;
use crate::innocents::{Clock, Ending};
use crate::stats::digits;
use crate::verdict::{self, Check, Criteria, Phase};
use crate::watch::Watch;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// Time before an attack.
const BEFORE: Duration = Duration::from_millis(300);
/// Time after an attack in which innocents may still lose something, and after that.
const SETTLING: Duration = Duration::from_millis(300);
const AFTER: Duration = Duration::from_millis(400);

/// Everything that the rows share.
pub(crate) struct Testbed {
    /// Our command.
    pub(crate) command: PathBuf,
    pub(crate) quick: bool,
    /// Datagrams a second; as many as possible if 0.
    pub(crate) rate: Option<u32>,
}

impl Testbed {
    /// `quick` in the quick form, else `full`.
    pub(super) fn pick<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Duration of an attack.
    pub(super) fn lasting(&self) -> Duration {
        self.pick(Duration::from_millis(1800), Duration::from_secs(10))
    }

    /// Speed of a flood of datagrams.
    pub(super) fn speed(&self) -> Speed {
        let rate = self.rate.unwrap_or(self.pick(50_000, 100_000));
        Speed { rate: (rate > 0).then_some(rate), lasting: self.lasting() }
    }
}

/// A name server whose innocents are being served.
pub(super) struct Scene {
    pub(super) server: Server,
    clock: Ending,
    innocents: Innocents,
    watch: Watch,
}

/// Counts of one attack.
pub(super) struct Attack {
    /// Messages, connections or bytes, as the row counts them.
    pub(super) sent: u64,
    pub(super) took: Duration,
    /// Cores that the server kept busy.
    cpu: f64,
    before: Stats,
    after: Stats,
}

impl Attack {
    /// Increase of a counter of the server, by its JSON pointer.
    pub(super) fn count(&self, pointer: &str) -> u64 {
        self.after.get(pointer).saturating_sub(self.before.get(pointer))
    }

    /// Value of a state of the server at the end of the attack.
    pub(super) fn state(&self, pointer: &str) -> u64 {
        self.after.get(pointer)
    }

    /// Rate of what the attacker sent, in `what` a second.
    pub(super) fn rate(&self, what: &str) -> String {
        format!("{} {what}/s", thousands(self.sent as f64 / self.took.as_secs_f64()))
    }
}

impl Scene {
    /// Starts a server with lines of configuration, and its innocents, and lets them ask for a while.
    pub(super) fn open(bench: &Testbed, toml: &str, over_tcp: bool) -> Result<Self, String> {
        Self::open_over(bench, toml, over_tcp, None)
    }

    /// As [`open`](Self::open), with innocents over TCP and TLS.
    pub(super) fn open_tls(bench: &Testbed, toml: &str, dot: Dot) -> Result<Self, String> {
        Self::open_over(bench, toml, true, Some(dot))
    }

    fn open_over(bench: &Testbed, toml: &str, over_tcp: bool, dot: Option<Dot>) -> Result<Self, String> {
        let server = Server::start(&bench.command, toml)?;
        let clock = Clock::default();
        let innocents = Innocents::start(server.address(), over_tcp, dot, &clock);
        let watch = Watch::start(server.pid(), clock.clone());
        thread::sleep(BEFORE);
        Ok(Self { server, clock: Ending(clock), innocents, watch })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Attacks. `work` returns the number of messages that it sent, and its sockets, which stay open until
    /// the counters are read.
    pub(super) fn attack<T>(
        &self,
        work: impl FnOnce() -> Result<(u64, T), String>,
    ) -> Result<Attack, String> {
        let (before, cpu, begun) = (self.server.stats()?, self.server.cpu()?, Instant::now());
        self.clock.0.set(Phase::During);
        let sent = work();
        self.clock.0.set(Phase::Settling);
        let took = begun.elapsed();
        let cpu = self.server.cpu()?.saturating_sub(cpu).as_secs_f64() / took.as_secs_f64();
        let after = self.server.stats()?;
        let (sent, _sockets) = sent?;
        Ok(Attack { sent, took, cpu, before, after })
    }

    /// Measures what comes after the attack, and ends the scene. `checks` are the row's own, `growth` the
    /// bytes of memory that the attack may cost, and `rate` what the attacker did.
    pub(super) fn close(
        mut self,
        name: (u8, &str),
        attack: &Attack,
        rate: String,
        growth: u64,
        mut checks: Vec<Check>,
    ) -> Result<Line, String> {
        thread::sleep(SETTLING);
        self.clock.0.set(Phase::After);
        thread::sleep(AFTER);
        self.clock.0.set(Phase::End);
        let services = self.innocents.finish()?;
        let [rss, fds] = self.watch.finish()?;
        if let Some(status) = self.server.ended()? {
            checks.push(Check::new(false, format!("the name server ended: {status}")));
        }
        let grown = rss.peak.max(rss.after).saturating_sub(rss.before);
        let mega = |bytes: u64| digits(bytes as f64 / 1e6);
        let found = format!("RSS grew by {} of {} MB", mega(grown), mega(growth));
        checks.push(Check::new(grown <= growth, found));
        checks.extend(Criteria::USUAL.check(&services));
        let (number, name) = name;
        let line = verdict::Line::of(&number.to_string(), name, checks);
        Ok(Line { rate, cpu: attack.cpu, line: verdict::Line { services, rss, fds, ..line } })
    }
}

/// A number with three significant digits and separators of thousands.
pub(super) fn thousands(number: f64) -> String {
    if number < 1000.0 {
        return digits(number);
    }
    let unit = 10_f64.powf(number.log10().floor() - 2.0);
    let text = format!("{:.0}", (number / unit).round() * unit);
    let mut out = String::new();
    for (at, digit) in text.char_indices() {
        if at > 0 && (text.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_separators() {
        let texts = [7.25, 999.0, 1000.0, 12_345.0, 123_456.0, 9_999_999.0].map(thousands);
        assert_eq!(texts, ["7.25", "999", "1,000", "12,300", "123,000", "10,000,000"]);
    }
}
