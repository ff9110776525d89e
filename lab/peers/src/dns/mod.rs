//! Renderers of DNS messages, and their inputs.
//!
//! With the feature `dns` the crates `domain` (its three compressors), `hickory-proto` and `simple-dns` are
//! behind [`renderer`]; without it there are none. The module `domain` takes other compressors for that
//! crate's builder. `hickory-before` is the release 0.25.2, which RUSTSEC-2026-0119 affects: its search for
//! names takes quadratic time. The fix is in 0.26.1, and Cargo builds no two releases of 0.26 together.

#[cfg(feature = "dns")]
pub mod domain;
#[cfg(feature = "dns")]
mod hickory;
#[cfg(feature = "dns")]
pub mod read;
#[cfg(feature = "dns")]
mod simple_dns;

use hashlane_name::dns::NameBuf;

/// The messages that a renderer renders, again and again.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Names, one after the other, in a message with a header of twelve zeros.
    Names(&'a [NameBuf]),
    /// Messages in wire form. With or without compression: parsers expand names.
    Messages(&'a [Vec<u8>]),
}

impl Input<'_> {
    /// Number of messages.
    pub const fn messages(&self) -> usize {
        match self {
            Self::Names(_) => 1,
            Self::Messages(messages) => messages.len(),
        }
    }
}

/// A renderer with its input in its own types.
pub trait Render {
    /// Renders a message, counted from 0, and returns its bytes.
    ///
    /// # Errors
    /// The reason that it cannot.
    fn render(&mut self, message: usize) -> Result<&[u8], String>;

    /// Times a message, for renderers of another process, which have a clock of their own: renders it once,
    /// then repeatedly for at least `least_ns` nanoseconds, and returns the nanoseconds of a rendering.
    /// `None` for renderers of this process, which the caller times.
    ///
    /// # Errors
    /// The reason that it cannot.
    fn time(&mut self, _message: usize, _least_ns: u64) -> Option<Result<f64, String>> {
        None
    }
}

/// True with the feature `dns`.
pub const BUILT_IN: bool = cfg!(feature = "dns");

/// The ids of the renderers that there are with the feature `dns`.
pub const IDS: [&str; 7] = [
    "domain/static",
    "domain/tree",
    "domain/hash",
    "domain/hash-reused",
    "hickory",
    "hickory-before",
    "simple-dns",
];

/// A renderer by its id, prepared for its input.
///
/// # Errors
/// The renderer is not built in, not known, or takes no names alone.
#[cfg(feature = "dns")]
pub fn renderer<'a>(id: &str, input: Input<'a>) -> Result<Box<dyn Render + 'a>, String> {
    use ::domain::base::message_builder::{HashCompressor, StaticCompressor, TreeCompressor};
    use ::domain::dep::octseq::Truncate;
    /// Each message has a new compressor.
    macro_rules! anew {
        ($compressor:ident) => {
            domain::renderer(
                $compressor::new,
                |last| $compressor::new(domain::cleared(last.into_target())),
                input,
            )
        };
    }
    match id {
        "domain/static" => anew!(StaticCompressor),
        "domain/tree" => anew!(TreeCompressor),
        "domain/hash" => anew!(HashCompressor),
        "domain/hash-reused" => {
            let reused = |mut last: HashCompressor<Vec<u8>>| {
                last.truncate(0);
                last
            };
            domain::renderer(HashCompressor::new, reused, input)
        }
        "hickory" => hickory::current::renderer(input),
        "hickory-before" => hickory::before::renderer(input),
        "simple-dns" => simple_dns::renderer(input),
        _ => Err(format!("there is no renderer {id:?}")),
    }
}

/// A renderer by its id; without the feature `dns` there are none.
///
/// # Errors
/// Always: not built in.
#[cfg(not(feature = "dns"))]
pub fn renderer<'a>(_id: &str, _input: Input<'a>) -> Result<Box<dyn Render + 'a>, String> {
    Err("it is not built in".into())
}

#[cfg(all(test, feature = "dns"))]
mod tests {
    use super::*;
    use ::hashlane_dns::wire::Message;

    fn names() -> Vec<NameBuf> {
        let texts = ["www.example.com", "example.com", "ns.Example.com", "."];
        texts.iter().filter_map(|text| text.parse().ok()).collect()
    }

    /// A response with three records and no pointer.
    fn plain() -> Vec<u8> {
        let mut message = b"\0\x07\x84\0\0\x01\0\x02\0\0\0\x01\x07example\x03com\0\0\x0f\0\x01".to_vec();
        for exchange in [&b"\x04mail"[..], b"\x05mail2"] {
            message.extend_from_slice(b"\x07example\x03com\0\0\x0f\0\x01\0\0\0\x3c\0");
            message.push(2 + exchange.len() as u8 + 13);
            message.extend_from_slice(&[&b"\0\x0a"[..], exchange, b"\x07example\x03com\0"].concat());
        }
        message.extend_from_slice(b"\x04mail\x07example\x03com\0\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01");
        message
    }

    #[test]
    fn every_peer_s_message_reads_back() {
        let plain = [plain(), plain()];
        let (questions, records) = Message::parse(&plain[0]).unwrap().questions().unwrap();
        let records: Vec<_> = records.map(Result::unwrap).collect();
        for id in IDS {
            let mut renderer = renderer(id, Input::Messages(&plain)).unwrap();
            for message in [0, 1, 0] {
                let bytes = renderer.render(message).unwrap();
                assert!(bytes.len() < plain[0].len(), "{id}");
                let (found, read) = Message::parse(bytes).unwrap().questions().unwrap();
                assert_eq!(found, questions, "{id}");
                assert!(read.map(Result::unwrap).eq(records.iter().cloned()), "{id}");
            }
        }
    }

    #[test]
    fn every_peer_that_takes_names_writes_them() {
        let names = names();
        assert_eq!(names.len(), 4);
        for id in IDS.iter().filter(|id| **id != "simple-dns") {
            let mut renderer = renderer(id, Input::Names(&names)).unwrap();
            for _ in 0..2 {
                let bytes = renderer.render(0).unwrap();
                let mut at = 12;
                for name in &names {
                    let (read, end) = hashlane_name::dns::message::read(bytes, at).unwrap();
                    assert!(read.view().eq_ignore_case(name.view()), "{id}");
                    at = end;
                }
                assert_eq!(at, bytes.len(), "{id}");
            }
        }
        assert!(renderer("simple-dns", Input::Names(&names)).is_err());
        assert!(renderer("unbound", Input::Names(&names)).is_err());
    }
}
