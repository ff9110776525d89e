//! `hashlane ndn face`

use super::connection::{Connection, query, records};
use super::rows::{self, Row};
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use hashlane_client::{Client, CommandError};
use hashlane_command::number;
use hashlane_command::terminal;
use hashlane_ndn::mgmt::dataset::{FaceQueryFilter, FaceStatus};
use hashlane_ndn::mgmt::face_uri::FaceUriError;
use hashlane_ndn::mgmt::values::{
    FACE_CONGESTION_MARKING, FACE_LP_RELIABILITY, FACE_NO_INTEREST_DIGESTS, FACE_PIT_TOKENS, FacePersistency,
};
use hashlane_ndn::mgmt::{ControlParameters, FaceUri};
use std::fmt;
use std::process::ExitCode;
use std::str::FromStr;
use tokio::net::lookup_host;

/// List, create, update and destroy faces, the forwarder's links to its neighbours.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane ndn face list
  hashlane ndn face create udp4://192.0.2.1:6363
  hashlane ndn face update 264 --pit-tokens on
  hashlane ndn face destroy 264")]
pub(super) struct Face {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List faces
    #[command(after_help = "\
Examples:
  hashlane ndn face list
  hashlane ndn face list --json | jq '.[] | select(.scope == \"non-local\")'")]
    List(List),
    /// Create a face
    #[command(after_help = "\
If a face to FACEURI exists, the given options are applied to it. Prints face-created, face-updated
or face-exists, with the id of the face. The faces of multicast groups come with the configuration:
they exist, and are not created.

Examples:
  hashlane ndn face create udp://router.example
  hashlane ndn face create udp4://192.0.2.1:6363 --reliability on --mtu 1400
  hashlane ndn face create tcp4://192.0.2.1:6363 --persistency permanent
  hashlane ndn face create 'ether://[02:00:00:00:00:01]' --local dev://eth0")]
    Create(Create),
    /// Update the options of a face
    #[command(after_help = "\
Options that are not given stay unchanged.

Examples:
  hashlane ndn face update udp4://192.0.2.1:6363 --pit-tokens on
  hashlane ndn face update 264 --interest-digests off --mtu 1400")]
    Update(Update),
    /// Destroy a face
    #[command(after_help = "\
Examples:
  hashlane ndn face destroy 264
  hashlane ndn face destroy udp4://192.0.2.1:6363")]
    Destroy(Destroy),
    /// Show one face
    #[command(after_help = "\
Examples:
  hashlane ndn face show 264")]
    Show(Show),
}

