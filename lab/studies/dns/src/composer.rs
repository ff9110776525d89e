//! Our compressor behind the message builder of the crate `domain`, in the place of that crate's own.

use domain::dep::octseq::Truncate;
use hashlane_dns::composer::Compressing;
use hashlane_peers::dns::domain::Manner;

/// A compressor for each message, with a table of the process, as [`Compressing::default`] makes it.
pub(crate) struct Fresh;

impl Manner for Fresh {
    type Compressor = Compressing<Vec<u8>>;

    fn first(&self, buffer: Vec<u8>) -> Self::Compressor {
        Compressing::pooled(buffer)
    }

    fn next(&self, last: Self::Compressor) -> Self::Compressor {
        let mut buffer = last.into_target();
        buffer.clear();
        self.first(buffer)
    }
}

/// One compressor for all messages, cut to nothing between them.
pub(crate) struct Reused;

impl Manner for Reused {
    type Compressor = Compressing<Vec<u8>>;

    fn first(&self, buffer: Vec<u8>) -> Self::Compressor {
        Compressing::pooled(buffer)
    }

    fn next(&self, mut last: Self::Compressor) -> Self::Compressor {
        last.truncate(0);
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::dns::NameBuf;
    use hashlane_peers::dns::{Input, domain::renderer};

    #[test]
    fn compresses_names_message_after_message() {
        let names: Vec<NameBuf> =
            ["www.example.com", "ns.Example.com", "."].iter().filter_map(|text| text.parse().ok()).collect();
        let input = Input::Names(&names);
        for mut renderer in [renderer(Fresh, input).unwrap(), renderer(Reused, input).unwrap()] {
            let first = renderer.render(0).unwrap().to_vec();
            assert_eq!(&first[12..], b"\x03www\x07example\x03com\0\x02ns\xc0\x10\0");
            assert_eq!(renderer.render(0).unwrap(), first);
        }
    }
}
