//! Renders the name servers of a zone and prints the message, with and without compression.
//!
//! ```sh
//! cargo run -p hashlane-dns --example render -- example.com ns1.example.com ns2.example.com
//! ```

use hashlane_dns::render::{Options, Renderer};
use hashlane_dns::wire::{Class, Content, Header, Rdata, RecordType, Section};
use hashlane_name::dns::NameBuf;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        words = ["example.com", "ns1.example.com", "ns2.example.com"].map(String::from).to_vec();
    }
    let names = words.iter().map(|word| word.parse()).collect::<Result<Vec<NameBuf>, _>>()?;
    let (owner, servers) = names.split_first().ok_or("usage: render ZONE SERVER…")?;

    let mut renderer = Renderer::with_random_key()?;
    let mut message = renderer.start(Header::response(1), Options::default());
    message.question(owner.view(), RecordType::NS, Class::IN)?;
    let data = servers.iter().map(|server| Rdata::name(server.view()));
    message.rrset(Section::Answer, owner.view(), RecordType::NS, Class::IN, 300, data)?;
    let bytes = message.finish();

    let whole = Content::parse(bytes)?.uncompressed().ok_or("too many records")?;
    println!("{} bytes, {} without compression", bytes.len(), whole.len());
    for line in bytes.chunks(16) {
        let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{}", hex.join(" "));
    }
    Ok(())
}
