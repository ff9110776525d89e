//! Members of catalogs, and the catalog that each of them belongs to (RFC 9432 §4.3.1).

use crate::config::ZoneFile;
use hashlane_name::dns::NameBuf;
use std::collections::{BTreeMap, HashMap};

/// A zone with where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) file: ZoneFile,
    pub(super) apex: NameBuf,
    /// Identity of a member of a catalog, made of the catalog and the label there: with another one, the zone
    /// is another zone. Empty for a zone that comes from no catalog.
    pub(super) id: Vec<u8>,
    /// The catalog that lists it, and its group, for reports.
    pub(super) member: Option<Membership>,
}

/// Place of a zone in a catalog that is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Membership {
    /// Name of the catalog.
    pub(crate) catalog: String,
    /// Group whose servers the zone has; empty: the catalog's.
    pub(crate) group: String,
}

/// A member in the words of one catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) wanted: Wanted,
    /// Label of its node.
    pub(super) label: Vec<u8>,
    /// The catalog to which it may move, in small letters.
    pub(super) next_owner: Option<Vec<u8>>,
}

/// The catalog that a member belongs to.
#[derive(Clone)]
struct Owner {
    catalog: Vec<u8>,
    label: Vec<u8>,
    /// With another one, the member is another zone: see [`Wanted::id`].
    id: Vec<u8>,
}

impl Owner {
    fn new(catalog: &[u8], label: &[u8]) -> Self {
        Self { catalog: catalog.to_vec(), label: label.to_vec(), id: [catalog, label].concat() }
    }
}

/// The catalogs that members belong to, by the members' names in small letters.
#[derive(Default)]
pub(super) struct Owners(HashMap<Vec<u8>, Owner>);

impl Owners {
    /// The members of all catalogs, each once: as the catalog wants it that has had it before, or that this
    /// one names as the next owner. A member that moves so, and has the same label there, keeps its data.
    pub(super) fn settle(&mut self, members: &BTreeMap<Vec<u8>, Vec<Claim>>) -> Vec<Wanted> {
        let mut names = Vec::new();
        let mut claims: HashMap<Vec<u8>, Vec<(&[u8], &Claim)>> = HashMap::new();
        for (catalog, claim) in
            members.iter().flat_map(|(catalog, all)| all.iter().map(move |one| (catalog, one)))
        {
            let name = claim.wanted.apex.as_bytes().to_ascii_lowercase();
            let of_name = claims.entry(name.clone()).or_default();
            if of_name.is_empty() {
                names.push(name);
            }
            of_name.push((catalog, claim));
        }
        let mut old = std::mem::take(&mut self.0);
        let mut all = Vec::with_capacity(names.len());
        for name in names {
            let of_name = claims.remove(&name).unwrap_or_default();
            let of = |catalog: &[u8]| of_name.iter().find(|(of, _)| *of == catalog).copied();
            let before = old.remove(&name);
            let current = before.as_ref().and_then(|owner| of(&owner.catalog));
            let Some((mut catalog, mut claim)) = current.or(of_name.first().copied()) else { continue };
            let mut owner = match before.filter(|_| current.is_some()) {
                Some(owner) if owner.label == claim.label => owner,
                _ => Owner::new(catalog, &claim.label),
            };
            if let Some((next, theirs)) =
                claim.next_owner.as_deref().and_then(of).filter(|(of, _)| *of != catalog)
            {
                let (zone, keeps) = (&claim.wanted.file.name, theirs.label == owner.label);
                tracing::info!(zone, keeps_data = keeps, "the member moves to another catalog");
                (catalog, claim) = (next, theirs);
                owner = match keeps {
                    true => Owner { catalog: next.to_vec(), ..owner },
                    false => Owner::new(catalog, &claim.label),
                };
            }
            if of_name.len() > 1 {
                let zone = &claim.wanted.file.name;
                tracing::debug!(zone, catalogs = of_name.len(), "in several catalogs: one of them counts");
            }
            all.push(Wanted { id: owner.id.clone(), ..claim.wanted.clone() });
            self.0.insert(name, owner);
        }
        all
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
mod tests {
    use super::*;
    use hashlane_name::dns::text;

    /// A catalog with one member, whose file's name says which catalog it was.
    fn catalog(name: &str, label: &str, next: Option<&str>) -> (Vec<u8>, Vec<Claim>) {
        let file = ZoneFile { catalog: name.to_owned(), ..ZoneFile::new("m.example", "") };
        let wanted = Wanted { file, apex: text::parse(b"m.example").unwrap(), id: Vec::new(), member: None };
        let next_owner = next.map(|next| next.as_bytes().to_vec());
        (name.as_bytes().to_vec(), vec![Claim { wanted, label: label.as_bytes().to_vec(), next_owner }])
    }

    /// The catalog of the member, and its identity.
    fn settle<const N: usize>(
        owners: &mut Owners,
        catalogs: [(Vec<u8>, Vec<Claim>); N],
    ) -> (String, Vec<u8>) {
        let mut all = owners.settle(&catalogs.into_iter().collect());
        assert_eq!(all.len(), 1);
        let Wanted { file, id, .. } = all.remove(0);
        (file.catalog, id)
    }

    #[test]
    fn a_member_moves_to_the_catalog_that_its_own_one_names() {
        let mut owners = Owners::default();
        let (_, first) = settle(&mut owners, [catalog("z-old", "x", None)]);
        // Another catalog alone may not take it.
        let (of, id) = settle(&mut owners, [catalog("a-new", "x", None), catalog("z-old", "x", None)]);
        assert_eq!((&of[..], &id), ("z-old", &first));
        let (of, id) =
            settle(&mut owners, [catalog("a-new", "x", None), catalog("z-old", "x", Some("other"))]);
        assert_eq!((&of[..], &id), ("z-old", &first));
        let (of, id) =
            settle(&mut owners, [catalog("a-new", "x", None), catalog("z-old", "x", Some("a-new"))]);
        assert_eq!((&of[..], &id), ("a-new", &first), "with its data");
        // Whatever the old one says then.
        let (of, id) = settle(&mut owners, [catalog("a-new", "x", None), catalog("z-old", "x", None)]);
        assert_eq!((&of[..], &id), ("a-new", &first));
        let (of, id) = settle(&mut owners, [catalog("a-new", "x", None)]);
        assert_eq!((&of[..], &id), ("a-new", &first));
        // With another label, the data go.
        let (of, id) = settle(&mut owners, [catalog("a-new", "x", Some("b")), catalog("b", "y", None)]);
        assert_eq!(of, "b");
        assert_ne!(id, first);
    }

    #[test]
    fn a_member_that_leaves_its_catalog_is_a_new_zone_in_another_one() {
        let mut owners = Owners::default();
        let (_, first) = settle(&mut owners, [catalog("old", "x", None)]);
        let (of, id) = settle(&mut owners, [catalog("new", "x", None)]);
        assert_eq!(of, "new");
        assert_ne!(id, first);
        let (_, again) = settle(&mut owners, [catalog("new", "z", None)]);
        assert_ne!(again, id, "another label");
    }
}
