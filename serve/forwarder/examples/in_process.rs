//! Starts a forwarder inside this program on a temporary socket, asks it for its status, and stops it.
//!
//! ```text
//! cargo run -p hashlane-forwarder --example in_process
//! ```

use hashlane_forwarder::{Config, Server};
use hashlane_name::uri::parse_uri;
use hashlane_ndn::mgmt::Record;
use hashlane_ndn::mgmt::dataset::ForwarderStatus;
use hashlane_ndn::tlv::Elements;
use hashlane_ndn::wire::{Data, InterestBuilder, LpPacket};
use std::error::Error;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("hashlane-in-process-{}.sock", std::process::id()));
    // All other values are NFD's defaults.
    let mut config = Config::parse("[cs]\npackets = 1000")?;
    config.faces.unix.path = vec![path.clone()];
    config.faces.udp.listen = vec!["127.0.0.1:0".parse()?];
    config.faces.tcp.listen.clear();
    config.faces.websocket.listen.clear();

    let server = Server::start(&config)?;
    for channel in server.channels() {
        println!("listening on {channel}");
    }
    let stopper = server.stopper();
    let management = std::thread::spawn(|| server.run());

    let mut stream = UnixStream::connect(&path)?;
    let name = parse_uri(b"/localhost/nfd/status/general")?;
    let interest = InterestBuilder {
        can_be_prefix: true,
        must_be_fresh: true,
        nonce: Some(1),
        ..InterestBuilder::new(name.view())
    };
    stream.write_all(&interest.build())?;
    let mut buffer = [0; 9000];
    let length = stream.read(&mut buffer)?;
    let packet = LpPacket::parse(&buffer[..length])?;
    let status = ForwarderStatus::parse_fields(Elements::new(Data::parse(packet.fragment)?.content()))?;
    println!("version {}, {} Interests received", status.version, status.in_interests);

    stopper.stop();
    management.join().map_err(|_| "the management has panicked")??;
    println!("stopped");
    Ok(())
}
