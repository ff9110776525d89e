//! `hashlane ndn ping`

use super::connection::{Connection, millis, name, stopped};
use anyhow::Result;
use clap::Args;
use hashlane_client::{Client, Express, ExpressError};
use hashlane_command::number::{number, positive};
use hashlane_command::terminal;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::InterestBuilder;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// Measure the round trip to a ping server: Interests for PREFIX/ping/NUMBER.
#[derive(Debug, Args)]
#[command(after_help = "\
Options as in ndnping. Exit code 1 if an Interest was not answered.

Examples:
  hashlane ndn ping /example
  hashlane ndn ping /example -c 10 -i 100
  hashlane ndn ping /example -c 1 -o 500 --connect udp://router.example")]
pub(super) struct Ping {
    /// Prefix of the server
    #[arg(value_parser = name)]
    prefix: OwnedName<Ndn>,
    /// Milliseconds between Interests
    #[arg(short, long, value_name = "MS", default_value = "1000", value_parser = millis)]
    interval: Duration,
    /// Milliseconds to wait for an answer
    #[arg(short = 'o', long, value_name = "MS", default_value = "4000", value_parser = millis)]
    timeout: Duration,
    /// Number of Interests to send [default: until Ctrl-C]
    #[arg(short, long, value_name = "N", value_parser = positive)]
    count: Option<u64>,
    /// First sequence number [default: random]
    #[arg(short = 'n', long, value_name = "N", value_parser = number::<u64>)]
    start: Option<u64>,
    /// Name component before the number, which separates concurrent pings
    #[arg(short = 'p', long, value_name = "NAME")]
    identifier: Option<String>,
    /// Accept answers from caches
    #[arg(short = 'a', long)]
    cache: bool,
    /// Print only the summary
    #[arg(short, long)]
    quiet: bool,
    /// Print the time before each line, in seconds since 1970
    #[arg(short = 't', long)]
    timestamp: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Largest number of unanswered Interests; no more are sent while so many wait.
const MOST_WAITING: usize = 10_000;

/// Shortest interval; none at all would be a flood.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// Outcome of one Interest.
struct Answer {
    number: u64,
    outcome: Result<Duration, ExpressError>,
}

#[derive(Default)]
struct Summary {
    sent: u64,
    nacked: u64,
    /// The round trips, in milliseconds.
    received: u64,
    least: f64,
    most: f64,
    sum: f64,
    squares: f64,
}

impl Ping {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let client = self.connection.open().await?;
        let first = match self.start {
            Some(first) => first,
            // 32 bits are easy to read, and leave room to count.
            None => u64::from(getrandom::u32()?),
        };
        terminal::print(&format!("PING {}\n", self.prefix))?;
        let begun = Instant::now();
        let mut ticks = interval(self.interval.max(LEAST_INTERVAL));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut waiting = JoinSet::new();
        let mut summary = Summary::default();
        let stop = stopped();
        tokio::pin!(stop);
        loop {
            let may_send = self.count.is_none_or(|count| summary.sent < count);
            if !may_send && waiting.is_empty() {
                break;
            }
            tokio::select! {
                () = &mut stop => break,
                _ = ticks.tick(), if may_send && waiting.len() < MOST_WAITING => {
                    let number = first.wrapping_add(summary.sent);
                    let packet = self.interest(number)?;
                    waiting.spawn(ask(client.clone(), packet, self.timeout, number));
                    summary.sent += 1;
                }
                Some(answer) = waiting.join_next() => self.show(answer?, &mut summary)?,
            }
        }
        // Interests still pending when the user stops count neither as answered nor as lost.
        summary.sent -= waiting.len() as u64;
        terminal::print(&summary.text(&self.prefix, begun.elapsed()))?;
        Ok(if summary.received == summary.sent { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn interest(&self, number: u64) -> Result<Vec<u8>> {
        let number = number.to_string();
        let identifier = self.identifier.as_deref().map(str::as_bytes);
        let rest = [Some(&b"ping"[..]), identifier, Some(number.as_bytes())];
        let rest = rest.into_iter().flatten().map(Component::generic);
        let name = OwnedName::<Ndn>::from_components(self.prefix.view().components().chain(rest))?;
        let interest = InterestBuilder {
            must_be_fresh: !self.cache,
            nonce: Some(getrandom::u32()?),
            lifetime: self.timeout.as_millis() as u64,
            ..InterestBuilder::new(name.view())
        };
        Ok(interest.build())
    }

    fn show(&self, answer: Answer, summary: &mut Summary) -> Result<()> {
        let Answer { number, outcome } = answer;
        let prefix = &self.prefix;
        let line = match outcome {
            Ok(took) => {
                let millis = took.as_secs_f64() * 1e3;
                summary.take(millis);
                format!("content from {prefix}: seq={number} time={millis:.3} ms")
            }
            Err(ExpressError::Timeout { .. }) => format!("timeout from {prefix}: seq={number}"),
            Err(ExpressError::Nack(reason)) => {
                summary.nacked += 1;
                format!("nack from {prefix}: seq={number} reason={reason}")
            }
            Err(error) => format!("error from {prefix}: seq={number} {error}"),
        };
        if self.quiet {
            return Ok(());
        }
        let time = self.timestamp.then(timestamp).unwrap_or_default();
        Ok(terminal::print(&format!("{time}{line}\n"))?)
    }
}

async fn ask(client: Client, packet: Vec<u8>, wait: Duration, number: u64) -> Answer {
    let begun = Instant::now();
    let how = Express { wait: Some(wait), ..Express::default() };
    let outcome = client.express_packet(packet, &how).await.map(|_| begun.elapsed());
    Answer { number, outcome }
}

/// The current time, as the prefix of a line.
pub(super) fn timestamp() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}.{:06} ", now.as_secs(), now.subsec_micros())
}

impl Summary {
    fn take(&mut self, millis: f64) {
        self.least = if self.received == 0 { millis } else { self.least.min(millis) };
        self.most = self.most.max(millis);
        self.received += 1;
        self.sum += millis;
        self.squares += millis * millis;
    }

    fn text(&self, prefix: &OwnedName<Ndn>, took: Duration) -> String {
        let Self { sent, nacked, received, least, most, .. } = *self;
        let lost = sent - received - nacked;
        let percent = if sent == 0 { 0.0 } else { (sent - received) as f64 * 100.0 / sent as f64 };
        let mut text = format!(
            "\n--- {prefix} ping statistics ---\n{sent} packets transmitted, {received} received, {lost} \
             lost, {nacked} nacked, {percent:.1}% packet loss, time {} ms\n",
            took.as_millis()
        );
        if received > 0 {
            let mean = self.sum / received as f64;
            let deviation = (self.squares / received as f64 - mean * mean).max(0.0).sqrt();
            let _ = writeln!(text, "rtt min/avg/max/mdev = {least:.3}/{mean:.3}/{most:.3}/{deviation:.3} ms");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_and_measures() {
        let mut summary = Summary { sent: 5, nacked: 1, ..Summary::default() };
        [2.0, 4.0, 6.0].into_iter().for_each(|millis| summary.take(millis));
        let text = summary.text(&name("/a").unwrap(), Duration::from_secs(2));
        assert_eq!(
            text,
            "\n--- /a ping statistics ---\n5 packets transmitted, 3 received, 1 lost, 1 nacked, 40.0% packet loss, time \
             2000 ms\nrtt min/avg/max/mdev = 2.000/4.000/6.000/1.633 ms\n"
        );
    }
}
