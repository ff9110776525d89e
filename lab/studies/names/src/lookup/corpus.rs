//! The entries of a table, and the names that are looked up in it.

use super::strings::Strings;
use super::workload::Operation;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The entries of a table, and the names that are looked up in it.
pub(crate) trait Corpus: Sync {
    /// Rules or prefixes, all different.
    fn entries(&self) -> &Strings;

    /// Adds so many names, drawn anew.
    fn draw(&self, operation: Operation, count: usize, random: &mut Xoshiro256PlusPlus, names: &mut Strings);

    /// Names among `count` drawn ones that match; `None` if the draw decides.
    fn matching(&self, operation: Operation, count: usize) -> Option<u64>;
}
