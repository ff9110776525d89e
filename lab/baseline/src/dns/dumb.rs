//! No compression.

use hashlane_dns::render::{CompressedName, Compressor};
use hashlane_name::dns::{Case, Name};

/// Writes every name uncompressed: the minimum cost of writing names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dumb;

impl Compressor for Dumb {
    fn start(&mut self, _: Case) {}

    #[inline(always)]
    fn place(&mut self, _: &[u8], name: Name<'_>) -> CompressedName {
        CompressedName::whole(name)
    }

    fn truncate(&mut self, _: usize) {}
}
