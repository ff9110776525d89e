//! Catalog zones (RFC 9432): a zone whose records list zones, from which a secondary learns what it serves.
//!
//! | owner | type | content |
//! | --- | --- | --- |
//! | `version.CATALOG` | TXT | `"2"` alone |
//! | `ID.zones.CATALOG` | PTR | the name of a member, alone |
//! | `group.ID.zones.CATALOG` | TXT | groups of the member; the strings of a record are one text |
//! | `coo.ID.zones.CATALOG` | PTR | the catalog that may take the member over, alone (change of ownership) |
//!
//! All other records are ignored (RFC 9432 §4.2). A catalog that breaks a rule is refused as a whole, so that
//! a secondary goes on with the last one that was valid (RFC 9432 §5.1).

mod difference;
mod produce;

pub use difference::{Changes, changes};
pub use produce::{Entry, ProduceError, id, produce};

use crate::records::whole_data;
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{NameId, Zone};
use hashlane_name::dns::{Name, NameBuf};
use std::collections::HashMap;

/// Most members of a catalog, unless the configuration says otherwise.
pub const MAX_MEMBERS: usize = 1_000_000;

/// The version of the schema (RFC 9432 §4.2.1).
const VERSION: &[u8] = b"2";

/// Reasons for which a catalog zone is not followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// No version, several, or another one.
    #[error("{apex} is no catalog zone: version.{apex} must have one TXT record, \"2\" (RFC 9432 §4.2.1)")]
    Version {
        /// The catalog.
        apex: Box<NameBuf>,
    },
    /// A node has several PTR records.
    #[error("{node} has {records} PTR records, where a catalog zone has one; correct the catalog")]
    Several {
        /// The node of a member, or of its change of ownership.
        node: Box<NameBuf>,
        /// Number of its PTR records.
        records: usize,
    },
    /// Two nodes are of one member.
    #[error("{member} is a member twice, by {node} and {other}; correct the catalog")]
    Duplicate {
        /// Name of the member.
        member: Box<NameBuf>,
        /// A node of the member.
        node: Box<NameBuf>,
        /// Another one.
        other: Box<NameBuf>,
    },
    /// More members than this server takes.
    #[error("more than {0} members; raise the limit of members, or split the catalog")]
    TooMany(usize),
}

/// A zone that a catalog lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name in wire form, in small letters: 1 to 255 bytes.
    name: Box<[u8]>,
    /// The label of the node in small letters: 1 to 63 bytes.
    id: Box<[u8]>,
    groups: Vec<Box<[u8]>>,
    owner: Option<Box<[u8]>>,
}

impl Member {
    /// The name of the zone, in small letters.
    pub fn name(&self) -> Name<'_> {
        checked(&self.name)
    }

    /// The label of the member's node, in small letters. A member whose label has changed is a new zone: the
    /// data of the old one are to be dropped (RFC 9432 §5.4).
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// The groups of the member, sorted.
    pub fn groups(&self) -> impl Iterator<Item = &[u8]> {
        self.groups.iter().map(AsRef::as_ref)
    }

    /// The catalog that may take the member over (RFC 9432 §4.3.1), in small letters.
    pub fn next_owner(&self) -> Option<Name<'_>> {
        self.owner.as_deref().map(checked)
    }
}

/// A view of bytes that are a name.
fn checked(bytes: &[u8]) -> Name<'_> {
    let name = Name::parse(bytes);
    debug_assert!(name.is_ok(), "a member has names of a zone");
    name.unwrap_or(Name::ROOT)
}

/// The members of a catalog zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Sorted by the bytes of their names.
    members: Vec<Member>,
}

impl Catalog {
    /// The members, ascending by the bytes of their names.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The member of this name.
    pub fn get(&self, name: Name<'_>) -> Option<&Member> {
        let name = name.as_bytes().to_ascii_lowercase();
        let at = self.members.binary_search_by(|member| (*member.name).cmp(&name)).ok()?;
        self.members.get(at)
    }
}

