//! Offset names with a separator byte before each component, as Alcatel-Lucent hashed them in 2015.
//!
//! ```text
//! segments = *("/" value)      otherwise as `hashlane_name::offset`
//! ```
//! The index then locates components that the separators delimit, too: `/BellLabs/Presentations` is stored as
//! it reads. A separator is one more byte to hash a component: 65 bytes for 5 components of 12 bytes, 70 for
//! 10 of 6.
//!
//! Source: slides of Alcatel-Lucent (interim meeting of ICNRG, January 2015), "Name + offsets (1 Byte
//! component separator needed). Total length: 65B, Components length: 13B", as reprinted in M. Mosko, "Name
//! Hashing Performance for Three Encoding Schemes", CCNxCON 2015. The slides do not show the separator's
//! place; before a component, as in a URI, the shortest prefix begins at the first byte.

use alloc::vec::Vec;
use core::ops::Range;

use hashlane_name::component::Component;
use hashlane_name::error::ParseError;
use hashlane_name::layout::Layout;
use hashlane_name::offset::{Offset, OffsetWalk};
use hashlane_name::walk::Encoding;

/// The byte before each component.
const SEPARATOR: u8 = b'/';

/// The offset encoding with separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separated;

impl Encoding for Separated {
    const ID: &'static str = "separated";
    type Walk<'a> = OffsetWalk<'a>;

    #[inline]
    fn walk(name: &[u8]) -> Result<OffsetWalk<'_>, ParseError> {
        Offset::walk(name)
    }
}

impl Layout for Separated {
    const CHECKS_DIGESTS: bool = false;

    fn component<'a>(walk: &Self::Walk<'a>, span: Range<usize>) -> Component<'a> {
        let Component { typ, value } = Offset::component(walk, span);
        Component { typ, value: value.get(1..).unwrap_or_default() }
    }

    fn component_len(component: Component<'_>) -> usize {
        Offset::component_len(component) + 1
    }

    fn name_len(body: usize) -> usize {
        Offset::name_len(body)
    }

    fn write<'c>(
        components: impl Iterator<Item = Component<'c>> + Clone,
        count: usize,
        body: usize,
        out: &mut Vec<u8>,
    ) {
        let separated: Vec<(u16, Vec<u8>)> =
            components.map(|component| (component.typ, [&[SEPARATOR], component.value].concat())).collect();
        Offset::write(separated.iter().map(|(typ, value)| Component { typ: *typ, value }), count, body, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use hashlane_name::build::encode_into;
    use hashlane_name::ccnx::Ccnx;
    use hashlane_name::view::Name;
    use hashlane_name::walk::Walk;

    fn encoded<E: Layout>(components: &[Component<'_>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_into::<E>(&mut bytes, components.iter().copied()).unwrap();
        bytes
    }

    fn hashed<E: Layout>(components: &[Component<'_>]) -> usize {
        E::walk(&encoded::<E>(components)).unwrap().bytes().len()
    }

    /// The lengths on the slides: 65 and 70 bytes with separators, 80 and 100 as TLVs of 2 + 2.
    #[test]
    fn has_the_lengths_of_the_source() {
        for (bytes, count, separated, offset, ccnx) in [(12, 5, 65, 60, 80), (6, 10, 70, 60, 100)] {
            let value = vec![7; bytes];
            let components = vec![Component::generic(&value); count];
            assert_eq!(hashed::<Separated>(&components), separated);
            assert_eq!(hashed::<Offset>(&components), offset);
            assert_eq!(hashed::<Ccnx>(&components), ccnx);
        }
    }

    #[test]
    fn stores_a_name_as_it_reads() {
        let components = [Component::generic(b"BellLabs"), Component::generic(b"Presentations")];
        let bytes = encoded::<Separated>(&components);
        assert_eq!(Separated::walk(&bytes).unwrap().bytes(), b"/BellLabs/Presentations");
    }

    #[test]
    fn gives_back_the_components() {
        let components = [
            Component::generic(b""),
            Component { typ: 54, value: &[3] },
            Component { typ: 65_535, value: b"/" },
            Component::generic(b"a/b"),
        ];
        let bytes = encoded::<Separated>(&components);
        let name = Name::<Separated>::parse(&bytes).unwrap();
        assert!(name.components().eq(components));
    }
}
