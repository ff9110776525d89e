//! No compression.

use dns::render::{Compressor, Place};
use name::dns::{Case, Name};

/// Writes every name as it is: the least that a renderer does, and the longest message that it writes.
///
/// BIND 10 ticket 1603 measures it beside its two compressors, to tell their time from that of the rest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dumb;

impl Compressor for Dumb {
    #[inline]
    fn start(&mut self, _: Case) {}

    #[inline(always)]
    fn place(&mut self, _: &[u8], name: Name<'_>) -> Place {
        Place::whole(name)
    }

    #[inline]
    fn truncate(&mut self, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use dns::render::{Options, Renderer};
    use dns::wire::{Class, Header, Rdata, RecordType, Section};

    #[test]
    fn writes_the_same_name_whole_each_time() {
        let name = Name::parse(b"\x07example\x03com\0").unwrap();
        let mut renderer = Renderer::with(Dumb);
        let mut message = renderer.start(Header::response(0), Options::default());
        message.question(name, RecordType::NS, Class::IN).unwrap();
        message.record(Section::Answer, name, RecordType::NS, Class::IN, 0, &Rdata::name(name)).unwrap();
        let octets = message.finish();
        assert_eq!(octets.windows(name.len()).filter(|window| *window == name.as_bytes()).count(), 3);
        assert_eq!(octets.len(), 12 + 3 * name.len() + 4 + 10);
    }
}
