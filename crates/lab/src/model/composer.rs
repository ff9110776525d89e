//! Our compressor behind the message builder of the crate `domain`, in the place of that crate's own.

use dns::composer::Compressing;
use dns::render::SuffixTable;
use domain::dep::octseq::Truncate;
use peers::dns::domain::Manner;

/// A compressor for each message: a copy of a table that was keyed before, as [`Compressing::default`] makes it.
pub struct Fresh(pub SuffixTable);

impl Manner for Fresh {
    type Compressor = Compressing<Vec<u8>>;

    fn first(&self, buffer: Vec<u8>) -> Self::Compressor {
        Compressing::with(buffer, self.0.clone())
    }

    fn next(&self, last: Self::Compressor) -> Self::Compressor {
        let mut buffer = last.into_target();
        buffer.clear();
        self.first(buffer)
    }
}

/// One compressor for all messages, cut to nothing between them.
pub struct Reused(pub SuffixTable);

impl Manner for Reused {
    type Compressor = Compressing<Vec<u8>>;

    fn first(&self, buffer: Vec<u8>) -> Self::Compressor {
        Compressing::with(buffer, self.0.clone())
    }

    fn next(&self, mut last: Self::Compressor) -> Self::Compressor {
        last.truncate(0);
        last
    }
}
