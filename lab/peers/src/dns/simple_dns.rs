//! The crate `simple-dns`.

use super::{Input, Render};
use simple_dns::Packet;

struct Renderer<'a> {
    packets: Vec<Packet<'a>>,
    bytes: Vec<u8>,
}

pub(super) fn renderer(input: Input<'_>) -> Result<Box<dyn Render + '_>, String> {
    let Input::Messages(messages) = input else {
        return Err("it writes no names by themselves".into());
    };
    let packets = messages.iter().map(|bytes| Packet::parse(bytes)).collect::<Result<_, _>>();
    let packets = packets.map_err(|error| error.to_string())?;
    Ok(Box::new(Renderer { packets, bytes: Vec::new() }))
}

impl Render for Renderer<'_> {
    fn render(&mut self, message: usize) -> Result<&[u8], String> {
        let packet = self.packets.get(message).ok_or_else(|| format!("no message {message}"))?;
        self.bytes = packet.build_bytes_vec_compressed().map_err(|error| error.to_string())?;
        Ok(&self.bytes)
    }
}
