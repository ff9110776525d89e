//! The part of an encoding that views and builders need, beyond its walk.

use alloc::vec::Vec;
use core::ops::Range;

use crate::component::Component;
use crate::walk::Encoding;

/// The layout of components in an encoding.
pub trait Layout: Encoding {
    /// True if a digest component must have a value of 32 bytes.
    const CHECKS_DIGESTS: bool;

    /// The last component of `walk`, which is `span` of the walk's bytes.
    fn component<'a>(walk: &Self::Walk<'a>, span: Range<usize>) -> Component<'a>;

    /// Length that `component` adds to a name.
    fn component_len(component: Component<'_>) -> usize;

    /// Length of a name whose components add `body` bytes.
    fn name_len(body: usize) -> usize;

    /// Appends a name. The caller has checked the components: there are `count`, which add `body` bytes, and
    /// all limits hold.
    fn write<'c>(
        components: impl Iterator<Item = Component<'c>> + Clone,
        count: usize,
        body: usize,
        out: &mut Vec<u8>,
    );
}
