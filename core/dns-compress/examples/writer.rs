//! Writes the name servers of a zone with a message writer of this example, and prints how each name is
//! written.
//!
//! ```sh
//! cargo run -p hashlane-dns-compress --example writer -- example.com ns1.example.com ns2.example.com
//! ```

use hashlane_dns_compress::{Case, Compressor as _, HEADER_LEN, SuffixTable};
use hashlane_name::dns::NameBuf;
use std::error::Error;

/// A message as this program writes it: bytes, and a limit.
struct Writer {
    bytes: Vec<u8>,
    limit: usize,
    names: SuffixTable,
}

impl Writer {
    fn name(&mut self, name: &NameBuf) -> Result<(), Box<dyn Error>> {
        let place = self.names.compress(&self.bytes, name.as_bytes())?;
        let literal = &name.as_bytes()[..place.literal()];
        self.bytes.extend_from_slice(literal);
        self.bytes.extend(place.pointer_bytes().into_iter().flatten());
        match place.pointer() {
            Some(at) => println!("{name}: {} bytes, and a pointer to {at}", literal.len()),
            None => println!("{name}: {} bytes", literal.len()),
        }
        Ok(())
    }

    /// Appends a record of a name server; false if it does not fit.
    fn server(&mut self, zone: &NameBuf, server: &NameBuf) -> Result<bool, Box<dyn Error>> {
        let before = self.bytes.len();
        self.name(zone)?;
        self.bytes.extend_from_slice(&[0, 2, 0, 1, 0, 0, 1, 44, 0, 0]);
        let data = self.bytes.len();
        self.name(server)?;
        let len = u16::try_from(self.bytes.len() - data)?;
        self.bytes[data - 2..data].copy_from_slice(&len.to_be_bytes());
        if self.bytes.len() > self.limit {
            self.bytes.truncate(before);
            self.names.truncate(before);
        }
        Ok(self.bytes.len() > before)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        words = ["example.com", "ns1.example.com", "ns2.example.com"].map(String::from).to_vec();
    }
    let names = words.iter().map(|word| word.parse()).collect::<Result<Vec<NameBuf>, _>>()?;
    let (zone, servers) = names.split_first().ok_or("usage: writer ZONE SERVER…")?;

    let names = SuffixTable::with_random_key()?;
    let mut writer = Writer { bytes: vec![0; HEADER_LEN], limit: 512, names };
    writer.names.start(Case::Ignored);
    for server in servers {
        if !writer.server(zone, server)? {
            println!("no room for {server}");
        }
    }
    println!("{} bytes in all", writer.bytes.len());
    Ok(())
}
