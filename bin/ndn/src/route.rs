//! `hashlane ndn route`

use super::connection::{Connection, millis, name, records};
use super::face::{Choice, find, find_or_create};
use super::rows::{self, Row};
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use hashlane_client::Client;
use hashlane_command::number::{number, within};
use hashlane_command::terminal;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::ControlParameters;
use hashlane_ndn::mgmt::dataset::RibEntry;
use hashlane_ndn::mgmt::values::{ROUTE_CAPTURE, ROUTE_CHILD_INHERIT, RouteOrigin};
use std::process::ExitCode;
use std::time::Duration;

/// List, add and remove routes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane ndn route add /example udp4://192.0.2.1:6363
  hashlane ndn route list
  hashlane ndn route remove /example udp4://192.0.2.1:6363")]
pub(super) struct Route {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List routes
    #[command(after_help = "\
Examples:
  hashlane ndn route list
  hashlane ndn route list /example --json
  hashlane ndn route list /example --wait 5      exit code 0 once there is a route, 1 after 5 s")]
    List(List),
    /// Add a route; creates the face to FACE if it is missing
    #[command(after_help = "\
The default port is 6363. Host names are resolved.

Examples:
  hashlane ndn route add /example udp://router.example
  hashlane ndn route add / tcp4://192.0.2.1 --cost 100
  hashlane ndn route add /example 264 --expires 60000 --no-inherit")]
    Add(Add),
    /// Remove a route
    #[command(after_help = "\
Examples:
  hashlane ndn route remove /example udp4://192.0.2.1:6363
  hashlane ndn route remove /example 264 --origin 0")]
    Remove(Remove),
}

#[derive(Debug, Args)]
struct List {
    /// Prefix of the routes to list [default: all]
    #[arg(value_parser = name)]
    prefix: Option<OwnedName<Ndn>>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Seconds to wait until the prefix has a route, for scripts that start a server
    #[arg(long, value_name = "SECONDS", value_parser = within(1_u64, 86_400), requires = "prefix")]
    wait: Option<u64>,
    #[command(flatten)]
    connection: Connection,
}

/// Pause between attempts to find a route.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, Args)]
struct Add {
    /// Prefix of the route
    #[arg(value_parser = name)]
    prefix: OwnedName<Ndn>,
    /// Id of the face, or URI of its remote end
    #[arg(value_name = "FACE")]
    face: Choice,
    /// Cost of the route
    #[arg(short, long, default_value_t = 0, value_parser = number::<u64>)]
    cost: u64,
    /// Origin of the route: 255 is static, set by an operator
    #[arg(short, long, default_value_t = RouteOrigin::STATIC.0, value_parser = number::<u64>)]
    origin: u64,
    /// Lifetime in milliseconds [default: unlimited]
    #[arg(short, long, value_name = "MS", value_parser = millis)]
    expires: Option<Duration>,
    /// Do not let longer prefixes inherit the route
    #[arg(long)]
    no_inherit: bool,
    /// Do not let longer prefixes inherit routes of shorter prefixes
    #[arg(long)]
    capture: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
struct Remove {
    /// Prefix of the route
    #[arg(value_parser = name)]
    prefix: OwnedName<Ndn>,
    /// Id of the face, or URI of its remote end
    #[arg(value_name = "FACE")]
    face: Choice,
    /// Origin of the route: 255 is static, set by an operator
    #[arg(short, long, default_value_t = RouteOrigin::STATIC.0, value_parser = number::<u64>)]
    origin: u64,
    #[command(flatten)]
    connection: Connection,
}

impl Route {
    pub(super) async fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::List(list) => list.run().await?,
            Command::Add(add) => add.run().await?,
            Command::Remove(remove) => remove.run().await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl List {
    async fn run(self) -> Result<()> {
        let client = self.connection.open().await?;
        let entries = match self.wait {
            None => self.entries(&client).await?,
            Some(seconds) => {
                let found = tokio::time::timeout(Duration::from_secs(seconds), self.wait_for(&client)).await;
                let prefix = self.prefix.as_ref().map_or_else(String::new, ToString::to_string);
                found.with_context(|| format!("no route of {prefix} within {seconds} s"))??
            }
        };
        let routes = entries.iter().flat_map(|entry| {
            entry.routes.iter().map(|route| {
                Row::new()
                    .text("prefix", &entry.name)
                    .number("face", route.face_id)
                    .text("origin", route.origin)
                    .number("cost", route.cost)
                    .flag("inherit", route.flags & ROUTE_CHILD_INHERIT != 0)
                    .flag("capture", route.flags & ROUTE_CAPTURE != 0)
                    .maybe("expires-ms", route.expiration)
            })
        });
        Ok(rows::print(&routes.collect::<Vec<_>>(), self.json)?)
    }
}

impl List {
    /// The entries of the prefix.
    async fn entries(&self, client: &Client) -> Result<Vec<RibEntry>> {
        let mut entries: Vec<RibEntry> = records(client, "rib", "list").await?;
        entries.retain(|entry| self.prefix.as_ref().is_none_or(|prefix| entry.name == *prefix));
        Ok(entries)
    }

    /// The entries of the prefix, once there are any.
    async fn wait_for(&self, client: &Client) -> Result<Vec<RibEntry>> {
        loop {
            let entries = self.entries(client).await?;
            if !entries.is_empty() {
                return Ok(entries);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl Add {
    async fn run(self) -> Result<()> {
        let client = self.connection.open().await?;
        let face = find_or_create(&client, &self.face).await;
        let face = face.with_context(|| format!("cannot create a face to {}", self.face))?;
        let inherit = if self.no_inherit { 0 } else { ROUTE_CHILD_INHERIT };
        let capture = if self.capture { ROUTE_CAPTURE } else { 0 };
        let parameters = ControlParameters {
            name: Some(self.prefix.clone()),
            face_id: Some(face),
            origin: Some(RouteOrigin(self.origin)),
            cost: Some(self.cost),
            flags: Some(inherit | capture),
            expiration: self.expires.map(|expires| expires.as_millis() as u64),
            ..Default::default()
        };
        client.command("rib", "register", &parameters).await?;
        let (prefix, origin, cost) = (&self.prefix, RouteOrigin(self.origin), self.cost);
        Ok(terminal::print(&format!(
            "route-added prefix={prefix} face={face} origin={origin} cost={cost}\n"
        ))?)
    }
}

impl Remove {
    async fn run(self) -> Result<()> {
        let client = self.connection.open().await?;
        let face = match self.face {
            Choice::Id(id) => id,
            Choice::Uri(_) => find(&client, &self.face).await?.face_id,
        };
        let parameters = ControlParameters {
            name: Some(self.prefix.clone()),
            face_id: Some(face),
            origin: Some(RouteOrigin(self.origin)),
            ..Default::default()
        };
        client.command("rib", "unregister", &parameters).await?;
        let (prefix, origin) = (&self.prefix, RouteOrigin(self.origin));
        Ok(terminal::print(&format!("route-removed prefix={prefix} face={face} origin={origin}\n"))?)
    }
}