#[derive(Debug, Args)]
struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
struct Create {
    /// URI of the remote end
    #[arg(value_name = "FACEURI")]
    uri: FaceUri,
    /// URI of the local end: the interface of an Ethernet face, such as dev://eth0
    #[arg(long, value_name = "FACEURI")]
    local: Option<FaceUri>,
    /// Event that ends the face
    #[arg(long, value_enum)]
    persistency: Option<Persistency>,
    /// Largest link packet, in bytes
    #[arg(long, value_name = "BYTES", value_parser = number::number::<u64>)]
    mtu: Option<u64>,
    /// Send lost link packets of a UDP face again; the neighbour must do so, too
    #[arg(long, value_enum, value_name = "STATE")]
    reliability: Option<State>,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
struct Update {
    /// Id of the face, or URI of its remote end
    #[arg(value_name = "FACE")]
    face: Choice,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Changes {
    /// Send PitTokens, if the PIT is indexed by token; a neighbour that does not know them drops the packets
    #[arg(long, value_enum, value_name = "STATE")]
    pit_tokens: Option<State>,
    /// Send InterestDigests, if the PIT is indexed by digest
    #[arg(long, value_enum, value_name = "STATE")]
    interest_digests: Option<State>,
    /// Mark packets when the queue of the face grows
    #[arg(long, value_enum, value_name = "STATE")]
    congestion_marks: Option<State>,
    /// Send lost link packets of a UDP face again; the neighbour must do so, too
    #[arg(long, value_enum, value_name = "STATE")]
    reliability: Option<State>,
    /// Event that ends the face
    #[arg(long, value_enum)]
    persistency: Option<Persistency>,
    /// Largest link packet, in bytes
    #[arg(long, value_name = "BYTES", value_parser = number::number::<u64>)]
    mtu: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum State {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Persistency {
    /// A failure, or `face destroy`
    Persistent,
    /// Only `face destroy`
    Permanent,
}

#[derive(Debug, Args)]
struct Destroy {
    /// Id of the face, or URI of its remote end
    #[arg(value_name = "FACE")]
    face: Choice,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
struct Show {
    /// Id of the face, or URI of its remote end
    #[arg(value_name = "FACE")]
    face: Choice,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Face {
    pub(super) async fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::List(list) => {
                let client = list.connection.open().await?;
                let faces: Vec<FaceStatus> = records(&client, "faces", "list").await?;
                rows::print(&faces.iter().map(row).collect::<Vec<_>>(), list.json)?;
            }
            Command::Create(create) => {
                let client = create.connection.open().await?;
                let reliability = create.reliability.map(|state| match state {
                    State::On => FACE_LP_RELIABILITY,
                    State::Off => 0,
                });
                let parameters = ControlParameters {
                    uri: Some(canonical(&create.uri).await?.to_string()),
                    flags: reliability,
                    mask: reliability.map(|_| FACE_LP_RELIABILITY),
                    local_uri: create.local.as_ref().map(FaceUri::to_string),
                    persistency: create.persistency.map(Into::into),
                    mtu: create.mtu,
                    ..Default::default()
                };
                let (face, is_new) = self::create(&client, &parameters).await?;
                let what = match is_new {
                    true => "face-created",
                    false if adapt(&client, &face, &parameters).await? => "face-updated",
                    false => "face-exists",
                };
                let id = number(&face)?;
                terminal::print(&format!("{what} id={id} remote={}\n", parameters.uri.unwrap_or_default()))?;
            }
            Command::Update(update) => {
                let client = update.connection.open().await?;
                let face = find(&client, &update.face).await?;
                let changed =
                    client.command("faces", "update", &update.changes.parameters(face.face_id)).await?;
                let (id, uri) = (face.face_id, rows::plain(&face.uri));
                let flags = changed.flags.context("the forwarder's answer lacks the flags of the face")?;
                terminal::print(&format!("face-updated id={id} remote={uri} flags={flags}\n"))?;
            }
            Command::Destroy(destroy) => {
                let client = destroy.connection.open().await?;
                let face = find(&client, &destroy.face).await?;
                let parameters = ControlParameters { face_id: Some(face.face_id), ..Default::default() };
                client.command("faces", "destroy", &parameters).await?;
                let (id, uri) = (face.face_id, rows::plain(&face.uri));
                terminal::print(&format!("face-destroyed id={id} remote={uri}\n"))?;
            }
            Command::Show(show) => {
                let client = show.connection.open().await?;
                let face = find(&client, &show.face).await?;
                rows::print_one(&row(&face), show.json)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl From<Persistency> for FacePersistency {
    fn from(persistency: Persistency) -> Self {
        match persistency {
            Persistency::Persistent => Self::Persistent,
            Persistency::Permanent => Self::Permanent,
        }
    }
}

impl Changes {
    /// Parameters of a command for the face with this id.
    fn parameters(&self, face: u64) -> ControlParameters {
        let (mut flags, mut mask) = (0, 0);
        for (flag, wanted, set) in [
            (FACE_PIT_TOKENS, self.pit_tokens, State::On),
            (FACE_NO_INTEREST_DIGESTS, self.interest_digests, State::Off),
            (FACE_CONGESTION_MARKING, self.congestion_marks, State::On),
            (FACE_LP_RELIABILITY, self.reliability, State::On),
        ] {
            mask |= if wanted.is_some() { flag } else { 0 };
            flags |= if wanted == Some(set) { flag } else { 0 };
        }
        let changes = mask != 0;
        ControlParameters {
            face_id: Some(face),
            flags: changes.then_some(flags),
            mask: changes.then_some(mask),
            persistency: self.persistency.map(Into::into),
            mtu: self.mtu,
            ..Default::default()
        }
    }
}

fn row(face: &FaceStatus) -> Row {
    Row::new()
        .number("face", face.face_id)
        .text("remote", &face.uri)
        .text("local", &face.local_uri)
        .text("scope", face.scope)
        .text("persistency", face.persistency)
        .text("link", face.link_type)
        .maybe("mtu", face.mtu)
        .maybe("expires-ms", face.expiration)
        .number("in-interests", face.in_interests)
        .number("in-data", face.in_data)
        .number("in-nacks", face.in_nacks)
        .number("in-octets", face.in_bytes)
        .number("out-interests", face.out_interests)
        .number("out-data", face.out_data)
        .number("out-nacks", face.out_nacks)
        .number("out-octets", face.out_bytes)
        .number("flags", face.flags)
}

/// A face on the command line: its id, or its remote end.
#[derive(Clone, Debug)]
pub(super) enum Choice {
    Id(u64),
    Uri(FaceUri),
}

impl FromStr for Choice {
    type Err = FaceUriError;

    fn from_str(text: &str) -> Result<Self, FaceUriError> {
        match text.parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(_) => text.parse().map(Self::Uri),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Uri(uri) => uri.fmt(f),
        }
    }
}

/// The face, as the forwarder describes it now.
pub(super) async fn find(client: &Client, choice: &Choice) -> Result<FaceStatus> {
    let mut filter = FaceQueryFilter::default();
    match choice {
        Choice::Id(id) => filter.face_id = Some(*id),
        Choice::Uri(uri) => filter.uri = Some(canonical(uri).await?.to_string()),
    }
    let found = only(query(client, &filter).await?, choice)?;
    found.ok_or_else(|| anyhow!("no face {choice}; `hashlane ndn face list` shows all"))
}

/// The face, if there is one.
///
/// # Errors
/// There are several.
fn only(faces: Vec<FaceStatus>, choice: &Choice) -> Result<Option<FaceStatus>> {
    if let [_, _, ..] = faces[..] {
        let ids: Vec<String> = faces.iter().map(|face| face.face_id.to_string()).collect();
        bail!("{choice} is the remote end of the faces {}: give the id of one", ids.join(", "));
    }
    Ok(faces.into_iter().next())
}

/// Id of the face. Creates a face to a remote end that no face has.
pub(super) async fn find_or_create(client: &Client, choice: &Choice) -> Result<u64> {
    match choice {
        Choice::Id(id) => Ok(*id),
        Choice::Uri(uri) => {
            let uri = Some(canonical(uri).await?.to_string());
            let filter = FaceQueryFilter { uri: uri.clone(), ..Default::default() };
            if let Some(face) = only(query(client, &filter).await?, choice)? {
                return Ok(face.face_id);
            }
            let (face, _) = create(client, &ControlParameters { uri, ..Default::default() }).await?;
            number(&face)
        }
    }
}

/// Creates a face, or finds the existing one with that remote end. Returns true with a new face.
async fn create(client: &Client, parameters: &ControlParameters) -> Result<(ControlParameters, bool)> {
    match client.command("faces", "create", parameters).await {
        Ok(made) => Ok((made, true)),
        // 409 also means that a face with another remote end is in the way, or comes without a face.
        Err(CommandError::Refused(response)) if response.code == 409 => match response.parameters() {
            Ok(Some(existing)) if existing.face_id.is_some() && existing.uri == parameters.uri => {
                Ok((existing, false))
            }
            _ => Err(CommandError::Refused(response).into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Applies the options in `wanted` to an existing face, as `nfdc` does. Returns true if an option had to
/// change.
async fn adapt(client: &Client, existing: &ControlParameters, wanted: &ControlParameters) -> Result<bool> {
    let id = number(existing)?;
    if let Some(local) = wanted.local_uri.as_ref().filter(|local| existing.local_uri.as_ref() != Some(local))
    {
        let has = existing.local_uri.as_deref().map_or_else(|| "another one".into(), rows::plain);
        bail!(
            "face {id} exists with the local end {has}, not {local}: destroy it first, or leave out --local"
        );
    }
    // An on-demand face ends when it is idle; a user who creates it wants it to stay.
    let is_on_demand = existing.persistency == Some(FacePersistency::OnDemand);
    let default = is_on_demand.then_some(FacePersistency::Persistent);
    let persistency = wanted.persistency.or(default).filter(|wanted| existing.persistency != Some(*wanted));
    let mtu = wanted.mtu.filter(|wanted| existing.mtu != Some(*wanted));
    let has = |flags: u64| existing.flags.is_some_and(|has| (has ^ flags) & wanted.mask.unwrap_or(0) == 0);
    let flags = wanted.flags.filter(|wanted| !has(*wanted));
    if persistency.is_none() && mtu.is_none() && flags.is_none() {
        return Ok(false);
    }
    let mask = flags.and(wanted.mask);
    let update = ControlParameters { face_id: Some(id), persistency, mtu, flags, mask, ..Default::default() };
    let updated = client.command("faces", "update", &update).await;
    updated.with_context(|| format!("face {id} exists, and its options could not be updated"))?;
    Ok(true)
}

fn number(face: &ControlParameters) -> Result<u64> {
    face.face_id.context("the forwarder's answer lacks the id of the face")
}

/// The canonical form of a remote end. Resolves host names.
async fn canonical(uri: &FaceUri) -> Result<FaceUri> {
    match uri.canonical() {
        Err(FaceUriError::HostName(host)) => {
            let looked_up = lookup_host((host.as_str(), 0)).await;
            // The standard library puts the operation before the reason.
            let mut addresses = looked_up.map_err(|error| {
                let text = error.to_string();
                let reason = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
                anyhow!("cannot look up {host}: {reason}; name a host that resolves, or give its address")
            })?;
            // The scheme may require IPv4 or IPv6.
            let fits = |uri: &FaceUri| {
                let version = uri.scheme().chars().last().filter(char::is_ascii_digit);
                move |address: &std::net::SocketAddr| version.is_none_or(|v| (v == '4') == address.is_ipv4())
            };
            match addresses.find(fits(uri)) {
                Some(address) => Ok(uri.at(address.ip()).canonical()?),
                None => bail!("{host} has no address of the IP version of {}://", uri.scheme()),
            }
        }
        canonical => Ok(canonical?),
    }
}
