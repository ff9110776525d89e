//! `hashlane ndn trace`

mod text;

use super::connection::{Connection, name, query, stopped};
use super::rows;
use anyhow::Result;
use clap::Args;
use hashlane_client::{Client, CommandError};
use hashlane_command::number::{positive, within};
use hashlane_command::terminal;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::ControlParameters;
use hashlane_ndn::mgmt::dataset::FaceQueryFilter;
use hashlane_ndn::mgmt::trace::TraceReport;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;
use text::{Line, line};

/// Show what the forwarder does with the packets below a prefix
///
/// For each Interest: the face that it came from, the FIB entry and the strategy that decided, the faces that
/// it went to, or why it was dropped. For Data and Nacks: who got them. Also Interests that were tried at
/// another next hop, and those that expired.
///
/// The forwarder traces only while this command runs, at most for an hour, and needs the same rights for it
/// as for its other commands. Packets of the forwarder's own management are left out. It keeps 1024 steps
/// until they are read, and reports how many it had no room for: on a busy prefix, trace one name in many by
/// --every.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane ndn trace /example
  hashlane ndn trace / --every 100 --seconds 10    one name in a hundred
  hashlane ndn trace /example --count 20 --json    an object to a line, for a script")]
pub(super) struct Trace {
    /// Prefix of the names
    #[arg(value_parser = name)]
    prefix: OwnedName<Ndn>,
    /// Trace one name in N, with all its packets
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = within(1_u64, u64::from(u32::MAX)))]
    every: u64,
    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = within(1_u64, 3600))]
    seconds: u64,
    /// End after so many steps
    #[arg(long, value_name = "N", value_parser = positive)]
    count: Option<u64>,
    /// Print JSON, an object to a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Pause between two reports, while there is nothing to report.
const PAUSE: Duration = Duration::from_millis(100);

/// Most faces whose URIs are kept. More are shown by their number.
const MAX_FACES: usize = 4096;

impl Trace {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let client = self.connection.open().await?;
        let parameters = ControlParameters {
            name: Some(self.prefix.clone()),
            count: Some(self.every),
            expiration: Some(self.seconds * 1000),
            ..ControlParameters::default()
        };
        client.command("trace", "start", &parameters).await?;
        let lost = tokio::select! {
            // The signals are taken before anything is printed.
            biased;
            () = stopped() => return Ok(ExitCode::SUCCESS),
            lost = self.follow(&client) => lost?,
        };
        if lost > 0 {
            terminal::tell(&format!(
                "{lost} steps were lost: trace fewer names by --every, or a longer prefix"
            ));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Prints the steps until the trace ends. Returns the number of those that were lost.
    async fn follow(&self, client: &Client) -> Result<u64> {
        if !self.json {
            terminal::tell(&format!(
                "tracing {} for at most {} s; Ctrl-C ends it",
                self.prefix, self.seconds
            ));
        }
        let mut faces = BTreeMap::new();
        let (mut left, mut lost) = (self.count.unwrap_or(u64::MAX), 0);
        loop {
            let report = client.command_for("trace", "read", &ControlParameters::default()).await;
            let report: TraceReport = match report {
                // Its time is over.
                Err(CommandError::Refused(response)) if response.code == 404 => return Ok(lost),
                report => report?,
            };
            lost = report.lost;
            let is_idle = report.steps.is_empty();
            let mut out = String::new();
            for step in report.steps {
                let step = Line::from(step);
                for face in step.faces() {
                    if !faces.contains_key(&face) && faces.len() < MAX_FACES {
                        faces.insert(face, uri(client, face).await?);
                    }
                }
                out += &if self.json { rows::to_json(&step)? } else { line(&step, &faces) };
                left -= 1;
                if left == 0 {
                    break;
                }
            }
            terminal::print(&out)?;
            if left == 0 || report.left == 0 {
                return Ok(lost);
            }
            if is_idle {
                tokio::time::sleep(PAUSE.min(Duration::from_millis(report.left))).await;
            }
        }
    }
}

/// Remote end of a face; `None` if it has been closed.
async fn uri(client: &Client, face: u64) -> Result<Option<String>> {
    let filter = FaceQueryFilter { face_id: Some(face), ..FaceQueryFilter::default() };
    Ok(query(client, &filter).await?.into_iter().next().map(|face| face.uri))
}