/// The members of a catalog zone, at most `most` of them.
///
/// Takes time of the order of n log n for n records, and memory of the order of the members' names.
///
/// # Errors
/// The zone is no catalog zone of version 2, is broken, or has more members.
pub fn members(zone: &Zone, most: usize) -> Result<Catalog, CatalogError> {
    check_version(zone)?;
    let mut members = Vec::new();
    // Places of the members by their nodes, for the properties.
    let mut places = HashMap::new();
    for node in zone.owners().filter(|owner| is_node(zone, *owner)) {
        let Some(name) = pointer(zone, node)? else { continue };
        if members.len() == most {
            return Err(CatalogError::TooMany(most));
        }
        places.insert(node, members.len());
        let id = label(zone, node).to_ascii_lowercase().into();
        members.push(Member { name, id, groups: Vec::new(), owner: None });
    }
    for owner in zone.owners() {
        let place = places.get(&zone.parent(owner)).copied();
        let Some(member) = place.and_then(|place| members.get_mut(place)) else { continue };
        match label(zone, owner).to_ascii_lowercase().as_slice() {
            b"group" => member.groups = groups(zone, owner),
            b"coo" => member.owner = pointer(zone, owner)?,
            _ => {}
        }
    }
    members.sort_unstable_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    for pair in members.windows(2) {
        if let [one, other] = pair
            && one.name == other.name
        {
            let node = |member: &Member| Box::new(node_name(zone.apex_name(), &member.id));
            let member = Box::new(one.name().into());
            return Err(CatalogError::Duplicate { member, node: node(one), other: node(other) });
        }
    }
    members.shrink_to_fit();
    Ok(Catalog { members })
}

/// The first label of a name, without its length.
fn label(zone: &Zone, id: NameId) -> &[u8] {
    zone.label(id).get(1..).unwrap_or_default()
}

/// Returns true for a name with one label before `zones` and the apex.
fn is_node(zone: &Zone, id: NameId) -> bool {
    let zones = zone.parent(id);
    let is_below = id != zone.apex() && zones != zone.apex() && zone.parent(zones) == zone.apex();
    is_below && label(zone, zones).eq_ignore_ascii_case(b"zones")
}

/// The name of a member's node.
fn node_name(apex: Name<'_>, id: &[u8]) -> NameBuf {
    let mut name = NameBuf::ROOT;
    // The zone has the name, or it was checked to be short enough.
    let pushed = [id, b"zones"].into_iter().chain(apex.labels()).try_for_each(|label| name.push(label));
    debug_assert!(pushed.is_ok(), "a name of the catalog");
    name
}

/// The name that the one PTR record of an owner has, in small letters.
fn pointer(zone: &Zone, owner: NameId) -> Result<Option<Box<[u8]>>, CatalogError> {
    let Some(set) = zone.set(owner, RecordType::PTR) else { return Ok(None) };
    if set.len() > 1 {
        return Err(CatalogError::Several { node: Box::new(zone.name(owner)), records: set.len() });
    }
    let name = set.records().next().and_then(|record| record.names[0]);
    Ok(name.map(|name| zone.name(name).as_bytes().to_ascii_lowercase().into()))
}

/// The texts of the TXT records of an owner, sorted.
fn groups(zone: &Zone, owner: NameId) -> Vec<Box<[u8]>> {
    let Some(set) = zone.set(owner, RecordType::TXT) else { return Vec::new() };
    let mut data = Vec::new();
    let mut groups: Vec<Box<[u8]>> = set
        .records()
        .map(|record| {
            whole_data(zone, &record, &mut data);
            strings(&data).into()
        })
        .collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// The strings in the data of a TXT record as one text; what follows the last whole one is left out.
fn strings(mut data: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    while let Some((len, rest)) = data.split_first()
        && let Some((string, rest)) = rest.split_at_checked((*len).into())
    {
        text.extend_from_slice(string);
        data = rest;
    }
    text
}

fn check_version(zone: &Zone) -> Result<(), CatalogError> {
    let is_version = |id: &NameId| {
        zone.parent(*id) == zone.apex()
            && *id != zone.apex()
            && label(zone, *id).eq_ignore_ascii_case(b"version")
    };
    let set = zone.owners().find(is_version).and_then(|id| zone.set(id, RecordType::TXT));
    let is_known = set.is_some_and(|set| {
        let data = set.records().next().map(|record| record.before);
        set.len() == 1 && data.is_some_and(|data| data == [&[VERSION.len() as u8], VERSION].concat())
    });
    let apex = || Box::new(zone.apex_name().into());
    if is_known { Ok(()) } else { Err(CatalogError::Version { apex: apex() }) }
}
