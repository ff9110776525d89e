//! Readers of DNS messages: every record, with all names whole.

use super::domain;
use hickory_proto::op::Message;
use hickory_proto::serialize::binary::BinDecodable;
use simple_dns::Packet;

/// Reads a message, and returns the number of its records.
///
/// # Errors
/// The reason that it refuses the message.
pub type Read = fn(&[u8]) -> Result<usize, String>;

/// A reader by the id of its crate's renderer; `None` for an unknown id.
pub fn reader(id: &str) -> Option<Read> {
    Some(match id {
        "domain/hash" => domain::read,
        "hickory" => |bytes| {
            let message = Message::from_bytes(bytes).map_err(|error| error.to_string())?;
            Ok(message.answers.len() + message.authorities.len() + message.additionals.len())
        },
        "simple-dns" => |bytes| {
            let packet = Packet::parse(bytes).map_err(|error| error.to_string())?;
            Ok(packet.answers.len() + packet.name_servers.len() + packet.additional_records.len())
        },
        _ => return None,
    })
}
