//! Parts that all commands share: the connection to the forwarder, names, times, the wait for Ctrl-C.

use anyhow::{Result, anyhow};
use clap::Args;
use hashlane_client::{Client, Transport};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;
use hashlane_ndn::mgmt::Record;
use hashlane_ndn::mgmt::dataset::{FaceQueryFilter, FaceStatus};
use std::time::Duration;

/// The forwarder to use.
#[derive(Debug, Args)]
pub(super) struct Connection {
    /// Address of the forwarder: unix:///PATH, tcp://HOST:PORT or udp://HOST:PORT
    #[arg(long, value_name = "URI")]
    connect: Option<Transport>,
}

impl Connection {
    pub(super) async fn open(&self) -> Result<Client> {
        let transport = match &self.connect {
            Some(transport) => transport.clone(),
            None => Transport::from_environment()?,
        };
        Ok(Client::connect(&transport).await?)
    }
}

/// A name on the command line, as a URI with or without its scheme.
pub(super) fn name(text: &str) -> Result<OwnedName<Ndn>, String> {
    parse_uri(text.as_bytes()).map_err(|error| match text.starts_with('/') {
        true => error.to_string(),
        false => format!("{error}; a name starts with a slash, such as /example/data"),
    })
}

/// A time on the command line, in milliseconds.
pub(super) fn millis(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(millis) if millis <= 86_400_000 => Ok(Duration::from_millis(millis)),
        _ => Err("expected milliseconds, 0 to 86400000 (a day)".into()),
    }
}

/// Waits for Ctrl-C or SIGTERM.
pub(super) async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    // Without a handler the signal ends the process, as it does by default.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Records of a dataset.
pub(super) async fn records<R: Record>(client: &Client, module: &str, list: &str) -> Result<Vec<R>> {
    parse(&client.dataset(module, list, None).await?, module, list)
}

/// Faces that match all fields of a filter. Always current, unlike the list of faces, which NFD renews once a
/// second.
pub(super) async fn query(client: &Client, filter: &FaceQueryFilter) -> Result<Vec<FaceStatus>> {
    parse(&client.dataset("faces", "query", Some(&filter.to_bytes())).await?, "faces", "query")
}

fn parse<R: Record>(bytes: &[u8], module: &str, list: &str) -> Result<Vec<R>> {
    R::parse_all(bytes)
        .map_err(|error| anyhow!("cannot read the forwarder's dataset {module}/{list}: {error}"))
}
