//! Renders one message with each compressor and prints its size.
//!
//! ```sh
//! cargo run -p hashlane-baseline --example compressors
//! ```

use hashlane_baseline::dns::{Dumb, New, Old};
use hashlane_dns::render::{Compressor, Options, Renderer};
use hashlane_dns::wire::{Class, Header, Rdata, RecordType, Section};
use hashlane_name::dns::NameBuf;
use std::error::Error;

fn print<C: Compressor>(id: &str, mut renderer: Renderer<C>) -> Result<(), Box<dyn Error>> {
    let owner: NameBuf = "example.com".parse()?;
    let mut message = renderer.start(Header::response(1), Options::default());
    message.question(owner.view(), RecordType::NS, Class::IN)?;
    for number in 1..=4 {
        let server: NameBuf = format!("ns{number}.example.com").parse()?;
        let data = Rdata::name(server.view());
        message.record(Section::Answer, owner.view(), RecordType::NS, Class::IN, 300, &data)?;
    }
    println!("{id}: {} bytes", message.finish().len());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    print("old", Renderer::with(Old::default()))?;
    print("new", Renderer::with(New::default()))?;
    print("dumb", Renderer::with(Dumb))?;
    print("ours", Renderer::with_random_key()?)
}
