//! The records of a catalog zone.

use super::{VERSION, node_name};
use crate::records::{Record, Records};
use data_encoding::HEXLOWER;
use hashlane_dns::wire::RecordType;
use hashlane_name::dns::{MAX_NAME_LEN, Name, NameBuf};
use sha2::{Digest as _, Sha256};

/// Bytes of the hash in a label.
const ID: usize = 16;

/// Bytes that the longest name of a catalog has beside the apex: `group`, a label of a hash, and `zones`.
const NODE: usize = 6 + 1 + 2 * ID + 6;

/// Seconds after which a secondary asks again, and asks again if the primary did not answer.
const REFRESH: u32 = 3600;
const RETRY: u32 = 600;

/// Seconds after which a secondary forgets the catalog: the largest value, as in RFC 9432 §4.
const EXPIRE: u32 = i32::MAX as u32 - 1;

/// A member of a catalog that is made.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Name of the zone.
    pub name: Name<'a>,
    /// Groups of the member.
    pub groups: &'a [&'a [u8]],
    /// The catalog that may take the member over.
    pub next_owner: Option<Name<'a>>,
}

impl<'a> Entry<'a> {
    /// A member without properties.
    pub const fn new(name: Name<'a>) -> Self {
        Self { name, groups: &[], next_owner: None }
    }
}

/// Reasons for which a catalog cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProduceError {
    /// The names of nodes would be longer than 255 bytes.
    #[error("the name of the catalog has more than {} bytes; choose a shorter one", MAX_NAME_LEN - NODE)]
    LongApex,
    /// A group has more than 255 bytes.
    #[error("a group of {0} has more than 255 bytes; shorten it")]
    LongGroup(Box<NameBuf>),
}

/// The label of a member's node: the first 128 bits of the SHA-256 of the name in small letters, as 32
/// hexadecimal digits. It stays the same whatever else the catalog lists.
pub fn id(name: Name<'_>) -> String {
    let hash = Sha256::digest(name.as_bytes().to_ascii_lowercase());
    HEXLOWER.encode(hash.get(..ID).unwrap_or_default())
}

/// The records of a catalog zone `apex` with a serial number, the SOA record first.
///
/// The name server of the zone is `invalid.`, as nobody looks it up (RFC 9432 §4). A member that comes twice
/// is twice in the records, and once in the zone.
///
/// # Errors
/// The apex or a group is too long.
pub fn produce<'a>(
    apex: Name<'_>,
    serial: u32,
    members: impl IntoIterator<Item = Entry<'a>>,
) -> Result<Records, ProduceError> {
    if apex.len() + NODE > MAX_NAME_LEN {
        return Err(ProduceError::LongApex);
    }
    let mut records = Records::default();
    let mut push = |owner: Name<'_>, rtype, data: &[u8]| {
        records.push(&Record { owner, rtype, ttl: 0, data });
    };
    let nowhere = b"\x07invalid\0";
    let numbers = [serial, REFRESH, RETRY, EXPIRE, 0].map(u32::to_be_bytes);
    push(apex, RecordType::SOA, &[nowhere, &nowhere[..], numbers.as_flattened()].concat());
    push(apex, RecordType::NS, nowhere);
    push(below(b"version", apex).view(), RecordType::TXT, &string(VERSION));
    for Entry { name, groups, next_owner } in members {
        let node = node_name(apex, id(name).as_bytes());
        push(node.view(), RecordType::PTR, name.as_bytes());
        for group in groups {
            if group.len() > usize::from(u8::MAX) {
                return Err(ProduceError::LongGroup(Box::new(name.into())));
            }
            push(below(b"group", node.view()).view(), RecordType::TXT, &string(group));
        }
        if let Some(owner) = next_owner {
            push(below(b"coo", node.view()).view(), RecordType::PTR, owner.as_bytes());
        }
    }
    Ok(records)
}

/// A name with a label before it.
fn below(label: &[u8], name: Name<'_>) -> NameBuf {
    let mut whole = NameBuf::ROOT;
    let pushed = [label].into_iter().chain(name.labels()).try_for_each(|label| whole.push(label));
    debug_assert!(pushed.is_ok(), "a name that was checked to be short enough");
    whole
}

/// A string of at most 255 bytes as the data of a TXT record.
fn string(text: &[u8]) -> Vec<u8> {
    [&[text.len() as u8], text].concat()
}
