//! The crate `hickory-proto`, in two releases.

/// Declares `renderer` of one release of the crate.
macro_rules! release {
    ($module:ident, $proto:ident, $words:literal) => {
        #[doc = $words]
        pub(super) mod $module {
            use super::super::{Input, Render};
            use $proto::op::Message;
            use $proto::rr::Name;
            use $proto::serialize::binary::{BinDecodable, BinEncodable, BinEncoder};

            enum Work {
                Names(Vec<Name>),
                Messages(Vec<Message>),
            }

            struct Renderer {
                work: Work,
                bytes: Vec<u8>,
            }

            pub(in super::super) fn renderer<'a>(input: Input<'_>) -> Result<Box<dyn Render + 'a>, String> {
                let work = match input {
                    Input::Names(names) => {
                        let names = names.iter().map(|name| Name::from_bytes(name.as_bytes()));
                        Work::Names(names.collect::<Result<_, _>>().map_err(|error| error.to_string())?)
                    }
                    Input::Messages(messages) => {
                        let messages = messages.iter().map(|bytes| Message::from_bytes(bytes));
                        Work::Messages(messages.collect::<Result<_, _>>().map_err(|error| error.to_string())?)
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
                        Work::Messages(messages) => messages
                            .get(message)
                            .ok_or_else(|| format!("no message {message}"))?
                            .emit(&mut encoder),
                    }
                    .map_err(|error| error.to_string())?;
                    Ok(&self.bytes)
                }
            }
        }
    };
}

release!(current, hickory_proto, "The release with the fix of RUSTSEC-2026-0119.");
release!(before, hickory_proto_before, "A release without the fix of RUSTSEC-2026-0119.");
