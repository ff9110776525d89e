//! Fetches an object from a forwarder, and prints it.
//!
//! ```text
//! cargo run -p hashlane-client --example fetch -- /example/hello
//! ```

use hashlane_client::{Client, FetchOptions, Transport};
use hashlane_name::uri::parse_uri;
use std::error::Error;
use std::io::Write;

const USAGE: &str = "\
usage: fetch NAME

Start a forwarder and publish an object first:
  hashlane ndn run
  echo hello | hashlane ndn put /example/hello

NDN_CLIENT_TRANSPORT is the address of the forwarder, such as unix:///run/nfd/nfd.sock or udp://192.0.2.1.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(uri) = std::env::args().nth(1) else {
        println!("{USAGE}");
        return Ok(());
    };
    let name = parse_uri(uri.as_bytes())?;
    let transport = Transport::from_environment()?;
    let client = match Client::connect(&transport).await {
        Ok(client) => client,
        Err(error) => {
            println!("{error}\n\n{USAGE}");
            return Ok(());
        }
    };
    let mut fetch = client.fetch(name.view(), FetchOptions::default()).await?;
    while let Some(segment) = fetch.next().await? {
        std::io::stdout().write_all(segment.view().content())?;
    }
    let progress = fetch.progress();
    eprintln!("{}: {} bytes in {} segments", fetch.name(), progress.bytes, progress.segments);
    Ok(())
}
