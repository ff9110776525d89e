//! The crate `hickory-proto`.

use super::{Input, Render};
use hickory_proto::op::Message;
use hickory_proto::rr::Name;
use hickory_proto::serialize::binary::{BinDecodable, BinEncodable, BinEncoder};

enum Work {
    Names(Vec<Name>),
    Messages(Vec<Message>),
}

struct Renderer {
    work: Work,
    bytes: Vec<u8>,
}

pub(super) fn renderer<'a>(input: Input<'_>) -> Result<Box<dyn Render + 'a>, String> {
    let words = |error: hickory_proto::serialize::binary::DecodeError| error.to_string();
    let work = match input {
        Input::Names(names) => {
            let names = names.iter().map(|name| Name::from_bytes(name.as_bytes()));
            Work::Names(names.collect::<Result<_, _>>().map_err(words)?)
        }
        Input::Messages(messages) => {
            let messages = messages.iter().map(|bytes| Message::from_bytes(bytes));
            Work::Messages(messages.collect::<Result<_, _>>().map_err(words)?)
        }
    };
    Ok(Box::new(Renderer { work, bytes: Vec::with_capacity(1 << 17) }))
}

impl Render for Renderer {
    fn render(&mut self, message: usize) -> Result<&[u8], String> {
        self.bytes.clear();
        let mut encoder = BinEncoder::new(&mut self.bytes);
        match &self.work {
            Work::Names(names) => {
                let header = encoder.emit_vec(&[0; 12]);
                header.and_then(|()| names.iter().try_for_each(|name| name.emit(&mut encoder)))
            }
            Work::Messages(messages) => {
                messages.get(message).ok_or_else(|| format!("no message {message}"))?.emit(&mut encoder)
            }
        }
        .map_err(|error| error.to_string())?;
        Ok(&self.bytes)
    }
}
