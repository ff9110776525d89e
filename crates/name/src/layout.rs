//! What the one view and the one builder ask of an encoding, beyond its walk.

use alloc::vec::Vec;
use core::ops::Range;

use crate::component::Component;
use crate::walk::Encoding;

/// How an encoding lays a component out.
pub trait Layout: Encoding {
    /// Whether a digest component must have a value of 32 bytes.
    const CHECKS_DIGESTS: bool;

    /// The component that `walk` has just come to, whose bytes are `span` of the walk's bytes.
    fn component<'a>(walk: &Self::Walk<'a>, span: Range<usize>) -> Component<'a>;

    /// The bytes that `component` adds to a name, wherever they stand.
    fn component_len(component: Component<'_>) -> usize;

    /// The bytes of a name whose components add `body` bytes.
    fn name_len(body: usize) -> usize;

    /// Appends a name. The caller has checked the components: there are `count`, which add `body` bytes, and all
    /// limits hold.
    fn write<'c>(
        components: impl Iterator<Item = Component<'c>> + Clone,
        count: usize,
        body: usize,
        out: &mut Vec<u8>,
    );
}
