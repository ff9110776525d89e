//! Lists of any length as Data packets: a version in their name, then the number of the segment.
//!
//! ```text
//! /localhost/nfd/faces/list/v=1700000000000/seg=0
//! ```
//! Source: NDN Naming Conventions revision 3; NFD Management, Status Dataset.

use crate::invariant::part;
use crate::tlv::{Element, shortest};
use crate::wire::DataBuilder;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, SEGMENT};
use hashlane_name::error::BuildError;
use hashlane_name::ndn::{Ndn, NdnName};

/// Content of each segment except the last, in bytes: with the longest dataset name, the packet stays below
/// [`MAX_PACKET`](crate::wire::MAX_PACKET).
pub const SEGMENT_CONTENT: usize = 7168;

/// Appends a number of a naming convention to a name. `typ` is
/// [`VERSION`](hashlane_name::component::VERSION), [`SEGMENT`] or
/// [`SEQUENCE_NUM`](hashlane_name::component::SEQUENCE_NUM).
///
/// # Errors
/// [`BuildError`] if the name becomes too long.
pub fn with_number(name: NdnName<'_>, typ: u16, number: u64) -> Result<OwnedName<Ndn>, BuildError> {
    let bytes = number.to_be_bytes();
    OwnedName::from_components(name.components().chain([Component { typ, value: shortest(&bytes) }]))
}

/// Number in a component of the naming convention `typ`.
pub fn number(component: Component<'_>, typ: u16) -> Option<u64> {
    if component.typ != typ {
        return None;
    }
    Element { typ: typ.into(), value: component.value, at: 0, value_at: 0 }.number().ok()
}

/// Number of segments of `content`, at least 1.
pub fn segments(content: &[u8]) -> u64 {
    content.len().div_ceil(SEGMENT_CONTENT).max(1) as u64
}

/// Builds segment `index` of `content` as a Data packet, signed with its digest; `None` after the last
/// segment. `versioned` is the name up to the version; `freshness` is in milliseconds.
///
/// # Errors
/// [`BuildError`] if the name becomes too long.
pub fn segment(
    versioned: NdnName<'_>,
    content: &[u8],
    index: u64,
    freshness: u64,
) -> Result<Option<Vec<u8>>, BuildError> {
    let count = segments(content);
    if index >= count {
        return Ok(None);
    }
    let start = index as usize * SEGMENT_CONTENT;
    let end = content.len().min(start + SEGMENT_CONTENT);
    let name = with_number(versioned, SEGMENT, index)?;
    let bytes = (count - 1).to_be_bytes();
    let data = DataBuilder {
        freshness: Some(freshness),
        final_block: Some(Component { typ: SEGMENT, value: shortest(&bytes) }),
        ..DataBuilder::new(name.view(), part(content, start..end))
    };
    Ok(Some(data.build()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Data;
    use hashlane_name::component::VERSION;
    use hashlane_name::uri::parse_uri;
    use std::vec;

    #[test]
    fn segments_joined_are_the_content() {
        let name: OwnedName<Ndn> = parse_uri(b"ndn:/localhost/nfd/faces/list").unwrap();
        let versioned = with_number(name.view(), VERSION, 1_700_000_000_000).unwrap();
        for len in [0, 1, SEGMENT_CONTENT, SEGMENT_CONTENT + 1, 300 * SEGMENT_CONTENT] {
            let content: Vec<u8> = (0..len).map(|byte| byte as u8).collect();
            let mut joined = vec![];
            let mut index = 0;
            while let Some(packet) = segment(versioned.view(), &content, index, 1000).unwrap() {
                assert!(packet.len() <= crate::wire::MAX_PACKET);
                let data = Data::parse(&packet).unwrap();
                let last = data.name().components().last().unwrap();
                assert_eq!(number(last, SEGMENT), Some(index));
                assert_eq!(number(data.final_block().unwrap(), SEGMENT), Some(segments(&content) - 1));
                joined.extend_from_slice(data.content());
                index += 1;
            }
            assert_eq!((joined, index), (content.clone(), segments(&content)));
        }
    }

    #[test]
    fn names_have_the_form_of_the_conventions() {
        let name: OwnedName<Ndn> = parse_uri(b"ndn:/A").unwrap();
        let versioned = with_number(name.view(), VERSION, 256).unwrap();
        assert_eq!(
            with_number(versioned.view(), SEGMENT, 0).unwrap().view(),
            {
                let expected: OwnedName<Ndn> = parse_uri(b"ndn:/A/v=256/seg=0").unwrap();
                expected
            }
            .view()
        );
    }
}
